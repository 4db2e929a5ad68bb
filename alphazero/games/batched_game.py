"""The batched game: a game's rules applied to many positions at once.

Positions are arrays of states, one row per position. Search, self-play, matches and interactive
play know a game only through `Game`. `CompiledGame` implements it for games that define
`alphazero.games.rules`; `alphazero.own_games.python_game.PythonGame` implements it for games that
exist as Python objects.

Letters for shapes: B positions, K state words, A actions, S symmetries, C planes, H x W board.
"""

import abc
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.games.appearance import Appearance, read_appearance
from alphazero.games.square_names import action_names, named_action
from alphazero.games.text import parse_board, parse_index
from alphazero.runtime.jit import njit


class Transition(NamedTuple):
    """What the rules say about B positions, usually those after one action in each game."""

    states: np.ndarray  #: [B, K]
    over: np.ndarray  #: bool[B], True where the game is finished
    #: float32[B] in [-1, 1], for the player to move: 1 win, -1 loss, 0 draw or not finished; other
    #: results are possible, see `Game.result_range`
    results: np.ndarray
    players: np.ndarray  #: int8[B], the player to move; 0 began the game
    legal_action_mask: np.ndarray  #: bool[B, A], True = legal; all False where the game is finished


class Game(abc.ABC):
    """The interface of a game: operations on arrays of positions."""

    name: str  #: a name that `alphazero.own_games.registry.make_game` accepts
    rules_object: Any  #: the object whose class implements the rules
    num_actions: int  #: A, counting legal and illegal actions
    state_size: int  #: K, the length of a state
    state_dtype: np.dtype  #: dtype of a state array
    #: How many words at the start of a state identify the position; the rest is its history. None
    #: means all words.
    identity_size: int | None = None
    planes_shape: tuple[int, int, int]  #: (C, H, W) of the network's input
    max_plies: int  #: upper bound on the number of actions in a game, including passes
    cell_symmetries: np.ndarray  #: int32[S, H*W], see `rules.symmetries`
    action_symmetries: np.ndarray  #: int32[S, A]
    num_players: int = 2  #: 1 for a puzzle, whose player to move is always 0
    result_range: tuple[float, float] = (-1.0, 1.0)  #: worst and best result, scaled to -1 and 1
    notes: tuple[str, ...] = ()  #: notes for the user on rules that are legal but look wrong
    #: Digest that identifies a user's rules, see `alphazero.own_games.rules_digest`; "" for games
    #: that are identified by their names: those of this package and of its adapters.
    rules_digest: str = ""
    rules_text: str = ""  #: the text of the rules from which the digest is computed
    appearance: Appearance = Appearance()  #: see `rules.appearance`
    piece_letters: str = ".XO"  #: see `rules.piece_letters`

    @abc.abstractmethod
    def initial_states(self, num_games: int = 1) -> np.ndarray:
        """Return ``num_games`` start positions, [B, K]."""

    @abc.abstractmethod
    def step(self, states: np.ndarray, actions: np.ndarray) -> Transition:
        """Play one legal action in each position and describe the positions after it.

        ``states`` stays unchanged. The caller validates the actions, see `check_legal`.
        """

    @abc.abstractmethod
    def inspect(self, states: np.ndarray) -> Transition:
        """Describe the given positions ([B, K]) as `step` does, without playing an action."""

    @abc.abstractmethod
    def observe(self, states: np.ndarray) -> np.ndarray:
        """Return the network's input for the player to move, float32[B, C, H, W]."""

    @abc.abstractmethod
    def playout(self, states: np.ndarray, rng: np.ndarray) -> np.ndarray:
        """Play each position to its end with uniformly random actions.

        Args:
            rng: uint64[1], see `alphazero.runtime.random_generators.kernel_rng`.

        Returns:
            float32[B], each result from the viewpoint of the player to move in ``states``.
        """

    @abc.abstractmethod
    def cells(self, state: np.ndarray) -> np.ndarray:
        """Return the board, int8[H, W]: 0 empty, 1 the first player's piece, 2 the second's.

        A blocked square is 3, if `piece_letters` has a fourth letter.
        """

    def cells_to_state(self, board: np.ndarray, player: int) -> np.ndarray:
        """Return the state ([K]) with the given board (int8[H, W], see `cells`) and player to move.

        Raises:
            ValueError: if the board is not reachable or not supported, with the reason.
        """
        raise ValueError(
            f"'{self.name}' cannot set up a position from a board: give the moves that lead to it."
        )

    def text_to_state(self, text: str, player: int) -> np.ndarray:
        """Convert a board, typed in the form that `state_to_text` writes, to a state ([K]).

        Args:
            player: the player to move; 0 began the game.

        Raises:
            ValueError: with the wrong row and column, or the reason why the board is unreachable.
        """
        board = parse_board(text, self.planes_shape[1:], self.piece_letters, self.name)
        return self.cells_to_state(board, player)

    def action_squares(self, action: int) -> tuple[int, ...]:
        """Return the squares that an action names, see `rules.action_squares`."""
        return ()

    def action_to_text(self, action: int) -> str:
        """Format an action in the notation of the rules, which may count from 0.

        By default it is written as the names of its squares, or as its number. The text that people
        read on boards comes from `alphazero.boards.notation`.
        """
        own = self.own_action_text(action)
        return self._action_names[action] if own is None else own

    def text_to_action(self, text: str) -> int:
        """Parse an action that a person typed; raise ValueError if there is no such action."""
        own = self.own_text_action(text)
        if own is not None:
            return own
        if not any(self._squares):
            return parse_index(text, self.num_actions)
        return named_action(text, self._squares, *self._naming)

    def own_action_text(self, action: int) -> str | None:
        """Format an action in the rules' own notation; return None if they define none."""
        return None

    def own_text_action(self, text: str) -> int | None:
        """Parse an action in the rules' own notation; return None if they define none."""
        return None

    # --- operations derived from those above ------------------------------------------------------

    @functools.cached_property
    def _action_names(self) -> list[str]:
        """Each action's default text: the names of its squares, or its number."""
        return action_names(self._squares, *self._naming)

    @functools.cached_property
    def _squares(self) -> list[tuple[int, ...]]:
        return [self.action_squares(action) for action in range(self.num_actions)]

    @property
    def _naming(self) -> tuple[int, int, bool]:
        return *self.planes_shape[1:], self.appearance.rows_from_top

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def over(self, states: np.ndarray) -> np.ndarray:
        """Return bool[B]: True where the game is finished."""
        return self.inspect(states).over

    def results(self, states: np.ndarray) -> np.ndarray:
        """Return float32[B]: results of finished games for the player to move, 0 elsewhere."""
        return self.inspect(states).results

    def players(self, states: np.ndarray) -> np.ndarray:
        """Return int8[B]: the player to move; 0 began the game."""
        return self.inspect(states).players

    def legal_action_mask(self, states: np.ndarray) -> np.ndarray:
        """Return bool[B, A], True where an action is legal."""
        return self.inspect(states).legal_action_mask

    def identity(self, states: np.ndarray) -> np.ndarray:
        """Return the columns of the states that identify the positions, [B, at most K].

        States whose columns are equal are the same position, whatever moves led to it.
        """
        return states[:, : self.identity_size]

    def own_result(self, value: float) -> float:
        """Convert a result in [-1, 1] to the rules' own scale, see `result_range`."""
        worst, best = self.result_range
        return worst + (value + 1) * (best - worst) / 2

    def check_legal(self, state: np.ndarray, action: int) -> None:
        """Raise ValueError if ``action`` is not legal in ``state`` ([K])."""
        inspected = self.inspect(state[None])
        if inspected.over[0]:
            raise ValueError("the game is over: no move is legal.")
        legal = np.flatnonzero(inspected.legal_action_mask[0]).tolist()
        if action not in legal:
            moves = ", ".join(map(str, legal))
            raise ValueError(f"'{action}' is not legal here; legal moves: {moves}.")

    def play_moves(self, actions: Sequence[int], start: np.ndarray | None = None) -> np.ndarray:
        """Play a list of actions and return the state ([K]) after them.

        Args:
            start: [K], the position to begin with; None means the start of the game.

        Raises:
            ValueError: at the first illegal action; the message says where it is in the list.
        """
        state = self.initial_states()[0] if start is None else start
        for number, action in enumerate(actions, 1):
            is_number = isinstance(action, (int, np.integer)) and not isinstance(action, bool)
            if not (is_number and 0 <= action < self.num_actions):
                allowed = f"a move is a number from 0 to {self.num_actions - 1}"
                raise ValueError(f"move {number} of the list is {action!r}: {allowed}.")
            try:
                self.check_legal(state, action)
            except ValueError as error:
                raise ValueError(f"move {number} of the list: {error}") from None
            after = self.step(state[None], np.array([action], np.int32))
            state = after.states[0]
        return state

    def drawn(self, state: np.ndarray) -> str | None:
        """Draw a position ([K]) in the rules' own form; return None if `cells` shows everything."""
        return None

    def state_to_text(self, state: np.ndarray) -> str:
        """Draw the board of a state ([K]) as text, one line per row."""
        drawn = self.drawn(state)
        if drawn is not None:
            return drawn
        letters = self.piece_letters
        lines = ["".join(letters[cell] for cell in row) for row in self.cells(state)]
        return "\n".join(lines)


