"""The second seam: the same verbs over many positions at once. Search, self-play, arena and play see a game only through this class.

In: arrays of states, one row for each position. Out: arrays. `CompiledGame` makes this view of any game that implements
`alphazero.games.rules`; `alphazero.games.python_game.PythonGame` makes it of a game that only exists as Python objects.
Letters for shapes: B positions, K state words, A actions, S symmetries, C planes, H x W board.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.runtime.jit import njit


class Transition(NamedTuple):
    """What follows from playing one action in each of B positions."""

    states: np.ndarray  #: [B, K], the positions after the action
    over: np.ndarray  #: bool[B], True where the game is finished
    results: np.ndarray  #: float32[B], of a finished game 1, 0 or -1 from the viewpoint of the player to move there, otherwise 0
    players: np.ndarray  #: int8[B], the player to move, 0 for the one who moves first in the game
    legal_action_mask: np.ndarray  #: bool[B, A], True = legal; all False where the game is finished


class Game:
    """What every game answers about arrays of positions, whatever its rules are written in."""

    name: str  #: as `alphazero.games.registry.make_game` reads it
    num_actions: int  #: A
    state_size: int  #: K
    state_dtype: np.dtype  #: of a state array
    planes_shape: tuple[int, int, int]  #: (C, H, W) of the network's input
    max_plies: int  #: an upper bound of the number of actions in one game, passes included
    cell_symmetries: np.ndarray  #: int32[S, H*W], see `rules.symmetries`
    action_symmetries: np.ndarray  #: int32[S, A]

    def initial_states(self, num_games: int = 1) -> np.ndarray:
        """Return ``num_games`` start positions, [B, K]."""
        raise NotImplementedError

    def step(self, states: np.ndarray, actions: np.ndarray) -> Transition:
        """Play one legal action in each position; ``states`` stays as it is. Never validates: see `check_legal`."""
        raise NotImplementedError

    def inspect(self, states: np.ndarray) -> Transition:
        """Return, without playing anything, what `step` returns about the positions that it leads to."""
        raise NotImplementedError

    def observe(self, states: np.ndarray) -> np.ndarray:
        """Return the canonical form for the player to move: the network's input planes, float32[B, C, H, W]."""
        raise NotImplementedError

    def playout(self, states: np.ndarray, rng: np.ndarray) -> np.ndarray:
        """Play each position to its end at random.

        Args:
            rng: uint64[1], see `alphazero.runtime.random_generators.kernel_rng`.

        Returns:
            float32[B], the results from the viewpoint of the player to move in ``states``.
        """
        raise NotImplementedError

    def cells(self, state: np.ndarray) -> np.ndarray:
        """Return the board as int8[H, W]: 0 empty, 1 a piece of the player who moves first in the game, 2 of the other."""
        raise NotImplementedError

    def cells_to_state(self, board: np.ndarray, player: int) -> np.ndarray:
        """Return the state ([K]) with the given board (int8[H, W], as `cells` gives it) and player to move.

        Raises:
            ValueError: if no game can have this position, with a sentence that says why.
        """
        raise NotImplementedError

    @property
    def piece_letters(self) -> str:
        """Three letters: the empty square, the first player's piece, the second player's."""
        raise NotImplementedError

    def text_to_state(self, text: str, player: int) -> np.ndarray:
        """Read a board from text as `state_to_text` writes it.

        Args:
            player: who is to move, 0 for the player who moves first in the game.

        Raises:
            ValueError: naming the row and the character that is wrong, or why no game reaches the position.
        """
        raise NotImplementedError

    def action_to_text(self, action: int) -> str:
        """Return how a person writes this action."""
        raise NotImplementedError

    def text_to_action(self, text: str) -> int:
        """Return the action that a person wrote; raises ValueError with one plain sentence."""
        raise NotImplementedError

    # --- what follows from the verbs above ----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def over(self, states: np.ndarray) -> np.ndarray:
        """Return bool[B]: which games are finished."""
        return self.inspect(states).over

    def results(self, states: np.ndarray) -> np.ndarray:
        """Return float32[B]: the results of the finished games, from the viewpoint of the player to move, 0 elsewhere."""
        return self.inspect(states).results

    def players(self, states: np.ndarray) -> np.ndarray:
        """Return int8[B]: the player to move, 0 for the one who moves first in the game."""
        return self.inspect(states).players

    def legal_action_mask(self, states: np.ndarray) -> np.ndarray:
        """Return bool[B, A], True = legal."""
        return self.inspect(states).legal_action_mask

    def check_legal(self, state: np.ndarray, action: int, in_words: bool = True) -> None:
        """Raise ValueError with one plain sentence if ``action`` is not legal in ``state`` ([K]).

        Args:
            in_words: name actions as a person writes them, otherwise by their numbers.
        """
        inspected = self.inspect(state[None])
        if inspected.over[0]:
            raise ValueError("the game is over: no move is legal.")
        legal = np.flatnonzero(inspected.legal_action_mask[0])
        if action not in legal:
            name = self.action_to_text if in_words else str
            raise ValueError(
                f"'{name(action)}' is not legal here; legal moves: {', '.join(name(other) for other in legal)}."
            )

    def play_moves(self, actions) -> np.ndarray:
        """Return the state ([K]) after the listed actions from the start.

        Raises:
            ValueError: for an action that is not legal, with its place in the list.
        """
        state = self.initial_states()[0]
        for index, action in enumerate(actions):
            if (
                isinstance(action, bool)
                or not isinstance(action, (int, np.integer))
                or not 0 <= action < self.num_actions
            ):
                raise ValueError(
                    f"move {index + 1} of the list is {action!r}: a move is a number from 0 to {self.num_actions - 1}."
                )
            try:
                self.check_legal(state, action, in_words=False)
            except ValueError as error:
                raise ValueError(f"move {index + 1} of the list: {error}") from None
            state = self.step(state[None], [action]).states[0]
        return state

    def state_to_text(self, state: np.ndarray) -> str:
        """Return the board as text, one line for each row."""
        letters = self.piece_letters
        return "\n".join("".join(letters[cell] for cell in row) for row in self.cells(state))


