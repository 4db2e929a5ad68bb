"""Engines: each keeps the laws of an evaluator, agrees with torch, or is refused."""

import contextlib
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from network_samples import planes_of, small_network

from alphazero.inference.engines import cuda_engine, openvino_engine
from alphazero.inference.engines.cuda_engine import padded_size
from alphazero.inference.engines.registry import (
    REFERENCE,
    EngineChoice,
    fallbacks,
    make_engine,
    preferred_engine,
)
from alphazero.inference.engines.torch_engine import padded
from alphazero.network.interface import expected_value
from alphazero.network.residual import folded
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError

CPU = torch.device("cpu")
GAME = make_game("connect_x:4x4x3")
NETWORKS = {
    "resnet": {},
    "kernels of 2, scalar": dict(kernel_size=2, value_head="scalar"),
    "no blocks": dict(blocks=0),
    "tiny": dict(kind="tiny", kernel_size=2),
    "notebook": dict(kind="notebook", kernel_size=2, value_head="scalar"),
    "tiny with kernels of 3, scalar": dict(kind="tiny", kernel_size=3, value_head="scalar"),
}
# Convolutions in the residual blocks; the other networks have none.
TOWERS = {"resnet": 4, "kernels of 2, scalar": 4}
CPU_ENGINES = [EngineChoice("torch", precision) for precision in ("float32", "bfloat16")]
AVAILABLE = [*CPU_ENGINES]
CPU_ENGINES += [EngineChoice("openvino", one) for one in ("float32", "bfloat16", "int8")]
AVAILABLE += [EngineChoice("openvino", one) for one in openvino_engine.cpu_precisions()]
needs_openvino = pytest.mark.skipif(
    openvino_engine.openvino is None, reason="OpenVINO is not installed"
)
pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")


def every_engine(test):
    """Run a test with each engine for CPUs; skip those that this machine lacks."""
    skip = pytest.mark.skip(reason="this machine lacks OpenVINO or the number format")
    cases = [
        pytest.param(one, id=str(one), marks=[] if one in AVAILABLE else [skip])
        for one in CPU_ENGINES
    ]
    return pytest.mark.parametrize("engine_choice", cases)(test)


@pytest.fixture(autouse=True, scope="module")
def one_conversion_for_each_network():
    """Convert each network once: a conversion takes a second and serves all number formats."""
    if openvino_engine.openvino is None:
        yield
        return
    convert, known = openvino_engine.openvino_conversion.convert, {}

    def convert_once(network, planes):
        key = str(network)
        if key not in known:
            known[key] = convert(network, planes)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openvino_engine.openvino_conversion, "convert", convert_once)
        yield


def loaded(engine_choice, network, num_threads=1, planes=None):
    engine = make_engine(engine_choice, CPU, num_threads)
    engine.load(network, planes_of(GAME, 64, seed=9) if planes is None else planes)
    return engine


def reference(network, planes):
    """Return (logits, values, value logits) of the torch module."""
    with torch.inference_mode():
        output = network.eval()(torch.from_numpy(planes))
    return (
        output.prior_logits.numpy(),
        expected_value(output.value_logits).numpy(),
        output.value_logits.numpy(),
    )


def with_value_gain(network, gain):
    """Return ``network`` with value logits centered and scaled, so that values differ widely."""
    _, _, value_logits = reference(network, planes_of(GAME, 200))
    with torch.no_grad():
        network.value.bias -= torch.from_numpy(value_logits.mean(axis=0))
        network.value.weight *= gain
        network.value.bias *= gain
    return network


def relative_tolerance(engine_choice):
    """Return the tolerance for answers as a fraction of the largest logit.

    About eight layers round to bfloat16's 8 bits. In int8, each of the tower's four convolutions
    rounds its weights by up to 1/254 of the largest one and its inputs by up to 1/510.
    """
    int8 = 4 * (1 / 254 + 1 / 510)
    return {"float32": 1e-5, "bfloat16": 8 * 2**-8, "int8": int8}[engine_choice.precision]


