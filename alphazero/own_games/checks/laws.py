"""Check in plain Python whether a game's rules obey the laws, one position or step at a time.

A broken law raises `BrokenLaw`, whose message names the rule, the law and what the rule did.
`alphazero.own_games.checks.report` applies these checks to many positions.
"""

import contextlib
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.own_games.merged_positions import differing_action, merged_text
from alphazero.own_games.python_game import PythonGame
from alphazero.runtime import jit
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.own_code import reason_of

#: Most positions that are kept for comparison.
_MAX_STORED = 100_000


class BrokenLaw(Exception):
    """Raised if a game's rules break a law; the message names the law and what the rules did."""

    actions: list[int] = []  #: actions from the start of the game to the offending position


class View(NamedTuple):
    """What the rules return for a position that has passed the checks."""

    player: int  #: the player to move
    over: bool  #: whether the game is finished
    legal: list[int]  #: legal actions, ascending
    result: float  #: for the player to move, in [-1, 1]; 0 if the game is not over
    board: np.ndarray  #: int[H, W]: 0 empty, 1 the first player's piece, 2 the second's, 3 blocked
    planes: int  #: hash of the network's input


class Laws:
    """Checks a game against the laws of games; every method raises `BrokenLaw` if one is broken.

    Args:
        source: a `Game`, or the NamedTuple whose class implements `alphazero.games.rules`.

    Attributes:
        notes: warnings about suspicious rules.
        merges_positions: whether the rules take positions for one whose futures differ.
        compare: called with the actions that lead to each position that was checked, and its view.

    Raises:
        BrokenLaw: if the sizes or symmetry tables of the game are invalid.
    """

    def __init__(self, source: Any):
        self.notes: list[str] = []
        self.merges_positions = False
        self._first_states: dict[Hashable, tuple[np.ndarray, list[int]]] = {}
        self.compare: Callable[[list[int], View], None] = lambda actions, view: None
        with self._naming_errors():
            if not isinstance(source, Game):
                _check_sizes(source)
                source = CompiledGame(type(source).__qualname__, source)
            self.game: Game = source
            _check_tables(source)

    def start(self) -> Any:
        """Return the start position, an array of K state entries."""
        with self._naming_errors():
            return self.game.initial_states()[0]

    def key(self, state: Any) -> Hashable:
        """Return what identifies the position: equal only for positions with the same future."""
        return self.game.identity(state[None])[0].tobytes(), self.game.variant(state)

    def step(self, state: Any, action: int) -> Any:
        """Play a legal action, check that `step` is reproducible, and return the new position.

        The action is played on two copies of the position.

        Args:
            state: the position before the action, an array of K state entries.
            action: the number of a legal action.

        Returns:
            The position after the action, an array of K state entries.

        Raises:
            BrokenLaw: if the copies differ afterwards, or playing the action has also changed the
                position before it.
        """
        with self._naming_errors():
            first, second = self.game.step(np.stack([state] * 2), np.array([action] * 2)).states
            what = f"'step' with action {action}"
            if self._has_changed(state):
                raise BrokenLaw(
                    f"{what} also changes the position before it: its copy (`clone`) shares a list "
                    "or an array with it."
                )
            if (first != second).any():
                raise BrokenLaw(f"{what} gives different positions when repeated.")
            return first

    def steer(self, state: Any, legal: list[int], takes: bool) -> list[int]:
        """Return the legal actions among which a steered game chooses at random.

        Actions that end the game are excluded, unless every action does. Of those left, the ones
        that leave the fewest or the most pieces on the board are returned. The positions that
        follow are not checked.

        Args:
            state: the position, an array of K state entries.
            legal: the legal actions in this position.
            takes: True selects the actions that leave the fewest pieces, False those that leave the
                most.
        """
        sign = 1 if takes else -1
        with self._naming_errors():
            rows = np.repeat(state[None], len(legal), axis=0)
            after = self.game.step(rows, np.array(legal, np.int32))
            num_pieces = [np.count_nonzero(self.game.cells(row)) for row in after.states]
        ranks = [(over, sign * num) for over, num in zip(after.over, num_pieces)]
        best = min(ranks)
        return [action for action, rank in zip(legal, ranks) if rank == best]

    def look(self, state: Any, actions: list[int]) -> View:
        """Check every law about a single position, and return what the rules return for it.

        Args:
            state: the position, an array of K state words.
            actions: the actions that led to the position.

        Raises:
            BrokenLaw: if the position breaks a law.
        """
        with self._naming_errors():
            before = state.copy()
            view = self._view(state)
            ply = len(actions)
            if ply == 0 and (view.over or view.player != 0):
                raise BrokenLaw(
                    "in the start position, player 0 must be to move and the game not over."
                )
            if ply >= self.game.max_plies and not view.over:
                raise BrokenLaw(f"a game goes on after {ply:,} actions: 'max_plies' is too small.")
            if (state != before).any() or self._has_changed(state):
                raise BrokenLaw("a rule other than 'step' changes the state.")
            if not view.over:
                self._compare_look_alikes(state, actions, view.planes)
        self.compare(actions, view)
        return view

    def _compare_look_alikes(self, state: np.ndarray, actions: list[int], planes: int) -> None:
        """Compare a position with the first of the same identity, and of the same planes.

        A note says so, once for each, if an action leads to different positions. Such a game can be
        trained, but not solved.

        Args:
            state: the position, an array of K state entries; not the end of a game.
            actions: the actions that led to the position.
            planes: hash of the network's input.
        """
        game = self.game
        identity = game.identity(state[None]).tobytes()
        for key, look in ((identity, game.identity), (planes, game.observe)):
            first, others = self._first_states.get(key, (state, actions))
            if len(self._first_states) < _MAX_STORED:
                self._first_states.setdefault(key, (state, actions[:]))
            if first is state or self.key(first) == self.key(state):
                continue
            action = differing_action(game, np.stack([first, state]), look)
            if action is None or self.merges_positions:
                continue
            if key == identity:
                self.merges_positions = True
                self.notes.append(f"{merged_text(others, actions, action)}.")
            elif not self.notes:
                self.notes.append(
                    f"the network sees the same planes after {others} and after {actions}, but "
                    f"action {action} differs: show the difference in 'observe'."
                )

    def check_symmetries(self, actions: list[int], go_on: Callable[[], bool]) -> None:
        """Check each symmetry of the board by playing a game alongside its transformed image.

        A symmetry that changes the start position is not checked. The check of a symmetry ends with
        the game, or when the image of an action is not legal.

        Args:
            actions: the actions of the game, from its start.
            go_on: called before each position; the check of a symmetry stops when it returns False.

        Raises:
            BrokenLaw: if pieces, legal actions, results or planes are not transformed with the
                board.
        """
        with self._naming_errors():
            for number in range(1, len(self.game.cell_symmetries)):
                self._check_symmetry(number, actions, go_on)

    def _check_symmetry(self, number: int, actions: list[int], go_on: Callable[[], bool]) -> None:
        """Check the symmetry in row ``number`` of the symmetry tables; see `check_symmetries`."""
        game = self.game
        cells = game.cell_symmetries[number]
        table = game.action_symmetries[number]
        images = np.argsort(table)
        pair = game.initial_states(2)
        board = game.cells(pair[0]).ravel()
        if (board[cells] != board).any():
            return
        for ply in range(len(actions) + 1):
            what = _difference(game, pair, cells, table)
            if what is not None:
                error = BrokenLaw(
                    f"symmetry {number} of 'symmetries' does not hold: {what} are not transformed "
                    "with the board."
                )
                error.actions = actions[:ply]
                raise error
            if ply == len(actions) or not go_on():
                return
            action = actions[ply]
            image = images[action]
            if not game.legal_action_mask(pair)[1, image]:
                return
            pair = game.step(pair, np.array([action, image])).states

    def check_texts(self) -> None:
        """Check that `action_to_text` names every action of the game, each by another name."""
        with self._naming_errors():
            actions = dict[str, int]()
            for action in range(self.game.num_actions):
                name = self.game.action_to_text(action)
                if not name or actions.setdefault(name.lower(), action) != action:
                    raise BrokenLaw(
                        f"'action_to_text' names action {action} '{name}': the names of all "
                        "actions must differ."
                    )

    def _has_changed(self, state: np.ndarray) -> bool:
        """Return whether a position's Python object has changed since ``state`` was made from it.

        Compiled games have no position objects: the result is False.
        """
        if not isinstance(self.game, PythonGame):
            return False
        return not np.array_equal(self.game.reread(state), state)

    def _view(self, state: np.ndarray) -> View:
        game = self.game
        inspected = game.inspect(state[None])
        player = int(inspected.players[0])
        over = bool(inspected.over[0])
        result = float(inspected.results[0])
        mask = inspected.legal_action_mask[0]
        legal = np.flatnonzero(mask).tolist()
        if player not in range(game.num_players):
            allowed = f"a whole number below {game.num_players}"
            raise BrokenLaw(f"'player_to_move' returns {player}: it must be {allowed}.")
        if over and legal:
            raise BrokenLaw(f"the game is over, but 'legal_actions' allows action {legal[0]}.")
        if not over and not legal:
            raise BrokenLaw(
                "the game is not over, but 'legal_actions' allows no action. A pass is an action."
            )
        if over and not -1 <= result <= 1:
            raise BrokenLaw(
                f"'result' returns {game.own_result(result):g}: 'result_range' is "
                f"{game.result_range}."
            )
        if isinstance(game, CompiledGame):
            _check_mask(game.rules, state, mask)
        if isinstance(game, PythonGame):
            _check_object(game, game.position(state), legal)
        planes = game.observe(state[None])
        if not np.isfinite(planes).all():
            raise BrokenLaw("'observe' writes numbers that are not finite.")
        board = game.cells(state)
        shape = game.planes_shape[1:]
        pieces = range(len(game.piece_letters))
        if np.shape(board) != shape or not np.isin(board, pieces).all():
            raise BrokenLaw(
                f"'cells' must return an array of shape {shape} with 0, 1 and 2, and with 3 for "
                "blocked squares if 'piece_letters' has a fourth letter."
            )
        return View(player, over, legal, result, board, hash(planes.tobytes()))

    @contextlib.contextmanager
    def _naming_errors(self) -> Iterator[None]:
        """Convert any error that a rule raises in this context into a `BrokenLaw`.

        The message names the file and the line that raised the error.
        """
        try:
            yield
        except BrokenLaw:
            raise
        except Exception as error:
            raise BrokenLaw(error_text(error)) from error


