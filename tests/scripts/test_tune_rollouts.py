"""`scripts/tune_rollouts.py`: the local search, its output, and refused arguments."""

import numpy as np
import pytest
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


@pytest.mark.parametrize("words", (["--game", "tic_tac_toe"], ["--start", "1"], ["--game", "go"]))
def test_a_refused_argument_ends_the_script_with_status_2(words, capsys):
    assert tuning.main(words) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ") and words[1] in message
