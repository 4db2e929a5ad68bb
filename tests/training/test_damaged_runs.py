"""Files of a run that are missing, damaged or forged: the state before takes over, or one line."""

import shutil

import numpy as np
import pytest
from run_samples import assert_same, make_trainer, reports

from alphazero.inference.evaluator import ImpossibleAnswersError
from alphazero.network.weights import network_arrays
from alphazero.runtime.errors import StoredFileError
from alphazero.storage.checkpoint import load_state, save_state
from alphazero.storage.run_folder import RunFolder

SCHEDULE = "learner.schedule=constant"  # which the length of the run does not change
LONGER = "run.num_iterations=5"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return the folder of a run of four iterations, and the weights after the fifth."""
    root = tmp_path_factory.mktemp("runs")
    reports(make_trainer(root / "four", SCHEDULE))
    shutil.copytree(root / "four", root / "five")
    whole = resumed(RunFolder(root / "five"))
    reports(whole)
    assert whole.store.notices == []
    return root / "four", network_arrays(whole.learner.network)


@pytest.fixture
def folder(runs, tmp_path):
    return RunFolder(shutil.copytree(runs[0], tmp_path / "run"))


def resumed(folder, *words):
    trainer = make_trainer(folder.path, SCHEDULE, LONGER, *words)
    trainer.restore()
    return trainer


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def swap(path):
    """Put an intact file of the same kind, of an older iteration, in a file's place."""
    number = int(path.stem) - 1
    shutil.copy(path.with_name(f"{number:06d}.safetensors"), path)


@pytest.mark.parametrize(
    "damage",
    (
        lambda folder: flip(folder.state),
        lambda folder: flip(folder.games(4)),
        lambda folder: swap(folder.games(4)),
        lambda folder: folder.games(4).unlink(),
    ),
    ids=("state flipped", "games flipped", "older games", "no games"),
)
def test_the_state_before_takes_over_and_plays_the_same_iteration(folder, runs, damage):
    damage(folder)
    trainer = resumed(folder)
    assert trainer.iteration == 3 and len(trainer.store.notices) == 1
    reports(trainer)
    assert [row["iteration"] for row in folder.read_metrics()] == [1, 2, 3, 4, 5]
    assert_same(network_arrays(trainer.learner.network), runs[1])
    assert resumed(folder).store.notices == []


def test_games_that_both_states_need_are_dropped_at_the_users_word_only(folder):
    folder.games(2).unlink()
    with pytest.raises(StoredFileError) as raised:
        resumed(folder)
    assert str(folder.games(2)) in str(raised.value)
    assert "run.drop_games=true" in str(raised.value)
    trainer = resumed(folder, "run.drop_games=true")
    assert (trainer.iteration, trainer.board.replay.window) == (4, 0)
    assert not trainer.settings.run.drop_games and not folder.games(1).exists()
    (report,) = reports(trainer)
    assert report.window == report.selfplay.num_samples
    assert resumed(folder).store.notices == []


def forged(folder, change):
    """Change a state in both of its files, with the right checksums."""
    for path in folder.states:
        state = load_state(path)
        change(state)
        save_state(path, state)


FORGERIES = {
    "window": lambda state: state["replay"]["0"].update(num_added=-1),
    "no part": lambda state: state.pop("replay"),
}


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_state_is_refused(folder, change):
    forged(folder, change)
    with pytest.raises(StoredFileError) as refused:
        resumed(folder)
    assert refused.value.path == folder.state


def test_forged_weights_are_refused(folder):
    forged(folder, lambda state: state["learner"]["network"]["policy.weight"].fill(np.inf))
    with pytest.raises(ImpossibleAnswersError):
        resumed(folder)


def test_a_folder_that_is_removed_between_two_files_is_not_made_again(folder, monkeypatch):
    """The files of the next iteration do not begin another run there."""
    save_games = RunFolder.save_games

    def removed_before(self, *arguments):
        shutil.rmtree(folder.path)
        return save_games(self, *arguments)

    monkeypatch.setattr(RunFolder, "save_games", removed_before)
    with pytest.raises(OSError):
        reports(resumed(folder, "run.num_iterations=8"))
    assert not folder.metrics.exists()
