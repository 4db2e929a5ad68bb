"""Rules that are edited between two commands: refused, kept, dropped, or played with a warning."""

import sys

import pytest
from run_samples import assert_same, make_trainer, reports

import alphazero as az
from alphazero.cli import main, train
from alphazero.evaluation.ratings import RatingFile
from alphazero.games import registry
from alphazero.games.registry import make_game, make_stored_game
from alphazero.interop import onnx_file
from alphazero.network.weights import load_network, network_arrays, network_info
from alphazero.players.network import load_network_player
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.storage.run_folder import RunFolder
from alphazero.training.trainer import Trainer
from alphazero.web.catalogue import Catalogue
from alphazero.workers.sent_code import game_here
from alphazero.workers.unit import Job
from alphazero.workers.unit_player import UnitPlayer

PILE = '''"""A game in plain Python: take one or two of a heap."""

import numpy as np


class Pile:
    num_actions, max_plies = 2, 12

    def __init__(self, heap=12):
        self.heap, self.player = heap, 0

    def step(self, action):
        self.heap -= action + 1
        self.player = 1 - self.player

    def player_to_move(self):
        return self.player

    def is_over(self):
        return self.heap <= 0

    def result(self):
        return -1

    def legal_actions(self):
        return [0, 1][: self.heap]

    def cells(self):
        return np.array([[1] * self.heap + [0] * (12 - self.heap)])
'''
TAKES_MORE = "self.heap -= action + 1", "self.heap -= min(2 * action + 1, self.heap)"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A finished run of two iterations of `pile:Pile`; its module is in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(registry, "_WARNED", set())
    (tmp_path / "pile.py").write_text(PILE)
    path = tmp_path / "checkpoints" / "pile_Pile" / "run"
    reports(make_trainer(path, "run.num_iterations=2", game="pile:Pile"))
    forget()
    yield RunFolder(path)
    forget()


def forget():
    """Let the next import read the file again, as another process does."""
    for name in ("pile", "heap"):
        sys.modules.pop(name, None)


def edit(folder, old, new, name="pile.py"):
    """Edit the rules between two commands."""
    path = folder.path.parents[2] / name
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    forget()


def resume(folder, *words, game="pile:Pile"):
    """Return the exit status of a command that resumes the run."""
    return main(["train", f"resume={folder.path}", f"game={game}", *words])


# --- runs -----------------------------------------------------------------------------------------


def test_a_run_and_its_networks_store_the_digest(folder):
    digest = make_game("pile:Pile").rules_digest
    assert len(digest) == 64 and folder.rules_digest == digest
    assert network_info(folder.network(2))["rules_digest"] == digest
    game, info = make_game("pile:Pile"), network_info(folder.network(2))
    assert onnx_file._properties(game, info)["rules_digest"] == digest


def test_a_run_of_our_games_stores_none(tmp_path):
    trainer = make_trainer(tmp_path, "run.num_iterations=1")
    reports(trainer)
    assert not trainer.folder.rules.exists()
    assert "rules_digest" not in network_info(trainer.folder.network(1))


def test_changed_rules_are_refused_and_named(folder, capsys):
    edit(folder, *TAKES_MORE)
    before = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    assert resume(folder, "run.num_iterations=3") == 2
    message = capsys.readouterr().err
    assert "Pile.step" in message and "run.on_changed_rules=drop_window" in message
    after = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    assert before == after
    with pytest.raises(ConfigError) as refused:
        next(az.train(resume=folder.path, game="pile:Pile"))
    assert refused.value.key == "resume"


def test_a_comment_and_a_new_name_change_nothing(folder, capsys):
    edit(folder, "return -1", "return -1  # the player to move has lost")
    assert resume(folder, "run.num_iterations=3") == 0
    (folder.path.parents[2] / "pile.py").rename("heap.py")
    forget()
    assert resume(folder, "run.num_iterations=4", game="heap:Pile") == 0
    words = ["train", "resume=latest", "game=heap:Pile", "run.num_iterations=5"]
    assert main(words) == 0  # the run lies in the folder of the old name
    assert folder.read_config()["game"]["name"] == "heap:Pile"
    assert len(folder.read_metrics()) == 5 and folder.read_metrics()[-1]["window"] > 100
    assert "warning" not in capsys.readouterr().err


def test_the_network_is_kept_and_the_window_dropped_if_the_user_says_so(folder):
    edit(folder, *TAKES_MORE)
    words = [f"resume={folder.path}", "game=pile:Pile", "run.on_changed_rules=drop_window"]
    settings, _ = train._resumed([*words, "run.num_iterations=4"])
    trainer = Trainer(settings, folder)
    trainer.restore()
    assert trainer.iteration == 2 and trainer.replay.window == 0
    assert_same(network_arrays(trainer.learner.played_network), load_network(folder.network(2))[0])
    assert trainer.learner.state_dict()["optimizer"]  # goes on, too
    assert not list((folder.path / "games").iterdir())
    first, second = reports(trainer)
    assert first.window == first.selfplay.num_samples
    assert second.window == first.window + second.selfplay.num_samples
    assert folder.rules_digest == trainer.game.rules_digest
    assert folder.read_config()["run"]["on_changed_rules"] == "refuse"
    forget()
    assert resume(folder, "run.num_iterations=5") == 0  # they are the run's rules now
    edit(folder, "return -1", "return 1")
    assert resume(folder, "run.num_iterations=6") == 2  # the permission was for one resume


