"""Apply the rules of a game to a batch of positions at once.

Positions are arrays of states, one row per position. Search, self-play, matches and interactive
play use a game only through the interface `Game`. `CompiledGame` implements it for games that
define the compiled functions of `alphazero.games.rules`, and
`alphazero.own_games.python_game.PythonGame` for games whose positions are Python objects.

Letters for shapes: B positions, K state entries, A actions, S symmetries, C planes, H x W board.
"""

import abc
import functools
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.games.appearance import Appearance, read_appearance
from alphazero.games.square_names import action_names, named_action
from alphazero.games.text import parse_board, parse_index
from alphazero.runtime.jit import njit


class Transition(NamedTuple):
    """The state of play in B positions: results, players to move and legal actions.

    `Game.step` returns it for the positions after the actions, `Game.inspect` for given positions.
    """

    states: np.ndarray  #: [B, K], the positions
    over: np.ndarray  #: bool[B], True where the game is finished
    #: float32[B] in [-1, 1], for the player to move: 1 win, -1 loss, 0 draw or not finished; other
    #: values occur in games with a `Game.result_range` of their own
    results: np.ndarray
    players: np.ndarray  #: int8[B], the player to move; 0 began the game
    legal_action_mask: np.ndarray  #: bool[B, A], True = legal; all False where the game is finished


