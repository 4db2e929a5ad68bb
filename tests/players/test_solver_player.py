"""The player that plays by exact scores: its laws, its specification, and where scores appear."""

import io
import json

import numpy as np
import pytest
from game_samples import random_games, random_states
from rich.console import Console
from solver_samples import late_states

from alphazero.cli import main
from alphazero.cli.players import make_pair
from alphazero.evaluation.match import Openings, play_match
from alphazero.own_games.registry import make_game
from alphazero.play.json_engine import Engine
from alphazero.play.terminal import HumanPlayer, TerminalGame
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player
from alphazero.players.solver import SolverPlayer
from alphazero.players.without_search import RandomPlayer
from alphazero.runtime.errors import ConfigError
from alphazero.solvers.base import ILLEGAL_SCORE
from alphazero.solvers.enumeration import EnumeratedSolver, ExactValues
from alphazero.solvers.proof import prove

TIC_TAC_TOE = EnumeratedSolver(make_game("tic_tac_toe"))


def tic_tac_toe_player(seed=0):
    return SolverPlayer(TIC_TAC_TOE.game, seed, TIC_TAC_TOE)


def open_states(game):
    states = random_states("tic_tac_toe")
    return states[~game.over(states)]


def test_a_move_has_the_highest_score_and_all_such_moves_are_sampled():
    player, states = tic_tac_toe_player(), open_states(TIC_TAC_TOE.game)
    scores = TIC_TAC_TOE.scores(states)
    best = scores == scores.max(axis=1, keepdims=True)
    seen = np.zeros_like(best)
    # The chance to miss one of at most 9 moves in one of 313 positions is below
    # 313 * 9 * (8/9)^150 = 0.006%.
    for _ in range(150):
        choice = player.choose(states)
        seen[np.arange(len(states)), choice.actions] = True
    assert (seen == best).all()
    assert choice.actions.dtype == np.int32
    assert choice.action_weights.dtype == choice.values.dtype == np.float32
    assert np.allclose(choice.action_weights, best / best.sum(axis=1, keepdims=True))
    assert (choice.values == ExactValues(TIC_TAC_TOE.game).values(states)).all()
    assert player.choose(states[:0]).actions.shape == (0,)


def test_the_same_seed_gives_the_same_moves_and_a_limited_player_is_freshly_seeded():
    start = TIC_TAC_TOE.game.initial_states(50)
    first = tic_tac_toe_player(3)
    actions = first.choose(start).actions
    assert (tic_tac_toe_player(3).choose(start).actions == actions).all()
    assert (first.choose(start).actions != actions).any()
    assert (tic_tac_toe_player(4).choose(start).actions != actions).any()
    limited = first.limited(5, 0.1)
    assert limited.solver is first.solver
    assert (limited.choose(start).actions == actions).all()


def test_an_analysis_holds_the_result_and_the_score_of_each_action():
    game = TIC_TAC_TOE.game
    analysis = tic_tac_toe_player().analyse(game.text_to_state("XX.\nOO.\n...", 0))
    assert (analysis.action, analysis.value, analysis.principal_variation) == (2, 1.0, [2])
    assert np.array_equal(
        analysis.values,
        np.array([np.nan, np.nan, 1, np.nan, np.nan, 0, -1, -1, -1], np.float32),
        equal_nan=True,
    )
    illegal = [ILLEGAL_SCORE] * 2
    assert analysis.scores.tolist() == [*illegal, 9, *illegal, 0, -8, -8, -8]
    assert analysis.visits.tolist() == [0] * 9 and analysis.num_simulations == 0


def test_it_is_proven_perfect_and_a_random_player_never_beats_it():
    game = TIC_TAC_TOE.game
    report = prove(game, lambda states: tic_tac_toe_player().choose(states).actions)
    assert report.perfect and report.unbeatable
    match = play_match(game, tic_tac_toe_player(), RandomPlayer(game), 40, Openings(0))
    assert match.total.losses == 0


def test_in_connect_four_it_wins_as_early_and_loses_as_late_as_it_can():
    game = make_game("connect_x:4x5x4")
    player = SolverPlayer(game)
    for state in late_states(game.name, 12, 10, seed=6):
        scores = player.solver.scores(state[None])[0]
        assert scores[player.analyse(state).action] == scores.max()


# --- commands -------------------------------------------------------------------------------------


def test_its_specification_is_solver_without_a_number():
    player = make_player("solver,seed=7", make_game("connect_x:4x4x3"))
    assert isinstance(player, SolverPlayer) and player.name == "solver"
    with pytest.raises(ConfigError) as refused:
        make_player("solver:5", player.game)
    assert refused.value.value == "solver:5"


def test_the_engine_answers_with_scores():
    answer = Engine("solver").answer(json.dumps({"game": "connect_x:4x4x3", "moves": []}))
    assert answer["scores"] == [1, 4, 4, 1] and answer["value"] == 1.0 and answer["move"] in (1, 2)
    assert answer["action_weights"] == [0.0, 0.5, 0.5, 0.0]
    late = Engine("solver").answer(json.dumps({"game": "connect_x:4x4x3", "moves": [0, 0, 0, 0]}))
    assert late["scores"][0] is None and late["legal_actions"] == [1, 2, 3]
    error = Engine("solver").answer('{"game": "othello"}')["error"]
    assert "othello" in error and "60 empty squares" in error


def test_two_of_them_play_at_the_terminal_and_each_game_ends_as_the_scores_say(capsys):
    assert main(["play", "game=connect_x:4x4x3", "first=solver", "second=solver", "seed=1"]) == 0
    text = capsys.readouterr().out
    # A score of 4 is a win with the fifth of eight discs: move 9 of the game.
    assert "+1.00" in text and "9 moves" in text


def test_another_player_moves_until_a_position_can_be_solved(caplog):
    game = make_game("othello:6")  # with at most 22 empty squares
    settings = PlayerSettings(num_simulations=2)
    solver = make_pair(("solver", "random"), game, settings)[0].limited()
    early, late = game.initial_states(), late_states("othello:6", 8, 1, seed=6)
    assert solver.analyse(early[0]).num_simulations == 2
    assert game.legal_action_mask(early)[0, solver.choose(early).actions[0]]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert solver.analyse(late[0]).scores is not None


def test_there_is_no_hint_for_an_unsolvable_position():
    console = Console(file=io.StringIO(), width=100)
    typed = iter(["hint", "quit"])
    othello = make_game("othello")
    TerminalGame(
        othello,
        (HumanPlayer(), RandomPlayer(othello)),
        console,
        lambda _: next(typed),
        lambda: SolverPlayer(othello),
    ).run()
    text = " ".join(console.file.getvalue().split())
    assert "No hint" in text and "60 empty squares" in text


def test_a_game_that_starts_near_its_end_does_not_solve_the_first_position(capsys):
    plies, _ = random_games(make_game("othello"), 1, seed=4)
    moves = ",".join(str(int(ply.actions[0])) for ply in plies[:-8])
    assert main(["play", "game=othello", f"moves=[{moves}]", "first=solver", "second=solver"]) == 0
    assert "after" in capsys.readouterr().out