class CompiledGame(Game):
    """A game whose rules are compiled.

    Args:
        name: the name of the game with its sizes, as `alphazero.games.registry.make_game` reads it.
        sizes: the NamedTuple that the rules are registered for.
    """

    def __init__(self, name: str, sizes):
        self.name = name
        self.rules = sizes
        self.num_actions = rules.num_actions(sizes)
        self.state_size, self.state_dtype = rules.state_layout(sizes)
        self.planes_shape = rules.planes_shape(sizes)
        self.max_plies = rules.max_plies(sizes)
        self.cell_symmetries, self.action_symmetries = rules.symmetries(sizes)

    def __reduce__(self):
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
        out = Transition(
            states,
            np.zeros(num, np.bool_),
            np.zeros(num, np.float32),
            np.zeros(num, np.int8),
            np.zeros((num, self.num_actions), np.bool_),
        )
        _inspect_rows(self.rules, *out)
        return out

    def observe(self, states: np.ndarray) -> np.ndarray:
        planes = np.zeros((len(states), *self.planes_shape), np.float32)
        _observe_rows(self.rules, states, planes)
        return planes

    def playout(self, states: np.ndarray, rng: np.ndarray) -> np.ndarray:
        results = np.zeros(len(states), np.float32)
        _playout_rows(self.rules, states.copy(), rng, np.zeros(self.num_actions, np.bool_), results)
        return results

    # --- text ---------------------------------------------------------------------------------------------------------------------------

    def cells(self, state: np.ndarray) -> np.ndarray:
        return rules.cells(self.rules, state)

    def cells_to_state(self, board: np.ndarray, player: int) -> np.ndarray:
        return rules.from_cells(self.rules, board, player)

    @property
    def piece_letters(self) -> str:
        return rules.piece_letters(self.rules)

    def text_to_state(self, text: str, player: int) -> np.ndarray:
        _, height, width = self.planes_shape
        letters = self.piece_letters
        lines = text.strip("\n").split("\n")
        if len(lines) != height:
            raise ValueError(f"the board has {len(lines)} rows; {self.name} has {height}.")
        board = np.zeros((height, width), np.int8)
        for row, line in enumerate(lines):
            line = line.rstrip("\r")
            for column, letter in enumerate(line[:width]):
                if letter not in letters:
                    raise ValueError(
                        f"row {row}, column {column} holds '{letter}'; allowed are {', '.join(repr(x) for x in letters)}."
                    )
                board[row, column] = letters.index(letter)
            if len(line) != width:
                raise ValueError(
                    f"row {row} has {len(line)} characters; {self.name} has {width} columns."
                )
        return self.cells_to_state(board, player)

    def action_to_text(self, action: int) -> str:
        return rules.action_to_text(self.rules, action)

    def text_to_action(self, text: str) -> int:
        return rules.text_to_action(self.rules, text)


# --- kernels ----------------------------------------------------------------------------------------------------------------------------


@njit
def _step_rows(game, states, actions):
    for row in range(states.shape[0]):
        rules.step(game, states[row], actions[row])


@njit
def _inspect_rows(game, states, over, results, players, legal_action_mask):
    for row in range(states.shape[0]):
        over[row] = rules.is_over(game, states[row])
        if over[row]:
            results[row] = rules.result(game, states[row])
        players[row] = rules.player_to_move(game, states[row])
        rules.legal_actions(game, states[row], legal_action_mask[row])


@njit
def _observe_rows(game, states, planes):
    for row in range(states.shape[0]):
        rules.observe(game, states[row], planes[row])


@njit
def _playout_rows(game, states, rng, mask, results):
    for row in range(states.shape[0]):
        player = rules.player_to_move(game, states[row])
        while not rules.is_over(game, states[row]):
            rules.step(game, states[row], rules.random_action(game, states[row], rng, mask))
        sign = 1.0 if rules.player_to_move(game, states[row]) == player else -1.0
        results[row] = sign * rules.result(game, states[row])
