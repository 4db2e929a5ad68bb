"""A worker at a shared folder: what `alphazero work` does.

In: the folder of a learner with workers=folder. Out: files of games. The worker always plays with
the newest network. What goes wrong with the folder - it is unmounted, its disk is full, a file is
half copied - is said and tried again: a worker that was started is to be left alone.
"""

import contextlib
import dataclasses
import re
import socket
import time
import uuid
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from alphazero.config.settings import option
from alphazero.games.registry import make_stored_game
from alphazero.inference.engines.agreement import PositionSample, sample_positions
from alphazero.network.registry import check_stored_kind
from alphazero.network.weights import load_network
from alphazero.players.base import NETWORK_KIND_HELP
from alphazero.runtime.errors import ConfigError, InputError, StoredFileError
from alphazero.runtime.random_generators import child_generator
from alphazero.selfplay.flat_games import LENGTHS
from alphazero.workers.folder.game_files import games_per_file, to_bytes
from alphazero.workers.folder.shared_folder import (
    GamesName,
    Posting,
    SharedFolder,
    SignOfLife,
    sign_name,
)
from alphazero.workers.roster import smoothed_speed
from alphazero.workers.sent_code import code_version
from alphazero.workers.unit import Answer, Job, Unit, Weights
from alphazero.workers.unit_player import UnitPlayer

WAIT_S = 2.0  # between two looks at a folder in which there is nothing to do
_SIGN_EVERY_S = 30.0  # while there is nothing to do
_FIRST_PATIENCE_S = 600.0  # kernels may have to be compiled first
_MOST_ITERATIONS = 2  # whose games may wait in the folder, before workers pause
_UNITS_OF_AN_ITERATION = 4  # that a unit of one worker leaves to others
_NUM_POSITIONS = 256  # on which engines are calibrated and compared
_NAME_LENGTH = 60


@dataclasses.dataclass
class Settings:
    """What the user of the worker's machine decides."""

    num_threads: int = option(0, "CPU threads; 0 takes all cores", low=0, high=1024)
    device: str = option(
        "auto", "device of the network: auto, cpu, cuda or cuda:1; auto takes a GPU if there is one"
    )
    name: str = option("", "what the learner calls this worker; empty takes the machine's name")
    game: str | None = option(
        None, "your copy of the run's game file: a run never runs a program here by itself"
    )
    network_kind: str | None = option(None, NETWORK_KIND_HELP)
    until_finished: bool = option(
        False, "end when the run ends or is stopped, instead of waiting for it to go on"
    )


class Progress(NamedTuple):
    """What a worker is doing."""

    text: str  #: "waiting for a run"
    version: int  #: of the network; -1 before the first
    num_games: int  #: played and written so far
    games_per_s: float
    num_files: int  #: of this worker that the learner has not stored yet


