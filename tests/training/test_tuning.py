"""Settings left to "auto" follow the measured speeds; set ones stay; a machine is measured once."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from network_samples import SMALL, small_network

from alphazero.inference import network_evaluator
from alphazero.inference.engines import selection
from alphazero.inference.engines.selection import EngineSpeed
from alphazero.network.interface import NetworkSettings
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import with_checksum
from alphazero.training import tuning
from alphazero.training.settings import TrainSettings
from alphazero.training.tuning import tune

CPU = torch.device("cpu")
GAME = make_game("connect_x:4x4x3")
SPEEDS = {
    "torch float32": 100.0,
    "torch bfloat16": 115.0,
    "openvino float32": 300.0,
    "openvino bfloat16": 200.0,
    "openvino int8": 400.0,
}
#: What is fastest on the machine of these tests: see `choices_of`.
FASTEST = ("openvino", "int8", "bfloat16", 128)


def settings_of(**changed):
    """Return settings that leave everything to be measured, apart from the changes."""
    settings = TrainSettings()
    settings.network = NetworkSettings(**SMALL)
    settings.evaluator.engine = changed.pop("engine", "auto")
    settings.evaluator.precision = changed.pop("precision", "auto")
    settings.learner.precision = changed.pop("learner_precision", "auto")
    settings.selfplay = dataclasses.replace(
        settings.selfplay, **{"num_parallel_games": 0, "games_per_iteration": 10_000} | changed
    )
    return settings


def choices_of(settings):
    return (
        settings.evaluator.engine,
        settings.evaluator.precision,
        settings.learner.precision,
        settings.selfplay.num_parallel_games,
    )


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine of known speeds; what is measured on it is noted."""
    by_size = {64: 1000.0, 128: 2000.0, 256: 2050.0, 512: 2060.0}
    noted = SimpleNamespace(engines=[], lockstep=[], threads=[], now=0.0, warmed_up=False)
    noted.speeds, noted.by_size = dict(SPEEDS), by_size
    noted.folder = tmp_path / "cache"
    monkeypatch.setenv("ALPHAZERO_CACHE_DIR", str(noted.folder))
    monkeypatch.setattr(
        "alphazero.inference.engines.openvino_engine.cpu_precisions",
        lambda: ["float32", "bfloat16", "int8"],
    )

    def measure_speeds(choices, network, planes, device, num_threads):
        assert planes.shape[1:] == GAME.planes_shape and len(planes) > 1
        noted.engines.append([str(one) for one in choices])
        noted.threads.append(num_threads)
        speeds = [EngineSpeed(one, noted.speeds[str(one)]) for one in choices]
        return sorted(speeds, key=lambda speed: -speed.evaluations_per_s)

    class Evaluator:
        def __init__(self, network, sample, game, engine_choice, settings, device, num_threads):
            self.device, self.streams = device, [engine_choice] * num_threads

    class SelfPlay:
        """As fast as the machine is with so many games, but half as fast at first."""

        def __init__(self, game, streams, settings, search_settings, generator):
            assert settings.carry_over  # so that the games never run out
            self.size, self.streams, self.warm = settings.num_parallel_games, streams, 0.5
            self.counts = SimpleNamespace(num_simulations=0)

        def play(self, num_games):
            noted.warmed_up = True
            return iter([None] * num_games)

        def run_for(self, seconds):
            assert noted.warmed_up  # what is compiled is compiled before anything is timed
            if self.warm < 1:
                noted.lockstep.append((str(self.streams[0]), self.size))
            noted.now += 2 * seconds
            self.counts.num_simulations += 2 * seconds * noted.by_size[self.size] * self.warm
            self.warm = 1.0

    monkeypatch.setattr(tuning, "measure_speeds", measure_speeds)
    monkeypatch.setattr(tuning, "NetworkEvaluator", Evaluator)
    monkeypatch.setattr(tuning, "ParallelSelfPlay", SelfPlay)
    monkeypatch.setattr(tuning, "time", SimpleNamespace(perf_counter=lambda: noted.now))
    return noted


def run(settings, game=GAME, device=CPU, num_threads=2):
    return tune(settings, game, "network", device, num_threads)


# --- what is filled in ----------------------------------------------------------------------------


def test_auto_is_replaced_by_the_fastest(machine):
    settings = settings_of()
    found = run(settings)
    assert choices_of(settings) == FASTEST
    own = (found.engine, found.precision, found.learner_precision, found.num_parallel_games)
    assert own == FASTEST
    assert found.engine_speeds == SPEEDS
    assert found.lockstep_speeds == {"64": 1000, "128": 2000, "256": 2050, "512": 2060}
    assert list(found.engine_speeds) == sorted(SPEEDS, key=SPEEDS.get, reverse=True)
    assert not found.remembered and found.seconds == pytest.approx(machine.now)
    assert machine.engines == [list(SPEEDS)]
    # With the engine that was chosen.
    assert machine.lockstep == [("openvino int8", size) for size in (64, 128, 256, 512)]


