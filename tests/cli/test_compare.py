"""Comparisons of runs: differences with intervals, and the tables of `alphazero compare`."""

import contextlib
import functools
import io
import json
import re
import shlex

import numpy as np
import pytest
from rich.console import Console

from alphazero.cli import compare, train
from alphazero.cli.command import run_command
from alphazero.evaluation.exact.accuracy import difference
from alphazero.runtime.errors import ConfigError


def test_a_difference_by_hand():
    found = difference(np.array([[1, 1, 0, 1]], bool), np.array([[0, 1, 0, 0]], bool))
    # By position 1, 0, 0, 1: mean 1/2, variance 1/3 of 4 positions.
    assert found.mean == 0.5 and not found.over_seeds
    assert found.high - found.mean == pytest.approx(1.959964 * (1 / 12) ** 0.5, rel=1e-5)
    two = difference(
        np.array([[1, 1, 0, 1], [1, 1, 1, 1]], bool), np.array([[0, 1, 0, 0], [0, 1, 0, 0]], bool)
    )
    # By position 1, 0, 1/2, 1: variance .2292. The runs' accuracies .75 and 1 have the variance
    # 1/32, those of the baseline 0.
    assert two.mean == 0.625 and two.over_seeds
    assert two.high - two.mean == pytest.approx(
        1.959964 * (0.2291667 / 4 + 1 / 32 / 2) ** 0.5, rel=1e-5
    )


def test_intervals_cover_the_truth_with_their_stated_probability():
    rng, covered = np.random.default_rng(0), 0
    for _ in range(400):
        hard = rng.random(300)  # the difficulty of each position, in both configurations
        strengths = rng.normal([0.8] * 8 + [0.7] * 8, 0.02)  # of eight seeds each
        runs = hard[None] < strengths[:, None] + rng.normal(0, 0.05, (16, 300))
        found = difference(runs[:8], runs[8:])
        covered += found.low <= 0.1 <= found.high
    # 95% of 400 has a standard deviation of 1.1%. With only eight seeds, a normal interval covers
    # about 93% to 94%.
    assert 0.89 <= covered / 400 <= 0.985


#: A run of one iteration, in seconds.
TINY_RUN = (
    "game=connect_x experiment=dummy_run network=2x32 network.channels=4 pit.every=0 "
    "evaluation.final_num_games=0 evaluation.num_games=0 evaluation.exact=false "
    "evaluator.engine=torch evaluator.precision=float32 learner.precision=float32 device=cpu "
    "run.num_iterations=1 run.sample_game_every=0"
).split()


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """Run a sweep of two configurations with two seeds each; return its root and its output."""
    root = tmp_path_factory.mktemp("runs")
    words = [f"run.root={root}", "run.name=sweep", "search.reuse_tree=true,false", "seed=1,2"]
    quick = functools.partial(compare.Settings, num_simulations=4)
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as output:
        patch.setattr(compare, "Settings", quick)
        assert train.main([*TINY_RUN, *words, "--multirun"]) == 0
    return root / "connect_x_5x5x4", output.getvalue()


#: The runs in the order of the sweep, by their numbers.
RUNS = {
    2 * index + seed: f"sweep_search.reuse_tree={reuse}_seed={seed}"
    for index, reuse in enumerate((True, False))
    for seed in (1, 2)
}


def _compare(folder, numbers, *words) -> str:
    """Compare runs of the sweep; return the output."""
    console = Console(file=io.StringIO(), width=100)
    runs = ",".join(str(folder / RUNS[number]) for number in numbers)
    assert run_command(compare, [f"run={runs}", "num_simulations=4", *words], console) == 0
    return console.file.getvalue()


@pytest.mark.slow
def test_a_sweep_ends_with_a_comparison_of_its_runs(sweep):
    folder, output = sweep
    assert {path.name for path in folder.iterdir()} == set(RUNS.values())
    assert "500 positions" in output
    assert "1: search.reuse_tree=true\n" in output and "2: search.reuse_tree=false\n" in output
    (command,) = (line for line in output.splitlines() if "alphazero compare" in line)
    words = shlex.split(command.partition("compare")[2])
    console = Console(file=io.StringIO(), width=100)
    assert run_command(compare, [*words, "num_simulations=2"], console) == 0
    assert "4 runs" in console.file.getvalue()


@pytest.mark.slow
def test_runs_that_differ_in_their_seed_are_one_configuration(sweep, tmp_path):
    folder, _ = sweep
    text = _compare(folder, (1, 2, 3, 4), f"json={tmp_path / 'figures.json'}")
    figures = json.loads((tmp_path / "figures.json").read_text())
    first, second = figures["configurations"]
    assert (first["runs"], second["runs"]) == ([RUNS[1], RUNS[2]], [RUNS[3], RUNS[4]])
    assert second["label"] == "search.reuse_tree=false"
    for way in (first, second):
        for name, raw_accuracy, accuracy in zip(way["runs"], way["raw_accuracy"], way["accuracy"]):
            assert 0 < raw_accuracy < 1 and 0 < accuracy < 1
            (line,) = (line for line in text.splitlines() if f"{name}: " in line)
            assert re.findall(r"([\d.]+)%", line) == [
                f"{100 * raw_accuracy:.1f}",
                f"{100 * accuracy:.1f}",
            ]
        assert f"{100 * np.mean(way['accuracy']):.1f}" in text
    difference = second["difference"]
    mean = np.mean(second["accuracy"]) - np.mean(first["accuracy"])
    assert difference["mean"] == pytest.approx(mean)
    assert difference["low"] < mean < difference["high"] and difference["over_seeds"]


def test_runs_of_one_configuration_are_compared_with_each_other(sweep):
    folder, _ = sweep
    text = _compare(folder, (1, 2))
    assert RUNS[1] in text and RUNS[2] in text and "search.reuse_tree=false" not in text


def test_runs_may_be_a_pattern_and_the_latest(sweep):
    folder, _ = sweep
    console = Console(file=io.StringIO(), width=100)
    runs = f"run={folder}/*reuse_tree=True_seed=?,latest"
    assert run_command(compare, [runs, f"root={folder.parent}", "num_simulations=2"], console) == 0
    text = console.file.getvalue()
    assert "3 runs" in text and RUNS[4] in text


def test_a_run_is_not_compared_with_itself(sweep):
    folder, _ = sweep
    runs = [str(folder / RUNS[1]), str(folder / RUNS[2])]
    for twice in ("latest", runs[0], f"{runs[1]}/../{RUNS[1]}"):
        with pytest.raises(ConfigError) as error:
            run_command(
                compare,
                [f"run={','.join(runs)},{folder / RUNS[4]},{twice}", f"root={folder.parent}"],
            )
        assert error.value.key == "run" and twice in str(error.value)
