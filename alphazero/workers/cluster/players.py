"""Players on a Ray cluster, to which whole pairs of games and batches of positions are sent.

In: the specification of a player. Out: a `Player`. A match is divided into parts, and the random
numbers of a part follow from its place alone. So a match depends neither on the nodes nor on their
number, and an actor that is lost does not change it: another one plays its part again, and this
process does where none is left.
"""

import dataclasses
import itertools
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alphazero.evaluation.match import MatchGame, Openings, play_match
from alphazero.games.batched_game import Game
from alphazero.games.registry import make_game
from alphazero.players.base import Analysis, Choice, Player, PlayerSettings, SearchProgress
from alphazero.players.registry import existing_network, make_player, read_spec
from alphazero.runtime.random_generators import child_generator
from alphazero.runtime.wording import counted
from alphazero.storage.run_folder import find_network
from alphazero.workers.cluster.ray_connection import connect, live_nodes, place_on, ray, reason_of
from alphazero.workers.sent_code import code_version, name_here, own_file_text

_START_S = 60.0  # in which an actor must have started; else its node has no free cores
_ACTORS_PER_GPU = 8
_PARTS, _MOST_PAIRS = 32, 16  # of a match; pairs of a part, whose games are played in lockstep
_POSITIONS = 8  # of a part


class Recipe(NamedTuple):
    """All that another machine needs to make a player."""

    number: int  #: of the player, with whatever limits
    kind: str  #: see `alphazero.players.registry.PlayerSpec`
    game: str
    game_file: str | None  #: the text of the user's own game file
    network: bytes | None  #: the content of the network's file
    settings: PlayerSettings
    limits: tuple[int | None, float | None] | None = None  #: see `Player.limited`


class PlayerHost:
    """Plays parts of matches, as an actor or in this process.

    Args:
        num_threads: that a network may use; 0 sets no limit.
    """

    def __init__(self, num_threads: int = 0):
        self._num_threads = num_threads
        self._players: dict[tuple, Player] = {}  # with networks

    def code_version(self) -> str:
        """Return the version of the program here."""
        return code_version()

    def play(self, seed: str, lines: list, a: Recipe, b: Recipe) -> tuple[MatchGame, ...]:
        """Play a pair of games after each opening of ``lines``."""
        players = self._player(a, seed), self._player(b, seed)
        return play_match(_game(a), *players, 2 * len(lines), _GivenOpenings(lines=lines)).games

    def choose(self, seed: str, states: np.ndarray, recipe: Recipe) -> Choice:
        """Choose a move in each position."""
        return self._player(recipe, seed).choose(states)

    def _player(self, recipe: Recipe, seed: str) -> Player:
        """Return a player, seeded for a part if it draws random numbers."""
        key = recipe.number, recipe.limits
        if key in self._players:
            return self._players[key]
        if recipe.limits is not None:
            player = self._player(recipe._replace(limits=None), seed).limited(*recipe.limits)
        elif recipe.network is not None:
            player = self._network_player(recipe.network, recipe)
        else:
            number = int(child_generator(recipe.settings.seed, seed).integers(2**62))
            settings = dataclasses.replace(recipe.settings, seed=number)
            player = make_player(recipe.kind, _game(recipe), settings)
        if recipe.network is not None:
            self._players[key] = player
        return player

    def _network_player(self, network: bytes, recipe: Recipe) -> Player:
        from alphazero.runtime.device import limit_cores

        if self._num_threads:
            limit_cores(self._num_threads)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "network.safetensors"
            path.write_bytes(network)
            return make_player(str(path), _game(recipe), recipe.settings)


class _Worker(NamedTuple):
    """An actor."""

    node: str  #: as messages name it
    actor: Any


