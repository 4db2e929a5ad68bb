"""Play games from pgx, whose rules are written in JAX: `make_game("pgx:go_9x9")`.

The supported environments are those for two players without chance or hidden information. A state
is the environment's state packed into bytes, so that one compiled function unpacks, steps and packs
a whole batch. This module contains no rules.

JAX runs on the CPU in the calling thread, because search threads and worker processes already run
in parallel, and JAX's own threads made these small batches four times slower. If the program has
imported JAX before this module does, JAX's settings are left as they are.

Source: S. Koyamada et al., "Pgx: hardware-accelerated parallel game simulators for reinforcement
learning", 2023.
"""

import contextlib
import math
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.appearance import Appearance
from alphazero.games.batched_game import Game, Transition
from alphazero.games.symmetry import identity_tables, mirror_tables, square_tables
from alphazero.own_games.python_game import header_fields, packed_transition
from alphazero.runtime.errors import ConfigError, require
from alphazero.runtime.jit import announce_compilation, cache_directory, private_folder
from alphazero.runtime.random_generators import next_bits

_MAX_SINGLES = 3  # at most this many positions are stepped one by one
_Tables = tuple[np.ndarray, np.ndarray]


class _Facts(NamedTuple):
    """Facts about an environment that pgx does not state, such as the length of its games."""

    #: Upper bound on the plies of a game: as many moves as fit on the board, or pgx's limit, at
    #: which the game ends as a draw (in go, is scored).
    max_plies: int
    batch_size: int  #: positions per call; large states overflow the CPU's cache in larger batches
    appearance: Appearance
    #: Text of the action that follows those of the squares, "pass" or "swap"; None if there is no
    #: such action.
    last_action: str | None = None
    num_piece_planes: int = 1  #: number of planes of each player's pieces
    opponent_plane: int = 1  #: first plane of the opponent's pieces
    #: Converts the board as the second player sees it into the first player's view.
    turn: Callable[[np.ndarray], np.ndarray] = np.asarray
    symmetries: _Tables | None = None  #: see `alphazero.games.rules.symmetries`; None if unknown


def _hex_tables() -> _Tables:
    """Return the symmetry tables of 11 x 11 hex: the identity and the rotation by 180 degrees.

    The last action, by which the players swap sides, maps to itself.

    Returns:
        cells: int32[2, 121]; actions: int32[2, 122]; see `alphazero.games.rules.symmetries`.
    """
    cells, actions = identity_tables(11, 11, 122)
    turned = cells[:, ::-1]
    turned_actions = np.c_[turned, actions[:, -1:]]
    return np.concatenate([cells, turned]), np.concatenate([actions, turned_actions])


def _half_turn(board: np.ndarray) -> np.ndarray:
    return board[::-1, ::-1]


def _looks(title: str, sides: str, board: str = "wood", **others: Any) -> Appearance:
    """Return the appearance of a game whose sides are named after the colours of their pieces.

    Args:
        title: the name shown with boards and in pictures.
        sides: two keys of `_TONES`, separated by a space; the first side begins the game.
        board: the style of the board, such as "wood" or "lines"; one of
            `alphazero.games.appearance.BOARDS`.
        others: more fields of `Appearance`.
    """
    first, second = sides.split()
    colors = (_TONES[first], _TONES[second])
    return Appearance(title, (first, second), colors, board, **others)


