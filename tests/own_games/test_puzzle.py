"""Games of one player and results between win and loss: solved by hand, searched, trained."""

import io
import json

import numpy as np
import pytest
import torch
from game_samples import PUZZLE
from rich.console import Console
from run_samples import make_trainer, reports

from alphazero.boards.skin import skin_of
from alphazero.boards.text import ending_text, expectation_text, result_name
from alphazero.cli import match as match_command
from alphazero.evaluation.match import Openings, play_match
from alphazero.inference.evaluator import UniformEvaluator
from alphazero.learner.loss import value_targets
from alphazero.own_games.python_game import PythonGame
from alphazero.own_games.registry import make_game
from alphazero.players.base import Choice
from alphazero.players.best_lines import BestLines
from alphazero.players.search_player import SearchPlayer
from alphazero.players.solver import SolverPlayer
from alphazero.replay.buffer import ReplayBuffer
from alphazero.runtime.errors import ConfigError
from alphazero.search.batched_search import TreeSearch
from alphazero.search.settings import SearchSettings
from alphazero.solvers.enumeration import EnumeratedSolver, ExactValues
from alphazero.solvers.proof import prove

#: Settings of a run that measures everything at its end.
MEASURED = (
    "network.kernel_size=1",
    "evaluation.final_num_games=20",
    "evaluation.num_simulations=4",
    "evaluation.uct_simulations=4",
    "evaluation.opening_plies=1",
    "evaluation.exact=true",
    "evaluation.prove=true",
    "run.num_iterations=2",
)


class Doubling:
    """Three times, add 1 (action 0) or double (action 1). The sum is the result: at most 4.

            0
          /   \\
         1     0          after one action
        / \\   / \\
       2   2 1   0        after two
      3 4 3 4 2 2 1 0     after three
    """

    num_actions, max_plies, num_players, result_range = 2, 3, 1, (0, 4)

    def __init__(self):
        self.sum, self.plies = 0, 0

    def step(self, action):
        self.sum, self.plies = self.sum * 2 if action else self.sum + 1, self.plies + 1

    def player_to_move(self):
        return 0

    def is_over(self):
        return self.plies == 3

    def result(self):
        return self.sum

    def legal_actions(self):
        return [0, 1]

    def observe(self):
        return np.array([self.sum, self.plies], np.float32).reshape(2, 1, 1)

    def cells(self):
        return np.full((1, 1), min(self.sum, 1))


class Share:
    """Two players, each names 0, 1, 2 or 3 in turn; the first gets the difference, at most 3."""

    num_actions, max_plies, result_range = 4, 2, (-3, 3)

    def __init__(self):
        self.named = []

    def step(self, action):
        self.named = [*self.named, action]

    def player_to_move(self):
        return len(self.named) % 2

    def is_over(self):
        return len(self.named) == 2

    def result(self):
        return self.named[0] - self.named[1]  # player 0 would be next

    def legal_actions(self):
        return [0, 1, 2, 3]

    def observe(self):
        planes = np.zeros((2, 2, 4), np.float32)
        for ply, number in enumerate(self.named):
            planes[(ply + len(self.named)) % 2, ply, number] = 1
        return planes

    def cells(self):
        board = np.zeros((2, 4))
        for ply, number in enumerate(self.named):
            board[ply, number] = 1 + ply
        return board


@pytest.fixture
def doubling():
    return PythonGame(Doubling(), "doubling")


@pytest.fixture
def share():
    return PythonGame(Share(), "share")


@pytest.fixture(scope="module")
def pegs():
    return make_game(PUZZLE)


def at(game, *actions):
    return game.play_moves(actions)[None]


# --- perfect play -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actions", "best", "best_actions"),
    [((), 4, [0]), ((1,), 2, [0]), ((0,), 4, [0, 1]), ((0, 1), 4, [1]), ((1, 1), 1, [0])],
)
def test_one_player_maximizes(doubling, actions, best, best_actions):
    exact = ExactValues(doubling)
    state = at(doubling, *actions)
    assert doubling.own_result(exact.values(state)[0]) == best
    assert exact.best_actions(state[0]) == best_actions
    assert SolverPlayer(doubling).choose(state).values[0] == exact.values(state)[0]


def test_the_best_result_of_peg_solitaire_is_one_peg(pegs):
    exact = ExactValues(pegs)
    assert len(exact.positions) == 3016
    assert pegs.own_result(exact.positions.values[0]) == -1
    assert (pegs.num_players, pegs.result_range) == (1, (-10.0, -1.0))


