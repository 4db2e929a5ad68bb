"""Exact answers: the scores of solvers, a player that plays by them, the values of every position of a small game, and proofs about a player."""

from alphazero.exact.enumerate import ExactValues, Positions, count_games, enumerate_positions
from alphazero.exact.proof import Failure, ProofReport, SideReport, prove
from alphazero.exact.solver import ILLEGAL_SCORE, Solver, make_solver, values_of
from alphazero.exact.solver_player import SolverPlayer

__all__ = [
    "ILLEGAL_SCORE",
    "ExactValues",
    "Failure",
    "Positions",
    "ProofReport",
    "SideReport",
    "Solver",
    "SolverPlayer",
    "count_games",
    "enumerate_positions",
    "make_solver",
    "prove",
    "values_of",
]