def assert_close(found, expected, engine_choice):
    """Compare (logits, values) with `reference`'s; a value moves by no more than its logits do."""
    logits, values, value_logits = expected
    atol = value_atol = 1e-4
    if engine_choice.precision != "float32":
        tolerance = relative_tolerance(engine_choice)
        atol = tolerance * np.abs(logits).max()
        value_atol = tolerance * max(np.abs(value_logits).max(), 1.0)
    np.testing.assert_allclose(found[0], logits, rtol=0, atol=atol)
    np.testing.assert_allclose(found[1], values, rtol=0, atol=value_atol)


# --- the laws of an evaluator ---------------------------------------------------------------------


@every_engine
def test_rows_do_not_depend_on_the_size_or_the_order_of_their_batch(engine_choice):
    network, planes = with_value_gain(small_network(GAME), 30.0), planes_of(GAME, 70)
    engine = loaded(engine_choice, network)
    logits, values = engine.evaluate(planes)
    # Another batch size may use other kernels, which round a sum differently. Rows differ by more.
    atol = np.abs(logits).max() * (1e-5 if engine_choice.precision == "float32" else 2**-8)
    assert np.abs(logits[1:] - logits[:-1]).max(axis=1).min() > 1.2 * atol
    assert values.std() > 5 * atol
    for num_rows in (1, 2, 3, 31, 33, 64, 70):
        part = engine.evaluate(planes[:num_rows])
        assert part[0].shape == (num_rows, GAME.num_actions) and part[1].shape == (num_rows,)
        assert part[0].dtype == part[1].dtype == np.float32
        assert np.isfinite(part[0]).all() and (np.abs(part[1]) <= 1).all()
        np.testing.assert_allclose(part[0], logits[:num_rows], rtol=0, atol=atol)
        np.testing.assert_allclose(part[1], values[:num_rows], rtol=0, atol=atol)
    order = np.random.default_rng(0).permutation(70)
    shuffled = engine.evaluate(planes[order])
    np.testing.assert_allclose(shuffled[0], logits[order], rtol=0, atol=atol)
    np.testing.assert_allclose(shuffled[1], values[order], rtol=0, atol=atol)


@every_engine
def test_answers_belong_to_the_caller(engine_choice):
    engine = loaded(engine_choice, small_network(GAME))
    planes = planes_of(GAME, 40)
    first = engine.evaluate(planes)
    kept = [answer.copy() for answer in first]
    engine.evaluate(planes_of(GAME, 40, seed=1))
    planes[:] = 7.0
    for answer, copy in zip(first, kept):
        assert np.array_equal(answer, copy)
        answer += 1.0  # writable
    assert np.array_equal(engine.evaluate(planes_of(GAME, 40))[0], kept[0])


@every_engine
@pytest.mark.parametrize("name", NETWORKS)
def test_engines_agree_with_the_network_itself(engine_choice, name):
    network, planes = small_network(GAME, trained=False, **NETWORKS[name]), planes_of(GAME, 70)
    expected = reference(network, planes)
    found = loaded(engine_choice, network).evaluate(planes)
    assert_close(found, expected, engine_choice)
    is_int8 = engine_choice.precision == "int8" and name in TOWERS
    has_rounding_errors = np.abs(found[0] - expected[0]).max() > 1e-5
    assert has_rounding_errors == (engine_choice.precision == "bfloat16" or is_int8)


@every_engine
@pytest.mark.parametrize("head", ("wdl", "scalar"))
def test_values_of_a_network_with_large_logits_stay_within_minus_1_and_1(engine_choice, head):
    network = small_network(GAME, **(NETWORKS["kernels of 2, scalar"] if head == "scalar" else {}))
    engine = loaded(engine_choice, with_value_gain(network, 10_000.0))
    _, values = engine.evaluate(planes_of(GAME, 200))
    assert np.abs(values).max() <= 1.0
    if engine_choice.precision == "int8":  # how coarse its logits are depends on the processor
        assert np.abs(values).max() > 0.99
    else:
        assert values.max() > 0.99 and values.min() < -0.99


