"""Play two versions of the rules of a game, the game and its twin, side by side.

In: the `Laws` of both versions. Out: a `Check` that raises `Difference` where they differ.
"""

from collections.abc import Callable, Iterator
from typing import Any

from alphazero.games.batched_game import Game
from alphazero.own_games.checks.laws import Laws
from alphazero.own_games.checks.rule_walks import BrokenLaw, View


class Difference(BrokenLaw):
    """A difference between a game and its twin, or a law that the twin breaks."""


class Twins:
    """A `Check` that plays two versions of the rules side by side.

    Raises:
        Difference: if their boards, or their numbers of actions or players, differ.
    """

    def __init__(self, laws: Laws, twin: Laws):
        self._laws, self._twin = laws, twin
        for name, ours, theirs in (
            ("board (rows, columns)", laws.game.planes_shape[1:], twin.game.planes_shape[1:]),
            ("number of actions", laws.game.num_actions, twin.game.num_actions),
            ("number of players", laws.game.num_players, twin.game.num_players),
        ):
            if ours != theirs:
                raise Difference(f"{name}: {ours} in the game, {theirs} in the twin.")

    def start(self) -> tuple:
        return self._laws.start(), self._of_twin(self._twin.start)

    def key(self, state: tuple) -> bytes:
        return self._laws.key(state[0]) + self._of_twin(self._twin.key, state[1])

    def step(self, state: tuple, action: int) -> tuple:
        following = self._laws.step(state[0], action)
        return following, self._of_twin(self._twin.step, state[1], action)

    def foresee(self, state: tuple, actions: list[int]) -> list[tuple[bool, int]]:
        return self._laws.foresee(state[0], actions)

    def look(self, state: tuple, ply: int) -> View:
        view = self._laws.look(state[0], ply)
        other = self._of_twin(self._twin.look, state[1], ply)
        text = next(self._differences(view, other), None)
        if text is not None:
            raise Difference(f"{text}.")
        return view

    def _of_twin(self, function: Callable, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BrokenLaw as error:
            raise Difference(f"in the twin, {error}") from None

    def _differences(self, view: View, other: View) -> Iterator[str]:
        if (view.board != other.board).any():
            yield "the pieces stand elsewhere"
        if view.over != other.over:
            states = ["over" if one.over else "not over" for one in (view, other)]
            yield f"in the game it is {states[0]}, in the twin {states[1]}"
        elif view.over and first_result(view) != first_result(other):
            results = f"{first_result(view):+g} in the game, {first_result(other):+g} in the twin"
            yield f"the first player's result is {results}"
        elif not view.over and view.player != other.player:
            yield f"player {view.player} is to move in the game, {other.player} in the twin"
        elif view.legal != other.legal:
            yield from self._legal_differences(view.legal, other.legal)

    def _legal_differences(self, game: list[int], twin: list[int]) -> Iterator[str]:
        for name, laws, ones, others in (
            ("game", self._laws, game, twin),
            ("twin", self._twin, twin, game),
        ):
            alone = sorted(set(ones) - set(others))
            if alone:
                moves = ", ".join(_numbered(laws.game, action) for action in alone)
                yield f"legal only in the {name}: {moves}"


def first_result(view: View) -> float:
    """Return the result of a finished game from the first player's viewpoint."""
    result = view.result or 0.0
    return -result if view.player else result


def _numbered(game: Game, action: int) -> str:
    text = move_text(game, action)
    return text if text == str(action) else f"{text} (action {action})"


def move_text(game: Game, action: int) -> str:
    """Format an action in the notation of the rules, or as its number if they raise an error."""
    try:
        return game.action_to_text(action)
    except Exception:
        return str(action)
