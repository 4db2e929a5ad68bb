"""Choose the exact solver for a game.

The solvers are in the other modules of this package; `alphazero.solvers.base` defines their
interface.
"""

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.games.connect_x import ConnectX
from alphazero.games.othello import Othello
from alphazero.solvers.base import Solver
from alphazero.solvers.connect_x import ConnectXSolver
from alphazero.solvers.enumeration import MAX_SOLVER_POSITIONS, EnumeratedSolver
from alphazero.solvers.othello import OthelloSolver


def make_solver(
    game: Game, max_nodes: int | None = None, max_positions: int = MAX_SOLVER_POSITIONS
) -> Solver:
    """Make the exact solver for a game.

    Args:
        max_nodes: number of nodes that a compiled search explores before it gives up on a position
            with `UnsolvableError`; None means the solver's default. Other solvers ignore the limit.
        max_positions: maximum number of positions of a game without a special solver.

    Raises:
        UnsolvableError: if the game has no special solver and too many positions to enumerate.
        InputError: if a game without a special solver can repeat a position.
    """
    limits = {} if max_nodes is None else {"max_nodes": max_nodes}
    if isinstance(game, CompiledGame) and isinstance(game.rules, ConnectX):
        return ConnectXSolver(game, **limits)
    if isinstance(game, CompiledGame) and isinstance(game.rules, Othello):
        return OthelloSolver(game, **limits)
    return EnumeratedSolver(game, max_positions)
