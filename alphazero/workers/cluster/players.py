"""Players on a Ray cluster, to which whole pairs of games and batches of positions are sent.

In: the specification of a player. Out: a `Player`. A match is divided into parts, which are tasks
of Ray. The random numbers of a part follow from its place alone. So a match depends neither on the
nodes nor on their number, and Ray repeats a part whose process or machine is lost.
"""

import dataclasses
import itertools
import socket
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alphazero.evaluation.match import MatchGame, Openings, play_match
from alphazero.games.batched_game import Game
from alphazero.players.base import Analysis, Choice, Player, PlayerSettings, SearchProgress, joined
from alphazero.players.registry import existing_network, has_network, make_player, read_spec
from alphazero.runtime.device import limit_cores
from alphazero.runtime.errors import ConfigError, InputError
from alphazero.runtime.random_generators import child_generator
from alphazero.runtime.wording import counted
from alphazero.storage.run_folder import find_network
from alphazero.workers.cluster.ray_connection import (
    STORE_FULL,
    connect,
    first_line,
    live_nodes,
    ray,
    reason_of,
)
from alphazero.workers.sent_code import code_version, game_here, own_files

_TASKS_PER_GPU = 8
_TASKS_PER_CORE = 4  # that are under way or wait; a match that ends early wastes no more
_PARTS, _MOST_PAIRS = 32, 16  # of a match; pairs of a part, whose games are played in lockstep
_POSITIONS = 8  # of a part
_numbers = itertools.count()  # of players
_loaded: dict[int, Player] = {}  # with networks, in the process of a task


class Recipe(NamedTuple):
    """All that another machine needs to make a player."""

    number: int  #: of the player, with whatever limits
    kind: str  #: see `alphazero.players.registry.PlayerSpec`
    game: str
    game_files: str | None  #: see `own_files`
    rules_digest: str  #: see `alphazero.games.batched_game.Game`
    network: bytes | None  #: the content of the network's file
    settings: PlayerSettings
    limits: tuple[int | None, float | None] = (None, None)  #: see `Player.limited`


# --- the tasks ------------------------------------------------------------------------------------


@ray.remote(max_calls=0)  # a process keeps what it has loaded; with a GPU, Ray would end it
def _do_part(version: str, do: Callable, *arguments: Any) -> Any:
    """Call ``do`` on one core, if this machine runs the same version of the program."""
    if version != code_version():
        message = f"{socket.gethostname()} runs version {code_version()} of this program, and the "
        message += f"machine of the command {version}: install the same version there."
        raise ConfigError(message, key="code_version", value=code_version(), allowed=version)
    limit_cores(1)
    return do(*arguments)


def play_part(seed: str, lines: list, a: Recipe, b: Recipe) -> tuple[MatchGame, ...]:
    """Play a pair of games after each opening of ``lines``."""
    players = _player(a, seed), _player(b, seed)
    return play_match(_game(a), *players, 2 * len(lines), _GivenOpenings(lines=lines)).games


def choose_part(seed: str, states: np.ndarray, recipe: Recipe) -> Choice:
    """Choose a move in each position."""
    return _player(recipe, seed).choose(states)


def _player(recipe: Recipe, seed: str) -> Player:
    """Return a player, seeded for a part if it draws random numbers."""
    if recipe.network is None:
        number = int(child_generator(recipe.settings.seed, seed).integers(2**62))
        settings = dataclasses.replace(recipe.settings, seed=number)
        return make_player(recipe.kind, _game(recipe), settings).limited(*recipe.limits)
    if recipe.number not in _loaded:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "network.safetensors"
            path.write_bytes(recipe.network)
            _loaded[recipe.number] = make_player(str(path), _game(recipe), recipe.settings)
    return _loaded[recipe.number].limited(*recipe.limits)


# --- the players ----------------------------------------------------------------------------------


class PlayerCluster:
    """Runs parts of a match or of a batch on the cores of a cluster.

    It connects to Ray when it is first used, so that a player that cannot be made is refused
    before that.

    Args:
        address: of the cluster, see `alphazero.workers.cluster.ray_connection.connect`. If there
            is none, the first question raises ConfigError.
    """

    def __init__(self, address: str):
        self._address = address
        self._owns_ray = False
        self._num_cores = 0  # 0 before the connection
        self._has_gpus = False

    @property
    def num_cores(self) -> int:
        """The number of parts that run at a time; connects to the cluster on first use."""
        if not self._num_cores:
            self._owns_ray = connect(self._address, "address")
            nodes = [node for node in live_nodes() if node.num_cpus]
            self._num_cores = sum(node.num_cpus for node in nodes)
            self._has_gpus = any(node.num_gpus for node in nodes)
            cores = counted(self._num_cores, "core")
            _notify(f"Workers of the Ray cluster: {counted(len(nodes), 'node')} with {cores}.")
        return self._num_cores

    def run(self, do: Callable, parts: Sequence[tuple], *recipes: Recipe) -> Iterator[Any]:
        """Run parts on the cluster; yield the results in the order of the parts.

        Args:
            do: is called for each part, with the recipes after it.
        """
        most = _TASKS_PER_CORE * self.num_cores
        uses_gpus = self._has_gpus and any(recipe.network is not None for recipe in recipes)
        task = _do_part.options(num_cpus=1, num_gpus=1 / _TASKS_PER_GPU if uses_gpus else 0)
        try:
            sent = [ray.put(recipe) for recipe in recipes]
        except STORE_FULL as error:
            message = f"Ray's object store has no room for the networks ({first_line(error)})."
            raise InputError(message) from None
        calls: deque = deque()
        for part in parts:
            calls.append(task.remote(code_version(), do, *part, *sent))
            if len(calls) == most:
                yield _result(calls.popleft())
        while calls:
            yield _result(calls.popleft())

    def close(self) -> None:
        """Disconnect from the cluster; shut it down if it was started here."""
        if self._owns_ray:
            ray.shutdown()


