"""What a resumed run needs: stored after each iteration, read back from the last stored one.

In: the parts of a run that have a state, and the games and the report of an iteration. Out: files
in the run's folder; the parts, as they were. Knows no order of stages.
"""

import dataclasses
import json
import time
from typing import Any

from alphazero.games.batched_game import Game
from alphazero.learner.learner import Learner
from alphazero.network.weights import network_arrays, save_network
from alphazero.replay.buffer import ReplayBuffer
from alphazero.runtime.errors import StoredFileError
from alphazero.selfplay.game_record import GameRecord
from alphazero.storage.checkpoint import load_state, save_state
from alphazero.storage.run_folder import RunFolder
from alphazero.training.events import IterationReport, flat
from alphazero.training.gate import Gate
from alphazero.training.settings import TrainSettings
from alphazero.workers.source import GameSource


class RunStore:
    """The stored iterations of a run.

    Args:
        learner, gate, source, replay: the parts of the run that have a state.

    Attributes:
        iteration: the last stored iteration, 0 if none.
        seconds: in which it was stored.
    """

    def __init__(
        self,
        folder: RunFolder,
        settings: TrainSettings,
        game: Game,
        learner: Learner,
        gate: Gate,
        source: GameSource,
        replay: ReplayBuffer,
    ):
        self.iteration = 0
        self.seconds = 0.0
        self._folder, self._settings, self._game = folder, settings, game
        self._learner, self._gate, self._source, self._replay = learner, gate, source, replay
        self._num_samples: dict[int, int] = {}  # by iteration, of those whose games are stored

    def write(self, records: list[GameRecord], report: IterationReport) -> None:
        """Write figures, games, network, and last the state: it makes the iteration count."""
        start = time.monotonic()
        folder, iteration, settings = self._folder, report.iteration, self._settings
        with open(folder.metrics, "a", encoding="utf-8") as file:
            file.write(json.dumps(flat(report)) + "\n")
        folder.save_games(iteration, records)
        elapsed_s = round(report.elapsed_s, 1)
        info = {"run": folder.path.name, "iteration": iteration, "elapsed_s": elapsed_s}
        if report.strength is not None:
            info["strength"] = dataclasses.asdict(report.strength)
        network = network_arrays(self._learner.played_network)
        shape = dataclasses.asdict(settings.network)
        save_network(folder.network(iteration), network, self._game.name, shape, info)
        self._num_samples[iteration] = report.selfplay.num_samples
        save_state(folder.state, self._state(report))
        self._source.stored()
        self.iteration = iteration
        folder.drop_games(settings.replay.window_max, self._num_samples)
        folder.drop_networks(settings.run.keep_networks)
        self.seconds = time.monotonic() - start

    def _state(self, report: IterationReport) -> dict[str, Any]:
        """Return what a resume needs besides the stored games."""
        return {
            "iteration": report.iteration,
            "elapsed_s": report.elapsed_s,
            "learner": self._learner.state_dict(),
            "accepted": self._gate.accepted,
            "selfplay": self._source.state_dict(),
            "replay": self._replay.state_dict(),
            "rows_of": self._num_samples,
        }

    def restore(self) -> float:
        """Restore the parts as they were after the last stored iteration; return `elapsed_s`.

        Raises:
            StoredFileError: if the files of the run cannot be read.
        """
        path = self._folder.state
        try:
            state = load_state(path)
            self._load(state)
            return state["elapsed_s"]
        except StoredFileError as error:
            reason, path = str(error), error.path
        except (KeyError, TypeError, AttributeError):
            reason = f"'{path}' does not hold what this version needs."
        networks = self._folder.path / "networks"
        raise StoredFileError(
            f"{reason} Without it the run cannot be resumed; its networks in {networks} can still "
            "play.",
            path=path,
        )

    def _load(self, state: dict[str, Any]) -> None:
        self.iteration = state["iteration"]
        self._learner.load_state_dict(state["learner"])
        self._gate.accepted = state["accepted"]
        if self._gate.accepted is None:
            self._gate.accept()
        self._source.load_state_dict(state["selfplay"])
        self._num_samples = {int(number): count for number, count in state["rows_of"].items()}
        games = self._folder.load_games(self.iteration, self._settings.replay.window_max)
        self._replay.load_state_dict(state["replay"], games)
