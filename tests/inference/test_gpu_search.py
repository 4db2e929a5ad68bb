"""Searches on a GPU: in numba's simulator of one, they give the results of the CPU's searches.

As a program, in the simulator, this file prints digests of the results.
"""

import hashlib
import importlib.util
import sys
from types import SimpleNamespace

import numba
import numpy as np
import pytest
import torch
from interpreted import printed_without_compiler
from numba import cuda
from search_samples import HashEvaluator, make_search, named_game

from alphazero.inference import backends, gpu_kernels, gpu_search
from alphazero.inference.evaluator import Engine, ImpossibleAnswersError
from alphazero.search.puct import Exploration
from alphazero.search.settings import SearchSettings
from alphazero.search.simulate import make_root_plan
from alphazero.search.tree import make_tree
from alphazero.selfplay.lockstep import SelfPlay
from alphazero.selfplay.settings import SelfPlaySettings

GAMES = ("tic_tac_toe", "othello:4", "twice")
SETTINGS = {
    "puct": {},
    "forced_playouts": {"forced_playouts_k": 2.0},
    "gumbel": {"root": "gumbel"},
    "no_proofs": {"mcts_solver": False},
    "no_reuse": {"reuse_tree": False},
}
NUM_GAMES, NUM_SIMULATIONS = 4, 16


class SimulatedEngine(Engine):
    """Stands in for a `CudaEngine` whose GPU is the simulator's."""

    gpus = [torch.device("cpu")]

    def __init__(self, num_actions):
        self._evaluator = HashEvaluator(num_actions)
        self.num_calls = 0

    def load(self, network, planes):
        raise NotImplementedError

    def evaluate(self, planes):
        return self._evaluator.evaluate(planes)

    def evaluate_on_gpu(self, planes, gpu_index):
        self.num_calls += 1
        logits, values = self._evaluator.evaluate(planes.numpy())
        return torch.from_numpy(logits), torch.from_numpy(values)


def make_gpu_search(game, evaluator, settings):
    from alphazero.inference.gpu_search import GpuTreeSearch

    return GpuTreeSearch(
        game,
        evaluator,
        0,
        num_games=NUM_GAMES,
        max_simulations=NUM_SIMULATIONS,
        settings=SearchSettings(**settings),
        generator=np.random.default_rng(0),
        explores=True,
    )


def digest_of_moves(search, game):
    """Search and move twice in each game; return a digest of the results and the trees."""
    states = game.initial_states(NUM_GAMES)
    for ply in range(NUM_GAMES - 1):  # game k has made k moves
        actions = game.legal_action_mask(states).argmax(axis=1)
        states[ply + 1 :] = game.step(states, actions).states[ply + 1 :]
    rows, digest = np.arange(NUM_GAMES), hashlib.sha256()
    search.reset(rows, states, NUM_SIMULATIONS)
    for _ in range(2):
        while len(search.finished_rows()) < len(rows):
            search.step()
        output = search.output(rows, np.ones(len(rows)))
        for part in output[:6]:
            digest.update(np.ascontiguousarray(part).tobytes())
        after = game.step(states[rows], output.actions)
        search.stop(rows[after.over])
        live = ~after.over
        rows = rows[live]
        states[rows] = after.states[live]
        search.advance(rows, output.actions[live], states[rows], NUM_SIMULATIONS)
    counts = search.counts
    numbers = counts.num_simulations, counts.num_evaluations, counts.total_depth
    return f"{digest.hexdigest()[:16]} {numbers}"


def digests(make):
    """Return a line for each game and each way to search, of the searches that ``make`` returns."""
    return [
        f"{name} {way} {digest_of_moves(make(named_game(name), settings), named_game(name))}"
        for name in GAMES
        for way, settings in SETTINGS.items()
    ]


def make_cpu_search(game, settings):
    return make_search(game, NUM_GAMES, NUM_SIMULATIONS, explores=True, **settings)


def make_simulated_search(game, settings):
    return make_gpu_search(game, SimulatedEngine(game.num_actions), settings)


def self_play(game):
    """Play games with searches in the simulator; return them as lines of text."""
    settings = SelfPlaySettings(num_parallel_games=4, num_simulations=8)
    gpu_search.NUM_CHECKED_GAMES = 4
    engine = SimulatedEngine(game.num_actions)
    games = SelfPlay(game, engine, settings, SearchSettings(), np.random.default_rng(0))
    assert type(games.search).__name__ == "GpuTreeSearch"
    return [" ".join(map(str, record.actions)) for record in games.play(6)]


def error_of_impossible_answers(game):
    engine = SimulatedEngine(game.num_actions)
    search = make_gpu_search(game, engine, {})
    search.reset(np.arange(NUM_GAMES), game.initial_states(NUM_GAMES), NUM_SIMULATIONS)
    search.step()
    engine.evaluate_on_gpu = lambda planes, _: (
        torch.full((len(planes), game.num_actions), torch.nan),
        torch.zeros(len(planes)),
    )
    try:
        search.step()
    except ImpossibleAnswersError:
        return "impossible"
    return "not noticed"


