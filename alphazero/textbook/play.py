"""Play a game between two choosers: functions ``choose(state) -> action``.

A chooser may run a search or ask a person for a move.
"""

from collections.abc import Callable

from alphazero.textbook.game import Rules, State, as_rules

Chooser = Callable[[State], object]


def play_game(
    game: Rules, first: Chooser, second: Chooser, show: Callable[[State], None] | None = None
) -> tuple[list, float]:
    """Play a game between two choosers, from the start position to its end.

    Args:
        game: an object with the methods of `Rules`, or a game in notebook form (see
            `NotebookGame`).
        first: chooses the moves of the player who begins the game.
        second: chooses the other player's moves.
        show: called with every state, the start and the end included, for example to print it; None
            if nothing is to be shown.

    Returns:
        The actions in the order of play, and the game's result for the player who began.
    """
    game = as_rules(game)
    state = game.initial_state()
    actions = []
    while not game.is_over(state):
        if show is not None:
            show(state)
        choose = second if _mover(game, state, actions) else first
        action = choose(state)
        actions.append(action)
        state = game.step(state, action)
    if show is not None:
        show(state)
    result = game.result(state)
    return actions, -result if _mover(game, state, actions) else result


def _mover(game: Rules, state: State, actions: list) -> int:
    """Return the player to move in ``state``, 0 or 1.

    If the game's `player_to_move` returns None, the player follows from the number of ``actions``
    played so far.
    """
    player = game.player_to_move(state)
    if player is None:
        return len(actions) % 2
    return player


def person(game: Rules, read: Callable[[str], str] = input, say=print) -> Chooser:
    """Make a chooser that asks a person for a move until they type a legal one.

    Args:
        game: an object with the methods of `Rules`, or a game in notebook form.
        read: function that prints a question and returns what the person types.
        say: function that prints a message, called if the typed text is not a legal action.
    """
    game = as_rules(game)

    def choose(state: State):
        legal = {str(action): action for action in game.legal_actions(state)}
        while True:
            text = read(f"your move ({', '.join(legal)}): ").strip()
            if text in legal:
                return legal[text]
            say(f"'{text}' is not a legal move: type one of {', '.join(legal)}.")

    return choose
