"""docs/notebooks.md: the published recipes field by field, and the students' training loop."""

import math
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import yaml
from notebook_tic_tac_toe import TicTacToe

from alphazero.config.settings import rows as setting_rows
from alphazero.inference.engines.agreement import PositionSample
from alphazero.inference.network_evaluator import NetworkEvaluator
from alphazero.network.interface import expected_value
from alphazero.network.registry import make_network
from alphazero.network.weights import load_network
from alphazero.own_games.registry import make_game
from alphazero.search.batched_search import TreeSearch
from alphazero.storage.run_folder import RunFolder
from alphazero.training.run_config import compose
from alphazero.training.settings import check_run
from alphazero.training.trainer import Trainer

ROOT = Path(__file__).parents[2]
RECIPES = ("notebook_tic_tac_toe", "notebook_connect_four")


def values_of(*words):
    return {row.key: row.value for row in setting_rows(compose(list(words)))}


# --- the recipes ----------------------------------------------------------------------------------


def recipe_rows(setting):
    """Return the rows of docs/notebooks.md: {name: (tic-tac-toe's cell, Connect Four's)}.

    Args:
        setting: whether the names are settings; otherwise they are those of weights.
    """
    page = (ROOT / "docs" / "notebooks.md").read_text()
    rows = re.findall(r"^\|[^|]*\| `([\w.]+)` \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    is_weight = re.compile(r"\.(weight|bias)$")
    return {name: cells for name, *cells in rows if setting != bool(is_weight.search(name))}


def test_the_page_has_the_numbers_of_the_notebook():
    """Each fact of the notebook stands in the table, and nothing is left to a default silently."""
    rows = {name: tuple(map(yaml.safe_load, cells)) for name, cells in recipe_rows(True).items()}
    facts = {
        "run.num_iterations": (150, 35),
        "selfplay.games_per_iteration": (5, 25),
        "selfplay.num_simulations": (200, 200),
        "selfplay.num_sampled_plies": (4, 14),  # temperature 1 while step < 5 or 15, from step 1
        "search.pb_c_init": (math.sqrt(2),) * 2,
        "search.dirichlet_alpha": (0.3, 0.3),
        "search.dirichlet_fraction": (0.25, 0.25),
        "learner.learning_rate": (3e-3, 3e-3),
        "learner.weight_decay": (1e-4, 1e-4),
        "learner.batch_size": (64, 64),
        "learner.epochs": (10, 10),
        "replay.window_max": (200_000, 200_000),
    }
    assert {key: rows[key] for key in facts} == facts
    changed = {}
    for place, name in enumerate(RECIPES):
        values, game = values_of(f"experiment={name}"), values_of(f"game={name[9:]}")
        changed |= {key: place for key, value in values.items() if game[key] != value}
    measured = ("evaluation.", "run.num_threads", "selfplay.num_parallel_games", "learner.final_")
    shape = ("network.",)  # by the second table
    assert {key for key in changed if not key.startswith((*measured, *shape))} <= rows.keys()


@pytest.mark.parametrize("place, name", list(enumerate(RECIPES)))
def test_the_published_recipes_are_those_of_the_page(place, name):
    values, rows = values_of(f"experiment={name}"), recipe_rows(True)
    expected = {key: yaml.safe_load(cells[place]) for key, cells in rows.items()}
    assert {key: values[key] for key in rows} == expected and len(rows) > 40
    assert values["learner.final_learning_rate"] == values["learner.learning_rate"]
    base = values["search.pb_c_base"]
    assert math.log((1e6 + base + 1) / base) == 0  # c is constant, also after a million visits
    pits = values_of(f"experiment={name}", "pit=notebook")
    assert (pits["pit.every"], pits["pit.num_games"], pits["pit.acceptance"]) == (10, 250, 0.55)
    assert pits["pit.counted"] == "games"


@pytest.mark.parametrize("place, name", list(enumerate(RECIPES)))
def test_the_trained_networks_have_the_layers_of_the_page(place, name, tmp_path):
    words = ["run.num_iterations=1", "selfplay.num_simulations=2", "learner.epochs=1"]
    words += ["evaluation.final_num_games=0", "evaluation.prove=false", "evaluation.exact=false"]
    settings = compose([f"experiment={name}", f"run.root={tmp_path}", *words])
    trainer = Trainer(settings, RunFolder(tmp_path), check_run(settings))
    for event in trainer.run():
        report = event
    assert len(report.learner.epoch_losses) == 1
    arrays = load_network(trainer.folder.network(1)).arrays
    expected = {
        weight: tuple(map(int, cells[place].split(",")))
        for weight, cells in recipe_rows(False).items()
    }
    assert {weight: array.shape for weight, array in arrays.items()} == expected


class PublishedSearch:
    """The notebook's AlphaZero search, written a second time, on a class in its form."""

    def __init__(self, game, state, network):
        self.game, self.network = game, network
        self.root = self.node(state)
        self.root.N, self.root.V = 1, self.evaluate(self.root)

    def node(self, state, action=None, parent=None):
        return SimpleNamespace(
            state=state, action=action, parent=parent, N=0, V=0.0, children=None, prior=None
        )

    def search(self, num_simulations):
        """Return the visits of each action."""
        for _ in range(num_simulations):
            node = self.root
            while node.children:
                node = max(node.children, key=self.score)
            value = self.evaluate(node) if node.children is None else node.V / node.N
            while node is not None:
                node.N, node.V = node.N + 1, node.V + value
                node, value = node.parent, -value
        visits = np.zeros(self.game.action_size, int)
        for child in self.root.children:
            visits[child.action] = child.N
        return visits

    def score(self, child):
        q = -child.V / child.N if child.N else 0
        prior = child.parent.prior[child.action]
        return q + math.sqrt(2) * prior * math.sqrt(child.parent.N) / (1 + child.N)

    def evaluate(self, node):
        """Give a node its children, and return its outcome or the network's value."""
        transitions, outcome = self.game.get_transitions(node.state)
        node.children = [self.node(state, a, node) for a, state in transitions.items()]
        if outcome is not None:
            return outcome
        board = torch.tensor(self.game.canonicalize(node.state).board)
        with torch.no_grad():
            output = self.network(torch.stack([board > 0, board < 0])[None].float())
        is_legal = torch.tensor(node.state.action_mask, dtype=torch.bool)
        logits = output.prior_logits[0].masked_fill(~is_legal, -torch.inf)
        node.prior = logits.softmax(dim=0).tolist()
        return expected_value(output.value_logits).item()

    def swap_root(self, action):
        self.root = next(child for child in self.root.children if child.action == action)
        self.root.parent = None


def test_the_recipe_searches_as_the_notebook_does():
    """All visits of two moves, from eight positions, by the same network.

    The board after X takes square 0 and O takes 8 is its own mirror image; the network is not.
    """
    settings = compose(["experiment=notebook_tic_tac_toe"])
    settings.search.dirichlet_fraction, num = 0.0, settings.selfplay.num_simulations
    game, published = make_game("tic_tac_toe"), TicTacToe()
    network = make_network(game, settings.network)
    for layer in (network.policy, network.value):  # an untrained network hardly prefers anything
        layer.weight.data *= 8
    states = np.stack([game.play_moves([0, second]) for second in range(1, 9)])
    sample = PositionSample(game.observe(states), game.legal_action_mask(states))
    evaluator = NetworkEvaluator(network, sample, game, settings=settings.evaluator).streams[0]
    generator = np.random.default_rng(0)
    search = TreeSearch(
        game,
        evaluator,
        num_games=8,
        max_simulations=num,
        settings=settings.search,
        generator=generator,
        explores=True,
    )
    references = []
    for second in range(1, 9):
        state = published.start_state()
        for action in (0, second):
            state = published.get_transitions(state)[0][action]
        references.append(PublishedSearch(published, state, network))
    rows = np.arange(8)
    search.reset(rows, states, num)
    for _ in range(2):
        search.run()
        expected = np.stack([reference.search(num) for reference in references])
        assert np.array_equal(search.tree.children_visits[:, 0], expected)
        kept = [one.root.N for one in references]
        assert search.tree.node_visits[:, 0].tolist() == kept and min(kept) >= num + 1
        actions = expected.argmax(axis=1)
        for reference, action in zip(references, actions.tolist()):
            reference.swap_root(action)
        search.advance(rows, actions, game.step(search.root_states, actions).states, num)


# --- the students' loop ---------------------------------------------------------------------------


@pytest.mark.slow
def test_the_students_loop_trains_and_stores_a_network_that_can_be_proven(tmp_path):
    script = ROOT / "examples" / "notebook_training.py"
    done = subprocess.run(
        [sys.executable, script, "tic_tac_toe", "--iterations", "1", "--seed", "3"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    losses = [float(line.rpartition(" ")[2]) for line in done.stdout.splitlines()]
    assert len(losses) == 1 and 0 < losses[0] < 4
    stored = load_network(tmp_path / "tic_tac_toe_3.safetensors")
    assert stored.game == "tic_tac_toe" and stored.arrays["conv.weight"].shape == (16, 1, 2, 2)
    assert stored.settings["kind"] == "notebook"
