"""`GpuTreeSearch`: the searches of self-play, with trees, rules and network on an NVIDIA GPU.

A CUDA graph holds `STEPS` simulations of all games, with the network in between, so that Python is
called once for them. Root noise is added and results are read on the CPU, in copies of the roots,
by the same code as for `alphazero.search.batched_search.TreeSearch`.
"""

import contextlib
import importlib.util
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numba import config, cuda

from alphazero.games.batched_game import CompiledGame
from alphazero.inference import gpu_kernels as kernels
from alphazero.inference.engines.agreement import random_positions
from alphazero.inference.evaluator import LARGEST_VALUE, impossible
from alphazero.search import tree as trees
from alphazero.search.batched_search import TreeSearch
from alphazero.search.expansion import SearchCounts
from alphazero.search.roots import PolicyOutput, Roots
from alphazero.search.settings import SearchSettings
from alphazero.search.simulate import RootPlan

STEPS = 8  #: simulations of all games in one CUDA graph
NUM_CHECKED_GAMES = 64  #: games of the short search that is compared with one on the CPU
#: Largest difference of the policies in that comparison, in total variation, averaged over the
#: games. Rounding changes a visit in a few games.
_MAX_DIFFERENCE = 0.1
_MAX_THREADS = 64  # of a block on the GPU
_NUM_WARM_UPS = 3  # runs before a capture, as torch's documentation recommends

_search_index = itertools.count()


def make_search(game: CompiledGame, evaluator, **options) -> "GpuTreeSearch":
    """Return a search on one of the GPUs of the evaluator's engine, which are used in turn.

    Args:
        game, evaluator, options: the arguments of `GpuTreeSearch`.

    Raises:
        Exception: of any type, if the GPU cannot search or its results are wrong.
    """
    if not config.ENABLE_CUDASIM and not importlib.util.find_spec("numba_cuda"):
        raise ImportError("numba-cuda is missing: pip install 'alphazero-selfplay[cuda]'")
    if not options["settings"].count_kept_visits:
        raise ValueError("search.count_kept_visits=false is for the CPU")
    gpu_index = next(_search_index) % len(evaluator.engine.gpus)
    _check(game, evaluator.engine, gpu_index, options["settings"])
    return GpuTreeSearch(game, evaluator, gpu_index, **options)


def _check(game: CompiledGame, engine, gpu_index: int, settings: SearchSettings) -> None:
    """Compare a short search on a GPU with one whose trees are on the CPU.

    Raises:
        ArithmeticError: if their policies differ by more than rounding can explain.
    """
    generator = np.random.default_rng(0)
    rows = np.arange(NUM_CHECKED_GAMES)
    states = random_positions(game, len(rows), generator)
    options: dict[str, Any] = dict(num_games=len(rows), max_simulations=STEPS)
    options |= dict(settings=settings, generator=generator)
    policies = []
    for search in (
        GpuTreeSearch(game, engine, gpu_index, **options),
        TreeSearch(game, engine, **options),
    ):
        search.reset(rows, states, STEPS)
        while len(search.finished_rows()) < len(rows):
            search.step()
        policies.append(search.output(rows).action_weights)
    difference = float(np.abs(policies[0] - policies[1]).sum(axis=1).mean() / 2)
    if not difference <= _MAX_DIFFERENCE:
        raise ArithmeticError(f"its policies differ from those of the CPU by {difference:.2f}")


