"""The network as an evaluator: weights, accuracy of engines, threads, caches and lifetime."""

import gc
import re
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from mostly_slow import mostly_slow
from naive import naive_deviation
from network_samples import planes_of, small_network
from search_samples import HashEvaluator

from alphazero.inference import verified_engine
from alphazero.inference.engines.agreement import (
    Deviation,
    PositionSample,
    deviation,
    sample_positions,
)
from alphazero.inference.engines.registry import REFERENCE, EngineChoice, preferred_engine
from alphazero.inference.evaluator import Engine, ImpossibleAnswersError, checked
from alphazero.inference.network_evaluator import EvaluatorSettings, NetworkEvaluator
from alphazero.own_games.registry import make_game
from alphazero.replay.augmentation import apply_symmetries

GAME = make_game("connect_x:4x4x3")
BFLOAT16 = EngineChoice("torch", "bfloat16")
INT8 = EngineChoice("openvino", "int8")


def sample(num_positions=40, seed=0):
    return sample_positions(GAME, num_positions, np.random.default_rng(seed))


def make_evaluator(network=None, choice=REFERENCE, num_threads=1, **settings):
    network, settings = network or small_network(GAME), EvaluatorSettings(**settings)
    return NetworkEvaluator(network, sample(), GAME, choice, settings, num_threads=num_threads)


class FakeEngine(Engine):
    """Answers like a `HashEvaluator` plus the number that is its network and a chosen error.

    It records its calls and loads.
    """

    def __init__(self, choice, errors):
        self.choice, self.errors, self.calls, self.loads = choice, errors, [], []
        self._exact = HashEvaluator(GAME.num_actions)

    def load(self, network, planes):
        self.loads.append((network, planes))

    def evaluate(self, planes):
        self.calls.append((len(planes), threading.get_ident()))
        logits, values = self._exact.evaluate(planes)
        policy_error, value_error = self.errors.get(str(self.choice), (0.0, 0.0))
        logits[:, 0] += policy_error
        values = np.clip(values / 2 + value_error, -1, 1).astype(np.float32)
        return logits + np.float32(self.loads[-1][0]), values


@pytest.fixture
def fakes(monkeypatch):
    """Replace all engines by fakes; return (the engines by name, their errors by name)."""
    engines, errors = {}, {}

    def make_engine(choice, device, num_threads):
        assert str(choice) not in engines
        engines[str(choice)] = FakeEngine(choice, errors)
        return engines[str(choice)]

    monkeypatch.setattr(verified_engine, "make_engine", make_engine)
    monkeypatch.setattr(
        "alphazero.inference.engines.openvino_engine.cpu_precisions",
        lambda: ["float32", "bfloat16", "int8"],
    )
    return engines, errors


def refused(report):
    """Return {engine: (policy KL, value error)} of a report's refused engines."""
    pattern = r"(\w+ \w+) \(too far from float32: policy (\S+) nats, value (\S+)\)"
    return {
        name: (float(kl), float(error)) for name, kl, error in re.findall(pattern, report.refused)
    }


# --- laws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_threads", (2, 3))
def test_a_batch_shared_by_threads_has_the_same_answers_in_the_same_order(num_threads):
    network, planes = small_network(GAME), planes_of(GAME, 70)
    logits, values = make_evaluator(network).evaluate(planes)
    shared = make_evaluator(network, num_threads=num_threads)
    for num_rows in (1, 2, 20, 31, 32, 33, 47, 48, 70):
        part = shared.evaluate(planes[:num_rows])
        assert part[0].shape == (num_rows, GAME.num_actions) and part[1].shape == (num_rows,)
        np.testing.assert_allclose(part[0], logits[:num_rows], rtol=0, atol=1e-5)
        np.testing.assert_allclose(part[1], values[:num_rows], rtol=0, atol=1e-5)


def test_each_thread_gets_one_part_of_a_batch_unless_the_batch_is_small(fakes):
    evaluator = make_evaluator(1, num_threads=3)
    engine = fakes[0]["torch float32"]
    for num_rows, parts in ((5, [5]), (45, [45]), (46, [16, 16, 14]), (100, [34, 34, 32])):
        engine.calls.clear()
        evaluator.evaluate(planes_of(GAME, num_rows))
        assert sorted((size for size, _ in engine.calls), reverse=True) == parts
        own = [size for size, thread in engine.calls if thread == threading.get_ident()]
        assert own == parts[:1]