class FolderWorker:
    """Plays for the learner of a shared folder; call `step` again and again.

    Args:
        show: is called with the progress whenever it changes.
        clock: returns seconds.

    Attributes:
        name: of this process alone, so that no two files of games have the same name.
        has_finished: True once the run has ended and nothing else is to be waited for.
    """

    def __init__(
        self,
        folder: SharedFolder,
        settings: Settings,
        show: Callable[[Progress], None] = lambda progress: None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.name = own_name(settings.name or socket.gethostname())
        self.has_finished = False
        self.progress = Progress("waiting for a run", -1, 0, 0.0, 0)
        self._folder = folder
        self._settings = settings
        self._show = show
        self._clock = clock
        self._job: Job | None = None
        self._has_seen_run = False  # under way
        self._player: UnitPlayer | None = None
        self._sample: PositionSample | None = None  # of this worker's own games
        self._unsent: deque[tuple[GamesName, bytes]] = deque()
        self._num_files = 0
        self._signed_at = -np.inf

    def step(self) -> float:
        """Do the next thing; return the seconds to wait before the one after it.

        Raises:
            InputError: if this machine cannot play for the run.
        """
        try:
            return self._step()
        except OSError as error:
            self._say(f"the folder cannot be used: {error}; trying again")
        except StoredFileError as error:
            self._say(f"{str(error).rstrip('.')}; trying again")
        return WAIT_S

    def leave(self) -> None:
        """Say goodbye."""
        (self._folder.workers / f"{self.name}.json").unlink(missing_ok=True)

    # --- one step ---------------------------------------------------------------------------------

    def _step(self) -> float:
        posting = self._folder.read_posting()
        if posting is None:
            missing = "job.json" if self._folder.path.is_dir() else "the folder"
            self._say(f"waiting for a run: {missing} is not there yet")
            return WAIT_S
        self._take_on(posting)
        self._send()
        if posting.has_ended:
            self.has_finished = self._settings.until_finished and self._has_seen_run
            rest = "" if self.has_finished else "; waiting for it to go on"
            return self._pause(f"the run has ended{rest}")
        self._has_seen_run = True
        self._load_newest()
        if self._player is None or self._player.version < 0:
            return self._pause("waiting for the first network")
        most = _MOST_ITERATIONS * posting.job.selfplay.games_per_iteration
        if sum(name.num_games for name in self._folder.waiting_games()) >= most:
            return self._pause("waiting until the learner has read the games that lie there")
        self._play(self._player, posting)
        return 0.0

    def _take_on(self, posting: Posting) -> None:
        """Get ready for a run, unless this worker plays for it already.

        Raises:
            InputError: if this machine cannot play for it.
        """
        job = posting.job
        if self._player is not None and self._job == job:
            return
        if job.code_version != code_version():
            wanted, found = job.code_version, code_version()
            message = f"the learner of '{self._folder.path}' runs version {wanted} of this "
            message += f"program, and this machine {found}: install the same version here."
            raise ConfigError(message, key="code_version", value=found, allowed=wanted)
        self._unsent.clear()
        self._player, self._sample = None, None
        self._say("getting ready")
        game, device = self._game_name(job), self._settings.device
        kind, source = job.network.kind, f"the run in '{self._folder.path}'"
        check_stored_kind(kind, source, self._settings.network_kind)
        own = dataclasses.replace(job, game=game, game_files=None, device=device)
        self._player = UnitPlayer(own, self._settings.num_threads, self.name)
        self._job = job

    def _game_name(self, job: Job) -> str:
        """Return the game's name here; a game file is run only if the user named it."""
        named, source = self._settings.game, f"the run in '{self._folder.path}'"
        return make_stored_game(job.game, source, named, digest=job.rules_digest).name

    def _load_newest(self) -> None:
        """Play with the newest network from now on.

        Raises:
            StoredFileError, OSError: if it cannot be read and there is no earlier one.
        """
        versions, player = self._folder.versions(), self._player
        if not versions or player is None or versions[-1] == player.version:
            return
        path = self._folder.network(versions[-1])
        try:
            network = load_network(self._folder.readable_network(versions[-1]))
            if network.info.get("run") != player.job.run:
                return  # of an earlier run
            weights = Weights(versions[-1], network.arrays, self._positions(player), None)
            player.load(weights)
        except (StoredFileError, OSError):
            if player.version < 0:
                raise
        except ConfigError:
            raise
        except InputError as error:
            raise StoredFileError(f"'{path}' does not fit: {error}", path=path) from None

    def _positions(self, player: UnitPlayer) -> PositionSample:
        """Return positions of this worker's newest games; before the first game, random ones."""
        if self._sample is None:
            generator = child_generator(player.job.seed, "sample")
            self._sample = sample_positions(player.game, _NUM_POSITIONS, generator)
        return self._sample

    def _play(self, player: UnitPlayer, posting: Posting) -> None:
        """Play a unit and send its games."""
        speed = self.progress.games_per_s
        quarter = posting.job.selfplay.games_per_iteration // _UNITS_OF_AN_ITERATION
        largest = max(1, min(quarter, games_per_file(player.game)))
        wanted = speed * posting.unit_s if speed else largest / _UNITS_OF_AN_ITERATION
        num_games = int(min(max(wanted, 1), largest))
        self._sign(2 * num_games / speed if speed else _FIRST_PATIENCE_S)
        self._say("playing")
        answer = player.play(Unit(self._num_files, num_games, posting.progress))
        self._note(player, answer)
        current = self._folder.read_posting()
        if current is not None and current.job.run == posting.job.run:
            name = GamesName(self.name, self._num_files, len(answer.games[LENGTHS]))
            self._num_files += 1
            self._unsent.append((name, to_bytes(answer, name, player.job)))
            self._send()

    def _note(self, player: UnitPlayer, answer: Answer) -> None:
        """Note the speed and the positions of a unit."""
        newest = len(answer.games[LENGTHS]) / max(answer.seconds, 1e-3)
        speed = smoothed_speed(self.progress.games_per_s, newest)
        self.progress = self.progress._replace(games_per_s=speed, version=player.version)
        states = answer.games["states"][-_NUM_POSITIONS:]
        planes, mask = player.game.observe(states), player.game.legal_action_mask(states)
        self._sample = PositionSample(planes, mask)

    def _send(self) -> None:
        """Write the files of games that are not written yet."""
        while self._unsent:
            name, data = self._unsent[0]
            self._folder.write(self._folder.games / str(name), data)
            self._unsent.popleft()
            num_games = self.progress.num_games + name.num_games
            self.progress = self.progress._replace(num_games=num_games)

    # --- signs of life ----------------------------------------------------------------------------

    def _pause(self, text: str) -> float:
        """Say that there is nothing to do, and give a sign of life now and then."""
        self._say(text)
        has_network = self._player is not None and self._player.version >= 0
        if has_network and self._clock() - self._signed_at >= _SIGN_EVERY_S:
            self._sign(2 * _SIGN_EVERY_S)
        return WAIT_S

    def _sign(self, patience_s: float) -> None:
        """Give a sign of life.

        Args:
            patience_s: until the next one is due.
        """
        player = self._player
        assert player is not None
        sign = SignOfLife(player.job.run, player.facts, time.time(), patience_s)
        self._folder.sign(self.name, sign)
        self._signed_at = self._clock()

    def _say(self, text: str) -> None:
        """Let `progress` tell what is going on."""
        version = -1 if self._player is None else self._player.version
        self.progress = self.progress._replace(text=text, version=version)
        with contextlib.suppress(OSError):
            names = list(self._folder.waiting_games())
            num_files = sum(name.worker == self.name for name in names)
            self.progress = self.progress._replace(num_files=num_files)
        self._show(self.progress)


def own_name(wanted: str) -> str:
    """Return a worker's name that no other process has.

    Raises:
        ConfigError: if nothing of the wanted name can be part of a file's name.
    """
    plain = re.sub("[^a-z0-9_-]+", "-", wanted.lower())[:_NAME_LENGTH].strip("-")
    name = f"{plain}-{uuid.uuid4().hex[:8]}"
    if not plain or sign_name(f"{name}.json") is None:
        reason = "a worker's name has letters or digits"
        raise ConfigError.of("name", wanted, "letters, digits, - and _", reason)
    return name
