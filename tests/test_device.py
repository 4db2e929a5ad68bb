"""Which processor, and how many threads: devices that are not there are refused, and the learner's threads are its own."""

import threading

import pytest
import torch

from alphazero.runtime.device import choose_device, num_cores, set_num_threads
from alphazero.runtime.errors import ConfigError


@pytest.fixture(autouse=True)
def one_thread():
    yield
    torch.set_num_threads(1)


@pytest.mark.parametrize("name", ("quick", "", "cuda:99", "meta"))
def test_a_device_that_is_not_there_is_refused_in_a_sentence(name):
    with pytest.raises(ConfigError, match=f"^device={name} .*use (auto|device=cpu).*\\.$"):
        choose_device(name)


def test_auto_is_the_gpu_when_there_is_one(monkeypatch):
    assert choose_device("cpu").type == "cpu"
    for found, expected in ((False, "cpu"), (True, "cuda")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda found=found: found)
        assert choose_device("auto") == torch.device(expected)


def test_zero_threads_are_all_cores():
    assert set_num_threads(0) == torch.get_num_threads() == num_cores() >= 1
    assert set_num_threads(3) == torch.get_num_threads() == 3


def test_a_thread_that_limits_itself_leaves_the_others_theirs():
    """torch keeps one number for threads that have not asked yet: what a worker of self-play says of itself must not become the learner's."""
    found = []

    def learner():
        set_num_threads(3)
        worker = threading.Thread(target=torch.set_num_threads, args=[1])
        worker.start()
        worker.join()
        found.append(torch.get_num_threads())

    thread = threading.Thread(
        target=learner
    )  # a fresh one: the threads of these tests have asked long ago
    thread.start()
    thread.join()
    assert found == [3]