_TONES = {"White": "light", "Black": "dark", "Yellow": "yellow", "Red": "red"}
_GO = _looks("Go", "Black White", "wood")
_FACTS = {
    "tic_tac_toe": _Facts(
        9,
        64,
        Appearance("Tic-tac-toe", colors=("x", "o"), board="lines", line_length=3),
        symmetries=square_tables(3),
    ),
    "connect_four": _Facts(
        42,
        64,
        _looks("Connect Four", "Yellow Red", "plate", line_length=4),
        symmetries=mirror_tables(6, 7),
    ),
    "othello": _Facts(
        120,  # 60 discs, and at most one pass after each
        64,
        _looks("Othello", "Black White", "green", rows_from_top=True, counts_pieces=True),
        "pass",
        symmetries=square_tables(8, has_pass=True),
    ),
    "hex": _Facts(
        122,
        64,
        _looks("Hex", "Black White", rows_from_top=True),
        "swap",
        symmetries=_hex_tables(),
    ),
    "go_9x9": _Facts(162, 16, _GO, "pass", symmetries=square_tables(9, has_pass=True)),
    "go_19x19": _Facts(722, 16, _GO, "pass", symmetries=square_tables(19, has_pass=True)),
    "animal_shogi": _Facts(256, 16, _looks("Animal shogi", "Black White"), None, 5, 5, _half_turn),
    "gardner_chess": _Facts(256, 16, _looks("Gardner chess", "White Black"), None, 6, 6, np.flipud),
    "chess": _Facts(512, 16, _looks("Chess", "White Black"), None, 6, 6, np.flipud),
    "shogi": _Facts(512, 16, _looks("Shogi", "Black White"), None, 14, 31, _half_turn),
}


class PgxGame(Game):
    """A game whose rules are a pgx environment.

    A state is a row of bytes with these parts: the result, the player to move, whether the game is
    over, one bit per action (1 if it is legal), and the environment's own state. In the latter, a
    boolean takes one bit, and every other number its bytes. The observation is left out; `observe`
    recomputes it.

    Args:
        environment_name: the environment's name in pgx, such as "go_9x9"; a key of `_FACTS`.

    Raises:
        ConfigError: if the game is not in `_FACTS`, or pgx is not installed.
    """

    state_dtype = np.dtype(np.uint8)

    def __init__(self, environment_name: str):
        self.name = f"pgx:{environment_name}"
        self.rules_object = self
        if environment_name not in _FACTS:
            games = [f"pgx:{known}" for known in _FACTS]
            reason = "there is no such game of two players without chance"
            raise ConfigError.of("game", self.name, games, reason)
        jax, pgx = _import_packages()
        facts = _FACTS[environment_name]
        self._environment_name = environment_name
        self._facts = facts
        environment = pgx.make(environment_name)
        self.max_plies = facts.max_plies
        self.appearance = facts.appearance
        initials = "".join(side[:1] for side in facts.appearance.sides)
        self.piece_letters = "." + (initials or "XO")
        start = _first_player_begins(jax, environment)
        self.num_actions = len(start.legal_action_mask)
        height, width, num_planes = start.observation.shape
        self.planes_shape = (num_planes, height, width)
        tables = facts.symmetries or identity_tables(height, width, self.num_actions)
        self.cell_symmetries, self.action_symmetries = tables
        functions = _Functions(jax, environment, start)
        self._start_state = np.asarray(jax.jit(functions.pack)(start))
        self.state_size = len(self._start_state)
        self._header = np.dtype(header_fields(self.num_actions))
        self._step = jax.jit(jax.vmap(functions.step))
        self._observe = jax.jit(jax.vmap(functions.observe))
        self._playout = jax.jit(jax.vmap(functions.playout))

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return type(self), (self._environment_name,)

    def initial_states(self, num_games: int = 1) -> np.ndarray:
        return np.repeat(self._start_state[None], num_games, axis=0)

    def step(self, states: np.ndarray, actions: np.ndarray) -> Transition:
        following = np.empty(states.shape, np.uint8)
        self._in_batches(self._step, following, states, np.asarray(actions, np.int32))
        return self.inspect(following)

    def inspect(self, states: np.ndarray) -> Transition:
        return packed_transition(states, self._header, self.num_actions)

    def observe(self, states: np.ndarray) -> np.ndarray:
        planes = np.empty((len(states), *self.planes_shape), np.float32)
        self._in_batches(self._observe, planes, states)
        return planes

    def playout(self, states: np.ndarray, rng: np.ndarray) -> np.ndarray:
        results = np.empty(len(states), np.float32)
        bits = np.array([next_bits(rng) for _ in range(len(states))], np.uint64)
        keys = bits.view(np.uint32).reshape(-1, 2)
        self._in_batches(self._playout, results, states, keys)
        return results

    def _in_batches(self, function: Callable, out: np.ndarray, *inputs: np.ndarray) -> None:
        """Write ``function(*inputs)`` into ``out``, calling it with batches of only two sizes.

        JAX compiles a function for each batch size, which takes seconds, so only single rows
        and full batches are used. The last batch is padded with copies of its first row.

        Args:
            function: a compiled function of arrays whose first axis is the batch.
            out: the array for the results, one row per position.
            inputs: the arguments, with as many rows as ``out``.
        """
        announce_compilation("Compiling the rules of pgx, which takes some seconds ...")
        start = 0
        num = len(out)
        while start < num:
            size = 1 if num - start <= _MAX_SINGLES else self._facts.batch_size
            stop = min(start + size, num)
            rows = np.arange(start, start + size)
            rows[stop - start :] = start
            batch = [part[rows] for part in inputs]
            out[start:stop] = np.asarray(function(*batch))[: stop - start]
            start = stop

    # --- text -------------------------------------------------------------------------------------

    def cells(self, state: np.ndarray) -> np.ndarray:
        facts = self._facts
        planes = self.observe(state[None])[0] > 0
        player = int(self.players(state[None])[0])
        own, opponents = (
            planes[first : first + facts.num_piece_planes].any(axis=0)
            for first in (0, facts.opponent_plane)
        )
        board = np.where(own, 1 + player, np.where(opponents, 2 - player, 0)).astype(np.int8)
        return facts.turn(board) if player else board

    def action_squares(self, action: int) -> tuple[int, ...]:
        num_squares = math.prod(self.planes_shape[1:])
        fills_squares = self.num_actions - num_squares in (0, 1)
        return (action,) if fills_squares and action < num_squares else ()

    def own_action_text(self, action: int) -> str | None:
        return self._facts.last_action if action == self.num_actions - 1 else None

    def own_text_action(self, text: str) -> int | None:
        is_last = text.strip().lower() == self._facts.last_action
        return self.num_actions - 1 if is_last else None


