"""On a GPU: CUDA graphs agree with torch and follow new weights; a run resumes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from learner_samples import random_batches
from network_samples import planes_of, small_network
from search_samples import random_positions
from test_gpu_search import SETTINGS

from alphazero.cli import main
from alphazero.inference import verified_engine
from alphazero.inference.engines.agreement import Deviation, sample_positions
from alphazero.inference.engines.registry import EngineChoice, make_engine
from alphazero.inference.evaluator import Engine
from alphazero.inference.gpu_search import GpuTreeSearch
from alphazero.inference.network_evaluator import (
    STREAMS_PER_GPU,
    EvaluatorSettings,
    NetworkEvaluator,
)
from alphazero.learner.learner import Learner
from alphazero.network.interface import expected_value
from alphazero.own_games.registry import make_game
from alphazero.search.batched_search import TreeSearch
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.lockstep import SelfPlay
from alphazero.selfplay.settings import SelfPlaySettings
from alphazero.storage.run_folder import RunFolder
from alphazero.training.events import IterationReport
from alphazero.training.run_config import compose
from alphazero.training.settings import check_run
from alphazero.training.trainer import Trainer

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
]

GAME = make_game("connect_x:4x4x3")
GPU = torch.device("cuda", 0)
# About eight layers; float32 convolutions may run in TF32, which has 11 bits. bfloat16 has 8.
TOLERANCES = {"float32": 8 * 2**-11, "bfloat16": 8 * 2**-8}
TINY = (
    "game=tic_tac_toe device=cuda evaluator.engine=torch learner.precision=float32 "
    "network.blocks=1 network.channels=8 network.head_channels=2 network.value_units=4 "
    "selfplay.num_parallel_games=64 selfplay.games_per_iteration=64 "
    "selfplay.num_simulations=8 learner.batch_size=32 "
    "evaluation.every=0 evaluation.num_games=0 evaluation.final_num_games=0 evaluation.prove=false"
).split()


def loaded(precision, network, engine="torch"):
    made = make_engine(EngineChoice(engine, precision), GPU, 2)
    made.load(network, planes_of(GAME, 64, seed=9))
    return made


def assert_close(found, network, planes, precision):
    """Compare answers with those of the torch module in float32 on the CPU."""
    with torch.inference_mode():
        output = network.float().cpu().eval()(torch.from_numpy(planes))
    logits, values = output.prior_logits.numpy(), expected_value(output.value_logits).numpy()
    assert found[0].dtype == found[1].dtype == np.float32
    assert found[0].shape == logits.shape and found[1].shape == values.shape
    atol = TOLERANCES[precision] * np.abs(logits).max()
    value_atol = TOLERANCES[precision] * max(float(output.value_logits.abs().max()), 1.0)
    np.testing.assert_allclose(found[0], logits, rtol=0, atol=atol)
    np.testing.assert_allclose(found[1], values, rtol=0, atol=value_atol)


@pytest.mark.parametrize("precision", TOLERANCES)
@pytest.mark.parametrize(
    "settings", (dict(), dict(kernel_size=2, value_head="scalar"), dict(kind="tiny", kernel_size=2))
)
def test_graphs_agree_with_torch(precision, settings):
    network = small_network(GAME, trained=False, **settings)
    engine = loaded(precision, network.to(GPU))
    # Two sizes come twice: captured, then replayed with other rows in the buffers.
    for num_rows in (70, 1, 2, 33, 64, 200, 70, 1):
        for seed in (0, 1):
            planes = planes_of(GAME, num_rows, seed)
            assert_close(engine.evaluate(planes), network, planes, precision)
    batches = engine._thread.stream._batches
    assert set(batches) == {32, 40, 64, 80, 224}
    assert all(batch._graph is not None for batch in batches.values())


@pytest.mark.parametrize("precision", TOLERANCES)
def test_captured_graphs_use_new_weights(precision):
    networks = [small_network(GAME, seed, trained=False) for seed in (0, 1, 0)]
    planes = planes_of(GAME, 50)
    engine = loaded(precision, networks[0].to(GPU))
    with ThreadPoolExecutor(1) as pool:
        answers, graphs = [], []
        for network in networks:
            engine.load(network.to(GPU), planes)
            for answer in (engine.evaluate(planes), pool.submit(engine.evaluate, planes).result()):
                assert_close(answer, network, planes, precision)
            answers.append(answer[0])
            graphs.append(engine._thread.stream._batches[56]._graph)
    assert graphs[0] is graphs[1] is graphs[2] is not None
    assert np.array_equal(answers[0], answers[2]) and not np.array_equal(answers[0], answers[1])


def test_threads_that_capture_and_replay_at_once_get_their_own_answers():
    network = small_network(GAME, trained=False)
    engine = loaded("float32", network.to(GPU))
    inputs = [
        [planes_of(GAME, 20 + 15 * call + thread, seed=100 * thread + call) for call in range(8)]
        for thread in range(3)
    ]

    def play(batches):
        return [engine.evaluate(planes) for _ in range(20) for planes in batches]

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(play, inputs))
    for answers, batches in zip(found, inputs):
        for answer, planes in zip(answers, batches * 20):
            assert_close(answer, network, planes, "float32")


def test_an_evaluator_on_a_gpu_has_a_few_streams_and_compares_bfloat16_with_float32(
    monkeypatch,
):
    network = small_network(GAME, trained=False).to(GPU)
    sample = sample_positions(GAME, 64, np.random.default_rng(0))
    choice = EngineChoice("torch", "bfloat16")
    settings = EvaluatorSettings(cache_mb=1)
    evaluator = NetworkEvaluator(network, sample, GAME, choice, settings, GPU, num_threads=8)
    assert len(evaluator.streams) == STREAMS_PER_GPU
    assert evaluator.report.name == "torch bfloat16" and 0 < evaluator.report.policy_kl < 0.01
    planes = planes_of(GAME, 100)
    with ThreadPoolExecutor(STREAMS_PER_GPU) as pool:
        for answer in pool.map(lambda stream: stream.evaluate(planes), evaluator.streams):
            assert_close(answer, network, planes, "bfloat16")
    monkeypatch.setattr(verified_engine, "_LIMITS", Deviation(0.0, 0.0))
    evaluator.update(network)
    assert evaluator.report.name == "torch float32"


@pytest.mark.parametrize("megabytes", (2, 10, 30, 160, 400))
def test_a_full_gpu_ends_a_run_with_one_line(megabytes, tmp_path, capsys):
    # Where it is full, from the first copy to a step of the learner, depends on what is left.
    words = "game=connect_four device=cuda evaluator.engine=torch network.blocks=6 "
    words += "network.channels=128 selfplay.num_parallel_games=512 selfplay.games_per_iteration=64 "
    words += "selfplay.num_simulations=8 learner.batch_size=1024 run.num_iterations=1 "
    words += f"evaluation.every=0 evaluation.final_num_games=0 run.root={tmp_path}"
    torch.cuda.empty_cache()
    before = torch.cuda.memory_reserved(GPU) + megabytes * 10**6
    torch.cuda.set_per_process_memory_fraction(
        before / torch.cuda.get_device_properties(GPU).total_memory, GPU
    )
    try:
        assert main(["train", *words.split()]) == 2
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, GPU)
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and len(error) < 500
    assert not list(tmp_path.rglob("state*"))


@pytest.mark.parametrize("precision", TOLERANCES)
def test_a_run_on_a_gpu_resumes(tmp_path, precision):
    def trainer(num_iterations):
        words = [f"evaluator.precision={precision}", f"run.num_iterations={num_iterations}"]
        settings = compose([*TINY, *words])
        return Trainer(settings, RunFolder(tmp_path), check_run(settings))

    def iterations(run):
        reports = [event for event in run.run() if isinstance(event, IterationReport)]
        assert all(np.isfinite(report.learner.loss) for report in reports)
        assert all(report.engine.name.startswith("torch ") for report in reports)
        return [report.iteration for report in reports]

    first = trainer(2)
    assert next(first.learner.network.parameters()).is_cuda
    assert len(first.source.selfplay.workers) == len(first.evaluator.streams) >= STREAMS_PER_GPU
    assert iterations(first) == [1, 2]
    resumed = trainer(4)
    resumed.restore()
    networks = (resumed.learner.network, first.learner.network)
    for ours, theirs in zip(*(network.parameters() for network in networks)):
        assert torch.equal(ours, theirs)
    assert iterations(resumed) == [3, 4]


@pytest.mark.parametrize("optimizer", ("muon", "adam", "sgd"))
def test_captured_updates_train_as_others_do(optimizer):
    words = [f"learner.optimizer={optimizer}", "learner.ema_half_life_steps=4"]
    settings = compose([*TINY, *words]).learner
    game = make_game("tic_tac_toe")
    learners = [Learner(small_network(game).to(GPU), settings, GPU) for _ in range(2)]
    learners[1].uses_cuda_graph = False
    for progress in (0.0, 0.8):
        batches = random_batches(12)
        for learner in learners:
            list(learner.learn(batches, progress))
    captured, plain = learners
    assert captured._captured_update._replay is not None
    assert captured.report.learning_rate == plain.report.learning_rate
    assert captured.report.loss == pytest.approx(plain.report.loss, rel=0.01)
    for network in ("network", "played_network"):
        ours, theirs = (getattr(learner, network).parameters() for learner in learners)
        for found, expected in zip(ours, theirs):
            torch.testing.assert_close(found, expected, rtol=0.05, atol=2e-3)


class ExactEngine(Engine):
    """Answers with sums and quotients, which are the same on every device."""

    gpus = [GPU]

    def load(self, network, planes):
        raise NotImplementedError

    def evaluate(self, planes):
        logits, values = self.evaluate_on_gpu(torch.from_numpy(planes), 0)
        return logits.numpy(), values.numpy()

    def evaluate_on_gpu(self, planes, gpu_index):
        cells = planes.flatten(1)
        cell = torch.arange(cells.shape[1], device=planes.device)[:, None]
        action = torch.arange(GAME.num_actions, device=planes.device)
        sums = (cells * (cell[:, 0] % 7 - 3)).sum(1)
        logits = (cells[:, :, None] * ((cell + action) % 5)).sum(1) / 4
        return logits, sums / (1 + sums.abs())


@pytest.mark.parametrize("way", SETTINGS)
def test_searches_on_the_gpu_are_those_of_the_cpu(way):
    """Exponentials may differ in their last bit, and so may a few visits."""
    pytest.importorskip("numba_cuda")
    engine, num_games = ExactEngine(), 64
    settings = {"dirichlet_fraction": 0.0, "gumbel_scale": 0.0, **SETTINGS[way]}
    options = dict(num_games=num_games, max_simulations=40, settings=SearchSettings(**settings))
    options |= dict(generator=np.random.default_rng(0), explores=True)
    searches = GpuTreeSearch(GAME, engine, 0, **options), TreeSearch(GAME, engine, **options)
    states = random_positions(GAME, num_games, seed=3)
    outputs = []
    for search in searches:
        rows = np.arange(num_games)
        search.reset(rows, states, 40)
        while len(search.finished_rows()) < num_games:
            search.step()
        outputs.append(search.output(rows))
    found, expected = outputs
    is_same = np.isclose(found.action_weights, expected.action_weights, atol=0.03).all(axis=1)
    assert is_same.mean() > 0.9
    np.testing.assert_allclose(found.root_values[is_same], expected.root_values[is_same], atol=0.03)


def test_self_play_has_its_trees_on_the_gpu():
    pytest.importorskip("numba_cuda")
    network = small_network(GAME)
    sample = sample_positions(GAME, 64, np.random.default_rng(0))
    evaluator = NetworkEvaluator(
        network, sample, GAME, EngineChoice("torch", "float32"), device=GPU
    )
    settings = SelfPlaySettings(num_parallel_games=64, num_simulations=16)
    generator = np.random.default_rng(0)
    games = SelfPlay(GAME, evaluator.streams[0], settings, SearchSettings(), generator)
    assert isinstance(games.search, GpuTreeSearch)
    assert len(list(games.play(128))) >= 128
    assert games.search.counts.num_simulations > 16 * 128