# --- deviation from the reference -----------------------------------------------------------------


def test_deviation_equals_the_naive_implementation():
    generator = np.random.default_rng(3)
    for _ in range(20):
        num_rows, num_actions = generator.integers(1, 30), generator.integers(1, 9)
        mask = generator.random((num_rows, num_actions)) < 0.6
        mask[np.arange(num_rows), generator.integers(num_actions, size=num_rows)] = True
        ours, theirs = (
            (4 * generator.standard_normal(mask.shape), generator.uniform(-1, 1, num_rows))
            for _ in range(2)
        )
        found = deviation(ours, theirs, PositionSample(np.empty(0), mask))
        expected = naive_deviation(ours, theirs, mask)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_a_deviation_is_within_limits_if_both_figures_are():
    limits = Deviation(0.1, 0.2)
    assert Deviation(0.0, 0.0).within(limits) and limits.within(limits)
    for found in ((0.11, 0.0), (0.0, 0.21), (np.nan, 0.0), (0.0, np.nan)):
        assert not Deviation(*found).within(limits)


class Strict:
    """A game that refuses illegal actions."""

    def __init__(self, game):
        self._game = game

    def __getattr__(self, name):
        return getattr(self._game, name)

    def step(self, states, actions):
        assert self._game.legal_action_mask(states)[np.arange(len(states)), actions].all()
        return self._game.step(states, actions)


@pytest.mark.parametrize("name", ("tic_tac_toe", "connect_x:4x4x3", "othello:4"))
def test_sampled_positions_come_from_random_games(name):
    game = Strict(make_game(name))
    for num_positions in (1, 7, 100):
        found = sample_positions(game, num_positions, np.random.default_rng(5))
        assert found.planes.shape == (num_positions, *game.planes_shape)
        assert found.planes.dtype == np.float32
        assert found.legal_action_mask.shape == (num_positions, game.num_actions)
        assert found.legal_action_mask.any(axis=1).all()  # no finished game among them
        again, other = (
            sample_positions(game, num_positions, np.random.default_rng(seed)) for seed in (5, 6)
        )
        assert np.array_equal(again.planes, found.planes)
    assert not np.array_equal(other.planes, found.planes)
    assert len({planes.tobytes() for planes in found.planes}) > 30
    start = game.observe(game.initial_states(1))[0]
    assert 1 <= (found.planes == start).all(axis=(1, 2, 3)).sum() < 50


# --- engines that deviate too much ----------------------------------------------------------------


def test_an_engine_beyond_a_limit_is_replaced_by_a_more_precise_one(fakes):
    engines, errors = fakes
    errors["openvino int8"], errors["openvino bfloat16"] = (1.0, 0.0), (0.0, 0.2)
    evaluator = make_evaluator(5, INT8)
    exact, planes = HashEvaluator(GAME.num_actions), planes_of(GAME, 6)
    assert evaluator.report.name == "openvino float32"
    assert (evaluator.report.policy_kl, evaluator.report.value_error) == (0.0, 0.0)
    np.testing.assert_array_equal(evaluator.evaluate(planes)[0], exact.evaluate(planes)[0] + 5)

    positions = sample()
    logits, values = exact.evaluate(positions.planes)
    far = logits.copy()
    far[:, 0] += 1.0
    policy_kl, _ = naive_deviation((logits, values), (far, values), positions.legal_action_mask)
    assert list(refused(evaluator.report)) == ["openvino int8", "openvino bfloat16"]
    found = list(refused(evaluator.report).values())
    np.testing.assert_allclose(found, [(policy_kl, 0.0), (0.0, 0.2)], rtol=0, atol=5e-5)
    names = {"openvino int8", "openvino bfloat16", "openvino float32", "torch float32"}
    assert set(engines) == names


def test_a_refusal_holds_for_these_weights_only(fakes):
    engines, errors = fakes
    errors["openvino int8"] = (1.0, 0.0)
    evaluator, planes = make_evaluator(1, INT8), planes_of(GAME, 6)
    assert evaluator.report.name == "openvino bfloat16"
    errors["openvino int8"] = (0.01, 0.01)
    evaluator.update(2)
    assert (evaluator.report.name, evaluator.report.refused) == ("openvino int8", "")
    assert 0 < evaluator.report.policy_kl < 1e-4
    np.testing.assert_allclose(evaluator.report.value_error, 0.01, rtol=1e-3)
    own = engines["openvino int8"]
    np.testing.assert_array_equal(evaluator.evaluate(planes)[0], own.evaluate(planes)[0])
    assert own.loads[-1][0] == 2


