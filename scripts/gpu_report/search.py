"""A prototype of search on the GPU, trees and rules included, and its simulations/s.

Each game has one GPU thread. `find_leaf` walks, steps the rules, adds the node and observes the
position; the network evaluates the planes in place; `answer_leaf` writes the priors and backs up
the value. `walk`, `select_action`, `back_up` and the rules are the project's own, compiled for the
GPU by numba-cuda without changes. A CUDA graph holds `STEPS` simulations of all games.

`python scripts/gpu_report/search.py --check` needs no GPU: it compares the trees with those of
`TreeSearch` in numba's simulator.
"""

import math
import os
import sys
import time

if "--check" in sys.argv:
    os.environ |= {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}

import numba
import numpy as np

for _old, _new in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
    if not hasattr(np, _old):  # numba-cuda 0.30 uses names that numpy 2.5 has removed
        setattr(np, _old, getattr(np, _new))

from numba import cuda

from alphazero.games import rules
from alphazero.own_games.registry import make_game
from alphazero.search import tree as trees
from alphazero.search.puct import Exploration, select_action
from alphazero.search.simulate import is_finished, walk
from alphazero.search.tree import ILLEGAL, NO_PARENT, ROOT_INDEX, UNPROVEN, UNVISITED, back_up

MAX_STATE_WORDS = 8
MAX_WALKS = 4  #: maximum walks per step, since some end at proven nodes or finished games
NUM_SIMULATIONS, STEPS, THREADS = 200, 8, 64
EXPLORATION = Exploration(1.25, 19652.0, 0.25, 0.0)


def find_leaf(game, tree, states, root_states, budgets, exploration, planes, legal, out_nodes):
    """Write each game's new leaf into ``planes``, ``legal`` and ``out_nodes``; -1 for no leaf."""
    b = cuda.grid(1)
    if b >= budgets.shape[0]:
        return
    out_nodes[b] = -1
    state = cuda.local.array(MAX_STATE_WORDS, numba.uint64)
    for _ in range(MAX_WALKS):
        if tree.num_nodes[b] == 0:
            parent, action = NO_PARENT, NO_PARENT
            for k in range(root_states.shape[1]):
                state[k] = root_states[b, k]
        else:
            if is_finished(tree, b, budgets[b]):
                return
            action = select_action(tree, b, ROOT_INDEX, exploration, None)
            parent, action, _depth = walk(tree, b, action, exploration, None)
            child = tree.children_index[b, parent, action]
            if child != UNVISITED:
                tree.node_visits[b, child] += 1
                back_up(tree, b, child, np.float64(tree.proven_values[b, child]))
                continue
            for k in range(root_states.shape[1]):
                state[k] = states[b, parent, k]
            rules.step(game, state, action)
        node = tree.num_nodes[b]
        tree.num_nodes[b] = node + 1
        for k in range(root_states.shape[1]):
            states[b, node, k] = state[k]
        tree.parents[b, node] = parent
        tree.action_from_parent[b, node] = action
        tree.players[b, node] = rules.player_to_move(game, state)
        tree.node_visits[b, node] = 1
        tree.visited_priors[b, node] = 0.0
        if parent != NO_PARENT:
            tree.children_index[b, parent, action] = node
            tree.visited_priors[b, parent] += tree.children_priors[b, parent, action]
        if rules.is_over(game, state):
            result = rules.scaled_result(game, state)
            tree.proven_values[b, node] = result
            tree.node_values[b, node] = result
            for a in range(tree.children_index.shape[2]):
                tree.children_index[b, node, a] = ILLEGAL
            back_up(tree, b, node, np.float64(result))
            continue
        tree.proven_values[b, node] = UNPROVEN
        rules.legal_actions(game, state, legal[b])
        rules.observe(game, state, planes[b])
        out_nodes[b] = node
        return


