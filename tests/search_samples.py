"""Small games, evaluators, and searches as the tests set them up."""

import hashlib

import numpy as np
from game_samples import TWICE

from alphazero.games.batched_game import Game, Transition
from alphazero.inference.backends import make_tree_search
from alphazero.inference.evaluator import Evaluator
from alphazero.own_games.registry import make_game
from alphazero.search import tree as trees
from alphazero.search.settings import SearchSettings
from alphazero.search.uct.search import UctSearch
from alphazero.search.uct.settings import UctSettings

#: Games whose trees reach proofs, draws (many in 3x3x3), passes and two moves in a row.
GAMES = ("tic_tac_toe", "connect_x:4x4x3", "connect_x:3x3x3", "othello:4", "twice")

#: Priors stay as the evaluator gives them, in searches that explore too.
NO_NOISE = dict(dirichlet_fraction=0.0)


# --- searches -------------------------------------------------------------------------------------


def named_game(name):
    """Return the game of a name in `GAMES`."""
    return make_game(TWICE if name == "twice" else name)


def make_search(
    game,
    num_games,
    max_simulations,
    evaluator=None,
    seed=0,
    leaves_per_step=1,
    explores=False,
    **settings,
):
    """Return a `TreeSearch` with these `SearchSettings`."""
    evaluator = evaluator or HashEvaluator(game.num_actions)
    generator = np.random.default_rng(seed)
    return make_tree_search(
        game,
        evaluator,
        num_games=num_games,
        max_simulations=max_simulations,
        settings=SearchSettings(**settings),
        generator=generator,
        leaves_per_step=leaves_per_step,
        explores=explores,
    )


def searched(game, states, num_simulations, **options):
    """Return the finished search of ``states``; options as in `make_search`."""
    search = make_search(game, len(states), num_simulations, **options)
    search.reset(np.arange(len(states)), states, num_simulations)
    search.run()
    return search


def random_positions(game, num_games, seed):
    """Return unfinished positions of random games, [B, K], each after a random number of plies."""
    rng, states = np.random.default_rng(seed), game.initial_states(num_games)
    lengths = rng.integers(0, game.max_plies, num_games)
    for ply in range(game.max_plies):
        mask = game.legal_action_mask(states)
        after = game.step(states, np.where(mask, rng.random(mask.shape), -1.0).argmax(axis=1))
        moving = (lengths > ply) & ~after.over
        states[moving] = after.states[moving]
        lengths[after.over] = 0
    return states


def nodes_by_path(tree, row, root=trees.ROOT_INDEX):
    """Return the nodes at and below ``root``, by the moves that lead to them from there."""
    paths = {root: ()}
    for node in range(root + 1, tree.num_nodes[row]):
        parent = tree.parents[row, node]
        if parent in paths:
            paths[node] = (*paths[parent], int(tree.action_from_parent[row, node]))
    return {path: node for node, path in paths.items()} if tree.num_nodes[row] else {}


def make_uct(game, seed=0, **settings) -> UctSearch:
    """Return a UCT search with these `UctSettings`."""
    return UctSearch(game, UctSettings(**settings), seed)


# --- evaluators -----------------------------------------------------------------------------------


class HashEvaluator(Evaluator):
    """Gives every position pseudo-random prior logits and a value, by its planes alone."""

    def __init__(self, num_actions, spread=1.5):
        self.num_actions, self.spread = num_actions, spread
        self.num_rows = []  # of each call
        self._known = {}

    def evaluate(self, planes):
        self.num_rows.append(len(planes))
        answers = [self._answer(row.tobytes()) for row in planes]
        logits, values = ([answer[i] for answer in answers] for i in range(2))
        return np.array(logits, np.float32), np.array(values, np.float32)

    def _answer(self, data):
        if data not in self._known:
            seed = int.from_bytes(hashlib.sha256(data).digest()[:8], "little")
            generator = np.random.default_rng(seed)
            logits = self.spread * generator.standard_normal(self.num_actions)
            self._known[data] = logits, generator.uniform(-0.9, 0.9)
        return self._known[data]


class BanditEvaluator(Evaluator):
    """Gives every position of a `BanditGame` the same priors, and its arm's value.

    Args:
        arm_values: float[A], from the viewpoint of the root's player.
    """

    def __init__(self, priors, root_value, arm_values):
        self.logits = np.log(np.array(priors, np.float32))
        self.values = np.array([root_value, *arm_values], np.float32)

    def evaluate(self, planes):
        arms, plies = planes[:, 0, 0, 0].astype(int), planes[:, 1, 0, 0]
        signs = np.where(plies % 2, -1, 1).astype(np.float32)
        return np.tile(self.logits, (len(planes), 1)), self.values[arms] * signs


# --- games ----------------------------------------------------------------------------------------


class BanditGame(Game):
    """A game without an end whose first action is the arm that is pulled; players alternate.

    State: int32[2] = arm + 1 (0 at the root), plies made.
    """

    name, state_size, state_dtype, max_plies = "bandit", 2, np.dtype(np.int32), 1000
    planes_shape = (2, 1, 1)

    def __init__(self, num_arms):
        self.num_actions = num_arms

    def initial_states(self, num_games=1):
        return np.zeros((num_games, 2), np.int32)

    def step(self, states, actions):
        arms = np.where(states[:, 1] == 0, np.asarray(actions) + 1, states[:, 0])
        return self.inspect(np.stack([arms, states[:, 1] + 1], axis=1).astype(np.int32))

    def inspect(self, states):
        over, results = np.zeros(len(states), bool), np.zeros(len(states), np.float32)
        mask = np.ones((len(states), self.num_actions), bool)
        return Transition(states, over, results, (states[:, 1] % 2).astype(np.int8), mask)

    def observe(self, states):
        return states.astype(np.float32).reshape(-1, 2, 1, 1)

    def playout(self, states, rng):
        raise NotImplementedError

    def cells(self, state):
        raise NotImplementedError


def pull_arms(
    priors,
    root_value,
    arm_values,
    num_simulations,
    num_games=1,
    explores=True,
    seed=0,
    **settings,
):
    """Return the finished searches of a bandit, and their `PolicyOutput`."""
    game = BanditGame(len(priors))
    evaluator = BanditEvaluator(priors, root_value, arm_values)
    options = dict(explores=explores, **settings)
    search = make_search(game, num_games, num_simulations, evaluator, seed, **options)
    rows = np.arange(num_games)
    search.reset(rows, game.initial_states(num_games), num_simulations)
    search.run()
    return search, search.output(rows)
