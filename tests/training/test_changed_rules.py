"""Rules that are edited between two commands: refused, kept, dropped, or played with a warning."""

import shutil
import sys
from pathlib import Path

import pytest
from game_samples import TWICE
from run_samples import assert_same, make_trainer, reports

import alphazero as az
from alphazero.cli import main, train
from alphazero.evaluation.ratings import RatingFile
from alphazero.interop import onnx_file
from alphazero.network.weights import load_network, network_arrays, network_info
from alphazero.own_games import registry
from alphazero.own_games.registry import make_game
from alphazero.players.network import load_network_player
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.storage.run_folder import RunFolder
from alphazero.training.trainer import Trainer
from alphazero.web.backend import Backend
from alphazero.web.catalogue import Catalogue
from alphazero.workers.unit import Job
from alphazero.workers.unit_player import UnitPlayer, game_here

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


RUN = Path("checkpoints", "pile_Pile", "run")


def in_new_process(monkeypatch, path):
    """Work in a folder, and know nothing of games and warnings."""
    monkeypatch.chdir(path)
    monkeypatch.setattr(sys, "path", [str(path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(registry, "_WARNED", set())
    monkeypatch.setattr(registry, "_OBJECTS", {})


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with the module `pile` and a finished run of two iterations of `pile:Pile`."""
    path = tmp_path_factory.mktemp("trained")
    (path / "pile.py").write_text(PILE)
    with pytest.MonkeyPatch.context() as patch:
        in_new_process(patch, path)
        reports(make_trainer(path / RUN, "run.num_iterations=2", game="pile:Pile"))
    forget()
    return path


@pytest.fixture
def folder(trained, tmp_path, monkeypatch):
    """A copy of the run; its module is in the current folder."""
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    in_new_process(monkeypatch, tmp_path)
    yield RunFolder(tmp_path / RUN)
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


def test_changed_rules_are_refused(folder, capsys):
    edit(folder, *TAKES_MORE)
    before = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    assert resume(folder, "run.num_iterations=3") == 2
    message = capsys.readouterr().err
    assert "rules of pile:Pile" in message and "run.drop_games=true" in message
    after = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    assert before == after
    with pytest.raises(ConfigError) as refused:
        next(az.train(resume=folder.path, game="pile:Pile"))
    assert refused.value.key == "resume"


def test_the_network_is_kept_and_the_window_dropped_if_the_user_says_so(folder):
    edit(folder, *TAKES_MORE)
    words = [f"resume={folder.path}", "game=pile:Pile", "run.drop_games=true"]
    settings, game, _ = train._resumed([*words, "run.num_iterations=4"])
    trainer = Trainer(settings, folder, game)
    trainer.restore()
    assert trainer.iteration == 2 and trainer.board.replay.window == 0
    assert_same(network_arrays(trainer.learner.played_network), load_network(folder.network(2))[0])
    assert trainer.learner.state_dict()["optimizer"]  # goes on, too
    assert not list((folder.path / "games").iterdir())
    first, second = reports(trainer)
    assert first.window == first.selfplay.num_samples
    assert second.window == first.window + second.selfplay.num_samples
    assert folder.rules_digest == trainer.game.rules_digest
    assert not folder.read_config()["run"]["drop_games"]
    forget()
    assert resume(folder, "run.num_iterations=5") == 0  # they are the run's rules now
    edit(folder, "return -1", "return 1")
    assert resume(folder, "run.num_iterations=6") == 2  # the permission was for one resume


# --- files and objects ----------------------------------------------------------------------------

OTHER_SUM = "sign = 0 if total == 0", "sign = 0 if total == 1"
#: By name: the text of a file, and an edit of its rules.
FILES = {
    "class": (PILE, *TAKES_MORE),
    "object": (f"{PILE}\n\nGAME = Pile()\n", *TAKES_MORE),
    "compiled": (Path(TWICE).read_text(), *OTHER_SUM),
}
SEARCH = ("num_simulations=2", "engine=torch", "precision=float32")


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_a_game_file_is_edited_between_two_commands(tmp_path, monkeypatch, capsys, kind):
    """A comment and another path change nothing; an edit of the rules is said by each command."""
    monkeypatch.chdir(tmp_path)
    text, old, new = FILES[kind]
    (tmp_path / "mine.py").write_text(text)
    folder = RunFolder("checkpoints/mine/run")
    reports(make_trainer(folder.path, "run.num_iterations=1", game="mine.py"))
    (tmp_path / "mine.py").unlink()
    (tmp_path / "games").mkdir()
    moved, name = tmp_path / "games" / "ours.py", "games/ours.py"
    moved.write_text(f"# another comment\n{text}")
    assert resume(folder, "run.num_iterations=2", game=name) == 0
    assert commands_that_warn(name, folder.network(2), monkeypatch, capsys) == []
    assert text.count(old) == 1
    moved.write_text(text.replace(old, new))
    assert resume(folder, "run.num_iterations=3", game=name) == 2
    assert "run.drop_games=true" in capsys.readouterr().err
    folder.network(1).unlink()  # which knows the game by its first name
    found = commands_that_warn(name, folder.network(2), monkeypatch, capsys)
    assert found == ["match", "play", "prove", "rate", "serve"]
    words = ("run.num_iterations=3", "run.drop_games=true")
    assert resume(folder, *words, game=name) == 0
    before, after = folder.read_metrics()[-2:]
    assert after["window"] == after["selfplay.num_samples"] < before["window"]
    assert resume(folder, "run.num_iterations=4", game=name) == 0
    assert commands_that_warn(name, folder.network(4), monkeypatch, capsys) == ["rate"]


def commands_that_warn(name, network, monkeypatch, capsys):
    """Return the commands that warn, once, of a network from before the rules changed."""
    found = []
    for command, *words in (
        ("match", f"a={network}", f"b={network}", "num_games=2", "opening_plies=1"),
        ("play", f"first={network}", "second=random"),
        ("prove", f"player={network}"),
        ("rate", "anchor=uct:2", "num_games=4", "opening_plies=1"),
    ):
        monkeypatch.setattr(registry, "_WARNED", set())  # as in a new process
        (network.parents[1] / "ratings.json").unlink(missing_ok=True)
        search = SEARCH[:1] if command == "rate" else SEARCH
        assert main([command, f"game={name}", *words, *search]) in (0, int(command == "prove"))
        found += [command] * capsys.readouterr().err.count("warning: the rules of")
    monkeypatch.setattr(registry, "_WARNED", set())
    server = Backend(games=[name])
    game = server.catalogue.game(name)
    (own,) = [one for one in server.catalogue.players(game) if one.network == network]
    server.thinking.network(game, own)
    return found + ["serve"] * capsys.readouterr().err.count("warning: the rules of")


# --- networks, matches, ratings -------------------------------------------------------------------


def test_a_network_of_other_rules_and_another_name_is_refused(folder):
    (folder.path.parents[2] / "heap.py").write_text(PILE.replace("return -1", "return 1"))
    with pytest.raises(StoredFileError):
        load_network_player(make_game("heap:Pile"), folder.network(2))


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
    catalogue = Catalogue("checkpoints", ["heap:Pile"])
    players = [player.id for player in catalogue.players(catalogue.game("heap:Pile"))]
    assert "run:pile_Pile/run/000002" in players
    (run,) = catalogue.runs().values()
    assert catalogue.named_run_game(run.game, run.rules_digest, ["heap:Pile"]) == "heap:Pile"


# --- workers --------------------------------------------------------------------------------------


def test_a_worker_with_other_rules_is_refused(folder):
    digest = make_game("pile:Pile").rules_digest
    assert game_here("pile:Pile", None, digest).rules_digest == digest
    job = Job(game="pile:Pile", rules_digest=digest, device="cpu")
    edit(folder, *TAKES_MORE)
    with pytest.raises(ConfigError) as refused:
        UnitPlayer("worker", 1).begin(job)
    assert refused.value.key == "game"