def answer_leaf(tree, nodes, prior_logits, legal, values):
    """Write the network's answer into each game's leaf, and back up its value."""
    b = cuda.grid(1)
    if b >= nodes.shape[0] or nodes[b] < 0:
        return
    node, largest, total = nodes[b], -np.inf, 0.0
    for a in range(prior_logits.shape[1]):
        if legal[b, a]:
            largest = max(largest, np.float64(prior_logits[b, a]))
    for a in range(prior_logits.shape[1]):
        tree.children_visits[b, node, a] = 0
        tree.children_values[b, node, a] = 0.0
        tree.children_priors[b, node, a] = 0.0
        tree.children_index[b, node, a] = ILLEGAL
        if legal[b, a]:
            weight = math.exp(np.float64(prior_logits[b, a]) - largest)
            tree.children_index[b, node, a] = UNVISITED
            tree.children_priors[b, node, a] = weight
            total += weight
    for a in range(prior_logits.shape[1]):
        if legal[b, a]:
            tree.children_priors[b, node, a] = np.float64(tree.children_priors[b, node, a]) / total
    tree.raw_values[b, node] = values[b]
    tree.node_values[b, node] = values[b]
    back_up(tree, b, node, np.float64(values[b]))


def openings(game, num_games: int) -> np.ndarray:
    """Return the states, [B, K], of positions after 0 to 8 random plies."""
    rng, states = np.random.default_rng(0), game.initial_states(num_games)
    for ply in range(8):
        rows = np.flatnonzero(np.arange(num_games) % 9 > ply)
        legal = game.legal_action_mask(states[rows])
        actions = (rng.random(legal.shape) * legal).argmax(axis=1).astype(np.int32)
        after = game.step(states[rows], actions)
        states[rows] = np.where(after.over[:, None], states[rows], after.states)
    return states


class Arrays:
    """The trees, states and planes of B games, on the device chosen by ``to_device``."""

    def __init__(self, game, roots: np.ndarray, to_device):
        num_games, num_nodes = len(roots), NUM_SIMULATIONS + 1
        tree = trees.make_tree(num_games, num_nodes, game.num_actions)
        self.tree = trees.Tree(*map(to_device, tree))
        states = np.zeros((num_games, num_nodes, game.state_size), game.state_dtype)
        self.states, self.roots = to_device(states), to_device(roots)
        self.budgets = to_device(np.full(num_games, NUM_SIMULATIONS, np.int32))
        self.planes = to_device(np.zeros((num_games, *game.planes_shape), np.float32))
        self.legal = to_device(np.zeros((num_games, game.num_actions), np.bool_))
        self.nodes = to_device(np.zeros(num_games, np.int32))

    def find_leaf_arguments(self, game):
        """Return the arguments of `find_leaf`."""
        search = self.tree, self.states, self.roots, self.budgets, EXPLORATION
        return game.rules_object, *search, self.planes, self.legal, self.nodes


def check(name: str, num_games: int = 4) -> None:
    """Check that the trees equal those of `TreeSearch`."""
    from alphazero.search.batched_search import TreeSearch
    from alphazero.search.settings import SearchSettings

    game = make_game(name)

    class Evaluator:
        """An arbitrary deterministic function of the planes."""

        def evaluate(self, planes):
            flat = planes.reshape(len(planes), -1).astype(np.float64)
            cells = np.arange(flat.shape[1])
            values = np.tanh(flat @ np.sin(cells * 1.7) * 0.3).astype(np.float32)
            factors = np.cos(np.outer(cells, np.arange(game.num_actions)) * 0.9)
            return np.sin(flat @ factors).astype(np.float32), values

    roots = openings(game, num_games)
    search = TreeSearch(
        game,
        Evaluator(),
        num_games=num_games,
        max_simulations=NUM_SIMULATIONS,
        settings=SearchSettings(),
        generator=np.random.default_rng(1),
    )
    search.reset(np.arange(num_games), roots, NUM_SIMULATIONS)
    search.run()
    arrays = Arrays(game, roots, lambda array: array)
    while True:
        cuda.jit(find_leaf)[1, num_games](*arrays.find_leaf_arguments(game))
        if (arrays.nodes < 0).all():
            break
        logits, values = Evaluator().evaluate(arrays.planes)
        cuda.jit(answer_leaf)[1, num_games](arrays.tree, arrays.nodes, logits, arrays.legal, values)
    for field in ("children_visits", "node_values"):
        expected, actual = (getattr(tree, field)[:, 0] for tree in (search.tree, arrays.tree))
        np.testing.assert_allclose(actual, expected, rtol=1e-6, err_msg=f"{name}: {field}")
    print(f"{name}: the trees are equal")


