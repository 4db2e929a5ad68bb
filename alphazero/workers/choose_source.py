"""Choose who plays the training games: threads, processes, or the machines of a Ray cluster."""

import importlib.util
import uuid
import warnings
from typing import Any

import numpy as np

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.inference.cache import CachedEvaluator
from alphazero.inference.network_evaluator import EvaluatorSettings
from alphazero.own_games.checked_game import load_named_game
from alphazero.own_games.python_game import PythonGame
from alphazero.own_games.registry import is_game_file, is_object
from alphazero.runtime.errors import require
from alphazero.runtime.own_code import own_files
from alphazero.workers.dispatcher import Dispatcher
from alphazero.workers.processes import ProcessTransport
from alphazero.workers.settings import WorkerSettings
from alphazero.workers.source import GameSource
from alphazero.workers.thread_source import ThreadSource
from alphazero.workers.transport import Transport
from alphazero.workers.unit import Job

_CORES_PER_PROCESS = 8  # with compiled games, whose threads run in parallel


def make_source(
    settings: Any,
    wanted_evaluator: EvaluatorSettings,
    game: Game,
    streams: list[CachedEvaluator],
    num_threads: int,
) -> GameSource:
    """Make the source of training games that the settings select.

    Args:
        settings: `TrainSettings`, already validated, in which "auto" has been replaced by the
            inference engine that the learner's process uses.
        wanted_evaluator: the user's evaluator settings, which may say "auto"; used by workers that
            choose their own engines.
        streams: the evaluators of the learner's process, one for each self-play thread.
        num_threads: number of cores on this machine that the run may use.

    Raises:
        ConfigError: if the chosen kind of workers needs a package that is not installed, or there
            is no Ray cluster at the address in the settings.
    """
    workers = settings.workers
    is_ordered = settings.workers.mode == "ordered"
    kind = _kind(workers, game, num_threads)
    if kind == "threads":
        if workers.kind == "auto" and _waits_for_lock(game, num_threads):
            warnings.warn(f"Self-play uses one core: {unsendable_reason(game)}.", stacklevel=2)
        unit_games = workers.unit_games if is_ordered else 0
        return ThreadSource(
            game, streams, settings.selfplay, settings.search, settings.seed, unit_games
        )
    job = Job(
        run=uuid.uuid4().hex[:12],
        game=game.name,
        game_files=own_files(game.name) if is_game_file(game.name) else None,
        rules_digest=game.rules_digest,
        network=settings.network,
        evaluator=settings.evaluator if is_ordered else wanted_evaluator,
        search=settings.search,
        selfplay=settings.selfplay,
        device=settings.device,
        seed=settings.seed,
        unit_threads=len(streams) if is_ordered else 0,
        parallel_games_per_thread=max(1, settings.selfplay.num_parallel_games // len(streams)),
    )
    transport = _make_transport(workers, kind, game, job, num_threads)
    return Dispatcher(workers, transport, settings.selfplay.games_per_iteration)


def plays_on_here(workers: WorkerSettings, game: Game, num_threads: int) -> bool:
    """Return whether self-play uses this machine's cores while the learner trains.

    Args:
        workers: the settings of the workers.
        num_threads: number of cores on this machine that the run may use.
    """
    return workers.mode == "free" and _kind(workers, game, num_threads) != "threads"


def unsendable_reason(game: Game) -> str | None:
    """Return a clause that says why other processes cannot recreate a game; None if they can."""
    if not is_object(game.name):
        return None
    module = game.name.partition(":")[0]
    try:
        if module == "__main__" or importlib.util.find_spec(module) is None:
            raise ImportError("they cannot import it")
        made = load_named_game(game.name)
    except Exception as error:  # a module may do anything
        remedy = "move its class to a file my_game.py, and import it from there"
        return f"other processes cannot make '{game.name}' ({error}); {remedy}"
    if not np.array_equal(made.initial_states(), game.initial_states()):
        return f"other processes would play '{game.name}' as it is made without arguments"
    return None


def _kind(workers: WorkerSettings, game: Game, num_threads: int) -> str:
    """Return the kind of workers to use: "threads", "processes" or "ray".

    If the settings say "auto", it is "processes" for a game whose threads would block each other on
    Python's global interpreter lock, provided that other processes can recreate the game, and
    otherwise "threads".

    Args:
        workers: the settings of the workers.
        num_threads: number of cores on this machine that the run may use.
    """
    if workers.kind != "auto":
        return workers.kind
    is_possible = _waits_for_lock(game, num_threads) and unsendable_reason(game) is None
    return "processes" if is_possible else "threads"


def _waits_for_lock(game: Game, num_threads: int) -> bool:
    """Return whether self-play threads would block each other on Python's global interpreter lock.

    Args:
        game: the game to play; threads block each other if its rules are plain Python.
        num_threads: number of threads; a single one is never blocked.
    """
    return num_threads > 1 and isinstance(game, PythonGame)


def _make_transport(
    workers: WorkerSettings, kind: str, game: Game, job: Job, num_threads: int
) -> Transport:
    if kind == "ray":
        require("cluster", "ray")
        from alphazero.workers.cluster.ray_transport import RayTransport

        return RayTransport(workers, job)
    num_processes = workers.num_processes or (
        max(1, num_threads // _CORES_PER_PROCESS) if isinstance(game, CompiledGame) else num_threads
    )
    return ProcessTransport(job, num_processes, max(1, num_threads // num_processes))