def _result(call: Any) -> Any:
    """Return the result of a task.

    Raises:
        InputError: of the task, or if Ray gives up after repeating it.
    """
    try:
        return ray.get(call)
    except ray.exceptions.RayTaskError as error:
        raise (error.cause if isinstance(error.cause, InputError) else error) from None
    except ray.exceptions.RayError as error:
        raise InputError(f"workers=ray: a part of the match failed: {reason_of(error)}.") from None


class ClusterPlayer:
    """Plays on a cluster, and whole games if its opponent does, too; see `Player`.

    Args:
        local: the same player in this process, which analyses single positions.
    """

    def __init__(self, local: Player, cluster: PlayerCluster, recipe: Recipe):
        self.name = local.name
        self.engine = getattr(local, "engine", "")
        self.method = getattr(local, "method", "")
        self.recipe = recipe
        self._local = local
        self._cluster = cluster
        self._num_parts = itertools.count()

    @property
    def batch_size(self) -> int:
        """See `Player`; the first look at it connects to the cluster."""
        return _POSITIONS * 2 * self._cluster.num_cores

    def choose(self, states: np.ndarray) -> Choice:
        """See `alphazero.players.base.Player.choose`."""
        if not len(states):
            return self._local.choose(states)
        parts = self._parts(states, _POSITIONS)
        return joined(self._cluster.run(choose_part, parts, self.recipe))

    def play_pairs(
        self, opponent: "ClusterPlayer", openings: Sequence[tuple[int, ...]]
    ) -> Iterator[tuple[MatchGame, ...]]:
        """Play two games after each opening; yield them in order, those of several at a time."""
        size = min(max(len(openings) // _PARTS, 1), _MOST_PAIRS)
        parts = self._parts(openings, size)
        return self._cluster.run(play_part, parts, self.recipe, opponent.recipe)

    def _parts(self, rows: Any, size: int) -> list[tuple]:
        """Divide positions or openings; each part has a name, from which its seed follows."""
        starts = range(0, len(rows), size)
        return [(f"part {next(self._num_parts)}", rows[at : at + size]) for at in starts]

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """See `alphazero.players.base.Player.analyse`; this process does it alone."""
        return self._local.analyse(state, progress)

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> Player:
        """See `alphazero.players.base.Player.limited`."""
        recipe, limits = self.recipe, (num_simulations, time_limit_s)
        if limits != (None, None):
            recipe = recipe._replace(limits=limits)
        return ClusterPlayer(self._local.limited(*limits), self._cluster, recipe)


def make_cluster_player(
    cluster: PlayerCluster, spec: str, game: Game, settings: PlayerSettings | None = None
) -> Player:
    """Return the player of a specification; on a cluster if it can play there.

    Args:
        spec, settings: see `alphazero.players.registry.make_player`.

    Raises:
        ConfigError, UnsolvableError, StoredFileError: as `make_player`.
    """
    local = make_player(spec, game, settings)
    kind, own = read_spec(spec, settings)
    keeps_table = kind == "solver" or kind == "uct" and own.keep_table
    if keeps_table or kind.startswith("gtp:"):
        _notify(f"{spec} plays in this process alone: it remembers earlier positions.")
        return local
    network = None
    if has_network(kind):
        path = existing_network(kind, spec, game.name, game.rules_digest)
        network = find_network(path).read_bytes()
    fields = (field.name for field in dataclasses.fields(PlayerSettings))
    plain = PlayerSettings(**{name: getattr(own, name) for name in fields})
    rules = own_files(game.name), game.rules_digest
    recipe = Recipe(next(_numbers), kind, game.name, *rules, network, plain)
    return ClusterPlayer(local, cluster, recipe)


@dataclasses.dataclass(frozen=True)
class _GivenOpenings(Openings):
    """Openings that were sampled elsewhere."""

    lines: Sequence[tuple[int, ...]] = ()

    def sample(self, game: Game, num_openings: int) -> list[tuple[int, ...]]:
        """Return the openings."""
        return list(self.lines)


def _game(recipe: Recipe) -> Game:
    return game_here(recipe.game, recipe.game_files, recipe.rules_digest)


def _notify(text: str) -> None:
    """Tell the user a sentence."""
    print(text, file=sys.stderr)