@every_engine
def test_an_engine_has_the_weights_of_its_last_load_in_every_thread(engine_choice):
    first, second = small_network(GAME, seed=0), small_network(GAME, seed=1)
    planes = planes_of(GAME, 33)
    engine = loaded(engine_choice, first)
    with ThreadPoolExecutor(1) as pool:
        before = engine.evaluate(planes), pool.submit(engine.evaluate, planes).result()
        bias = first.policy.bias.detach().clone()
        with torch.no_grad():
            first.policy.bias += 5.0
        for call in (engine.evaluate, lambda rows: pool.submit(engine.evaluate, rows).result()):
            assert np.array_equal(call(planes)[0], before[0][0])  # the engine has a copy
        with torch.no_grad():
            first.policy.bias.copy_(bias)
        engine.load(second, planes_of(GAME, 64, seed=9))
        fresh = loaded(engine_choice, second).evaluate(planes)
        assert np.abs(fresh[0] - before[0][0]).max() > 0.1
        for call in (engine.evaluate, lambda rows: pool.submit(engine.evaluate, rows).result()):
            np.testing.assert_allclose(call(planes)[0], fresh[0], rtol=0, atol=1e-5)
            np.testing.assert_allclose(call(planes)[1], fresh[1], rtol=0, atol=1e-5)
        engine.load(first, planes_of(GAME, 64, seed=9))
        assert np.array_equal(engine.evaluate(planes)[0], before[0][0])
        assert np.array_equal(pool.submit(engine.evaluate, planes).result()[0], before[1][0])


@every_engine
def test_loading_leaves_the_network_unchanged_whatever_its_memory_layout(engine_choice):
    network = small_network(GAME, trained=False)
    expected = reference(network, planes_of(GAME, 20))
    network = network.to(memory_format=torch.channels_last).train()  # as in the learner
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    engine = loaded(engine_choice, network)
    assert_close(engine.evaluate(planes_of(GAME, 20)), expected, engine_choice)
    assert network.training
    assert all(weight.requires_grad and weight.grad is None for weight in network.parameters())
    assert network.stem.conv.weight.is_contiguous(memory_format=torch.channels_last)
    for name, tensor in network.state_dict().items():
        assert tensor.dtype == before[name].dtype and torch.equal(tensor, before[name]), name


@every_engine
def test_threads_that_call_at_once_get_their_own_answers(engine_choice):
    num_threads, num_calls = 4, 12
    engine = loaded(engine_choice, small_network(GAME), num_threads)

    def batch(thread, call):
        return planes_of(GAME, 5 + 9 * thread + call, seed=100 * thread + call)

    inputs = [[batch(thread, call) for call in range(num_calls)] for thread in range(num_threads)]
    with ThreadPoolExecutor(1) as alone:
        expected = [list(alone.map(engine.evaluate, batches)) for batches in inputs]
    barrier = threading.Barrier(num_threads)

    def play(batches):
        barrier.wait()
        return [engine.evaluate(planes) for _ in range(3) for planes in batches]

    with ThreadPoolExecutor(num_threads) as pool:
        found = list(pool.map(play, inputs))
    for answers, own in zip(found, expected):
        for (logits, values), (own_logits, own_values) in zip(answers, own * 3):
            np.testing.assert_allclose(logits, own_logits, rtol=0, atol=1e-5)
            np.testing.assert_allclose(values, own_values, rtol=0, atol=1e-5)


def test_torch_uses_one_thread_per_call_except_in_the_main_thread():
    torch.set_num_threads(3)
    engine = loaded(REFERENCE, small_network(GAME))

    def threads_of_a_call():
        engine.evaluate(planes_of(GAME, 3))
        return torch.get_num_threads()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(threads_of_a_call).result() == 1
    assert threads_of_a_call() == 3


def test_there_are_few_padded_sizes_and_none_is_too_small():
    sizes = [padded_size(num_rows) for num_rows in range(1, 4097)]
    assert sizes[:17] == [1, 2, 4, 4, 8, 8, 8, 8, *[16] * 8, 24]
    assert sizes == sorted(sizes)
    for num_rows, size in enumerate(sizes, 1):
        assert num_rows <= size < max(2 * num_rows, 2)
        assert num_rows <= 64 or size <= 1.25 * num_rows
        assert padded_size(size) == size
    assert len(set(sizes)) == 5 + 2 + 4 * 7  # up to 16, up to 32, then four for each doubling
    planes = planes_of(GAME, 17)
    filled = padded(planes, 24)
    assert filled.shape == (24, *GAME.planes_shape) and filled.dtype == np.float32
    assert np.array_equal(filled[:17], planes) and not filled[17:].any()


