"""`alphazero export` to ONNX: the file, its agreement with the network, and what is refused."""

import json
import sys

import numpy as np
import pytest
import torch
from network_samples import SMALL, planes_of, small_network

from alphazero.cli import main
from alphazero.cli.export import check_agreement
from alphazero.interop import onnx_file
from alphazero.network.interface import expected_value
from alphazero.network.weights import network_arrays, save_network
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import InputError

onnx = pytest.importorskip("onnx", reason="the extra [onnx] is not installed")
pytest.importorskip("onnxruntime", reason="the extra [onnx] is not installed")
pytest.importorskip("onnxscript", reason="the extra [onnx] is not installed")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Return the folder of a run with one network of tic-tac-toe, and its ONNX file."""
    folder = tmp_path_factory.mktemp("run")
    network = small_network(make_game("tic_tac_toe"))
    path = folder / "networks" / "000012.safetensors"
    path.parent.mkdir()
    info = {"run": "mine", "iteration": 12}
    save_network(path, network_arrays(network), "tic_tac_toe", SMALL | {"kind": "resnet"}, info)
    output = folder / "mine.onnx"
    assert main(["export", f"network={folder}", f"output={output}"]) == 0
    return folder, output


def test_the_file_is_self_contained_and_says_what_it_is(exported):
    folder, output = exported
    assert [path.name for path in folder.iterdir() if path.is_file()] == ["mine.onnx"]
    model = onnx.load(output)
    onnx.checker.check_model(model, full_check=True)
    facts = {item.key: item.value for item in model.metadata_props}
    assert facts["format"] == onnx_file.ONNX_FORMAT
    assert (facts["game"], facts["run"], facts["iteration"]) == ("tic_tac_toe", "mine", "12")
    assert json.loads(facts["actions"]) == list("123456789")
    inputs, outputs = model.graph.input, model.graph.output
    assert [value.name for value in inputs] == ["planes"]
    assert [value.name for value in outputs] == ["prior_logits", "value"]
    assert all(value.doc_string for value in (*inputs, *outputs))


@pytest.mark.parametrize("num_rows", (1, 7))
def test_a_batch_of_any_size_gets_the_networks_answers(exported, num_rows):
    game = make_game("tic_tac_toe")
    planes = planes_of(game, num_rows)
    logits, values = onnx_file.evaluation_of(exported[1].read_bytes())(planes)
    with torch.inference_mode():
        expected = small_network(game)(torch.from_numpy(planes))
    np.testing.assert_allclose(logits, expected.prior_logits.numpy(), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(values, expected_value(expected.value_logits), atol=1e-4)


def test_answers_that_are_no_numbers_do_not_agree():
    game = make_game("tic_tac_toe")
    network = small_network(game)

    def evaluate(planes):
        with torch.inference_mode():
            values = expected_value(network(torch.from_numpy(planes)).value_logits).numpy()
        return np.full((len(planes), 9), np.nan), values

    with pytest.raises(InputError):
        check_agreement(game, network, evaluate)


def test_a_file_that_does_not_agree_is_not_written(exported, tmp_path, monkeypatch, capsys):
    right = onnx_file.evaluation_of

    def wrong(data):
        def evaluate(planes):
            logits, values = right(data)(planes)
            return logits, values + 0.01

        return evaluate

    monkeypatch.setattr(onnx_file, "to_bytes", lambda *_: exported[1].read_bytes())
    monkeypatch.setattr(onnx_file, "evaluation_of", wrong)
    assert main(["export", f"network={exported[0]}", f"output={tmp_path / 'x.onnx'}"]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert not any(tmp_path.iterdir())


def test_only_a_file_of_this_command_is_replaced(exported, tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_file, "to_bytes", lambda *_: exported[1].read_bytes())
    foreign, own = tmp_path / "foreign.onnx", tmp_path / "own.onnx"
    foreign.write_text("not one of ours")
    own.write_bytes(exported[1].read_bytes())
    assert main(["export", f"network={exported[0]}", f"output={foreign}"]) == 2
    assert foreign.read_text() == "not one of ours"
    assert main(["export", f"network={exported[0]}", f"output={own}"]) == 0


@pytest.mark.parametrize("name", ["onnx", "onnxscript", "onnxruntime"])
def test_a_missing_package_is_named(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, name, None)
    assert main(["export", "network=best", "game=tic_tac_toe"]) == 2
    assert f"{name} is not installed" in capsys.readouterr().err and not [*tmp_path.iterdir()]
