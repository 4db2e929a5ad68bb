"""A game between two choosers of moves: searches, people, anything.

A chooser is a function ``choose(state) -> action``. This file knows no search.
"""

from collections.abc import Callable

from alphazero.textbook.game import Rules, State

Chooser = Callable[[State], object]


def play_game(
    game: Rules, first: Chooser, second: Chooser, show: Callable[[State], None] | None = None
) -> tuple[list, float]:
    """Play a game from the start.

    Args:
        show: called with each position, such as ``lambda state: print(game.to_text(state))``.

    Returns:
        The actions, and the result for the player who began.
    """
    state, actions = game.initial_state(), []
    while not game.is_over(state):
        if show is not None:
            show(state)
        choose = first if game.player_to_move(state) == 0 else second
        actions.append(choose(state))
        state = game.step(state, actions[-1])
    if show is not None:
        show(state)
    sign = 1 if game.player_to_move(state) == 0 else -1
    return actions, sign * game.result(state)


def person(game: Rules, read: Callable[[str], str] = input, say=print) -> Chooser:
    """Return a chooser that asks a person, again after an answer that is not a legal action."""

    def choose(state: State):
        legal = {str(action): action for action in game.legal_actions(state)}
        while True:
            text = read(f"your move ({', '.join(legal)}): ").strip()
            if text in legal:
                return legal[text]
            say(f"'{text}' is not a legal move: type one of {', '.join(legal)}.")

    return choose