# --- OpenVINO -------------------------------------------------------------------------------------


def quantized(network, planes):
    """Return the OpenVINO model of a network, quantized to int8."""
    network = folded(network).float().requires_grad_(False)
    conversion = openvino_engine.openvino_conversion
    model = conversion.with_weights(conversion.convert(network, planes), network)
    openvino_engine.openvino_int8.quantize(model, planes, openvino_engine._core())
    return model


def fake_quantize_of(convolution, port):
    """Return the node that quantizes an input of a convolution, None if there is none."""
    node = convolution.input_value(port).get_node()
    return node if node.get_type_name() == "FakeQuantize" else None


@needs_openvino
@pytest.mark.parametrize("name", NETWORKS)
def test_int8_quantizes_the_convolutions_of_the_tower_and_nothing_else(name):
    nodes = quantized(small_network(GAME, **NETWORKS[name]), planes_of(GAME, 30)).get_ordered_ops()
    convolutions = [node for node in nodes if node.get_type_name() == "Convolution"]
    marked = [
        node for node in convolutions if fake_quantize_of(node, 0) or fake_quantize_of(node, 1)
    ]
    assert len(marked) == TOWERS.get(name, 0)
    assert all(fake_quantize_of(node, 0) and fake_quantize_of(node, 1) for node in marked)
    assert sum(node.get_type_name() == "FakeQuantize" for node in nodes) == 2 * len(marked)
    for node in marked:
        # Neither the stem, whose input channels are planes, nor the heads, which are 1 x 1.
        shape = node.input_value(1).get_shape()
        assert shape[1] == 8 and min(shape[2:]) > 1
        # A skip connection takes the quantized values too.
        assert len(fake_quantize_of(node, 0).input_value(0).get_target_inputs()) == 1


@needs_openvino
def test_int8_scales_are_the_largest_inputs_and_weights():
    network, planes = small_network(GAME), planes_of(GAME, 30)
    plain, largest = folded(network), []
    layers = [layer for block in plain.tower for layer in (block.first, block.second)]
    for layer in layers:
        layer.conv.register_forward_pre_hook(
            lambda _, inputs: largest.append(float(inputs[0].max()))
        )
    with torch.inference_mode():
        plain(torch.from_numpy(planes))
    marked = [
        node
        for node in quantized(network, planes).get_ordered_ops()
        if node.get_type_name() == "Convolution" and fake_quantize_of(node, 0)
    ]
    for node, bound, layer in zip(marked, largest, layers, strict=True):
        inputs, weights = fake_quantize_of(node, 0), fake_quantize_of(node, 1)
        limits = [inputs.input_value(port).get_node().get_data().item() for port in (1, 2, 3, 4)]
        np.testing.assert_allclose(limits, [0, bound, 0, bound], rtol=1e-4)
        levels = inputs.get_attributes()["levels"], weights.get_attributes()["levels"]
        assert levels == (256, 255)
        own = layer.conv.weight.detach().numpy()
        high = weights.input_value(2).get_node().get_data()  # one for each output channel
        np.testing.assert_allclose(high.reshape(-1), np.abs(own).max(axis=(1, 2, 3)), rtol=1e-5)
        assert np.array_equal(weights.input_value(1).get_node().get_data(), -high)


@needs_openvino
def test_a_sample_of_one_position_is_enough_to_convert_a_network():
    game, engine_choice = make_game("tic_tac_toe"), EngineChoice("openvino", "float32")
    network, planes = small_network(game, blocks=1), planes_of(game, 5)
    engine = make_engine(engine_choice, CPU, 1)
    engine.load(network, planes[:1])
    assert_close(engine.evaluate(planes), reference(network, planes), engine_choice)


def test_without_openvino_torch_remains_and_asking_for_openvino_is_an_error(monkeypatch):
    monkeypatch.setattr(openvino_engine, "openvino", None)
    assert openvino_engine.cpu_precisions() == []
    assert preferred_engine(EngineChoice("auto", "auto"), CPU).engine == "torch"
    with pytest.raises(ConfigError, match="int8"):
        make_engine(preferred_engine(EngineChoice("auto", "int8"), CPU), CPU, 1)
    for precision in ("auto", "float32", "int8"):
        found = preferred_engine(EngineChoice("openvino", precision), CPU)
        with pytest.raises(ConfigError, match="pip install openvino") as error:
            make_engine(found, CPU, 1)
        assert (error.value.key, error.value.value) == ("engine", "openvino")
        assert "torch" in error.value.allowed