class GpuTreeSearch:
    """Searches the positions of B games in lockstep, on a GPU; see `SearchBackend`.

    Args:
        game: the game, whose rules must be compiled.
        evaluator: an evaluator whose ``engine`` is an
            `alphazero.inference.engines.cuda_engine.CudaEngine`.
        gpu_index: which of the engine's GPUs to use.
        num_games, max_simulations, settings, generator, explores: as for `TreeSearch`; the setting
            ``count_kept_visits`` must be True.

    Attributes:
        counts: how many simulations and evaluations were made so far; the evaluator's seconds
            include those of the trees.
    """

    simulations_per_step = STEPS

    def __init__(
        self,
        game,
        evaluator,
        gpu_index: int,
        *,
        num_games: int,
        max_simulations: int,
        settings: SearchSettings,
        generator: np.random.Generator,
        explores: bool = False,
    ):
        self._game = game
        self._evaluator = evaluator
        self._gpu_index = gpu_index
        self._device = evaluator.engine.gpus[gpu_index]
        self._settings = settings
        self.counts = SearchCounts()
        solves = settings.mcts_solver
        self._root_tree = trees.make_tree(num_games, game.num_actions + 1, game.num_actions, solves)
        self._roots = Roots(self._root_tree, settings, generator, explores)
        self._root_states = np.zeros((num_games, game.state_size), game.state_dtype)
        self._budgets = np.full(num_games, kernels.STOPPED, np.int32)
        self._finished = np.zeros(num_games, np.bool_)
        self._unprepared = np.zeros(num_games, np.bool_)
        self._stream = None
        self._cuda_stream = 0
        if self._device.type == "cuda":
            self._stream = torch.cuda.Stream(self._device)
            self._cuda_stream = cuda.external_stream(self._stream.cuda_stream)
        with self._on_device():
            tree = trees.make_tree(num_games, max_simulations + 1, game.num_actions, solves)
            self._searches = kernels.make_searches(game, tree, self._array)
            self._tree = trees.Tree(*map(self._tensor, self._searches.tree))
            self._planes = self._tensor(self._searches.planes)
            self._logits = self._tensor(self._searches.logits)
            self._values = self._tensor(self._searches.values)
            self._counts = self._tensor(self._searches.counts)
            self._is_finished = self._tensor(self._searches.finished)
            plan = self._roots.plan
            self._plan = None if plan is None else RootPlan(*map(self._array, plan))
            self._impossible = torch.zeros((), dtype=torch.bool, device=self._device)
            self._capture()

    def reset(self, rows: np.ndarray, states: np.ndarray, num_simulations) -> None:
        """Begin a search with an empty tree in each given game; see `SearchBackend.reset`."""
        self._begin(rows, states, num_simulations)
        self._unprepared[rows] = True
        with self._on_device():
            self._tree.num_nodes[self._indices(rows)] = 0

    def advance(self, rows, actions, states, num_simulations) -> None:
        """Begin a search after each given game's action; see `SearchBackend.advance`."""
        if not self._settings.reuse_tree:
            self.reset(rows, states, num_simulations)
            return
        rows = np.asarray(rows, np.int32)
        self._begin(rows, states, num_simulations)
        with self._on_device():
            played = self._array(rows), self._array(np.asarray(actions, np.int32))
            self._launch(kernels.keep_subtrees, self._searches, *played, num_threads=len(rows))
            num_kept = self._tree.num_nodes[self._indices(rows)].cpu().numpy()
            self._unprepared[rows] = num_kept == 0
            self._prepare(rows[num_kept > 0])

    def stop(self, rows: np.ndarray) -> None:
        """Exclude games from further steps until they begin a search; see `SearchBackend.stop`."""
        self._budgets[rows] = kernels.STOPPED
        self._finished[rows] = self._unprepared[rows] = False

    def finished_rows(self) -> np.ndarray:
        """Return the indices of the games whose search is finished and not stopped, int32[M]."""
        return np.flatnonzero(self._finished).astype(np.int32)

    def step(self) -> None:
        """Run `STEPS` simulations in every unfinished search, and one more if roots are new.

        Raises:
            ImpossibleAnswersError: if the network's answers are not finite or out of range.
        """
        with self._on_device():
            if self._evaluator.engine is not self._engine:
                self._capture()
            self._upload(self._searches.budgets, self._budgets)
            self._upload(self._searches.root_states, self._root_states)
            rows = np.flatnonzero(self._unprepared)
            if len(rows):
                self._run_once()
                self._prepare(rows)
                self._unprepared[rows] = False
            start = time.perf_counter()
            self._run_often()
            self.counts.num_batches += STEPS + bool(len(rows))
            self._finished = self._is_finished.cpu().numpy().copy()
            self.counts.evaluator_s += time.perf_counter() - start
            totals = self._counts.sum(dim=0).tolist()
            if self._impossible.item():
                raise impossible("they are not all finite numbers, with values between -1 and 1")
        counts = self.counts
        counts.num_simulations, counts.num_evaluations, counts.total_depth = totals

    def output(self, rows: np.ndarray, temperatures: np.ndarray | None = None) -> PolicyOutput:
        """Return actions, policies and values of the given games; see `SearchBackend.output`."""
        with self._on_device():
            self._download_roots(rows)
        return self._roots.output(rows, temperatures)

    def _begin(self, rows, states, num_simulations) -> None:
        self._root_states[rows] = states
        self._budgets[rows] = num_simulations
        self._finished[rows] = False

    # --- the steps of all games -------------------------------------------------------------------

    def _capture(self) -> None:
        """Capture graphs of one step and of `STEPS` steps with the engine's network."""
        self._engine = self._evaluator.engine
        self._run_once = self._captured(1)
        self._run_often = self._captured(STEPS)

    def _captured(self, num_steps: int) -> Callable[[], None]:
        def run() -> None:
            for _ in range(num_steps):
                self._simulate()

        if self._stream is None:
            return run
        # Nothing changes: the budgets on the GPU are those of stopped games.
        self._upload(self._searches.budgets, np.full_like(self._budgets, kernels.STOPPED))
        for _ in range(_NUM_WARM_UPS):
            self._simulate()
        self._stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        capture = torch.cuda.graph(graph, stream=self._stream, capture_error_mode="relaxed")
        with self._engine.capturing, capture:
            run()
        return graph.replay

    def _simulate(self) -> None:
        """Run one simulation in every unfinished search."""
        searches = self._searches
        arguments = self._game.rules, searches, self._roots.exploration
        num_games = len(self._budgets)
        if self._plan is None:
            self._launch(kernels.find_leaves, *arguments, num_threads=num_games)
        else:
            by_plan = *arguments, self._plan
            self._launch(kernels.find_leaves_by_plan, *by_plan, num_threads=num_games)
        logits, values = self._engine.evaluate_on_gpu(self._planes, self._gpu_index)
        is_possible = logits.isfinite().all() & (values.abs() <= LARGEST_VALUE).all()
        self._impossible.logical_or_(~is_possible)
        # Kernels could write beyond the trees if an answer were not a number.
        self._logits.copy_(logits.nan_to_num())
        self._values.copy_(values.nan_to_num())
        self._launch(kernels.back_up_leaves, searches, num_threads=num_games)

    def _launch(self, kernel, *arguments, num_threads: int) -> None:
        block = min(num_threads, _MAX_THREADS)
        kernels.compiled(kernel)[-(-num_threads // block), block, self._cuda_stream](*arguments)

    # --- copies of the roots ----------------------------------------------------------------------

    def _prepare(self, rows: np.ndarray) -> None:
        """Add noise to the given games' evaluated roots, or plan sequential halving there."""
        if not len(rows):
            return
        self._download_roots(rows)
        self._roots.prepare(rows.astype(np.int32), self._budgets)
        at = self._indices(rows)
        for name in ("children_priors", "visited_priors"):
            changed = getattr(self._root_tree, name)[rows, trees.ROOT_INDEX]
            getattr(self._tree, name)[at, trees.ROOT_INDEX] = self._to_device(changed)
        if self._plan is not None and self._roots.plan is not None:
            for own, host in zip(self._plan, self._roots.plan):
                self._tensor(own)[at] = self._to_device(host[rows])

    def _download_roots(self, rows: np.ndarray) -> None:
        """Copy the roots of the given games and their children into `_root_tree`.

        Child number k is node k + 1 there.
        """
        at = self._indices(rows)
        own, host = self._tree, self._root_tree
        host.num_nodes[rows] = own.num_nodes[at].cpu().numpy()
        for name in trees.Tree._fields:
            if name not in ("num_nodes", "solves"):
                at_roots = getattr(own, name)[at, trees.ROOT_INDEX]
                getattr(host, name)[rows, trees.ROOT_INDEX] = at_roots.cpu().numpy()
        children = own.children_index[at, trees.ROOT_INDEX].long()
        for name in ("players", "proven_values"):
            of_children = getattr(own, name)[at[:, None], children.clamp(min=0)]
            getattr(host, name)[rows, 1:] = of_children.cpu().numpy()
        index = host.children_index[rows, trees.ROOT_INDEX]
        node = np.arange(1, index.shape[1] + 1)
        host.children_index[rows, trees.ROOT_INDEX] = np.where(index >= 0, node, index)

    # --- memory -----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _on_device(self) -> Iterator[None]:
        """Let torch and numba use this search's GPU and its stream."""
        with torch.inference_mode(), contextlib.ExitStack() as stack:
            if self._stream is not None:
                stack.enter_context(cuda.gpus[self._device.index])
                stack.enter_context(torch.cuda.device(self._device))
                stack.enter_context(torch.cuda.stream(self._stream))
            yield

    def _array(self, host: np.ndarray):
        """Return a copy of an array on the device, for kernels."""
        return host.copy() if self._stream is None else cuda.to_device(host, self._cuda_stream)

    def _tensor(self, array) -> torch.Tensor:
        """Return a torch tensor that shares the memory of a kernel's array."""
        return torch.as_tensor(array, device=self._device)

    def _to_device(self, host: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(host).to(self._device)

    def _indices(self, rows: np.ndarray) -> torch.Tensor:
        return self._to_device(np.asarray(rows, np.int64))

    def _upload(self, array, host: np.ndarray) -> None:
        """Copy an array from the host into a kernel's array."""
        if self._stream is None:
            array[...] = host
        else:
            array.copy_to_device(host, stream=self._cuda_stream)
