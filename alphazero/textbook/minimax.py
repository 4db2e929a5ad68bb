"""Compute perfect play, and count move sequences and games, by searching small games completely."""

from alphazero.textbook.game import Rules, State, turn_passes


def minimax(game: Rules, state: State, known: dict | None = None) -> float:
    """Return the result of perfect play by both sides, for the player to move in ``state``.

        value(final state) = its result
        value(state)       = the largest value of its successors, for the player to move in state

    Args:
        known: the values computed so far, {state: value}, for the player to move in each state. All
            values computed are added, so that one dictionary can serve several calls. None means an
            empty one.
    """
    if known is None:
        known = {}
    if state not in known:
        if game.is_over(state):
            known[state] = game.result(state)
        else:
            values = action_values(game, state, known)
            known[state] = max(values.values())
    return known[state]


def action_values(game: Rules, state: State, known: dict | None = None) -> dict:
    """Return the result of perfect play after each legal action.

    Args:
        known: the values computed so far, {state: value}, to which new ones are added; see
            `minimax`.

    Returns:
        {action: value}, the values for the player to move in ``state``.
    """
    if known is None:
        known = {}
    values = {}
    for action in game.legal_actions(state):
        after = game.step(state, action)
        value = minimax(game, after, known)
        values[action] = -value if turn_passes(game, state, after) else value
    return values


def perft(game: Rules, state: State, depth: int) -> int:
    """Count the legal move sequences of exactly ``depth`` actions from ``state``.

    Games that end earlier do not count.
    """
    if depth == 0:
        return 1
    if game.is_over(state):
        return 0
    children = (game.step(state, action) for action in game.legal_actions(state))
    return sum(perft(game, child, depth - 1) for child in children)


def num_games(game: Rules, state: State, known: dict | None = None) -> int:
    """Count the different move sequences that lead from ``state`` to the end of a game.

    Args:
        known: the counts computed so far, {state: count}, to which new ones are added; None means
            an empty dictionary.
    """
    if known is None:
        known = {}
    if game.is_over(state):
        return 1
    if state not in known:
        children = (game.step(state, action) for action in game.legal_actions(state))
        known[state] = sum(num_games(game, child, known) for child in children)
    return known[state]
