"""`scripts/tune_rollouts.py`: the local search, its output, and refused arguments."""

import sys
from pathlib import Path

import numpy as np
import pytest

from alphazero.games.registry import make_game
from alphazero.runtime.errors import ConfigError

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

import tune_rollouts as tuning


def test_climbing_keeps_better_weights_and_approaches_the_top():
    top = np.array([1.0, -2.0, 0.5])

    def score(weights):
        return -float(((weights - top) ** 2).sum())

    rounds = list(tuning.climb(score, np.array([3.0, 1.0, 0.2]), 300, np.random.default_rng(0)))
    assert len(rounds) == 301 and rounds[0].is_best
    best = [found.score for found in rounds if found.is_best]
    assert best == sorted(best) and best[-1] > -0.1 > best[0]
    assert all(found.score <= best[-1] for found in rounds)


def test_tuning_prints_its_rounds_and_the_result_with_an_interval(capsys):
    games = ["--games", "2", "--final-games", "4", "--time-limit-s", "0.001"]
    start = ["--game", "othello:4", "--rounds", "2", "--start", "0.1", "2", "1"]
    assert tuning.main([*start, *games]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:5]] == ["0", "1", "2", "best"]
    assert "[0.1,2,1]" in lines[1]
    assert "95% interval" in lines[4] and "4 new games" in lines[4]


def test_a_game_without_an_evaluation_is_refused():
    with pytest.raises(ConfigError) as error:
        tuning.first_weights(make_game("tic_tac_toe"), None)
    assert (error.value.key, error.value.value) == ("game", "tic_tac_toe")


def test_a_wrong_number_of_weights_is_refused():
    with pytest.raises(ConfigError) as error:
        tuning.first_weights(make_game("othello"), np.ones(1))
    assert error.value.key == "start" and "3" in error.value.allowed


@pytest.mark.parametrize("words", (["--game", "tic_tac_toe"], ["--start", "1"], ["--game", "go"]))
def test_a_refused_argument_ends_the_script_with_status_2(words, capsys):
    assert tuning.main(words) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize("words", (["--games", "3"], ["--rounds", "-1"], ["--final-games", "0"]))
def test_an_impossible_number_is_refused(words, capsys):
    with pytest.raises(SystemExit, match="2"):
        tuning.main(words)
    assert " ".join(words) in capsys.readouterr().err