@pytest.mark.parametrize(
    ("engine", "precision", "device", "key", "allowed"),
    [
        # On a processor without bfloat16 and int8.
        pytest.param("openvino", "int8", "cpu", "precision", ["float32"], marks=needs_openvino),
        pytest.param("openvino", "bfloat16", "cpu", "precision", ["float32"], marks=needs_openvino),
        ("openvino", "float32", "cuda", "engine", ["torch"]),
        ("torch", "int8", "cpu", "precision", ["float32", "bfloat16"]),
        ("torch", "int8", "cuda", "precision", ["float32", "bfloat16"]),
    ],
)
def test_what_an_engine_cannot_do_is_an_error(monkeypatch, engine, precision, device, key, allowed):
    monkeypatch.setattr(openvino_engine, "cpu_precisions", lambda: ["float32"])
    with pytest.raises(ConfigError) as error:
        make_engine(EngineChoice(engine, precision), torch.device(device), 1)
    value = {"engine": engine, "precision": precision}[key]
    assert (error.value.key, error.value.value, error.value.allowed) == (key, value, allowed)


@needs_openvino
def test_converting_a_network_sends_no_usage_statistics(monkeypatch):
    telemetry = pytest.importorskip("openvino_telemetry").Telemetry
    sent = []
    for name in ("init", "send_event", "start_session"):
        monkeypatch.setattr(telemetry, name, lambda self, *words, **more: sent.append(words))
    network = small_network(GAME, seed=7, blocks=0)  # one that no other test has converted
    make_engine(EngineChoice("openvino", "float32"), CPU, 1).load(network, planes_of(GAME, 4))
    assert sent == []


