"""Compare two versions of a game's rules, the game and its twin, by playing both at once."""

from collections.abc import Callable, Iterator
from typing import Any

from alphazero.games.batched_game import Game
from alphazero.own_games.checks.laws import BrokenLaw, Laws, View


class Twins:
    """Checks a game against its twin, a second version of its rules, by playing both at once.

    It can replace a `Laws` object to play games, but a state is a pair of positions: the game's and
    the twin's. Every method raises `BrokenLaw` if either version breaks a law, or if the two
    differ.

    Args:
        laws: checks the game.
        twin: checks the second version of its rules.

    Raises:
        BrokenLaw: if the sizes of the boards or the numbers of actions differ.
    """

    def __init__(self, laws: Laws, twin: Laws):
        self._laws = laws
        self._twin = twin
        game = laws.game
        other = twin.game
        for name, ours, theirs in (
            ("board (rows, columns)", game.planes_shape[1:], other.planes_shape[1:]),
            ("number of actions", game.num_actions, other.num_actions),
        ):
            if ours != theirs:
                raise _difference(f"{name}: {ours} in the game, {theirs} in the twin")

    def start(self) -> tuple:
        """Return the pair of start positions of the game and its twin; see `Laws.start`."""
        return self._laws.start(), self._of_twin(self._twin.start)

    def key(self, state: tuple) -> bytes:
        """Return bytes that identify a pair of positions: equal only for equal pairs."""
        return self._laws.key(state[0]) + self._of_twin(self._twin.key, state[1])

    def step(self, state: tuple, action: int) -> tuple:
        """Play a legal action by both versions of the rules; see `Laws.step`.

        Returns:
            The pair of positions after the action.
        """
        following = self._laws.step(state[0], action)
        return following, self._of_twin(self._twin.step, state[1], action)

    def foresee(self, state: tuple, actions: list[int]) -> list[tuple[bool, int]]:
        """Look one move ahead by the rules of the game, not of its twin; see `Laws.foresee`."""
        return self._laws.foresee(state[0], actions)

    def look(self, state: tuple, ply: int) -> View:
        """Check the two positions of a pair, and that they are the same; see `Laws.look`.

        Returns:
            What the rules of the game, not of its twin, return for the position.
        """
        view = self._laws.look(state[0], ply)
        other = self._of_twin(self._twin.look, state[1], ply)
        for text in self._differences(view, other):
            raise _difference(text)
        return view

    def _of_twin(self, function: Callable, *arguments: Any) -> Any:
        """Call a method of the twin's `Laws`, adding "in the twin" to any `BrokenLaw` it raises."""
        try:
            return function(*arguments)
        except BrokenLaw as error:
            raise BrokenLaw(f"in the twin, {error}") from None

    def _differences(self, view: View, other: View) -> Iterator[str]:
        if (view.board != other.board).any():
            yield "the pieces stand elsewhere"
        if view.over != other.over:
            states = ("over", "not over") if view.over else ("not over", "over")
            yield f"in the game it is {states[0]}, in the twin {states[1]}"
        elif view.over:
            result = first_result(view)
            twin_result = first_result(other)
            if result != twin_result:
                results = f"{result:+g} in the game, {twin_result:+g} in the twin"
                yield f"the first player's result is {results}"
        elif view.player != other.player:
            yield f"player {view.player} is to move in the game, {other.player} in the twin"
        yield from self._only_legal_in("game", view.legal, other.legal)
        yield from self._only_legal_in("twin", other.legal, view.legal)

    def _only_legal_in(self, name: str, legal: list[int], others: list[int]) -> Iterator[str]:
        extra = sorted(set(legal) - set(others))
        if extra:
            game = self._laws.game
            texts = (f"{move_text(game, action)} (action {action})" for action in extra)
            yield f"legal only in the {name}: {', '.join(texts)}"


def _difference(text: str) -> BrokenLaw:
    return BrokenLaw(f"game and twin differ: {text}.")


def first_result(view: View) -> float:
    """Return the result of a finished game for the first player, in [-1, 1]."""
    return -view.result if view.player else view.result


def move_text(game: Game, action: int) -> str:
    """Format an action in the game's own notation, or as its number if the rules raise an error."""
    try:
        return game.action_to_text(action)
    except Exception:
        return str(action)
