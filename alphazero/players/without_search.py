"""Build choices and analyses for players that do not search.

Shapes: B positions, A actions.
"""

import numpy as np

from alphazero.players.base import Analysis, Choice
from alphazero.runtime.random_generators import uniform_actions


def equal_choice(mask: np.ndarray, values: np.ndarray, generator: np.random.Generator) -> Choice:
    """Choose at random among equally good actions.

    Args:
        mask: bool[B, A], True for the equally good actions.
        values: [B], expected results for the player to move.
    """
    return Choice(
        actions=uniform_actions(mask, generator),
        action_weights=(mask / mask.sum(axis=1, keepdims=True)).astype(np.float32),
        values=values.astype(np.float32),
    )


def direct_analysis(
    choice: Choice, values: np.ndarray | None = None, scores: np.ndarray | None = None
) -> Analysis:
    """Make the analysis of a position in which a player chose its move without a search.

    Args:
        choice: the player's choice in this one position.
        values: [A], expected results after each action; None if unknown.
        scores: int16[A], exact scores; None if unknown.
    """
    action, num_actions = int(choice.actions[0]), choice.action_weights.shape[1]
    if values is None:
        values = np.full(num_actions, np.nan)
    return Analysis(
        action=action,
        action_weights=choice.action_weights[0],
        value=float(choice.values[0]),
        visits=np.zeros(num_actions, np.int32),
        values=values.astype(np.float32),
        principal_variation=[action],
        num_simulations=0,
        scores=scores,
    )