class CompiledGame(Game):
    """A game whose rules are compiled functions, see `alphazero.games.rules`.

    Args:
        name: the game's name with its sizes, accepted by `alphazero.own_games.registry.make_game`.
        sizes: the NamedTuple whose class implements the rules.
    """

    def __init__(self, name: str, sizes: Any):
        self.name = name
        self.rules = self.rules_object = sizes
        self.num_actions = rules.num_actions(sizes)
        self.state_size, self.state_dtype = rules.state_layout(sizes)
        self.planes_shape = rules.planes_shape(sizes)
        self.max_plies = rules.max_plies(sizes)
        self.cell_symmetries, self.action_symmetries = rules.symmetries(sizes)
        self.num_players = rules.num_players(sizes)
        worst, best = rules.result_range(sizes)
        self.result_range = float(worst), float(best)
        self.appearance = read_appearance(rules.appearance(sizes))
        self.piece_letters = rules.piece_letters(sizes)

    def __reduce__(self) -> tuple[type, tuple[str, Any]]:
        return type(self), (self.name, self.rules)

    def initial_states(self, num_games: int = 1) -> np.ndarray:
        state = np.zeros(self.state_size, self.state_dtype)
        rules.reset(self.rules, state)
        return np.repeat(state[None], num_games, axis=0)

    def step(self, states: np.ndarray, actions: np.ndarray) -> Transition:
        states = states.copy()
        _step_rows(self.rules, states, np.asarray(actions, np.int32))
        return self.inspect(states)

    def inspect(self, states: np.ndarray) -> Transition:
        num = len(states)
        transition = Transition(
            states=states,
            over=np.zeros(num, np.bool_),
            results=np.zeros(num, np.float32),
            players=np.zeros(num, np.int8),
            legal_action_mask=np.zeros((num, self.num_actions), np.bool_),
        )
        _inspect_rows(self.rules, *transition)
        return transition

    def observe(self, states: np.ndarray) -> np.ndarray:
        planes = np.zeros((len(states), *self.planes_shape), np.float32)
        _observe_rows(self.rules, states, planes)
        return planes

    def playout(self, states: np.ndarray, rng: np.ndarray) -> np.ndarray:
        results = np.zeros(len(states), np.float32)
        mask = np.zeros(self.num_actions, np.bool_)
        _playout_rows(self.rules, states.copy(), rng, mask, results)
        return results

    # --- text -------------------------------------------------------------------------------------

    def cells(self, state: np.ndarray) -> np.ndarray:
        return rules.cells(self.rules, state)

    def cells_to_state(self, board: np.ndarray, player: int) -> np.ndarray:
        return rules.from_cells(self.rules, board, player)

    def action_squares(self, action: int) -> tuple[int, ...]:
        return rules.action_squares(self.rules, action)

    def own_action_text(self, action: int) -> str | None:
        return rules.action_to_text(self.rules, action)

    def own_text_action(self, text: str) -> int | None:
        return rules.text_to_action(self.rules, text)