def test_the_reference_replaces_engines_that_return_nan(fakes):
    engines, errors = fakes
    names = ["openvino bfloat16", "openvino float32"]
    errors |= dict.fromkeys(names, (float("nan"), 0.0))
    evaluator = make_evaluator(1, EngineChoice("openvino", "bfloat16"))
    assert evaluator.report.name == "torch float32"
    assert list(refused(evaluator.report)) == names
    assert all(np.isnan(policy_kl) for policy_kl, _ in refused(evaluator.report).values())
    assert np.isfinite(evaluator.evaluate(planes_of(GAME, 3))[0]).all()


def test_engines_are_compared_and_calibrated_on_the_newest_positions(fakes):
    engines, _ = fakes
    first, second = sample(), sample(seed=1)
    evaluator = make_evaluator(1, INT8)
    evaluator.update(2, second)
    evaluator.update(3)
    for name in ("openvino int8", "torch float32"):
        networks, planes = zip(*engines[name].loads)
        assert networks == (1, 2, 3)
        for found, expected in zip(planes, (first, second, second)):
            np.testing.assert_array_equal(found, expected.planes)


# --- new weights ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cache_mb", (0, 1))
def test_an_evaluator_and_its_streams_have_the_weights_of_the_last_update(cache_mb):
    network, planes = small_network(GAME), planes_of(GAME, 20)
    evaluator = make_evaluator(network, num_threads=2, cache_mb=cache_mb)
    before, _ = evaluator.streams[0].evaluate(planes)
    with torch.no_grad():
        network.policy.bias += 1.0
    for part in (evaluator, *evaluator.streams):
        np.testing.assert_allclose(part.evaluate(planes)[0], before, rtol=0, atol=1e-5)
    evaluator.update(network)
    for part in (evaluator, *evaluator.streams):
        np.testing.assert_allclose(part.evaluate(planes)[0], before + 1, rtol=0, atol=1e-5)
    assert all(weights.requires_grad for weights in network.parameters())


# --- streams --------------------------------------------------------------------------------------


def test_each_stream_computes_on_its_callers_thread_behind_its_own_cache(fakes):
    evaluator, planes = make_evaluator(1, num_threads=3, cache_mb=1), planes_of(GAME, 60)
    expected = HashEvaluator(GAME.num_actions).evaluate(planes)[0] + 1
    engine = fakes[0]["torch float32"]
    assert len(evaluator.streams) == 3
    engine.calls.clear()
    with ThreadPoolExecutor(1) as pool:
        thread = pool.submit(threading.get_ident).result()
        for number, stream in enumerate(evaluator.streams, 1):
            assert stream.counts[:2] == (0, 0)
            for _ in range(2):
                logits, _ = pool.submit(stream.evaluate, planes).result()
                np.testing.assert_array_equal(logits, expected)
            counts = stream.counts
            assert (counts.num_requested, counts.num_evaluated) == (120, 60)
            assert counts.evaluator_s > 0
            assert engine.calls == [(60, thread)] * number  # once for each stream


def test_without_a_cache_every_position_is_evaluated_again(fakes):
    evaluator, planes = make_evaluator(1, cache_mb=0), planes_of(GAME, 20)
    engine = fakes[0]["torch float32"]
    engine.calls.clear()
    for _ in range(2):
        evaluator.streams[0].evaluate(planes)
    assert [size for size, _ in engine.calls] == [20, 20]
    assert evaluator.streams[0].counts[:2] == (40, 40)


@pytest.mark.parametrize("cache_symmetries", (True, False))
def test_symmetric_positions_share_an_answer_only_if_asked_for(fakes, cache_symmetries):
    stream = make_evaluator(1, cache_mb=1, cache_symmetries=cache_symmetries).streams[0]
    planes, mask = planes_of(GAME, 20), np.ones((20, GAME.num_actions), bool)
    weights, symmetries = mask.astype(np.float32), np.ones(20, np.int64)
    mirrored, *_ = apply_symmetries(symmetries, GAME, planes, weights, mask)
    logits, values = stream.evaluate(planes)
    mirrored_logits, mirrored_values = stream.evaluate(mirrored)
    assert stream.counts[:2] == (40, 20 if cache_symmetries else 40)
    assert np.array_equal(mirrored_logits, logits[:, ::-1]) == cache_symmetries
    assert np.array_equal(mirrored_values, values) == cache_symmetries