OPENVINO = [name for name in SPEEDS if "openvino" in name]
FLOAT32 = ["torch float32", "openvino float32"]
#: What is set, what is chosen then, and the engines that are measured for the search.
SET = {
    "engine": (
        dict(engine="torch"),
        ("torch", "bfloat16", "bfloat16", 128),
        ["torch float32", "torch bfloat16"],
    ),
    "slow engine": (dict(engine="openvino"), FASTEST, OPENVINO),
    "precision": (dict(precision="float32"), ("openvino", "float32", "bfloat16", 128), FLOAT32),
    "engine and precision": (
        dict(engine="openvino", precision="bfloat16"),
        ("openvino", "bfloat16", "bfloat16", 128),
        ["openvino bfloat16"],
    ),
    "learner": (dict(learner_precision="float32"), (*FASTEST[:2], "float32", 128), list(SPEEDS)),
    "games": (dict(num_parallel_games=7), (*FASTEST[:3], 7), list(SPEEDS)),
}


@pytest.mark.parametrize("case", SET)
def test_what_is_set_stays(machine, case):
    words, expected, tried = SET[case]
    settings = settings_of(**words)
    run(settings)
    assert choices_of(settings) == expected
    (measured,) = machine.engines
    # Those of torch beside the allowed ones, for the learner.
    both = [] if "learner_precision" in words else ["torch float32", "torch bfloat16"]
    assert measured == list(dict.fromkeys(tried + both))
    assert bool(machine.lockstep) == (case != "games")


#: Nothing is left to measure.
CLOSED = dict(
    engine="torch", precision="float32", learner_precision="float32", num_parallel_games=9
)


def test_one_auto_is_enough_to_measure(machine):
    opened = {
        ("engine", "auto"): ("openvino", "float32", "float32", 9),
        ("precision", "auto"): ("torch", "bfloat16", "float32", 9),
        ("learner_precision", "auto"): ("torch", "float32", "bfloat16", 9),
        ("num_parallel_games", 0): ("torch", "float32", "float32", 128),
    }
    for (key, value), expected in opened.items():
        settings = settings_of(**CLOSED | {key: value}, carry_over=False)
        assert run(settings) is not None
        assert choices_of(settings) == expected, key


def test_an_engine_measured_for_the_learner_alone_is_never_chosen_for_search(machine):
    machine.speeds["torch float32"] = 1e6
    settings = settings_of(engine="openvino", precision="int8")
    run(settings)
    assert choices_of(settings)[:3] == ("openvino", "int8", "float32")


def test_nothing_is_measured_without_auto(machine):
    settings = settings_of(**CLOSED)
    before = dataclasses.asdict(settings)
    assert run(settings) is None
    assert dataclasses.asdict(settings) == before
    assert not machine.engines and not machine.lockstep and not machine.folder.exists()


@pytest.mark.parametrize("gain, expected", ((1.09, "float32"), (1.11, "bfloat16")))
def test_the_learner_takes_bfloat16_if_it_is_a_tenth_faster(machine, gain, expected):
    machine.speeds["torch bfloat16"] = gain * machine.speeds["torch float32"]
    settings = settings_of()
    run(settings)
    assert settings.learner.precision == expected


@pytest.mark.parametrize(
    "by_size, expected",
    (
        ({64: 971.0, 128: 990.0, 256: 1000.0, 512: 900.0}, 64),
        ({64: 969.0, 128: 971.0, 256: 1000.0, 512: 980.0}, 128),
        ({64: 969.0, 128: 969.0, 256: 969.0, 512: 1000.0}, 512),
        ({64: 1000.0, 128: 500.0, 256: 980.0, 512: 980.0}, 64),
    ),
)
def test_the_smallest_number_of_games_within_3_percent_of_the_best_is_chosen(
    machine, by_size, expected
):
    machine.by_size = by_size
    settings = settings_of()
    run(settings)
    assert settings.selfplay.num_parallel_games == expected


def test_no_more_games_run_in_lockstep_than_an_iteration_has(machine):
    numbers = {1: [64], 64: [64], 200: [64, 128], 512: [64, 128, 256, 512]}
    for games_per_iteration, sizes in numbers.items():
        machine.lockstep.clear()
        run(settings_of(games_per_iteration=games_per_iteration))
        assert [size for _, size in machine.lockstep] == sizes


def test_an_engine_that_is_not_available_is_refused_before_anything_is_measured(
    machine, monkeypatch
):
    monkeypatch.setattr("alphazero.inference.engines.openvino_engine.cpu_precisions", lambda: [])
    with pytest.raises(ConfigError) as error:
        run(settings_of(precision="int8"))
    assert (error.value.key, error.value.value) == ("evaluator.precision", "int8")
    assert error.value.allowed == ["auto", "float32", "bfloat16"]
    with pytest.raises(ConfigError) as error:
        run(settings_of(precision="int8", learner_precision="float32", num_parallel_games=3))
    assert (error.value.key, error.value.value) == ("evaluator.precision", "int8")
    assert not machine.engines