def test_the_two_sides_of_a_game_with_many_results_have_opposite_values(share):
    exact = ExactValues(share)
    assert share.own_result(exact.values(at(share))[0]) == 0  # 3 against 3
    values = [share.own_result(value) for value in exact.action_values(at(share))[0]]
    np.testing.assert_allclose(values, [-3, -2, -1, 0], atol=1e-6)
    np.testing.assert_allclose(exact.action_values(at(share, 2))[0], np.array([-2, -1, 0, 1]) / 3)


@pytest.mark.parametrize("name", ["doubling", "share", "pegs"])
def test_exact_scores_order_actions_as_their_results(name, request):
    game = request.getfixturevalue(name)
    solver = EnumeratedSolver(game)
    positions = solver.exact.positions
    states = positions.states[~positions.over]
    scores, values = solver.scores(states), solver.exact.action_values(states)
    assert ((scores > 0) == (values > 0)).all() and ((scores == 0) == (values == 0)).all()
    for row in range(len(states)):
        legal = np.flatnonzero(values[row] >= -1)
        pairs = [(scores[row, a] - scores[row, b], values[row, a] - values[row, b])
                 for a in legal for b in legal]  # fmt: skip
        assert all(by_score > 0 for by_score, by_value in pairs if by_value > 0)


def test_a_proof_of_one_player_compares_with_the_best_result(doubling):
    solved = prove(doubling, lambda states: SolverPlayer(doubling).choose(states).actions)
    assert solved.perfect and solved.results == (1.0, 1.0) and solved.sides == ()
    adding = prove(doubling, lambda states: np.zeros(len(states), np.int64))
    assert adding.results == (0.5, 1.0) and not adding.perfect  # 3 of at most 4
    # After 2 = 1 + 1 = 1 * 2, doubling is better; at 0, 0, and from 1 to 2, both are as good.
    assert [failure.best_actions for failure in adding.failures] == [[1]]


# --- search -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solves", [True, False])
def test_values_keep_their_sign_on_the_way_to_the_root(doubling, solves):
    settings = SearchSettings(dirichlet_fraction=0.0, mcts_solver=solves)
    search = TreeSearch(
        doubling,
        UniformEvaluator(2),
        num_games=1,
        max_simulations=400,
        settings=settings,
        generator=np.random.default_rng(0),
    )
    search.reset(np.array([0]), doubling.initial_states(), 400)
    search.run()
    assert search.output(np.array([0])).actions[0] == 0
    assert search.best_line(0) == ([0, 0, 1], 1.0) or search.best_line(0) == ([0, 1, 1], 1.0)
    mean = search.tree.children_values[0, 0]
    assert mean[0] > 0.5  # its best is 1
    if solves:
        assert search.tree.proven_values[0, 0] == 1
    else:
        assert -1 <= mean[1] <= 0  # its best is 2 of 4


def test_the_best_line_is_followed_where_no_better_one_is_expected(doubling):
    lines = BestLines(doubling)
    start = doubling.initial_states()[0]
    assert lines.line(start) == ([], -np.inf)
    lines.add(start, [0, 0, 0], 0.5)
    lines.add(start, [1, 0, 0], 0.0)  # worse, but the best from there
    assert lines.line(start) == ([0, 0, 0], 0.5)
    assert lines.line(at(doubling, 1)[0]) == ([0, 0], 0.0)
    lines.add(start, [0, 1, 1], 1.0)
    assert lines.line(start) == ([0, 1, 1], 1.0)
    assert lines.line(at(doubling, 0)[0]) == ([1, 1], 1.0)


def test_a_search_player_loses_no_result_that_it_has_found(pegs):
    player = SearchPlayer(pegs, UniformEvaluator(pegs.num_actions), 60, seed=1)
    for opening in Openings(6, seed=1).sample(pegs, 8):
        state, found = pegs.play_moves(opening), -np.inf
        while not pegs.over(state[None])[0]:
            analysis = player.analyse(state)
            line, result = player._best_lines.line(state)
            if result >= analysis.value:
                assert analysis.principal_variation == line
            assert result >= found  # the rest of a line is as good as the line
            found = result if analysis.action == (line or [None])[0] else -np.inf
            state = pegs.step(state[None], np.array([analysis.action])).states[0]
        assert found == -np.inf or pegs.results(state[None])[0] >= found