def test_the_streams_share_the_memory_for_caches():
    for num_threads in (1, 3):
        evaluator = make_evaluator(num_threads=num_threads, cache_mb=3)
        tables = [stream._table for stream in evaluator.streams]
        total = sum(array.nbytes for table in tables for array in table)
        assert 0.5 * 3e6 <= total <= 3e6


# --- lifetime -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "choice",
    mostly_slow(
        [REFERENCE, preferred_engine(EngineChoice("auto", "auto"), torch.device("cpu"))], 1
    ),
    ids=str,
)
def test_a_dropped_evaluator_is_freed_at_once_without_garbage_collection(choice):
    planes = planes_of(GAME, 40)
    evaluator = make_evaluator(choice=choice, num_threads=2, cache_mb=1)
    evaluator.evaluate(planes)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda stream: stream.evaluate(planes), evaluator.streams))
    parts = [evaluator, *evaluator.streams, evaluator.streams[0]._table.logits]
    parts += [evaluator._engine, evaluator._engine.engine, evaluator._pool]
    references = [weakref.ref(part) for part in parts]
    gc.collect()
    gc.disable()
    try:
        del evaluator, parts
        assert [reference() for reference in references] == [None] * len(references)
    finally:
        gc.enable()


# --- impossible answers ---------------------------------------------------------------------------

FLOAT_MAX = np.finfo(np.float32).max
#: What makes answers impossible: a change of the logits and the values, float32[B, A] and [B].
IMPOSSIBLE = {
    "a logit that is NaN": lambda logits, values: logits.__setitem__((-1, -1), np.nan),
    "an infinite logit": lambda logits, values: logits.__setitem__((0, 0), -np.inf),
    "a value that is NaN": lambda logits, values: values.__setitem__(-1, np.nan),
    "a value above 1": lambda logits, values: values.__setitem__(0, 1.01),
    "a value below -1": lambda logits, values: values.__setitem__(0, -FLOAT_MAX),
}


@pytest.mark.parametrize("change", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_an_answer_that_is_no_number_or_out_of_range_is_refused(change):
    logits, values = np.zeros((3, 7), np.float32), np.zeros(3, np.float32)
    logits[0], logits[1], values[:] = FLOAT_MAX, -FLOAT_MAX, (1.0, -1.0, 1.0005)
    assert checked((logits, values), 3, 7) == (logits, values)
    change(logits, values)
    with pytest.raises(ImpossibleAnswersError):
        checked((logits, values), 3, 7)


def test_answers_of_another_shape_are_refused():
    answers = np.zeros((3, 7), np.float32), np.zeros(3, np.float32)
    for num_rows, num_actions in ((2, 7), (4, 7), (3, 8)):
        with pytest.raises(ImpossibleAnswersError):
            checked(answers, num_rows, num_actions)
    with pytest.raises(ImpossibleAnswersError):
        checked((answers[0], answers[1][:, None]), 3, 7)


@pytest.mark.parametrize("choice", (EngineChoice("torch", "float32"), INT8), ids=str)
def test_no_engine_but_the_reference_sees_a_network_with_impossible_answers(fakes, choice):
    engines, errors = fakes
    evaluator, planes = make_evaluator(1, choice), planes_of(GAME, 40)
    num_loads = {name: len(engine.loads) for name, engine in engines.items()}
    with pytest.raises(ImpossibleAnswersError):
        evaluator.update(np.inf)
    for name, engine in engines.items():
        assert len(engine.loads) == num_loads[name] + (name == "torch float32")
    evaluator.update(2)
    evaluator.evaluate(planes)


@pytest.mark.parametrize("num_threads", (1, 2))
def test_all_answers_after_the_load_are_checked(fakes, num_threads):
    evaluator, planes = make_evaluator(1, num_threads=num_threads), planes_of(GAME, 40)
    fakes[1]["torch float32"] = (np.nan, 0.0)
    for one in (evaluator, *evaluator.streams):
        with pytest.raises(ImpossibleAnswersError):
            one.evaluate(planes)
    fakes[1].clear()
    for one in evaluator.streams:  # nothing impossible is left in the caches
        assert np.isfinite(one.evaluate(planes)[0]).all()
