"""Comparisons of runs: a difference with the interval that statistics give it, and one table for runs of several ways and seeds."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from alphazero.cli import train
from alphazero.cli.compare import main
from alphazero.evaluation.exact.comparison import difference
from alphazero.runtime.errors import ConfigError


def test_a_difference_by_hand():
    found = difference(np.array([[1, 1, 0, 1]], bool), np.array([[0, 1, 0, 0]], bool))
    # By position 1, 0, 0, 1: mean 1/2, variance 1/3 of 4 positions.
    assert found.mean == 0.5 and not found.over_seeds
    assert found.high - found.mean == pytest.approx(1.959964 * (1 / 12) ** 0.5, rel=1e-5)
    two = difference(
        np.array([[1, 1, 0, 1], [1, 1, 1, 1]], bool), np.array([[0, 1, 0, 0], [0, 1, 0, 0]], bool)
    )
    # By position 1, 0, 1/2, 1: variance .2292; the runs' shares .75 and 1 have the variance 1/32, those of the other way none.
    assert two.mean == 0.625 and two.over_seeds
    assert two.high - two.mean == pytest.approx(
        1.959964 * (0.2291667 / 4 + 1 / 32 / 2) ** 0.5, rel=1e-5
    )


def test_intervals_hold_the_truth_as_often_as_they_say():
    rng, held = np.random.default_rng(0), 0
    for _ in range(400):
        hard = rng.random(300)  # how hard each position is, for both ways
        strengths = rng.normal([0.8] * 8 + [0.7] * 8, 0.02)  # of eight seeds of each way
        runs = hard[None] < strengths[:, None] + rng.normal(0, 0.05, (16, 300))
        found = difference(runs[:8], runs[8:])
        held += found.low <= 0.1 <= found.high
    # 95 % of 400 strays by 11 at one standard deviation of 0.011; with eight seeds in the place of many, a normal interval holds about 93 to 94 %.
    assert 0.89 <= held / 400 <= 0.985


WORDS = (
    "game=connect_four experiment=dummy_run network=2x32 run.sample_game_every=0 pit.every=0 evaluation.final_num_games=0 evaluation.num_games=0 "
    "evaluation.exact=false evaluator.engine=torch evaluator.precision=float32 learner.precision=float32 run.num_iterations=1"
)


def test_a_sweep_ends_with_its_table_and_the_command_says_the_same(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    words = [
        *WORDS.split(),
        f"run.root={tmp_path}",
        "run.name=sweep",
        "search.reuse_tree=true,false",
        "seed=1,2",
        "--multirun",
    ]
    assert train.main(words) == 0
    text = capsys.readouterr().out
    assert (
        "connect_four: 4 runs on 1,000 positions" in text
        and "way 2: search.reuse_tree=false\n" in text
        and "over positions and seeds" in text
    )
    runs = ",".join(str(tmp_path / "connect_four" / f"sweep_{number}") for number in (1, 2, 3, 4))
    console = Console(file=io.StringIO(), width=80)
    main([f"run={runs}", "num_simulations=4", f"json={tmp_path / 'figures.json'}"], console)
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["ways"][1]["runs"] == ["sweep_3", "sweep_4"]
    for way in figures["ways"]:
        for name, raw_accuracy, accuracy in zip(way["runs"], way["raw_accuracy"], way["accuracy"]):
            (row,) = [
                line.split()
                for line in console.file.getvalue().splitlines()
                if line.startswith(name)
            ]
            assert (
                row[1] == ("2" if way is figures["ways"][1] else "1")
                and row[-4] == "1"
                and row[-2:] == [f"{100 * raw_accuracy:.1f}", f"{100 * accuracy:.1f}"]
            )
    alike = Console(file=io.StringIO(), width=80)
    main([f"run={','.join(runs.split(',')[:2])}", "num_simulations=4"], alike)
    assert (
        "One way of training" in alike.file.getvalue()
        and "way 1:" not in alike.file.getvalue()
        and "sweep_2 " in alike.file.getvalue()
    )
    assert [way["way"] for way in figures["ways"]] == [
        "the one that the others are compared with",
        "search.reuse_tree=false",
    ]
    assert all(
        len(way["accuracy"]) == 2 and 0 < way["raw_accuracy"][0] < 1 for way in figures["ways"]
    )
    first, second = figures["ways"]
    assert second["difference"]["mean"] == pytest.approx(
        np.mean(second["accuracy"]) - np.mean(first["accuracy"])
    )
    assert f"{100 * np.mean(second['accuracy']):.1f}" in console.file.getvalue()


@pytest.mark.parametrize(
    "words, sentence",
    [
        ([], "takes two folders"),
        (["run=a,b"], "run=a is not the folder of a run"),
        (["run=a"], "takes two folders"),
        (["run=a,b,a"], "run= names a more than once"),
        (["run=a,b,b/../a"], "run= names a, b/../a more than once"),
    ],
)
def test_what_cannot_be_compared_is_refused(words, sentence):
    with pytest.raises(ConfigError, match=sentence):
        main(words)
