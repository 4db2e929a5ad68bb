"""Wrong inputs: commands that must be refused in a sentence, before anything is done or made.

`tests/config/test_wrong_inputs.py` runs all of them.
"""

import contextlib
import dataclasses
import io
import re
import shlex
import signal
import sys
from pathlib import Path
from unittest import mock

import numpy as np

from alphazero.cli import main
from alphazero.network.interface import NetworkSettings
from alphazero.network.registry import make_network
from alphazero.network.weights import network_arrays, save_network
from alphazero.own_games.registry import make_game
from alphazero.runtime.files import write_safetensors

TIME_LIMIT_S = 25

#: What a user should never read: the inside of parsers and libraries, and messages for programmers.
INSIDE = re.compile(
    r"Traceback|NoneType|Lexer|AnyNode|EOF|Errno|Error:|Exception|codec|deserializ|JSONDecode|"
    r"DictConfig|ListConfig|full_key|object_type|omegaconf|<class|object at 0x|list index|"
    r"unhashable|positional argument|site-packages|'str'|'int'|'dict'|'list'|Warning"
)

#: Command lines, run in a folder with the files that `make_files` makes.
COMMANDS = """
frobnicate
trian
--wrong
play -x

train foo=1
train +foo=1
train --nonsense
train --multirun othello
train --config-dir nowhere
train --help nonsense
train learner.lr=1
train learner.learning_rate=fast
train learner.learning_rate=-1
train learner.batch_size=1.5
train learner.batch_size=9999999999999999999999
train learner.optimizer=adagrad
train learner={lr:1}
train learner/lr=1
train seed=1,2
train seed=${oc.env:NOTHING_AT_ALL}
train --multirun seed=1,2 learner=adam,rmsprop
train game=chess
train game=connect_x:4x4x9
train game=nowhere.py
train game=files/syntax.py
train game=files/raises.py
train game=nothing:Class
train game=nothing.py:Class
train network.kind=typo
serve players=[nothing:Class] open=false
train experiment=typo
train network=tiny network.kernel_size=9
train network.blocks=100000
train search.root=gumbel search.forced_playouts_k=2
train device=cuda:99
train search.reuse_tree=perhaps
train replay.window_start=20 replay.window_max=10
train run.name=..
train run.root=files/text.txt
train --config-dir files/configs experiment=key
train --config-dir files/configs experiment=syntax
train resume=nowhere
train resume=files
train resume=files/runs/text_config
train resume=files/runs/old_key
train resume=files/runs/wrong_value
train resume=files/runs/truncated_state

play first=stockfish
play first=uct:100,num_simulations
play first=nowhere.safetensors
play first=files/networks/text.safetensors
play first=files/networks/metadata.safetensors
play game=connect_four first=files/networks/tic_tac_toe.safetensors
play first=latest
play game=othello:4 first=gtp:nothing_at_all
play time_limit_s=nan
play moves=[0,0,0,0,0,0,0]
play game=tic_tac_toe moves=[1,1]
play game=othello moves=f5d6c3
play game=othello setup=usual
play rollout_weights=files/text.txt

match num_games=3
match a=random b=random opening_plies=1000
match a=random b=random sprt=true elo0=50 elo1=0
match a=random b=random json=nowhere/x.json

rate run=nowhere
rate run=files/runs/no_networks

engine player=nowhere
engine player=human
engine player=nothing:Class
mcp player=human
prove game=connect_x:5x5x4 player=human

evaluate player=human
evaluate player=random baseline=files/networks/metadata.safetensors
evaluate player=random set=files/sets/values.csv
evaluate player=random set=files/sets/moves.csv
evaluate player=random set=files/sets/binary.csv
evaluate player=random game=othello:4

plot run=nowhere
plot run=files/runs/text_metrics
plot run=files/runs/metrics output=x.doc
plot run=files/runs/metrics,files/runs/metrics

export network=uct
export network=best game=connect_x:5x5x3
export format=kaggle game=othello

push
push best not_a_repo
push nowhere hf:someone/small

pettingzoo env=chess
"""


def command_lines() -> list[str]:
    """Return the command lines, in order."""
    return [line for line in COMMANDS.strip().splitlines() if line]


def make_files(folder: Path) -> None:
    """Make the damaged and mistaken files that the commands name."""
    texts = {
        "text.txt": "This is no file of ours.\n",
        "syntax.py": "def step(:\n",
        "raises.py": "raise RuntimeError('not today')\n",
        "configs/experiment/key.yaml": "# @package _global_\nlearner:\n  lr: 1\n",
        "configs/experiment/syntax.yaml": "# @package _global_\nlearner: [\n",
    }
    first = Path(__file__).parents[1] / "alphazero/evaluation/exact/data/connect_four.csv"
    lines = first.read_text().splitlines()[1:]  # without the checksum
    texts["sets/values.csv"] = "\n".join([*lines[:-1], lines[-1].replace("0", "x")]) + "\n"
    texts["sets/moves.csv"] = "\n".join([*lines[:-1], "9 9 9 9 9" + lines[-1]]) + "\n"
    for name, text in texts.items():
        _write(folder / name, text.encode())
    _write(folder / "sets/binary.csv", bytes(range(256)))
    _make_networks(folder / "networks")
    _make_runs(folder / "runs", (folder / "networks/tic_tac_toe.safetensors").read_bytes())


def _make_networks(folder: Path) -> None:
    game = make_game("tic_tac_toe")
    folder.mkdir()
    whole = folder / "tic_tac_toe.safetensors"
    settings = NetworkSettings(blocks=1, channels=4)
    network = make_network(game, settings)
    save_network(whole, network_arrays(network), game.name, dataclasses.asdict(settings), {})
    _write(folder / "text.safetensors", b"This is no network.\n" * 20)
    arrays = {"weights": np.zeros(4, np.float32)}
    write_safetensors(folder / "metadata.safetensors", arrays, {"format": "alphazero-network-2"})


def _make_runs(folder: Path, network: bytes) -> None:
    config = (  # nothing is left to be measured
        b"game:\n  name: tic_tac_toe\nevaluator:\n  engine: torch\n  precision: float32\n"
        b"learner:\n  precision: float32\nselfplay:\n  num_parallel_games: 8\n"
    )
    metrics = b'{"iteration": 1, "elapsed_s": 1.0, "learner.loss": 1.0}\n'
    runs = {
        "text_config": {"config.yaml": b"hello"},
        "old_key": {"config.yaml": config + b"nothing:\n  x: 1\n"},
        "wrong_value": {"config.yaml": config + b"seed: many\n"},
        "truncated_state": {"config.yaml": config, "state.safetensors": network[:500]},
        "no_networks": {"config.yaml": config, "metrics.jsonl": metrics},
        "text_metrics": {"config.yaml": config, "metrics.jsonl": b"hi\n"},
        "metrics": {"config.yaml": config, "metrics.jsonl": metrics},
    }
    for name, files in runs.items():
        for file, content in ({"state.safetensors": b""} | files).items():
            _write(folder / name / file, content)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


class TookTooLong(BaseException):
    """The command was not refused: it began to work, or it hangs."""


def answer(command_line: str) -> tuple[int, str, str]:
    """Run a command; return exit status, standard output and standard error."""

    def stop(*_):
        raise TookTooLong(command_line)

    out, err = io.StringIO(), io.StringIO()
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(TIME_LIMIT_S)
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            mock.patch.object(sys, "stdin", io.StringIO()),
        ):
            status = main(shlex.split(command_line))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return status, out.getvalue(), err.getvalue()
