"""`alphazero doctor`: one line for each fact, whatever is missing or broken on this machine."""

import importlib

import pytest

from alphazero.cli import doctor, main
from alphazero.inference.engines.registry import ENGINES


@pytest.fixture
def missing(monkeypatch):
    """Let no extra be imported; those whose modules are put into the set are not installed."""
    names = set()

    def import_module(name, package=None):
        if name in names:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return importlib if name in " ".join(doctor.EXTRAS.values()) else real(name, package)

    real = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", import_module)
    return names


@pytest.fixture(autouse=True)
def kernels(tmp_path, monkeypatch):
    monkeypatch.setenv("ALPHAZERO_CACHE_DIR", str(tmp_path / "kernels"))
    (folder := doctor.cache_directory()).mkdir(parents=True, mode=0o700)
    return folder


def facts(capsys):
    """Run the command; return {name of a line: its text}, and the lines of advice."""
    assert main(["doctor", "device=cpu"]) == 0
    lines = [(line[:20].strip(), line[21:]) for line in capsys.readouterr().out.splitlines()]
    advice = [text for name, text in lines if name == "faster with"]
    return {name: text for name, text in lines if name != "faster with"}, advice


def test_every_fact_has_a_line(missing, capsys):
    found, advice = facts(capsys)
    names = {"alphazero-selfplay", "torch", "numba", "python", "processor", "cores", "device"}
    names |= {f"engine {name}" for name in ENGINES} | {f"extra {name}" for name in doctor.EXTRAS}
    assert names <= set(found) and all(found.values())
    assert found["device"] == "cpu" and int(found["cores"]) >= 1
    assert "float32" in found["engine torch"].split(", ")
    assert found["engine table"] == "float32"
    assert found["extra openvino"] == "works"
    assert not any("openvino" in text for text in advice)


def test_a_missing_extra_is_named_with_the_command_that_installs_it(missing, capsys):
    missing |= {"openvino", "uvicorn"}
    found, advice = facts(capsys)
    assert found["extra openvino"].startswith("openvino ")
    assert found["extra web"].startswith("uvicorn ")
    assert found["extra plot"] == "works"
    assert any("alphazero-selfplay[openvino]" in text for text in advice)


def test_a_broken_engine_or_extra_leaves_the_other_lines(missing, monkeypatch, capsys):
    make = doctor.make_engine

    def broken(choice, device, num_threads):
        if choice.engine == "table":
            raise RuntimeError("illegal instruction")
        return make(choice, device, num_threads)

    def import_module(name, package=None):
        if name == "pyspiel":
            raise ImportError("undefined symbol")
        return before(name, package)

    before = importlib.import_module
    monkeypatch.setattr(doctor, "make_engine", broken)
    monkeypatch.setattr(importlib, "import_module", import_module)
    found, _ = facts(capsys)
    assert "illegal instruction" in found["engine table"]
    assert "float32" in found["engine torch"].split(", ")
    assert "undefined symbol" in found["extra open_spiel"] and found["extra pgx"] == "works"


def test_the_cache_of_kernels_is_cold_warm_or_not_kept(missing, kernels, capsys):
    assert doctor._kernels().split(": ") == ["cold", str(kernels)]
    (kernels / "batched_game._step_rows-1.nbc").touch()
    assert doctor._kernels().split(": ") == ["warm", str(kernels)]