def measure(shape: tuple[int, int], num_games: int, compiled: bool) -> None:
    """Print simulations/s with a network of ``shape`` (blocks, channels); (0, 0) for none."""
    import torch

    from alphazero.network.interface import NetworkSettings, expected_value
    from alphazero.network.registry import make_network
    from alphazero.network.residual import folded

    game = make_game("connect_four")
    blocks, channels = shape if any(shape) else (1, 8)
    settings = NetworkSettings(blocks=blocks, channels=channels)
    network = make_network(game.planes_shape, game.num_actions, settings)
    network = folded(network.eval()).to(torch.bfloat16).to(memory_format=torch.channels_last)
    network = network.cuda().requires_grad_(False)
    arrays = Arrays(game, openings(game, num_games), cuda.to_device)
    planes, num_nodes, visits = (
        torch.as_tensor(array, device="cuda")
        for array in (arrays.planes, arrays.tree.num_nodes, arrays.tree.node_visits)
    )
    logits = torch.zeros(num_games, game.num_actions, device="cuda")
    values = torch.zeros(num_games, device="cuda")
    answers = cuda.as_cuda_array(logits), cuda.as_cuda_array(values)

    def forward(planes):
        planes = planes.to(torch.bfloat16).contiguous(memory_format=torch.channels_last)
        output = network(planes)
        return output.prior_logits.float(), expected_value(output.value_logits.float())

    forward = torch.compile(forward, dynamic=False) if compiled else forward
    grid, stream = -(-num_games // THREADS), torch.cuda.Stream()
    find, answer = cuda.jit(find_leaf), cuda.jit(answer_leaf)
    numba_stream = cuda.external_stream(stream.cuda_stream)

    def step():
        find[grid, THREADS, numba_stream](*arrays.find_leaf_arguments(game))
        if any(shape):
            for out, answer_part in zip((logits, values), forward(planes)):
                out.copy_(answer_part)
        legal, nodes = arrays.legal, arrays.nodes
        answer[grid, THREADS, numba_stream](arrays.tree, nodes, answers[0], legal, answers[1])

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream), torch.no_grad():
        for _ in range(3):
            step()
        stream.synchronize()
        with torch.cuda.graph(graph, stream=stream, capture_error_mode="relaxed"):
            for _ in range(STEPS):
                step()
    speeds = []
    for _ in range(4):
        num_nodes.zero_()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(-(-NUM_SIMULATIONS // STEPS) + 1):
            graph.replay()
        torch.cuda.synchronize()
        speeds.append(int((visits[:, 0] - 1).sum()) / (time.perf_counter() - start))
    label = f"{shape[0]}x{shape[1]}" if any(shape) else "no network"
    how = "compiled" if compiled else "eager"
    print(f"{label}, {num_games:,} games, {how}: {max(speeds[1:]):,.0f} simulations/s", flush=True)


if __name__ == "__main__":
    if "--check" in sys.argv:
        NUM_SIMULATIONS = 40
        for name in ("tic_tac_toe", "connect_four", "othello:6"):
            check(name)
    else:
        for num_games in (4096, 16384, 65536):
            measure((0, 0), num_games, False)
        for num_games in (4096, 16384, 32768):
            measure((5, 64), num_games, False)
        for num_games in (16384, 32768):
            measure((5, 64), num_games, True)
        measure((8, 128), 16384, True)
