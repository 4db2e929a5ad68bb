"""The files of games in a shared folder, as the learner reads them.

In: files that anyone with the folder can write. Out: games that were checked, the oldest files
first, and a sentence about each file that is refused; such a file is moved out of the way.

A file whose games count lies there until the run has stored them: see
`alphazero.workers.folder.folder_source`.
"""

import contextlib
import os
from collections import deque
from collections.abc import Callable

from alphazero.games.batched_game import Game
from alphazero.runtime.errors import StoredFileError
from alphazero.workers.answer_check import AnswerError
from alphazero.workers.folder.game_files import GamesFile, read_games
from alphazero.workers.folder.shared_folder import GamesName, SharedFolder
from alphazero.workers.unit import Job

_READABLE_WITHIN_S = 60.0  # a file that someone else holds open, on Windows
_MOST_MISSING = 1_000  # files of a worker that may come later than one with a higher number


class Inbox:
    """Reads each file once.

    Args:
        folder: where the files are.
        game: checks them.
        note: is called with each sentence for the user.

    Attributes:
        waiting: files that were checked and are neither counted nor dropped yet.
        counted: names of files whose games count, until `delete_counted` has deleted them.
        numbers: by worker, a number above those of all its files that count, and the numbers below
            it of files that do not. So a file that comes back, as from a backup, does not count
            again.
    """

    def __init__(self, folder: SharedFolder, game: Game, note: Callable[[str], None]):
        self.waiting: deque[GamesFile] = deque()
        self.counted: set[str] = set()
        self.numbers: dict[str, tuple[int, list[int]]] = {}
        self._folder = folder
        self._game = game
        self._note = note
        self._ignored: set[str] = set()  # names of files that could be neither moved nor deleted
        self._unreadable: dict[str, float] = {}  # since when a file cannot be read

    def read(self, num_games: int, job: Job, newest: int, now: float) -> None:
        """Check new files, the oldest first, until ``num_games`` games wait.

        Args:
            job: what the games were to be played for.
            newest: version of the newest network that was ever published.
            now: in seconds.

        Raises:
            OSError: if the folder cannot be read.
        """
        known = self.counted | self._ignored | {str(file.name) for file in self.waiting}
        num_waiting = sum(len(file.records) for file in self.waiting)
        with os.scandir(self._folder.games) as entries:
            found = [entry for entry in entries if entry.name not in known]
        new = [entry for entry in found if not entry.name.startswith(".")]  # finished files
        for entry in sorted(new, key=_written_at):
            if num_waiting >= num_games:
                return
            file = self._read_file(entry.name, job, newest, now)
            if file is not None:
                self.waiting.append(file)
                num_waiting += len(file.records)

    def count(self, name: GamesName) -> None:
        """Note that the games of a file count."""
        self.counted.add(str(name))
        end, missing = self.numbers.get(name.worker, (0, []))
        # A number may be anything: no more are noted than files can be late.
        skipped = range(max(end, name.number - _MOST_MISSING), name.number)
        missing = [number for number in (*missing, *skipped) if number != name.number]
        self.numbers[name.worker] = max(end, name.number + 1), missing[-_MOST_MISSING:]

    def _has_counted(self, name: GamesName) -> bool:
        end, missing = self.numbers.get(name.worker, (0, []))
        return name.number < end and name.number not in missing

    def drop(self, file: GamesFile) -> None:
        """Delete a file whose games do not count."""
        try:
            (self._folder.games / str(file.name)).unlink(missing_ok=True)
        except OSError:
            self._ignored.add(str(file.name))

    def delete_counted(self) -> None:
        """Delete the files that are counted; one that cannot be deleted is tried again."""
        if not self._folder.games.is_dir():
            return  # the share is not mounted; the files will be there again
        for name in list(self.counted):
            with contextlib.suppress(OSError):
                (self._folder.games / name).unlink(missing_ok=True)
                self.counted.discard(name)

    def _read_file(self, file_name: str, job: Job, newest: int, now: float) -> GamesFile | None:
        """Return the games of a file; refuse it if it is not right."""
        name = GamesName.parse(file_name)
        path = self._folder.games / file_name
        try:
            if name is None:
                raise AnswerError("no worker names a file so")
            may_be_adjudicated = job.selfplay.adjudicated_fraction > 0
            file = read_games(path, name, job, newest, self._game, may_be_adjudicated)
            if self._has_counted(name):
                raise AnswerError("its games count already")
            return file
        except FileNotFoundError:
            return None
        except StoredFileError as error:
            self._refuse(file_name, str(error).removeprefix(f"'{path}' ").rstrip("."))
        except AnswerError as error:
            self._refuse(file_name, str(error))
        except OSError as error:  # the other files may be readable
            if now - self._unreadable.setdefault(file_name, now) > _READABLE_WITHIN_S:
                self._refuse(file_name, f"it cannot be read ({error.strerror})")
        return None

    def _refuse(self, file_name: str, reason: str) -> None:
        """Move a file out of the way."""
        shown = f"{file_name!a:.100}"
        self._note(f"The file {shown} of games is refused: {reason}.")
        try:
            os.replace(self._folder.games / file_name, self._folder.refused / file_name)
        except OSError:  # it is told of once all the same
            self._ignored.add(file_name)


def _written_at(entry: os.DirEntry) -> float:
    """Return when a file was written, by the clock of whoever keeps the folder."""
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0
