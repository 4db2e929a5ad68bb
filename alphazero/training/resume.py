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
from alphazero.training.settings import TrainSettings, check_rules
from alphazero.workers.source import GameSource


@dataclasses.dataclass
class RunStore:
    """The stored iterations of a run."""

    folder: RunFolder
    settings: TrainSettings
    game: Game
    learner: Learner  #: and the other parts of the run that have a state
    gate: Gate
    source: GameSource
    replay: ReplayBuffer
    iteration: int = 0  #: the last stored one
    seconds: float = 0.0  #: in which it was stored
    #: by iteration, of those whose games are stored
    _num_samples: dict[int, int] = dataclasses.field(default_factory=dict)

    def write(self, records: list[GameRecord], report: IterationReport) -> None:
        """Write figures, games, network, and last the state: it makes the iteration count."""
        start = time.monotonic()
        folder, iteration, settings = self.folder, report.iteration, self.settings
        with open(folder.metrics, "a", encoding="utf-8") as file:
            file.write(json.dumps(flat(report)) + "\n")
        folder.save_games(iteration, records)
        elapsed_s = round(report.elapsed_s, 1)
        info = {"run": folder.path.name, "iteration": iteration, "elapsed_s": elapsed_s}
        if self.game.rules_digest:
            info["rules_digest"] = self.game.rules_digest
        if report.strength is not None:
            info["strength"] = dataclasses.asdict(report.strength)
        network = network_arrays(self.learner.played_network)
        shape = dataclasses.asdict(settings.network)
        save_network(folder.network(iteration), network, self.game.name, shape, info)
        self._num_samples[iteration] = report.selfplay.num_samples
        save_state(folder.state, self._state(report))
        self.source.stored()
        self.iteration = iteration
        folder.drop_games(settings.replay.window_max, self._num_samples)
        folder.drop_networks(settings.run.keep_networks)
        self.seconds = time.monotonic() - start

    def _state(self, report: IterationReport) -> dict[str, Any]:
        """Return what a resume needs besides the stored games."""
        return {
            "iteration": report.iteration,
            "elapsed_s": report.elapsed_s,
            "learner": self.learner.state_dict(),
            "accepted": self.gate.accepted,
            "selfplay": self.source.state_dict(),
            "replay": self.replay.state_dict(),
            "rows_of": self._num_samples,
        }

    def restore(self) -> float:
        """Restore the parts as they were after the last stored iteration; return `elapsed_s`.

        If the rules have changed, all games are dropped; `check_rules` has to allow it.

        Raises:
            StoredFileError: if the files of the run cannot be read.
        """
        try:
            if check_rules(self.folder, self.settings, self.game):
                self.folder.drop_window(self.game.rules_text)
                self.settings.run.on_changed_rules = "refuse"
            elif not self.folder.rules_digest:
                self.folder.write_rules(self.game.rules_text)
            state = load_state(self.folder.state)
            self._load(state)
            return state["elapsed_s"]
        except (StoredFileError, KeyError, TypeError, AttributeError) as error:
            path = getattr(error, "path", self.folder.state)
            reason = f"'{path}' does not hold what this version needs."
            if isinstance(error, StoredFileError):
                reason = str(error)
            message = f"{reason} The run cannot be resumed; its networks can still play: "
            raise StoredFileError(f"{message}{self.folder.path}/networks", path=path) from None

    def _load(self, state: dict[str, Any]) -> None:
        self.iteration = state["iteration"]
        self.learner.load_state_dict(state["learner"])
        self.gate.accepted = state["accepted"]
        if self.gate.accepted is None:
            self.gate.accept()
        self.source.load_state_dict(state["selfplay"])
        self._num_samples = {int(number): count for number, count in state["rows_of"].items()}
        games = self.folder.load_games(self.iteration, self.settings.replay.window_max)
        self.replay.load_state_dict(state["replay"], games)
