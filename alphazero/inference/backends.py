"""Chooses how a search runs, from the game and the engine behind its evaluator.

Both functions take a game and an evaluator. `alphazero.search.backend` lists the three kinds of
search; `alphazero.inference.engines.registry` has already chosen the engine.
"""

import functools
import logging
from typing import Any

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.inference.evaluator import Evaluator
from alphazero.inference.table_search import TableSearch
from alphazero.runtime.own_code import reason_of
from alphazero.search.backend import SearchBackend
from alphazero.search.batched_search import TreeSearch

_log = logging.getLogger(__name__)


def make_search(game: Game, evaluator: Evaluator, **options: Any) -> SearchBackend:
    """Make the fastest search for self-play.

    The search runs on a GPU if the engine does, the rules are compiled, numba-cuda is installed
    (the extra ``cuda``), and a short search on the GPU agrees with one on the CPU. If the GPU is
    tried and fails, a warning in the log says why.

    Args:
        options: the keyword arguments of `TreeSearch`.
    """
    if evaluator.engine and evaluator.engine.gpus and isinstance(game, CompiledGame):
        try:
            from alphazero.inference import gpu_search

            return gpu_search.make_search(game, evaluator, **options)
        except Exception as error:  # of a driver, a compiler, a package, or too little memory
            _warn_of_cpu(reason_of(error).partition("\n")[0])
    return make_tree_search(game, evaluator, **options)


def make_tree_search(game: Game, evaluator: Evaluator, **options: Any) -> TreeSearch:
    """Make the fastest search whose trees can be read, for players.

    Args:
        options: the keyword arguments of `TreeSearch`.
    """
    has_tables = evaluator.engine is not None and evaluator.engine.tables is not None
    kind = TableSearch if has_tables and isinstance(game, CompiledGame) else TreeSearch
    return kind(game, evaluator, **options)


@functools.cache  # once per reason, not per search
def _warn_of_cpu(reason: str) -> None:
    _log.warning(
        "The trees of self-play are on the CPU, because they cannot be on the GPU (%s).", reason
    )