def error_text(error: Exception) -> str:
    """Format an error raised by a game's rules as a sentence with the file and line it came from.

    An example is "KeyError: 3 (my_game.py, line 12)."
    """
    if isinstance(error, (BrokenLaw, ConfigError)):
        return str(error)
    return f"{jit.with_written_names(reason_of(error))}."


# --- single laws ----------------------------------------------------------------------------------


def _check_mask(game: Any, state: np.ndarray, legal: np.ndarray) -> None:
    """Check that the rule `legal_actions` writes every entry of the mask.

    Args:
        game: the NamedTuple of the rules.
        state: the position, an array of K state entries.
        legal: bool[A], the mask that the rule produced from one that was all False.

    Raises:
        BrokenLaw: if the rule produces another mask from one that is all True.
    """
    full = np.ones_like(legal)
    rules.legal_actions(game, state, full)
    unwritten = np.flatnonzero(legal != full)
    if len(unwritten):
        raise BrokenLaw(
            f"'legal_actions' does not write mask[{unwritten[0]}]: it must write True or False for "
            "every action, because the mask holds old values."
        )


def _check_object(game: PythonGame, position: Any, legal: list[int]) -> None:
    """Check that a position object returns valid legal actions and a valid network input.

    Args:
        game: the game.
        position: the position object.
        legal: the legal actions that were read from it.

    Raises:
        BrokenLaw: if an action is a boolean or occurs twice, or if planes declared as binary hold
            numbers other than 0 and 1.
    """
    returned = list(position.legal_actions()) if legal else []
    if bool in map(type, returned) or len(returned) > len(legal):
        raise BrokenLaw(
            "'legal_actions' returns True or an action twice: it must list actions, not a mask."
        )
    if game.has_binary_planes:
        planes = game.planes(position)
        if not np.isin(planes, (0, 1)).all():
            raise BrokenLaw("'observe' returns numbers other than 0 and 1: remove binary_planes.")