class Game(abc.ABC):
    """The interface through which all other packages use a game: operations on arrays of states."""

    name: str  #: a name that `alphazero.own_games.registry.make_game` accepts
    rules_object: Any  #: the object whose class implements the rules; identifies a user's game
    num_actions: int  #: A, the number of actions, legal or not
    state_size: int  #: K, the length of a state
    state_dtype: np.dtype  #: dtype of a state
    planes_shape: tuple[int, int, int]  #: (C, H, W) of the network's input
    max_plies: int  #: upper bound on the number of actions in a game, including passes
    cell_symmetries: np.ndarray  #: int32[S, H*W], see `rules.symmetries`
    action_symmetries: np.ndarray  #: int32[S, A], see `rules.symmetries`
    num_players: int = 2  #: 1 for a puzzle, whose player to move is always 0
    #: The worst and the best result on the game's own scale, which become -1 and 1 in `results`.
    result_range: tuple[float, float] = (-1.0, 1.0)
    notes: tuple[str, ...] = ()  #: warnings for the user about rules that are valid but look wrong
    #: SHA-256 hex digest that identifies a user's rules (see `alphazero.own_games.rules_digest`);
    #: "" for games identified by their names: those of this package and of its adapters.
    rules_digest: str = ""
    rules_text: str = ""  #: the text of the rules from which the digest is computed
    appearance: Appearance = Appearance()  #: see `rules.appearance`
    piece_letters: str = ".XO"  #: see `rules.piece_letters`

    @abc.abstractmethod
    def initial_states(self, num_games: int = 1) -> np.ndarray:
        """Return ``num_games`` copies of the start position, [B, K]."""

    @abc.abstractmethod
    def step(self, states: np.ndarray, actions: np.ndarray) -> Transition:
        """Play one action in each position, and return the state of play in the new positions.

        The actions must be legal: the caller validates them, for example with `check_legal`.

        Args:
            states: [B, K], the positions before the actions; not modified.
            actions: int[B], one action per position.
        """

    @abc.abstractmethod
    def inspect(self, states: np.ndarray) -> Transition:
        """Return the state of play in the given positions, without playing an action.

        Args:
            states: [B, K], the positions; returned, not copied, as `Transition.states`.
        """

    @abc.abstractmethod
    def observe(self, states: np.ndarray) -> np.ndarray:
        """Return the network's input for the player to move, float32[B, C, H, W].

        Args:
            states: [B, K], one position of K state words per row.
        """

    @abc.abstractmethod
    def playout(self, states: np.ndarray, rng: np.ndarray) -> np.ndarray:
        """Play uniformly random games from the given positions to their ends; return the results.

        Args:
            states: [B, K], the positions to start from; not modified.
            rng: uint64[1], the random state, which is advanced; see
                `alphazero.runtime.random_generators.kernel_rng`.

        Returns:
            float32[B], each result in [-1, 1] for the player to move in ``states``.
        """

    @abc.abstractmethod
    def cells(self, state: np.ndarray) -> np.ndarray:
        """Return the board of a state (K entries) as int8[H, W].

        A square is 0 if empty, 1 if it holds a piece of the player who began the game, 2 if it
        holds the other player's, and 3 if it is blocked, in games with blocked squares.
        """

    def cells_to_state(self, board: np.ndarray, player: int) -> np.ndarray:
        """Return the state (K entries) with the given board and player to move.

        Args:
            board: int8[H, W], as `cells` returns it.
            player: the player to move; 0 began the game.

        Raises:
            ValueError: if the board cannot be reached in a game, or the game does not support
                setting up boards.
        """
        raise ValueError(
            f"'{self.name}' cannot set up a position from a board: give the moves that lead to it."
        )

    def text_to_state(self, text: str, player: int) -> np.ndarray:
        """Convert a board, typed in the form that `state_to_text` writes, to a state (K entries).

        Args:
            text: one line per row, one letter of `piece_letters` per square.
            player: the player to move; 0 began the game.

        Raises:
            ValueError: if the text is not a board of this game, or `cells_to_state` refuses the
                board; the message names the wrong line and column, or the reason.
        """
        board = parse_board(text, self.planes_shape[1:], self.piece_letters, self.name)
        return self.cells_to_state(board, player)

    def action_squares(self, action: int) -> tuple[int, ...]:
        """Return the squares of an action, each as row * W + column; () if it has none.

        They are the square that the action fills, or those that a moved piece leaves and enters;
        see `rules.action_squares`.
        """
        return ()

    def action_to_text(self, action: int) -> str:
        """Format an action as text that `text_to_action` reads back.

        The text is the game's own notation if the rules define one; otherwise the names of the
        action's squares, such as "a2a3", or its number, counted from 0. Boards shown to people use
        `alphazero.boards.notation` instead.
        """
        own = self.own_action_text(action)
        return self._action_names[action] if own is None else own

    def text_to_action(self, text: str) -> int:
        """Parse an action that a person typed in the form of `action_to_text`; return its number.

        Raises:
            ValueError: if the text is not an action of the game; the message says what is allowed.
        """
        own = self.own_text_action(text)
        if own is not None:
            return own
        if not any(self._squares):
            return parse_index(text, self.num_actions)
        return named_action(text, self._squares, *self._naming)

    def own_action_text(self, action: int) -> str | None:
        """Format an action in the game's own notation, or return None if the rules define none."""
        return None

    def own_text_action(self, text: str) -> int | None:
        """Parse an action in the game's own notation, or return None if the rules define none.

        Raises:
            ValueError: if the rules define a notation and the text is not an action in it.
        """
        return None

    # --- operations derived from those above ------------------------------------------------------

    @functools.cached_property
    def identity_size(self) -> int:
        """Number of leading entries of a state that identify the position.

        By default these are all. The rest are the moves that led to the position, which `inspect`
        and `observe` do not need: they also accept states without them.
        """
        return self.state_size

    @functools.cached_property
    def _action_names(self) -> list[str]:
        """The text of each action without a notation of the game's own; see `action_names`."""
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
        """Return whether the game is finished in each position, bool[B].

        Args:
            states: [B, K], one position of K state words per row.
        """
        return self.inspect(states).over

    def results(self, states: np.ndarray) -> np.ndarray:
        """Return the result of each finished game for the player to move, float32[B].

        Entries for unfinished games are 0.

        Args:
            states: [B, K], one position of K state words per row.
        """
        return self.inspect(states).results

    def players(self, states: np.ndarray) -> np.ndarray:
        """Return the player to move in each position, int8[B]; 0 began the game.

        Args:
            states: [B, K], one position of K state words per row.
        """
        return self.inspect(states).players

    def legal_action_mask(self, states: np.ndarray) -> np.ndarray:
        """Return whether each action is legal in each position, bool[B, A].

        A row is all False if its game is finished.

        Args:
            states: [B, K], one position of K state words per row.
        """
        return self.inspect(states).legal_action_mask

    def identity(self, states: np.ndarray) -> np.ndarray:
        """Return the columns of the states that identify the positions, [B, identity_size].

        Two states whose rows are equal in these columns are the same position, even if different
        moves led to it.

        Args:
            states: [B, K], one position of K state words per row.
        """
        return states[:, : self.identity_size]

    def variant(self, state: np.ndarray) -> Hashable:
        """Return what may tell a state (K entries) from others of equal `identity`.

        Where identity and variant are equal, the same moves lead to the same results.
        """
        return ()

    def moves_of(self, state: np.ndarray) -> list[int]:
        """Return the moves that led to a state (K entries); [] if states do not hold them."""
        return []

    def own_result(self, value: float) -> float:
        """Convert a result in [-1, 1] to the game's own scoring scale, such as a number of points.

        -1 becomes the worst and 1 the best result of `result_range`.

        Args:
            value: the result, or a mean of results, in [-1, 1].
        """
        worst, best = self.result_range
        return worst + (value + 1) * (best - worst) / 2

    def check_states(self, states: np.ndarray) -> None:
        """Check that an array is [B, K], positions as states of this game.

        Raises:
            ValueError: if it has another shape or dtype.
        """
        if (states.shape[1:], states.dtype) != ((self.state_size,), self.state_dtype):
            allowed = f"{self.state_dtype}[{self.state_size}], such as game.initial_states()[0]"
            given = f"{states.dtype}{list(states.shape[1:])}"
            raise ValueError(f"a position of {self.name} is {allowed}, not {given}.")

    def check_legal(self, state: np.ndarray, action: int) -> None:
        """Check that an action is legal in a state (K entries).

        Raises:
            ValueError: if the game is over, or the action is not legal; the message then lists the
                legal actions.
        """
        inspected = self.inspect(state[None])
        if inspected.over[0]:
            raise ValueError("the game is over: no move is legal.")
        legal = np.flatnonzero(inspected.legal_action_mask[0]).tolist()
        if action not in legal:
            moves = ", ".join(map(str, legal))
            raise ValueError(f"'{action}' is not legal here; legal moves: {moves}.")

    def play_moves(
        self, actions: Sequence[int] | np.ndarray, start: np.ndarray | None = None
    ) -> np.ndarray:
        """Play a sequence of actions and return the state (K entries) after the last one.

        Args:
            actions: the actions in the order of play.
            start: the position to start from, an array of K state words; None means the start of
                the game.

        Raises:
            ValueError: if an action is illegal; the message says which move of the sequence it is.
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
        """Draw the position of a state (K entries) as text, if the rules define their own drawing.

        Returns:
            The text; None if the rules define no drawing, as the board of `cells` shows everything.
        """
        return None

    def legal_texts(self, state: np.ndarray) -> list[str] | None:
        """Return the texts of a state's legal actions, in order, if texts depend on the position.

        Returns:
            The texts, to be shown beside the board; None if `action_to_text` says as much.
        """
        return None

    def state_to_text(self, state: np.ndarray) -> str:
        """Draw the position of a state (K entries) as text.

        The text is the rules' own drawing if they define one (see `drawn`), otherwise the board:
        one line per row, with one letter of `piece_letters` per square.
        """
        drawn = self.drawn(state)
        if drawn is not None:
            return drawn
        lines = ["".join(self.piece_letters[cell] for cell in row) for row in self.cells(state)]
        return "\n".join(lines)


class CompiledGame(Game):
    """A game whose rules are compiled functions, as described in `alphazero.games.rules`.

    Args:
        name: a name that `alphazero.own_games.registry.make_game` accepts, including the board
            size.
        sizes: the game as an instance of the NamedTuple class that implements the rules, such as
            ``ConnectX(6, 7, 4)``.
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
        self.check_states(states)
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