# --- matches ------------------------------------------------------------------------------------


def test_scores_of_other_results_are_added_up(share):
    def always(action):
        return FixedAction(share, action)

    match = play_match(share, always(3), always(2), 4, Openings(0))
    assert match.score == pytest.approx(2 / 3)  # 1 of at most 3, in each game
    assert match.total == (4, 0, 0)
    points = sum(count * score for count, score in zip(match.pair_counts, (0, 0.25, 0.5, 0.75, 1)))
    assert sum(match.pair_counts) == 2 and points / 2 == pytest.approx(match.score)


class FixedAction:
    """Always plays one action."""

    batch_size = 10

    def __init__(self, game, action):
        self.name, self.game, self.action = f"always {action}", game, action

    def choose(self, states):
        actions = np.full(len(states), self.action, np.int32)
        weights = np.eye(self.game.num_actions, dtype=np.float32)[actions]
        return Choice(actions, weights, np.zeros(len(states), np.float32))


def test_the_command_compares_results(tmp_path):
    settings = match_command.Settings(
        game=PUZZLE, a="solver", b="random", num_games=20, json=str(tmp_path / "match.json")
    )
    match_command.run(settings, Console(file=io.StringIO()))
    figures = json.loads((tmp_path / "match.json").read_text())["puzzle"]
    assert figures["solved_a"] == 1.0 and figures["num_openings"] == 10
    assert figures["mean_result_a"] > figures["mean_result_b"]


# --- what people read ---------------------------------------------------------------------------


def test_people_read_the_numbers_of_the_rules(pegs, share):
    sides = skin_of(pegs).sides
    assert result_name(pegs, -1.0) == "result of -10" and ending_text(pegs, sides, 1).endswith("-1")
    assert expectation_text(0.0, pegs) == "-5.5" and expectation_text(0.0, share)[:5] == "+0.00"
    names = [result_name(share, value / 3) for value in (-3, -1, 0, 2)]
    assert names == ["loss (-3)", "loss", "draw", "win (2)"]
    assert ending_text(share, ("X", "O"), -2 / 3) == "O wins (2)"
    assert result_name(make_game("tic_tac_toe"), 1.0) == "win"


# --- laws ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "value"), [("num_players", 3), ("result_range", (2, 2))])
def test_a_python_game_with_an_impossible_range_is_refused(key, value):
    start = Doubling()
    setattr(start, key, value)
    with pytest.raises(ConfigError) as caught:
        PythonGame(start)
    assert caught.value.value == key


# --- training -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_python_puzzle_trains_and_its_results_survive(tmp_path):
    report = reports(make_trainer(tmp_path, f"game.name={__name__}:Doubling", *MEASURED))[-1]
    assert report.puzzle.num_openings == 10 and report.proof.report.results[1] == 1.0
    assert 0 <= report.puzzle.mean_result <= 4 and 0 <= report.selfplay.mean_result <= 4
    assert report.puzzle.solved <= 1 and np.isnan(report.selfplay.draws)


def test_results_between_win_and_loss_survive_from_the_record_to_the_proof(tmp_path, monkeypatch):
    records = []
    monkeypatch.setattr(ReplayBuffer, "add", noting(records, ReplayBuffer.add))
    trainer = make_trainer(tmp_path, f"game.name={__name__}:Share", *MEASURED)
    report = reports(trainer)[-1]
    assert len(records) >= 6
    for record in records:
        own = (record.actions[0] - record.actions[1]) / 3
        np.testing.assert_allclose(record.outcomes, [own, -own], rtol=1e-6)
    known = np.unique([record.outcomes for record in records])
    assert np.isin(trainer.board.replay.sample(64).outcomes, known).all() and len(known) > 3
    proof = report.proof
    assert len(proof.report.failures) == proof.num_positions - proof.num_accurate
    assert 0 <= report.strength.score <= 1


def noting(calls, function):
    """Return the function of two arguments, which notes the second of each call."""
    return lambda first, second: [calls.append(second), function(first, second)][1]


def test_outcomes_between_win_and_loss_become_the_mixture_with_their_mean():
    outcomes = torch.tensor([0.5, -0.25, 0.0, 1.0])
    wdl = value_targets(outcomes, outcomes, 0.0, 3)
    assert wdl.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.75, 0.25], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
