"""Devices and threads: missing devices are refused, and threads keep their own torch settings."""

import threading

import pytest
import torch

from alphazero.inference.engines.engine import REFERENCE, EngineChoice
from alphazero.inference.engines.registry import preferred_engine
from alphazero.runtime import device
from alphazero.runtime.device import choose_device, has_bfloat16, num_cores, set_num_threads
from alphazero.runtime.errors import ConfigError


@pytest.mark.parametrize("name", ("quick", "", "cuda:99", "meta"))
def test_a_missing_device_is_refused(name):
    with pytest.raises(ConfigError, match=f"device={name} ") as error:
        choose_device(name)
    assert (error.value.key, error.value.value) == ("device", name)
    assert {"auto", "cpu"} <= set(error.value.allowed) and name not in error.value.allowed


def test_auto_is_the_gpu_if_there_is_one(monkeypatch):
    assert choose_device("cpu").type == "cpu"
    for found, expected in ((False, "cpu"), (True, "cuda")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda found=found: found)
        assert choose_device("auto") == torch.device(expected)


def test_an_apple_gpu_is_taken_only_if_it_works(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    # This build of torch has no such device: the trial fails, as it would on a broken one.
    assert choose_device("auto") == torch.device("cpu")
    with pytest.raises(ConfigError) as error:
        choose_device("mps")
    assert error.value.allowed == ["auto", "cpu"]
    monkeypatch.setattr(device, "_apple_gpu_works", lambda: True)
    assert choose_device("auto") == choose_device("mps") == torch.device("mps")
    mps = torch.device("mps")
    assert (
        not has_bfloat16(mps) and preferred_engine(EngineChoice("auto", "auto"), mps) == REFERENCE
    )


def test_zero_threads_means_all_cores():
    assert set_num_threads(0) == torch.get_num_threads() == num_cores() >= 1
    assert set_num_threads(3) == torch.get_num_threads() == 3


def test_a_thread_that_limits_itself_does_not_limit_others():
    """torch keeps one number for all threads that never asked; a worker must not change it."""
    found = []

    def learner():
        set_num_threads(3)
        worker = threading.Thread(target=torch.set_num_threads, args=[1])
        worker.start()
        worker.join()
        found.append(torch.get_num_threads())

    thread = threading.Thread(target=learner)  # a new one: the main thread has asked before
    thread.start()
    thread.join()
    assert found == [3]