class PlayerCluster:
    """Has an actor on each core of a cluster, from the first question on.

    The connection to Ray is made then, too, so that a player that cannot be made is refused at
    once.

    Args:
        address: of the cluster, see `alphazero.workers.cluster.ray_connection.connect`. If there
            is none, the first question raises ConfigError.
    """

    def __init__(self, address: str):
        self.num_players = itertools.count()
        self.has_networks = False  # which may use GPUs
        self._address = address
        self._owns_ray = False
        self._workers: list[_Worker] | None = None  # None before the start
        self._here = PlayerHost()
        self._sent: dict[tuple, Any] = {}  # references to recipes in Ray's object store
        self._told: set[tuple[str, str]] = set()  # nodes, and why an actor was lost there

    def workers(self) -> list[_Worker]:
        """Return the actors; the first call starts them."""
        if self._workers is None:
            self._owns_ray = connect(self._address, "address")
            self._workers = self._start()
            cores = counted(len(self._workers), "core")
            nodes = counted(len({worker.node for worker in self._workers}), "node")
            _notify(f"Workers of the Ray cluster: {nodes} with {cores}.")
        return list(self._workers)

    def run(self, method: str, parts: Sequence[tuple], *recipes: Recipe) -> Iterator[Any]:
        """Let actors do parts of some work; yield the results in the order of the parts.

        Args:
            method: of `PlayerHost`.
            parts: its first arguments; the recipes follow.
        """
        idle, waiting = deque(self.workers()), deque(range(len(parts)))
        running: dict[Any, tuple[int, _Worker]] = {}
        done: dict[int, Any] = {}
        for index in range(len(parts)):
            while index not in done:
                while idle and waiting:
                    part, worker = waiting.popleft(), idle.popleft()
                    sent = [self._put(recipe) for recipe in recipes]
                    call = getattr(worker.actor, method).remote(*parts[part], *sent)
                    running[call] = part, worker
                if not running:  # no actor is left
                    waiting.remove(index)
                    done[index] = getattr(self._here, method)(*parts[index], *recipes)
                    break
                for call in ray.wait(list(running))[0]:
                    part, worker = running.pop(call)
                    result = self._result(worker, call)
                    if result is None:
                        waiting.appendleft(part)
                    else:
                        done[part] = result
                        idle.append(worker)
            yield done.pop(index)

    def close(self) -> None:
        """End all actors; the cluster stays, unless it was started here."""
        for worker in self._workers or []:
            ray.kill(worker.actor)
        self._workers = []
        if self._owns_ray:
            ray.shutdown()

    def _start(self) -> list[_Worker]:
        """Start actors on all nodes; leave out those that cannot play."""
        make_actor: Any = ray.remote(PlayerHost).options
        self._workers, calls = [], []
        for node in sorted(live_nodes(), key=lambda node: (node.host, node.id)):
            num_actors, num_gpus = node.num_cpus, 0.0
            if self.has_networks and node.num_gpus and node.num_cpus:
                num_actors = min(node.num_cpus, _ACTORS_PER_GPU * node.num_gpus)
                num_gpus = min(node.num_gpus / num_actors, 1.0)
            for _ in range(num_actors):
                actor = make_actor(**place_on(node, 1) | {"num_gpus": num_gpus}).remote(1)
                self._workers.append(_Worker(f"{node.host}-{node.id[:4]}", actor))
                calls.append(actor.code_version.remote())
        ready, _ = ray.wait(calls, num_returns=len(calls), timeout=_START_S)
        for worker, call in zip(list(self._workers), calls):
            if call not in ready:
                self._lose(worker, "has no free core: other programs of the Ray cluster use it")
            elif (version := self._result(worker, call)) not in (None, code_version()):
                self._lose(worker, f"is refused: it runs version {version}, not {code_version()}")
        return self._workers

    def _put(self, recipe: Recipe) -> Any:
        """Put a recipe into Ray's object store, once; return the reference."""
        key = recipe.number, recipe.limits
        if key not in self._sent:
            self._sent[key] = ray.put(recipe)
        return self._sent[key]

    def _result(self, worker: _Worker, call: Any) -> Any:
        """Return the result of a call; None if its actor is lost."""
        try:
            return ray.get(call)
        except ray.exceptions.RayError as error:
            self._lose(worker, f"is gone: {reason_of(error)}")
            return None

    def _lose(self, worker: _Worker, clause: str) -> None:
        """Go on without an actor; tell once why those of a node are lost."""
        assert self._workers is not None
        self._workers.remove(worker)
        ray.kill(worker.actor)
        if (worker.node, clause) not in self._told or not self._workers:
            self._told.add((worker.node, clause))
            rest = "The others do its part." if self._workers else "This process plays alone."
            _notify(f"Worker {worker.node} {clause}. {rest}")


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
        return _POSITIONS * max(2 * len(self._cluster.workers()), 1)

    def choose(self, states: np.ndarray) -> Choice:
        """See `alphazero.players.base.Player.choose`."""
        if not len(states):
            return self._local.choose(states)
        choices = self._cluster.run("choose", self._parts(states, _POSITIONS), self.recipe)
        return Choice(*map(np.concatenate, zip(*choices)))

    def play_pairs(
        self, opponent: "ClusterPlayer", openings: Sequence[tuple[int, ...]]
    ) -> Iterator[tuple[MatchGame, ...]]:
        """Play two games after each opening; yield them in order, those of several at a time."""
        size = min(max(len(openings) // _PARTS, 1), _MOST_PAIRS)
        parts = self._parts(openings, size)
        return self._cluster.run("play", parts, self.recipe, opponent.recipe)

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
    if kind not in ("random", "uct"):
        network = find_network(existing_network(kind, spec, game.name)).read_bytes()
        cluster.has_networks = True
    fields = (field.name for field in dataclasses.fields(PlayerSettings))
    plain = PlayerSettings(**{name: getattr(own, name) for name in fields})
    number, text = next(cluster.num_players), own_file_text(game.name)
    return ClusterPlayer(local, cluster, Recipe(number, kind, game.name, text, network, plain))


@dataclasses.dataclass(frozen=True)
class _GivenOpenings(Openings):
    """Openings that were sampled elsewhere."""

    lines: Sequence[tuple[int, ...]] = ()

    def sample(self, game: Game, num_openings: int) -> list[tuple[int, ...]]:
        """Return the openings."""
        return list(self.lines)


def _game(recipe: Recipe) -> Game:
    return make_game(name_here(recipe.game, recipe.game_file))


def _notify(text: str) -> None:
    """Tell the user a sentence."""
    print(text, file=sys.stderr)
