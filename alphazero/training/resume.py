"""Store a run after each iteration, and restore it when it is resumed.

The stored state contains the checksums of the files that hold games. If the state or one of these
files is missing or damaged, the previous state is restored, and the last iteration is repeated.
"""

import dataclasses
import time
from typing import Any

from alphazero.games.batched_game import Game
from alphazero.learner.learner import Learner
from alphazero.network.weights import network_arrays, save_network
from alphazero.replay.buffer import ReplayBuffer
from alphazero.runtime.errors import StoredFileError
from alphazero.runtime.own_code import reason_of
from alphazero.selfplay.game_record import GameRecord
from alphazero.storage.checkpoint import load_state, save_state
from alphazero.storage.run_folder import RunFolder
from alphazero.training.events import IterationReport, flat
from alphazero.training.gate import Gate
from alphazero.training.settings import TrainSettings, check_rules
from alphazero.workers.source import GameSource


@dataclasses.dataclass
class RunStore:
    """Stores each iteration of a run, and restores learner, gate and games when it is resumed."""

    folder: RunFolder
    settings: TrainSettings
    game: Game
    learner: Learner
    gate: Gate
    source: GameSource
    replay: ReplayBuffer
    iteration: int = 0  #: the last stored iteration; 0 if there is none
    seconds: float = 0.0  #: how long storing the last iteration took
    #: messages from `restore` about damaged files and what was done about them
    notices: list[str] = dataclasses.field(default_factory=list)
    #: "num_samples" and "sha256" of the stored games, by iteration
    _games: dict[int, dict[str, Any]] = dataclasses.field(default_factory=dict)

    def write(self, records: list[GameRecord], report: IterationReport) -> None:
        """Store an iteration: its metrics, games, network, and the state for resuming after it.

        The state is written last, and only then does the iteration count as stored.

        Args:
            records: the games of the iteration.
            report: the complete report of the iteration, whose numbers go to metrics.jsonl.

        Raises:
            OSError: if a file cannot be written, or the run's folder has been removed.
        """
        start = time.monotonic()
        folder = self.folder
        iteration = report.iteration
        folder.add_metrics(flat(report))
        digest = folder.save_games(iteration, records)
        self._games[iteration] = {"num_samples": report.selfplay.num_samples, "sha256": digest}
        elapsed_s = round(report.elapsed_s, 1)
        info = {"run": folder.path.name, "iteration": iteration, "elapsed_s": elapsed_s}
        if self.game.rules_digest:
            info["rules_digest"] = self.game.rules_digest
        if report.strength is not None:
            info["strength"] = dataclasses.asdict(report.strength)
        arrays = network_arrays(self.learner.played_network)
        shape = dataclasses.asdict(self.settings.network)
        save_network(folder.network(iteration), arrays, self.game.name, shape, info)
        save_state(folder.state, self._state(report), folder.previous_state)
        self.iteration = iteration
        self._drop_old()
        self.seconds = time.monotonic() - start

    def _drop_old(self) -> None:
        """Delete games that have left the replay window, and networks beyond the number to keep."""
        num_samples = {number: games["num_samples"] for number, games in self._games.items()}
        self.folder.drop_games(self.settings.replay.window_max, num_samples)
        self._games = {number: self._games[number] for number in num_samples}
        self.folder.drop_networks(self.settings.run.keep_networks)

    def _state(self, report: IterationReport) -> dict[str, Any]:
        """Return the state that resuming needs besides the stored games, as nested dictionaries.

        It holds the state of the learner, gate, self-play and replay buffer, the training time, and
        the checksums of the stored games.
        """
        return {
            "iteration": report.iteration,
            "elapsed_s": report.elapsed_s,
            "learner": self.learner.state_dict(),
            "accepted": self.gate.accepted,
            "selfplay": self.source.state_dict(),
            "replay": self.replay.state_dict(),
            "games": self._games,
        }

    def restore(self) -> float:
        """Restore the run to its last stored iteration.

        If the newest state, or a file that it needs, is missing or damaged, the state of the
        iteration before is restored, and a message is added to `notices`. If `run.drop_games` is
        set, all stored games are deleted first.

        Returns:
            The seconds of training up to that iteration.

        Raises:
            StoredFileError: if neither state can be restored.
            ConfigError: if the rules of the game have changed, and either `run.drop_games` is not
                set or the network no longer fits the rules.
        """
        folder = self.folder
        reasons = list[str]()
        are_games = False
        check_rules(folder, self.settings, self.game)
        if self.settings.run.drop_games:
            folder.drop_window(self.game.rules_text)
            self.settings.run.drop_games = False
        elif not folder.rules_digest:
            folder.write_rules(self.game.rules_text)
        for path in (folder.state, folder.previous_state):
            try:
                state = load_state(path)
                self._load(state)
                break
            except Exception as error:  # a forged state may hold anything
                damaged = path
                reason = f"'{path}' does not fit this run or this version ({reason_of(error)})."
                if isinstance(error, StoredFileError):
                    damaged = error.path
                    reason = str(error)
                reasons.append(reason)
                are_games |= damaged.parent == folder.games(0).parent
        else:
            message = f"{reasons[0]} The previous state cannot be used either. "
            if are_games:
                message += "With run.drop_games=true, the run is resumed without its games. "
            message += f"The run's networks can still play: {folder.path}/networks"
            raise StoredFileError(message, path=folder.state)
        if reasons:
            text = f"{reasons[0]} The run continues from the previous state, after iteration "
            self.notices.append(f"{text}{self.iteration}.")
        else:
            self._drop_old()  # the run may have been killed before this
        return state["elapsed_s"]

    def _load(self, state: dict[str, Any]) -> None:
        self.iteration = state["iteration"]
        self.gate.accepted = state["accepted"]
        if self.gate.accepted is not None:
            self.learner.load_state_dict(self.gate.accepted)  # raises if it does not fit
        self.learner.load_state_dict(state["learner"])
        if self.gate.accepted is None:
            self.gate.accept()
        self.source.load_state_dict(state["selfplay"])
        self._games = {int(number): games for number, games in state["games"].items()}
        self.replay.load_state_dict(state["replay"], self._window_games())

    def _window_games(self) -> list[GameRecord]:
        """Load the newest stored games that the replay window needs, and return them oldest first.

        Raises:
            StoredFileError: if a file of games is missing or damaged.
        """
        records: list[GameRecord] = []
        num_samples = 0
        number = self.iteration
        while number in self._games and num_samples < self.settings.replay.window_max:
            games = self.folder.load_games(number, self.game, self._games[number]["sha256"])
            num_samples += sum(int(record.is_target.sum()) for record in games)
            records = games + records
            number -= 1
        return records
