"""Store a run after each iteration, and restore it when it is resumed.

The stored state contains the checksums of the files that hold games. If the state or one of these
files is missing or damaged, the previous state is restored, and the last iteration is repeated.
"""

import collections
import dataclasses
import time
from typing import Any

from alphazero.learner.learner import Learner
from alphazero.network.weights import network_arrays, save_network
from alphazero.runtime.errors import StoredFileError
from alphazero.runtime.own_code import reason_of
from alphazero.selfplay.game_record import GameRecord
from alphazero.storage.checkpoint import load_state, save_state
from alphazero.storage.run_folder import RunFolder
from alphazero.training.board import Board
from alphazero.training.events import IterationReport, flat
from alphazero.training.gate import Gate
from alphazero.training.settings import TrainSettings, check_rules


@dataclasses.dataclass
class RunStore:
    """Stores each iteration of a run, and restores learner, gate and games when it is resumed."""

    folder: RunFolder
    settings: TrainSettings
    boards: list[Board]  #: iterations play them in turn
    learner: Learner
    gate: Gate
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
        game = self.boards[0].game
        if game.rules_digest:
            info["rules_digest"] = game.rules_digest
        if self.boards[1:]:
            info["also"] = [board.game.name for board in self.boards[1:]]
        if report.strength is not None:
            info["strength"] = dataclasses.asdict(report.strength)
        arrays = network_arrays(self.learner.played_network)
        shape = dataclasses.asdict(self.settings.network)
        save_network(folder.network(iteration), arrays, game.name, shape, info)
        save_state(folder.state, self._state(report), folder.previous_state)
        self.iteration = iteration
        self._drop_old()
        self.seconds = time.monotonic() - start

    def _drop_old(self) -> None:
        """Delete games that have left the replay window, and networks beyond the number to keep."""
        num_samples = collections.Counter[int]()  # by board, without the newest iteration
        for number in sorted(self._games, reverse=True):
            board = self._board_of(number)
            if num_samples[board] >= self.boards[board].replay.settings.window_max:
                del self._games[number]
            elif number < self.iteration:  # the state before the newest needs no game of that one
                num_samples[board] += self._games[number]["num_samples"]
        self.folder.keep_games(self._games)
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
            "selfplay": {
                str(index): board.source.state_dict() for index, board in enumerate(self.boards)
            },
            "replay": {
                str(index): board.replay.state_dict() for index, board in enumerate(self.boards)
            },
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
        game = self.boards[0].game
        check_rules(folder, self.settings, game)
        if self.settings.run.drop_games:
            folder.drop_window(game.rules_text)
            self.settings.run.drop_games = False
        elif not folder.rules_digest:
            folder.write_rules(game.rules_text)
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
        self._games = {int(number): games for number, games in state["games"].items()}
        for index, board in enumerate(self.boards):
            board.source.load_state_dict(state["selfplay"].get(str(index), {}))
            board.replay.load_state_dict(state["replay"][str(index)], self._window_games(index))

    def _board_of(self, iteration: int) -> int:
        """Return the index of the board that an iteration has played."""
        return (iteration - 1) % len(self.boards)

    def _window_games(self, index: int) -> list[GameRecord]:
        """Load the newest stored games that a board's replay window needs, oldest first.

        Raises:
            StoredFileError: if a file of games is missing or damaged.
        """
        board = self.boards[index]
        records: list[GameRecord] = []
        num_samples = 0
        for number in sorted(self._games, reverse=True):
            if self._board_of(number) == index and num_samples < board.replay.settings.window_max:
                games = self.folder.load_games(number, board.game, self._games[number]["sha256"])
                num_samples += sum(int(record.is_target.sum()) for record in games)
                records = games + records
        return records