load_game = PgxGame  #: makes the game ``"pgx:" + environment_name``


class _Functions:
    """Functions of a single state, written in JAX; `PgxGame` vectorizes and compiles them.

    Args:
        jax: the imported package ``jax``.
        environment: the pgx environment.
        start: any state of the environment, to read the shapes and dtypes of its arrays from.
    """

    def __init__(self, jax: Any, environment: Any, start: Any):
        self._jax = jax
        self._environment = environment
        self._mask = start.legal_action_mask
        self._empty = jax.numpy.zeros(0, bool)
        self._leaves, self._tree = jax.tree_util.tree_flatten(self._stripped(start))

    def pack(self, state: Any) -> Any:
        """Pack an environment state into a row of bytes, uint8[K]; `PgxGame` lists its parts."""
        jnp = self._jax.numpy
        is_over = state.terminated | state.truncated
        parts = [
            jnp.where(is_over, state.rewards[state.current_player], jnp.float32(0)),
            state.current_player.astype(jnp.uint8),
            is_over.astype(jnp.uint8),
            state.legal_action_mask & ~is_over,
            *self._jax.tree_util.tree_leaves(self._stripped(state)),
        ]
        return jnp.concatenate([self._bytes(part) for part in parts])

    def step(self, row: Any, action: Any) -> Any:
        """Play a legal action in a packed state, and return the new packed state, uint8[K]."""
        return self.pack(self._environment.step(self._unpack(row), action))

    def observe(self, row: Any) -> Any:
        """Return the network's input for the player to move in a packed state, float32[C, H, W]."""
        jnp = self._jax.numpy
        planes = self._environment.observe(self._unpack(row))
        return jnp.moveaxis(planes, 2, 0).astype(jnp.float32)

    def playout(self, row: Any, key: Any) -> Any:
        """Play random moves to the end of the game and return the result.

        Args:
            row: uint8[K], the packed state to start from.
            key: uint32[2], JAX's random key.

        Returns:
            The result in [-1, 1] for the player to move in ``row``.
        """
        jax = self._jax
        jnp = jax.numpy
        start = self._unpack(row)

        def play(carried: tuple) -> tuple:
            state, key = carried
            key, used = jax.random.split(key)
            ranks = jnp.cumsum(state.legal_action_mask)
            rank = jax.random.randint(used, (), 0, ranks[-1])
            action = jnp.argmax(ranks > rank)
            after = self._environment.step(state, action)
            return after.replace(observation=self._empty), key

        def goes_on(carried: tuple) -> Any:
            state, _ = carried
            return ~(state.terminated | state.truncated)

        end, _ = jax.lax.while_loop(goes_on, play, (start, key))
        return end.rewards[start.current_player]

    def _stripped(self, state: Any) -> Any:
        """Return a copy of an environment state without its observation and legal-action mask."""
        return state.replace(observation=self._empty, legal_action_mask=self._empty)

    def _bytes(self, array: Any) -> Any:
        if array.dtype == bool:
            return self._jax.numpy.packbits(array.ravel())
        return array.ravel().view(np.uint8)

    def _unpack(self, row: Any) -> Any:
        """Unpack a row of bytes, uint8[K], into an environment state with an empty observation."""
        offset = np.dtype(header_fields(0)).itemsize
        arrays = []
        for like in (self._mask, *self._leaves):
            num = math.prod(like.shape)
            start = offset
            if like.dtype == bool:
                offset += -(-num // 8)
                bits = self._jax.numpy.unpackbits(row[start:offset], count=num)
                array = bits.astype(bool)
            else:
                offset += num * like.dtype.itemsize
                array = row[start:offset].view(like.dtype)
            arrays.append(array.reshape(like.shape))
        legal, *leaves = arrays
        state = self._jax.tree_util.tree_unflatten(self._tree, leaves)
        return state.replace(legal_action_mask=legal)


def _import_packages() -> tuple[Any, Any]:
    """Import and return the packages jax and pgx.

    JAX is configured by `_configure`, unless the program has already imported it.

    Raises:
        ConfigError: if either package is not installed.
    """
    require("pgx", "jax", "pgx")
    is_first = "jax" not in sys.modules
    import jax

    if is_first:
        _configure(jax)
    import pgx

    return jax, pgx


def _configure(jax: Any) -> None:
    """Make JAX run on the CPU in the calling thread and cache compiled code on disk.

    JAX reads its number of threads from the environment variable NPROC when it first looks for its
    devices. JAX's warning about forks is hidden, because workers are spawned, not forked.
    """
    warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
    # If the cache is damaged or full, JAX compiles again.
    warnings.filterwarnings("ignore", r"Error (read|writ)ing persistent compilation", UserWarning)
    if not jax.config.jax_platforms:  # otherwise keep the user's JAX_PLATFORMS
        jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    if not jax.config.jax_compilation_cache_dir:
        with contextlib.suppress(OSError):  # without it JAX compiles in every process
            folder = str(private_folder(cache_directory().parent / "jax"))
            jax.config.update("jax_compilation_cache_dir", folder)
            jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
    os.environ.setdefault("NPROC", "1")


def _first_player_begins(jax: Any, environment: Any) -> Any:
    """Return a start state of an environment in which player 0 is to move.

    Because pgx draws the player who begins from the random key, several keys are tried.
    """
    init = jax.jit(environment.init)
    states = (init(jax.random.PRNGKey(seed)) for seed in range(1000))
    return next(state for state in states if state.current_player == 0)