def _check_sizes(game: Any) -> None:
    """Check that compiled rules state valid sizes.

    The sizes are the numbers of actions, plies and players, the shape of the planes, and the range
    of results.

    Raises:
        BrokenLaw: if a size is invalid.
    """
    for name, is_right, allowed in (
        ("num_actions", _is_count, "a whole number above 0"),
        ("max_plies", _is_count, "a whole number above 0"),
        ("planes_shape", lambda shape: len(shape) == 3, "(planes, rows, columns)"),
        ("num_players", lambda number: number in (1, 2), "1 or 2"),
        ("result_range", lambda ends: ends[0] < ends[1], "(worst, best)"),
    ):
        value = getattr(rules, name)(game)
        if not is_right(value):
            raise BrokenLaw(f"'{name}' returns {value!r}: it must be {allowed}.")


def _is_count(value: int) -> bool:
    return isinstance(value, int | np.integer) and value >= 1


def _check_tables(game: Game) -> None:
    """Check that each row of a game's symmetry tables is a permutation, the first the identity.

    Raises:
        BrokenLaw: if a row is not, or a table has the wrong shape.
    """
    _, height, width = game.planes_shape
    num_symmetries = len(game.cell_symmetries)
    for name, table, size in (
        ("cells", game.cell_symmetries, height * width),
        ("actions", game.action_symmetries, game.num_actions),
    ):
        numbers = np.arange(size)
        if (
            np.shape(table) != (num_symmetries, size)
            or (np.sort(table, axis=1) != numbers).any()
            or (table[0] != numbers).any()
        ):
            raise BrokenLaw(
                f"'symmetries' returns wrong {name}: they must be (number of symmetries, {size}) "
                f"permutations of 0 to {size - 1}, the identity first."
            )


def _difference(game: Game, pair: np.ndarray, cells: np.ndarray, table: np.ndarray) -> str | None:
    """Check that a symmetry turns one position into another, and name the first difference.

    Args:
        pair: [2, K], a position, and the position that should be its image.
        cells: int32[H*W], a row of `Game.cell_symmetries`.
        table: int32[A], the same row of `Game.action_symmetries`.

    Returns:
        "the pieces", "the legal actions", "the end and the result" or "the planes of 'observe'";
        None if the second position is the image.
    """
    inspected = game.inspect(pair)
    for what, parts, places in (
        ("the pieces", [game.cells(state).ravel() for state in pair], cells),
        ("the legal actions", inspected.legal_action_mask, table),
        ("the end and the result", inspected.results[:, None], slice(None)),
        ("the planes of 'observe'", game.observe(pair).reshape(2, -1, len(cells)), cells),
    ):
        if (parts[1] != parts[0][..., places]).any():
            return what
    return None
