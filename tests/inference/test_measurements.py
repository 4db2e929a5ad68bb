"""Stored measurements: what is damaged, of another version or impossible is measured anew."""

import itertools
import json
import math

import pytest

from alphazero.inference.measurements import read_measurement, write_measurement
from alphazero.own_games.registry import make_game
from alphazero.players.exact_leaves import LeafPolicy, known_speed
from alphazero.solvers.exact_leaves import make_prover

IMPOSSIBLE = [
    b"",
    b"[]",
    b"{",
    b"\xff\xfe",
    b'{"speed": -1}',
    b'{"speed": 1e300}',
    b'{"speed": NaN}',
    b'{"speed": [{"of": Infinity}]}',
    b'{"speed": -0.5}',
    b'{"speed": ' + b"9" * 5000 + b"}",
    b'{"speed": ' + b"[" * 100_000,
]


@pytest.mark.parametrize("text", IMPOSSIBLE, ids=lambda text: text[:24].decode(errors="replace"))
def test_what_no_measurement_says_is_no_measurement(tmp_path, text):
    path = tmp_path / "speed.json"
    path.write_bytes(text)
    assert read_measurement(path) is None


def test_a_measurement_comes_back_and_a_folder_that_cannot_be_written_has_none(tmp_path):
    values = {"fastest": ["torch", "float32"], "speeds": {"a": 3, "b": 0.5}, "most": 1e18}
    write_measurement(tmp_path / "cache" / "speed.json", values)
    assert read_measurement(tmp_path / "cache" / "speed.json") == values
    (tmp_path / "file").write_text("")
    write_measurement(tmp_path / "file" / "speed.json", values)
    assert read_measurement(tmp_path / "file" / "speed.json") is None


def test_every_speed_of_leaves_that_is_believed_can_be_planned_with(tmp_path):
    provers, path = [make_prover(make_game("connect_four"))], tmp_path / "speed.json"
    numbers = [0, 1e-300, 1e-3, 1, 1e12, 1e18, "nan", None, []]
    all_costs = [[], [0], [1] * 500, [1e17, 1e18, 1], [0, 1e17] * 20, "12", {"1": 2}, None, ["1"]]
    limits = [(1, None), (1e9, None), (800, 1.0), (math.inf, 3600.0), (math.inf, 1e-3)]
    believed = 0
    for costs, *speeds in itertools.product(all_costs, numbers, numbers):
        stored = dict(zip(("costs", "nodes_per_s", "evaluations_per_s"), (costs, *speeds)))
        path.write_text(json.dumps(stored))
        speed = known_speed(path)
        if speed is None:
            continue
        believed += 1
        for nodes, limit in itertools.product((None, 1.0, 1e9), limits):
            policy = LeafPolicy(provers, speed, nodes)
            policy.leaves(*limit)
            assert policy.score_nodes(*limit) >= 0
    assert believed == 5 * 4 * 4
