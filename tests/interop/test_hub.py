"""Networks on the Hugging Face Hub, which a small server on this machine stands for."""

import base64
import hashlib
import json
import pickle
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from network_samples import SMALL, small_network

import alphazero
from alphazero.cli import main
from alphazero.network.weights import load_network, network_arrays, save_network
from alphazero.own_games.registry import make_game
from alphazero.players import hub
from alphazero.runtime.errors import ConfigError, MissingPackage, StoredFileError

NAME = "hf:someone/small"
COMMIT = "0123456789" * 4


class Hub(BaseHTTPRequestHandler):
    """Answers what downloads and uploads ask for; `server.files` are those of someone/small."""

    def do_HEAD(self):
        self._send(self._stored())

    def do_GET(self):
        self._send(self._stored())

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Authorization") != "Bearer hf_secret":
            return self._send(401)
        if self.path.endswith("/create"):
            self.server.created.append(json.loads(body))
            answer = {"url": f"{self.server.address}/someone/small"}
        elif "/preupload/" in self.path:
            files = [file["path"] for file in json.loads(body)["files"]]
            common = {"uploadMode": "regular", "shouldIgnore": False}
            answer = {"files": [{"path": path} | common for path in files]}
        else:
            url = f"{self.server.address}/someone/small/commit/{COMMIT}"
            answer = {"commitUrl": url, "commitOid": COMMIT}
            for line in body.splitlines() if "/commit/" in self.path else ():
                self._store(**json.loads(line))
        self._send(json.dumps(answer).encode())

    def _stored(self):
        found = re.fullmatch(r"/someone/small/resolve/(?:main|v1)/(.*)", self.path)
        return self.server.files.get(found[1], 404) if found else 404

    def _store(self, key, value):
        if key == "file":
            self.server.files[value["path"]] = base64.b64decode(value["content"])

    def _send(self, answer):
        data = answer if isinstance(answer, bytes) else b""
        self.send_response(200 if data else answer)
        headers = {"Content-Length": len(data), "X-Repo-Commit": COMMIT}
        for name, value in (headers | {"ETag": f'"{hashlib.sha1(data).hexdigest()}"'}).items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *args):
        pass


@pytest.fixture
def created():
    """Return the requests that make repositories."""
    return []


@pytest.fixture
def files(tmp_path, monkeypatch, created):
    """Return {name: bytes}, the files of the repository someone/small of a hub on this machine."""
    constants = pytest.importorskip("huggingface_hub.constants", reason="needs the extra [hub]")
    from huggingface_hub import hf_api

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.files, server.address = {}, f"http://127.0.0.1:{server.server_port}"
    server.created = created
    template = f"{server.address}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "ENDPOINT", server.address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hf_api.api, "endpoint", server.address)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.chdir(tmp_path)
    hub.download.cache_clear()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server.files
    server.shutdown()
    server.server_close()


@pytest.fixture
def network(tmp_path):
    """Return the path of the file of a small network for tic-tac-toe."""
    path = tmp_path / "mine.safetensors"
    arrays = network_arrays(small_network(make_game("tic_tac_toe")))
    save_network(path, arrays, "tic_tac_toe", SMALL | {"kind": "resnet"}, {})
    return path


def test_a_network_that_is_pushed_can_be_named_as_a_player(files, network, capsys):
    assert main(["push", str(network), NAME]) == 0
    assert files.keys() == {"small.safetensors", "README.md"}
    assert files["small.safetensors"] == network.read_bytes()
    card = files["README.md"].decode()
    assert card.startswith("---\n") and "tic_tac_toe" in card and f"second={NAME}" in card
    for spec in (NAME, f"{NAME}@v1,num_simulations=4"):
        player = alphazero.load_player(spec, "tic_tac_toe", device="cpu")
        assert player.name == "small"
    assert player.num_simulations == 4
    capsys.readouterr()
    assert main(["match", f"a={NAME},num_simulations=2", "b=random", "num_games=2"]) == 0
    assert "tic_tac_toe" in capsys.readouterr().out  # the game is the network's


@pytest.mark.parametrize("words, is_private", [([], True), (["public=true"], False)])
def test_a_new_repository_is_private_unless_it_is_asked_for(
    files, created, network, words, is_private
):
    assert main(["push", str(network), NAME, *words]) == 0
    (request,) = created  # huggingface_hub 1.0 says "private": true
    is_said = request.get("visibility") == "private" or bool(request.get("private"))
    assert is_said == is_private


@pytest.mark.parametrize("to", [[], ["not_a_repo"], ["hf:not_a_repo"], ["hf:/small"], ["hf:a/b/c"]])
def test_a_network_is_pushed_only_to_an_owner_and_a_name(files, created, network, to, capsys):
    assert main(["push", str(network), *to]) == 2 and not created and not files
    assert capsys.readouterr().err.splitlines()[-1].startswith("error: ")


@pytest.mark.parametrize("data", [pickle.dumps(print), b"\xff" * 9], ids=("pickle", "bytes"))
def test_a_file_that_is_not_a_network_is_refused_in_both_directions(files, tmp_path, data):
    files["small.safetensors"] = data
    with pytest.raises(StoredFileError):
        alphazero.load_player(NAME, "tic_tac_toe")
    files.clear()
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(data)
    assert main(["push", str(bad), NAME]) == 2 and not files


@pytest.mark.parametrize(
    "spec", [NAME, "hf:someone/else", f"{NAME}@v2", "hf:", "hf:a b/c", "hf:a/b/c", "hf:../.."]
)
def test_a_network_that_is_not_on_the_hub_is_an_error_that_names_it(files, spec):
    if "@" in spec:  # another revision has one
        files["small.safetensors"] = b"a network"
    with pytest.raises(ConfigError) as refused:
        alphazero.load_player(spec, "tic_tac_toe")
    assert refused.value.value == spec and "\n" not in str(refused.value)


def test_without_a_token_nothing_is_pushed(files, network, monkeypatch, capsys):
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    assert main(["push", str(network), NAME]) == 2 and not files
    assert "hf auth login" in capsys.readouterr().err


def test_without_a_connection_the_copy_of_the_cache_plays(files, network, monkeypatch):
    from huggingface_hub import constants

    files["small.safetensors"] = network.read_bytes()
    path = hub.download(NAME)
    assert load_network(path).game == "tic_tac_toe"
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    hub.download.cache_clear()
    assert hub.download(NAME) == path
    with pytest.raises(ConfigError) as refused:
        hub.download("hf:someone/else")
    assert refused.value.value == "hf:someone/else"


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    hub.download.cache_clear()
    with pytest.raises(MissingPackage, match=r"\[hub\]"):
        alphazero.load_player(NAME, "tic_tac_toe")