def test_on_a_gpu_as_many_threads_are_measured_as_there_will_be(machine, monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "a GPU")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    machine.by_size = {512: 1.0, 1024: 2.0, 2048: 2.01, 4096: 2.02}
    for device, num_streams in (
        ("cuda:0", network_evaluator.STREAMS_PER_GPU),
        ("cuda", 3 * network_evaluator.STREAMS_PER_GPU),
    ):
        settings = settings_of()
        run(settings, device=torch.device(device), num_threads=16)
        assert machine.threads.pop() == num_streams
        assert machine.engines[-1] == ["torch float32", "torch bfloat16"]
        assert settings.selfplay.num_parallel_games == 1024


# --- what is remembered ---------------------------------------------------------------------------


def test_a_measurement_is_made_once(machine):
    first, second = settings_of(), settings_of()
    found = run(first)
    (path,) = machine.folder.glob("tuning-*.json")
    assert tuning.read_tuning(path) == dataclasses.replace(found, remembered=True)
    machine.speeds, machine.by_size = None, None
    again = run(second)
    assert again == dataclasses.replace(found, remembered=True)
    assert choices_of(second) == choices_of(first)
    assert len(machine.engines) == 1


def test_it_can_be_made_again(machine):
    run(settings_of())
    machine.speeds["openvino float32"] = 1e6
    settings = settings_of()
    settings.run.retune = True
    assert not run(settings).remembered and choices_of(settings)[:2] == ("openvino", "float32")
    settings = settings_of()
    # The newer one counts.
    assert run(settings).remembered and choices_of(settings)[:2] == ("openvino", "float32")
    assert len(list(machine.folder.glob("tuning-*"))) == 1


@pytest.mark.parametrize(
    "damage",
    (
        lambda text: "",
        lambda text: with_checksum("[]"),
        lambda text: with_checksum('{"nonsense": 1}'),
        lambda text: text[:-20],
        lambda text: text.replace("engine_speeds", "speeds"),
        lambda text: text.partition("\n")[2],
        lambda text: "\xff",
    ),
)
def test_a_damaged_or_edited_file_is_replaced(machine, damage):
    expected = run(settings_of())
    (path,) = machine.folder.glob("tuning-*.json")
    path.write_bytes(damage(path.read_text()).encode("latin-1"))
    settings = settings_of()
    found = run(settings)
    assert not found.remembered and choices_of(settings) == FASTEST
    assert tuning.read_tuning(path).engine_speeds == expected.engine_speeds


def test_a_folder_that_cannot_be_written_is_ignored(machine):
    machine.folder.write_text("a file in its place")
    settings = settings_of()
    assert not run(settings).remembered and choices_of(settings) == FASTEST


def test_each_network_game_device_and_setting_has_its_own_file(machine, monkeypatch):
    def files():
        return len(list(machine.folder.glob("tuning-*.json")))

    run(settings_of())
    assert files() == 1
    other = settings_of()
    other.network.channels += 1
    run(other)
    run(settings_of(), num_threads=1)
    run(settings_of(num_simulations=17))
    run(settings_of(precision="float32"))
    run(settings_of(learner_precision="float32"))
    run(settings_of(), game=make_game("connect_x:4x4x4"))
    assert files() == 7
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "a GPU")
    machine.by_size |= dict.fromkeys((1024, 2048, 4096), 1.0)
    run(settings_of(), device=torch.device("cuda", 0))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    run(settings_of(), device=torch.device("cuda"))
    assert files() == 9
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert run(settings_of(), device=torch.device("cuda")).remembered  # the only GPU, named or not
    monkeypatch.setattr(tuning, "version_of", lambda package: "another version of " + package)
    run(settings_of())
    assert files() == 10 == len(machine.engines)
    other_seed = settings_of()
    other_seed.seed, other_seed.run.name = 5, "another run"
    assert run(other_seed).remembered


# --- the real thing -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_real_measurement_finds_real_speeds(monkeypatch, tmp_path):
    torch.set_num_threads(1)
    monkeypatch.setenv("ALPHAZERO_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(selection, "_ROUND_S", 1e-3)
    monkeypatch.setattr(tuning, "_LOCKSTEP_S", 0.05)
    settings = settings_of(engine="torch", games_per_iteration=130, num_simulations=8)
    generator_state = torch.get_rng_state()
    found = tune(settings, GAME, small_network(GAME).train(), CPU, 2)
    assert torch.equal(torch.get_rng_state(), generator_state)
    assert set(found.engine_speeds) == {"torch float32", "torch bfloat16"}
    assert set(found.lockstep_speeds) == {"64", "128"}
    assert min(*found.engine_speeds.values(), *found.lockstep_speeds.values()) > 0
    engine, precision, learner_precision, num_parallel_games = choices_of(settings)
    assert engine == "torch" and {precision, learner_precision} <= {"float32", "bfloat16"}
    assert num_parallel_games in (64, 128) and np.isfinite(found.seconds)
