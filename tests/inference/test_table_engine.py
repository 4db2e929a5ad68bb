"""The engine that looks up networks of windows and of line patterns."""

import numpy as np
import pytest
import torch
from network_samples import planes_of, random_pieces, small_network, table_network

from alphazero.inference.engines.agreement import sample_positions
from alphazero.inference.engines.registry import (
    REFERENCE,
    EngineChoice,
    make_engine,
    preferred_engine,
)
from alphazero.inference.engines.table_engine import rounded
from alphazero.inference.network_evaluator import NetworkEvaluator
from alphazero.network.interface import expected_value
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError

CPU = torch.device("cpu")
TABLE = EngineChoice("table", "float32")
KINDS = ("windows", "patterns")


def positions(name, num_rows=300):
    game = make_game(name)
    return game, sample_positions(game, num_rows, np.random.default_rng(0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_x:5x4x3", "connect_four", "othello:6"])
@pytest.mark.parametrize("value_head", ["wdl", "scalar"])
def test_the_answers_are_those_of_torch(name, kind, value_head):
    game, sample = positions(name)
    network = table_network(kind, game, sample.planes, value_head=value_head)
    engine = make_engine(TABLE, CPU, 1)
    engine.load(network, sample.planes)
    logits, values = engine.evaluate(sample.planes)
    with torch.inference_mode():
        expected = network(torch.from_numpy(sample.planes))
    # The tables round to 1/32,000 of the largest sum; answers differ far more between positions.
    assert logits.std(axis=0).min() > 0.1 and values.std() > 0.05
    np.testing.assert_allclose(logits, expected.prior_logits.numpy(), rtol=0, atol=2e-2)
    expected_values = expected_value(expected.value_logits).numpy()
    np.testing.assert_allclose(values, expected_values, rtol=0, atol=2e-2)
    # New weights replace the tables.
    torch.nn.init.zeros_(network.policy.weight)
    engine.load(network, sample.planes)
    assert np.ptp(engine.evaluate(sample.planes)[0][:, 0]) == 0


@pytest.mark.parametrize("name", ["gomoku:3x3x3", "gomoku:5x12", "gomoku", "othello"])
def test_windows_play_boards_of_all_sizes(name):
    game = make_game(name)
    planes = random_pieces(game, 30)
    network = table_network("windows", game, planes)
    engine = make_engine(TABLE, CPU, 1)
    engine.load(network, planes)
    logits, values = engine.evaluate(planes)
    with torch.inference_mode():
        expected = network(torch.from_numpy(planes))
    np.testing.assert_allclose(logits, expected.prior_logits.numpy(), rtol=0, atol=2e-2)
    expected_values = expected_value(expected.value_logits).numpy()
    np.testing.assert_allclose(values, expected_values, rtol=0, atol=2e-2)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_do_not_depend_on_the_batch(kind):
    game, sample = positions("connect_four")
    engine = make_engine(TABLE, CPU, 1)
    engine.load(table_network(kind, game, sample.planes), sample.planes)
    logits, values = engine.evaluate(sample.planes)
    assert logits.std(axis=0).min() > 0.1  # batches of other sizes only round otherwise
    for start, end in ((0, 1), (127, 129), (128, 300)):
        part = engine.evaluate(sample.planes[start:end])
        np.testing.assert_allclose(part[0], logits[start:end], rtol=0, atol=1e-3)
        np.testing.assert_allclose(part[1], values[start:end], rtol=0, atol=1e-3)


def test_the_sums_of_the_largest_entries_fit_in_the_tables_numbers():
    network = small_network(make_game("connect_four"), kind="patterns", shared_units=24)
    tables = network.line_tables()
    tables[3].contributions[5] *= 1000
    contributions, sums, scale = rounded([table.contributions for table in tables])
    total, end = np.abs(sums.astype(int)), 0
    for table in tables:
        start, end = end, end + len(table.contributions)
        rows = contributions[start:end].astype(int)
        differences = table.contributions - table.contributions[0]
        np.testing.assert_allclose((rows - rows[0]) * scale, differences, rtol=0, atol=scale.max())
        total += np.abs(rows).max(axis=0)
    assert end == len(contributions)
    assert (31_000 < total).all() and (total < 2**15).all()


def test_auto_takes_tables_for_windows_and_patterns_alone():
    auto = EngineChoice("auto", "auto")
    assert preferred_engine(auto, CPU, "windows") == TABLE
    assert preferred_engine(auto, CPU, "patterns") == TABLE
    assert preferred_engine(auto, CPU, "resnet") != TABLE
    assert preferred_engine(EngineChoice("torch", "float32"), CPU, "patterns") == REFERENCE


def test_tables_are_on_the_cpu_while_the_network_learns_on_a_gpu():
    game, cuda = make_game("tic_tac_toe"), torch.device("cuda")
    assert preferred_engine(EngineChoice("auto", "auto"), cuda, "patterns") == TABLE
    assert REFERENCE.device_for(cuda) == cuda
    sample = sample_positions(game, 50, np.random.default_rng(0))
    network = table_network("windows", game, sample.planes)
    evaluator = NetworkEvaluator(network, sample, game, TABLE, device=cuda)
    assert evaluator.device == CPU and evaluator.engine.tables is not None


def test_other_networks_and_precisions_are_refused():
    game = make_game("tic_tac_toe")
    with pytest.raises(ConfigError):
        make_engine(TABLE, CPU, 1).load(small_network(game), planes_of(game, 4))
    with pytest.raises(ConfigError):
        make_engine(EngineChoice("table", "int8"), CPU, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_that_may_overflow_are_left_to_torch(kind):
    game, sample = positions("connect_four")
    network = table_network(kind, game, sample.planes)
    engine = make_engine(TABLE, CPU, 1)
    for layer in (network.value_hidden, network.policy):
        kept = layer.weight.data.clone()
        layer.weight.data *= 1e38
        with pytest.raises(OverflowError):
            engine.load(network, sample.planes)
        layer.weight.data = kept