INTERRUPTED = """
import signal
import numpy as np
from alphazero.inference.engines.openvino_engine import OpenVinoEngine
from alphazero.own_games.registry import make_game
from alphazero.network.registry import NetworkSettings, make_network
game = make_game("tic_tac_toe")
settings = NetworkSettings(blocks=0, channels=2)
network = make_network(game, settings)
planes = np.zeros((1, *game.planes_shape), np.float32)
engines = [OpenVinoEngine("float32", 1) for _ in range(3)]
for engine in engines:
    engine.load(network, planes)
while engines:  # the oldest first
    engine = None
    engines.pop(0)
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.slow
@needs_openvino
def test_an_interrupt_is_handled_after_engines_have_been_freed():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "stopped\n"), done.stderr


# --- selection ------------------------------------------------------------------------------------


def test_fallbacks_are_more_and_more_precise_and_end_with_the_reference(monkeypatch):
    monkeypatch.setattr(openvino_engine, "cpu_precisions", lambda: ["float32", "bfloat16", "int8"])

    def names(*words):
        return [str(one) for one in fallbacks(EngineChoice(*words), torch.device("cpu"))]

    formats = ["openvino int8", "openvino bfloat16", "openvino float32"]
    assert names("openvino", "int8") == [*formats, "torch float32"]
    assert names("torch", "bfloat16") == ["torch bfloat16", "torch float32"]
    assert names("torch", "float32") == ["torch float32"]
    # As on processors of 2019.
    monkeypatch.setattr(openvino_engine, "cpu_precisions", lambda: ["float32", "int8"])
    assert names("openvino", "int8") == ["openvino int8", "openvino float32", "torch float32"]


# --- the engine for GPUs, without a GPU (the rest is in tests/inference/test_gpu.py) ----------


@pytest.fixture
def simulated_gpu(monkeypatch):
    """Run the engine for GPUs on the CPU, as on a GPU without CUDA graphs."""

    class Stream:
        def __init__(self, device):
            self.device = device

        def synchronize(self):
            pass

    def no_graphs(*_, **__):
        raise RuntimeError("no graphs\nhere")

    zeros = torch.zeros
    replacements = {
        "device_count": lambda: 1,
        "Stream": Stream,
        "stream": contextlib.nullcontext,
        "device": contextlib.nullcontext,
        "synchronize": lambda device: None,
        "CUDAGraph": object,
        "graph": no_graphs,
    }
    for name, replacement in replacements.items():
        monkeypatch.setattr(torch.cuda, name, replacement)
    monkeypatch.setattr(
        torch, "zeros", lambda *sizes, pin_memory=False, **options: zeros(*sizes, **options)
    )
    cuda_engine._warn_of_no_graphs.cache_clear()

    def make(precision):
        engine = make_engine(EngineChoice("torch", precision), torch.device("cuda"), 2)
        assert engine.gpus == [torch.device("cuda", 0)]
        engine.gpus = [CPU]
        return engine

    return make


@pytest.mark.parametrize("precision", ("float32", "bfloat16"))
@pytest.mark.parametrize("name", ("resnet", "tiny with kernels of 3, scalar"))
def test_the_engine_for_gpus_agrees_with_torch(simulated_gpu, caplog, precision, name):
    engine, engine_choice = simulated_gpu(precision), EngineChoice("torch", precision)
    for seed in (0, 1):  # the second load copies into the first network
        network = small_network(GAME, seed, trained=False, **NETWORKS[name])
        engine.load(network, planes_of(GAME, 64))
        for num_rows in (70, 1, 2, 33, 64):
            planes = planes_of(GAME, num_rows, seed=num_rows)
            answers, expected = engine.evaluate(planes), reference(network, planes)
            shapes = [answer.shape for answer in answers]
            assert shapes == [(num_rows, GAME.num_actions), (num_rows,)]
            assert_close(answers, expected, engine_choice)
            has_rounding_errors = np.abs(answers[0] - expected[0]).max() > 1e-5
            assert has_rounding_errors == (precision == "bfloat16")
        network.policy.bias.data += 9.0  # the engine has a copy
        assert_close(engine.evaluate(planes), expected, engine_choice)
    (warning,) = caplog.records  # once, not for each batch size
    assert warning.levelname == "WARNING" and warning.args == ("no graphs",)


def test_threads_that_share_a_gpu_have_separate_buffers(simulated_gpu):
    engine = simulated_gpu("float32")
    engine.load(small_network(GAME), planes_of(GAME, 64))
    first, second = planes_of(GAME, 40, seed=1), planes_of(GAME, 40, seed=2)
    expected = engine.evaluate(first)
    entered, go_on = threading.Event(), threading.Event()

    def held(launch):
        def wait(batch):
            entered.set()
            assert go_on.wait(20)
            launch(batch)

        return wait

    with ThreadPoolExecutor(1) as pool, pytest.MonkeyPatch.context() as patch:
        pool.submit(engine.evaluate, second).result()
        launch = cuda_engine._Batch.launch
        patch.setattr(cuda_engine._Batch, "launch", held(launch))
        waiting = pool.submit(engine.evaluate, first)
        assert entered.wait(20)
        patch.setattr(cuda_engine._Batch, "launch", launch)
        engine.evaluate(second)  # while the other thread's input is in its buffer
        go_on.set()
        found = waiting.result()
    for ours, theirs in zip(found, expected):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


def test_threads_are_assigned_to_several_gpus_in_turn(simulated_gpu):
    engine, network, planes = simulated_gpu("float32"), small_network(GAME), planes_of(GAME, 5)
    engine.gpus = [CPU, torch.device("cpu", 0)]
    engine.load(network, planes)
    assert engine._networks[0] is not engine._networks[1]
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        for seed in (0, 1):
            network = small_network(GAME, seed)
            engine.load(network, planes)
            for pool in (first, second, first, second):
                assert_close(
                    pool.submit(engine.evaluate, planes).result(),
                    reference(network, planes),
                    REFERENCE,
                )
        pools = (first, second)
        used = [pool.submit(lambda: engine._thread.stream._network).result() for pool in pools]
    assert used == engine._networks


def test_a_batch_that_does_not_fit_the_gpu_is_an_error():
    def forward(_):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory.")

    batch = cuda_engine._Batch.__new__(cuda_engine._Batch)
    batch._planes, batch._dtype, batch._network = torch.zeros(64, 2, 4, 4), torch.float32, forward
    with pytest.raises(ConfigError, match="64") as error:
        batch._compute()
    assert error.value.key == "selfplay.num_parallel_games"