def test_the_python_api_drops_the_window_too(folder):
    edit(folder, *TAKES_MORE)
    settings = folder.read_config()
    settings["run"]["num_iterations"] = 3
    folder.write_config(settings)
    (report,) = az.train(resume=folder.path, game="pile:Pile", on_changed_rules="drop_window")
    assert report.iteration == 3 and report.window == report.selfplay.num_samples


def test_dropping_that_is_interrupted_has_to_be_repeated(folder, monkeypatch):
    edit(folder, *TAKES_MORE)
    words = [f"resume={folder.path}", "game=pile:Pile", "run.on_changed_rules=drop_window"]
    settings, _ = train._resumed(words)
    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "write_rules", lambda self, text: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            Trainer(settings, folder).restore()
    forget()
    assert resume(folder, "run.num_iterations=3") == 2
    assert resume(folder, "run.num_iterations=3", "run.on_changed_rules=drop_window") == 0


def test_a_network_of_another_shape_cannot_be_kept(folder, capsys):
    edit(folder, "num_actions, max_plies = 2, 12", "num_actions, max_plies = 3, 12")
    assert resume(folder, "run.on_changed_rules=drop_window") == 2
    message = capsys.readouterr().err
    assert "((2, 1, 12), 2)" in message and "((2, 1, 12), 3)" in message


def test_another_game_is_refused_whatever_the_user_says_about_changed_rules(folder):
    text = PILE.replace("return -1", "return 1")
    (folder.path.parents[2] / "heap.py").write_text(text)
    with pytest.raises(ConfigError) as refused:
        words = [f"resume={folder.path}", "game=heap:Pile", "run.on_changed_rules=drop_window"]
        train._resumed(words)
    assert refused.value.key == "game"


# --- networks, matches, ratings -------------------------------------------------------------------


def test_a_network_from_before_the_change_plays_with_one_warning(folder, capsys):
    edit(folder, *TAKES_MORE)
    game = make_game("pile:Pile")
    for iteration in (1, 2):
        player = load_network_player(game, folder.network(iteration))
        assert player.choose(game.initial_states()).actions[0] in (0, 1)
    message = capsys.readouterr().err
    assert message.count("warning") == 1 and message.count("\n") == 1 and "pile:Pile" in message


@pytest.mark.parametrize("is_edited", [False, True])
def test_a_match_warns_once_of_changed_rules_and_never_of_a_new_name(folder, is_edited, capsys):
    if is_edited:
        edit(folder, *TAKES_MORE)
    else:
        (folder.path.parents[2] / "pile.py").rename("heap.py")
        forget()
    name = "pile:Pile" if is_edited else "heap:Pile"
    network = f"{folder.network(2)},num_simulations=2"
    words = [f"game={name}", f"a={network}", f"b={network}", "num_games=2", "engine=torch"]
    assert main(["match", *words, "precision=float32"]) == 0
    assert capsys.readouterr().err.count("warning") == is_edited


def test_a_network_of_other_rules_and_another_name_is_refused(folder):
    (folder.path.parents[2] / "heap.py").write_text(PILE.replace("return -1", "return 1"))
    with pytest.raises(StoredFileError):
        load_network_player(make_game("heap:Pile"), folder.network(2))


def test_the_digest_decides_which_name_is_the_same_game(folder):
    digest = make_game("pile:Pile").rules_digest
    (folder.path.parents[2] / "heap.py").write_text(PILE)
    assert make_stored_game("pile:Pile", "x", "heap:Pile", digest=digest).name == "heap:Pile"
    for named, stored in (("heap:Pile", "0" * 64), ("heap:Pile", ""), ("tic_tac_toe", digest)):
        with pytest.raises(ConfigError):
            make_stored_game("pile:Pile", "x", named, digest=stored)
    with pytest.raises(ConfigError):  # what only a file names is not imported, whatever its digest
        make_stored_game("pile:Pile", "x", digest=digest)


def test_ratings_of_other_rules_are_refused(tmp_path):
    path = tmp_path / "ratings.json"
    RatingFile(path, "pile:Pile", 2, rules_digest="a").write()
    assert RatingFile.open(path, "pile:Pile", 2, "a").rules_digest == "a"
    assert RatingFile.open(path, "heap:Pile", 2, "a").game == "pile:Pile"
    for name in ("pile:Pile", "heap:Pile"):
        with pytest.raises(StoredFileError):
            RatingFile.open(path, name, 2, "b")


def test_the_page_finds_the_runs_of_a_renamed_game(folder):
    (folder.path.parents[2] / "pile.py").rename("heap.py")
    forget()
    catalogue = Catalogue("checkpoints", "heap:Pile")
    players = [player.id for player in catalogue.players(catalogue.game("heap:Pile"))]
    assert "run:pile_Pile/run/000002" in players
    (run,) = catalogue.runs().values()
    assert catalogue.named_run_game(run) == "heap:Pile"


# --- workers --------------------------------------------------------------------------------------


def test_a_worker_with_other_rules_is_refused(folder):
    digest = make_game("pile:Pile").rules_digest
    assert game_here("pile:Pile", None, digest).rules_digest == digest
    job = Job(game="pile:Pile", rules_digest=digest, device="cpu")
    assert UnitPlayer(job, 1).game.num_actions == 2
    edit(folder, *TAKES_MORE)
    with pytest.raises(ConfigError) as refused:
        UnitPlayer(job, 1)
    assert refused.value.key == "game"


@pytest.mark.slow
def test_worker_processes_play_the_learners_rules(folder):
    words = ["workers.kind=processes", "workers.num_processes=1", "run.num_iterations=3"]
    assert resume(folder, *words) == 0
    assert folder.read_metrics()[-1]["iteration"] == 3
