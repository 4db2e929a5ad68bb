"""A game one position at a time: what the checks of its rules see.

In: a game. Out: the same operations whatever its rules are written in, with the names of
`alphazero.textbook.game.Rules`, so that the textbook's search runs on them. Compiled rules are
called as the plain Python that they are written in. A position is a value that no operation
changes, unless a rule is wrong.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from alphazero.games import rules
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.own_games.python_game import PythonGame


class Sizes(NamedTuple):
    """What a game says of itself."""

    num_actions: int
    planes_shape: tuple[int, int, int]
    max_plies: int
    num_players: int
    piece_letters: str


def _sizes_of(game: Game) -> Sizes:
    planes_shape, letters = game.planes_shape, game.piece_letters
    return Sizes(game.num_actions, planes_shape, game.max_plies, game.num_players, letters)


class OnePosition(Protocol):
    """The rules of a game, for one position at a time. Results are in [-1, 1]."""

    sizes: Sizes
    has_binary_planes: bool  #: whether the rules promise planes of 0 and 1 alone

    def initial_state(self) -> Any:
        """Return the start position."""

    def player_to_move(self, state: Any) -> int:
        """Return 0 for the player who began the game, 1 for the other."""

    def legal_actions(self, state: Any) -> list[int]:
        """Return what the rules call legal; empty where Python rules are not asked: at the end."""

    def step(self, state: Any, action: int) -> Any:
        """Return the position after an action."""

    def is_over(self, state: Any) -> bool:
        """Return whether the game is finished."""

    def result(self, state: Any) -> float:
        """Return the result of a finished game for the player to move, in [-1, 1]."""

    def board(self, state: Any) -> np.ndarray:
        """Return what the rule `cells` returns."""

    def planes(self, state: Any) -> np.ndarray:
        """Return the network's input, [C, H, W]."""

    def key(self, state: Any) -> bytes:
        """Return bytes that tell positions apart."""

    def symmetries(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (cells, actions), see `alphazero.games.rules.symmetries`."""

    def set_up(self, board: np.ndarray, player: int) -> Any:
        """Return the position with a board; raise ValueError if the rules cannot tell."""


class CompiledPosition:
    """Rules that numba compiles elsewhere; a position is a state array."""

    has_binary_planes = False

    def __init__(self, sizes: Any):
        self.rules = sizes
        self.sizes = Sizes(
            rules.num_actions(sizes),
            rules.planes_shape(sizes),
            rules.max_plies(sizes),
            rules.num_players(sizes),
            rules.piece_letters(sizes),
        )

    def initial_state(self) -> np.ndarray:
        state = np.zeros(*rules.state_layout(self.rules))
        rules.reset(self.rules, state)
        return state

    def player_to_move(self, state: np.ndarray) -> int:
        return rules.player_to_move(self.rules, state)

    def legal_actions(self, state: np.ndarray) -> list[int]:
        return np.flatnonzero(self.mask(state, False)).tolist()

    def mask(self, state: np.ndarray, before: bool) -> np.ndarray:
        """Return what the rule writes into a mask (bool[A]) that is full of ``before``."""
        mask = np.full(self.sizes.num_actions, before)
        rules.legal_actions(self.rules, state, mask)
        return mask

    def step(self, state: np.ndarray, action: int) -> np.ndarray:
        following = state.copy()
        rules.step(self.rules, following, action)
        return following

    def is_over(self, state: np.ndarray) -> bool:
        return bool(rules.is_over(self.rules, state))

    def result(self, state: np.ndarray) -> float:
        return float(rules.scaled_result(self.rules, state))

    def board(self, state: np.ndarray) -> np.ndarray:
        return rules.cells(self.rules, state)

    def planes(self, state: np.ndarray) -> np.ndarray:
        planes = np.zeros(self.sizes.planes_shape, np.float32)
        rules.observe(self.rules, state, planes)
        return planes

    def key(self, state: np.ndarray) -> bytes:
        return state.tobytes()

    def symmetries(self) -> tuple[np.ndarray, np.ndarray]:
        return rules.symmetries(self.rules)

    def set_up(self, board: np.ndarray, player: int) -> np.ndarray:
        return rules.from_cells(self.rules, board, player)


class ObjectPosition:
    """Rules of a class in plain Python; a position is an object."""

    def __init__(self, game: PythonGame):
        self.game = game
        self.sizes = _sizes_of(game)
        self.has_binary_planes = game.has_binary_planes

    def initial_state(self) -> Any:
        return self.game.position(self.game.initial_states()[0])

    def player_to_move(self, state: Any) -> int:
        return state.player_to_move()

    def legal_actions(self, state: Any) -> list[int]:
        return [] if state.is_over() else list(state.legal_actions())

    def step(self, state: Any, action: int) -> Any:
        return self.game.after(state, action)

    def is_over(self, state: Any) -> bool:
        return bool(state.is_over())

    def result(self, state: Any) -> float:
        return self.game.scaled_result(state)

    def board(self, state: Any) -> np.ndarray:
        return np.asarray(state.cells())

    def planes(self, state: Any) -> np.ndarray:
        return np.asarray(self.game.planes(state))

    def key(self, state: Any) -> bytes:
        own = state.key() if hasattr(state, "key") else b""
        facts = self.player_to_move(state), self.is_over(state), self.legal_actions(state)
        arrays = self.board(state).tobytes(), self.planes(state).tobytes()
        return b"".join((own, repr(facts).encode(), *arrays))

    def symmetries(self) -> tuple[np.ndarray, np.ndarray]:
        return self.game.cell_symmetries, self.game.action_symmetries

    def set_up(self, board: np.ndarray, player: int) -> np.ndarray:
        return self.game.cells_to_state(board, player)


class BatchedPosition:
    """Any other game, in batches of one position; a position is a state array."""

    has_binary_planes = False

    def __init__(self, game: Game):
        self.game = game
        self.sizes = _sizes_of(game)

    def initial_state(self) -> np.ndarray:
        return self.game.initial_states()[0]

    def player_to_move(self, state: np.ndarray) -> int:
        return int(self.game.players(state[None])[0])

    def legal_actions(self, state: np.ndarray) -> list[int]:
        return np.flatnonzero(self.game.legal_action_mask(state[None])[0]).tolist()

    def step(self, state: np.ndarray, action: int) -> np.ndarray:
        return self.game.step(state[None], np.array([action], np.int32)).states[0]

    def is_over(self, state: np.ndarray) -> bool:
        return bool(self.game.over(state[None])[0])

    def result(self, state: np.ndarray) -> float:
        return float(self.game.results(state[None])[0])

    def board(self, state: np.ndarray) -> np.ndarray:
        return self.game.cells(state)

    def planes(self, state: np.ndarray) -> np.ndarray:
        return self.game.observe(state[None])[0]

    def key(self, state: np.ndarray) -> bytes:
        return self.game.identity(state[None])[0].tobytes()

    def symmetries(self) -> tuple[np.ndarray, np.ndarray]:
        return self.game.cell_symmetries, self.game.action_symmetries

    def set_up(self, board: np.ndarray, player: int) -> np.ndarray:
        return self.game.cells_to_state(board, player)


def one_position(game: Any) -> OnePosition:
    """Return a game, or the NamedTuple of compiled rules, one position at a time."""
    if isinstance(game, PythonGame):
        return ObjectPosition(game)
    if isinstance(game, CompiledGame):
        return CompiledPosition(game.rules)
    return BatchedPosition(game) if isinstance(game, Game) else CompiledPosition(game)