# --- kernels: one row per position ----------------------------------------------------------------


@njit
def _step_rows(game: Any, states: np.ndarray, actions: np.ndarray) -> None:
    for row in range(states.shape[0]):
        rules.step(game, states[row], actions[row])


@njit
def _inspect_rows(
    game: Any,
    states: np.ndarray,
    over: np.ndarray,
    results: np.ndarray,
    players: np.ndarray,
    legal_action_mask: np.ndarray,
) -> None:
    for row in range(states.shape[0]):
        over[row] = rules.is_over(game, states[row])
        if over[row]:
            results[row] = rules.scaled_result(game, states[row])
        players[row] = rules.player_to_move(game, states[row])
        rules.legal_actions(game, states[row], legal_action_mask[row])


@njit
def _observe_rows(game: Any, states: np.ndarray, planes: np.ndarray) -> None:
    for row in range(states.shape[0]):
        rules.observe(game, states[row], planes[row])


@njit
def _playout_rows(
    game: Any, states: np.ndarray, rng: np.ndarray, mask: np.ndarray, results: np.ndarray
) -> None:
    for row in range(states.shape[0]):
        player = rules.player_to_move(game, states[row])
        while not rules.is_over(game, states[row]):
            action = rules.random_action(game, states[row], rng, mask)
            rules.step(game, states[row], action)
        sign = 1.0 if rules.player_to_move(game, states[row]) == player else -1.0
        results[row] = sign * rules.scaled_result(game, states[row])