def new_engine_is_used(game):
    """Replace the engine between two searches; return whether the second asks the new one."""
    evaluator = SimpleNamespace(engine=SimulatedEngine(game.num_actions))
    search = make_gpu_search(game, evaluator, {})
    evaluator.engine = SimulatedEngine(game.num_actions)
    search.reset(np.arange(NUM_GAMES), game.initial_states(NUM_GAMES), NUM_SIMULATIONS)
    search.step()
    return bool(evaluator.engine.num_calls)


def wrong_search_steps_aside(game):
    """Return the kind of search made for a GPU on which the network computes something else."""
    gpu_search.NUM_CHECKED_GAMES = 4
    engine = SimulatedEngine(game.num_actions)
    evaluate = engine.evaluate_on_gpu
    engine.evaluate_on_gpu = lambda planes, _: evaluate(1 - planes, 0)
    generator = np.random.default_rng(0)
    options = dict(num_games=2, max_simulations=8, settings=SearchSettings(), generator=generator)
    return type(backends.make_search(game, engine, **options)).__name__


def test_results_are_those_of_the_cpu(monkeypatch):
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    assert printed_without_compiler(__file__, "digests") == digests(make_cpu_search)


@pytest.mark.slow
def test_self_play_and_changes_of_the_network(monkeypatch):
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    *games, impossible, is_new, kind = printed_without_compiler(__file__, "selfplay")
    assert len(games) >= 6
    game = named_game("tic_tac_toe")
    for line in games:
        states, over = game.initial_states(1), False
        for action in map(int, line.split()):
            assert not over and game.legal_action_mask(states)[0, action]
            after = game.step(states, np.array([action]))
            states, over = after.states, after.over[0]
        assert over
    assert (impossible, is_new, kind) == ("impossible", "True", "TreeSearch")


@pytest.mark.parametrize("is_installed", [False, True])
def test_without_a_gpu_the_trees_are_on_the_cpu(is_installed, caplog, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: is_installed or None)
    monkeypatch.setattr(gpu_search.config, "ENABLE_CUDASIM", 0)
    backends._warn_of_cpu.cache_clear()  # which warns once per process
    game = named_game("tic_tac_toe")
    engine = SimulatedEngine(game.num_actions)
    engine.gpus = [torch.device("cuda", 0)]
    settings = SelfPlaySettings(num_parallel_games=2, num_simulations=4)
    games = SelfPlay(game, engine, settings, SearchSettings(), np.random.default_rng(0))
    assert len(list(games.play(2))) >= 2
    (line,) = (record.getMessage() for record in caplog.records)
    assert ("pip install" in line) is not is_installed


@pytest.mark.slow
@pytest.mark.parametrize("architecture", [(8, 0), (8, 9), (9, 0)])
@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "othello", "twice"])
def test_the_kernels_compile(name, architecture, monkeypatch):
    """This needs numba-cuda, which `make test-slow` installs, but no GPU."""
    pytest.importorskip("numba_cuda")
    device = SimpleNamespace(compute_capability=architecture, name=b"none", id=0)
    for module in list(sys.modules.values()):
        in_numba = getattr(module, "__name__", "").startswith("numba.cuda")
        if in_numba and hasattr(module, "get_current_device"):
            monkeypatch.setattr(module, "get_current_device", lambda: device)
    game = named_game(name)
    tree = make_tree(4, 9, game.num_actions)
    searches = gpu_kernels.make_searches(game, tree, lambda array: array)
    search = game.rules, searches, Exploration(1.25, 19652.0, 0.25, 0.0)
    rows = np.zeros(2, np.int32)
    for kernel, arguments in (
        (gpu_kernels.find_leaves, search),
        (gpu_kernels.find_leaves_by_plan, (*search, make_root_plan(tree))),
        (gpu_kernels.back_up_leaves, (searches,)),
        (gpu_kernels.keep_subtrees, (searches, rows, rows)),
    ):
        types = tuple(map(numba.typeof, arguments))
        code, _ = cuda.compile_ptx(kernel, types, cc=architecture)
        assert f".target sm_{architecture[0]}{architecture[1]}" in code


if __name__ == "__main__":
    if sys.argv[1] == "digests":
        print(*digests(make_simulated_search), sep="\n")
    else:
        tic_tac_toe = named_game("tic_tac_toe")
        print(*self_play(tic_tac_toe), sep="\n")
        print(error_of_impossible_answers(tic_tac_toe))
        print(new_engine_is_used(tic_tac_toe))
        print(wrong_search_steps_aside(tic_tac_toe))
