"""Exact answers for games small enough to look at every position: their values, and proofs about a player."""

from alphazero.exact.enumerate import ExactValues, Positions, count_games, enumerate_positions
from alphazero.exact.proof import Failure, ProofReport, SideReport, prove

__all__ = ["ExactValues", "Failure", "Positions", "ProofReport", "SideReport", "count_games", "enumerate_positions", "prove"]
