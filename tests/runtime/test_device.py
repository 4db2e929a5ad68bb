"""Devices and threads: missing devices are refused, and threads keep their own torch settings."""

import os

import pytest
import torch

from alphazero.inference.engines.registry import REFERENCE, EngineChoice, preferred_engine
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


@pytest.mark.parametrize(
    ("membership", "files", "cores"),
    {
        "version 2": ("0::/", {"cpu.max": "150000 100000"}, 2),
        "no limit": ("0::/", {"cpu.max": "max 100000"}, 64),
        "a group above": ("0::/a/b", {"a/b/cpu.max": "800000 100000", "a/cpu.max": "3 1"}, 3),
        "the path on the host": ("0::/docker/1f", {"cpu.max": "50000 100000"}, 1),
        "version 1": (
            "4:memory:/\n3:cpu,cpuacct:/job",
            {
                "cpu,cpuacct/job/cpu.cfs_quota_us": "450000",
                "cpu,cpuacct/job/cpu.cfs_period_us": "100000",
                "cpu,cpuacct/cpu.cfs_quota_us": "-1",
                "cpu,cpuacct/cpu.cfs_period_us": "100000",
            },
            5,
        ),
        "none of these files": ("0::/", {}, 64),
    }.values(),
)
def test_a_quota_of_cpu_time_limits_the_cores(membership, files, cores, tmp_path, monkeypatch):
    texts = {f"sys/fs/cgroup/{name}": text for name, text in files.items()}
    for name, text in {"proc/self/cgroup": membership, **texts}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    monkeypatch.setattr(device, "_ROOT", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    assert num_cores() == cores
    assert set_num_threads(0) == torch.get_num_threads() == cores
