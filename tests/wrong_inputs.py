"""Wrong inputs: commands that must be refused in a sentence, before anything is done or made.

`tests/config/test_wrong_inputs.py` runs all of them. To read the answers:

    python tests/wrong_inputs.py
"""

import contextlib
import dataclasses
import io
import os
import re
import shlex
import signal
import sys
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
from safetensors.numpy import save_file

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
-x

train foo=1
train foo
train =3
train +foo=1
train ~foo
train --nonsense
train --cfg
train --cfg nonsense
train --multirun othello
train --config-dir
train --config-dir nowhere
train --config-name other
train --help nonsense
train learner.lr=1
train learner.learning_rate=fast
train learner.learning_rate=[
train learner.learning_rate='"'
train learner.learning_rate=nan
train learner.learning_rate=-1
train learner.batch_size=1.5
train learner.batch_size=0
train learner.batch_size=9999999999999999999999
train learner.batch_size=
train learner.batch_size=null
train learner.step_at=[0.5,2]
train learner.step_at=[a]
train learner.optimizer=adagrad
train learner={lr:1}
train learner=adagrad
train learner=
train learner.=1
train learner/lr=1
train learner.batch_size.x=1
train seed=1,2
train seed=-1
train seed=2147483648
train seed=${nothing}
train seed=${oc.env:NOTHING_AT_ALL}
train --multirun seed=1,x
train --multirun seed='range(1'
train --multirun seed=1,2 learner=adam,rmsprop
train game=chess
train game=othello:7
train game=connect_x:4x4
train game=connect_x:4x4x9
train game=
train game=.
train game=nowhere.py
train game=files/text.txt
train game=files/syntax.py
train game=files/empty.py
train game=files/raises.py
train game=files/two.py
train game=nothing:Class
train network=nothing:Class
train network.kind=typo
train network.options=3
match game=tic_tac_toe a=nothing:Class b=random
serve players=[nothing:Class] open=false
train game=pettingzoo:chess_v9
train game.name=chess
train experiment=typo
train experiment=ablation
train network=9x9
train network=tiny network.kernel_size=9
train network.blocks=100000
train device=cuda:99
train network.kind=transformer
train evaluator.engine=onnx
train evaluator.precision=int4
train search.reuse_tree=perhaps
train selfplay.num_simulations=1
train pit.num_games=3
train evaluation.opening_plies=9
train replay.window_start=20 replay.window_max=10
train run.name=..
train run.root=files/text.txt
train run.root=/dev/null/x
train run.num_threads=100000
train hydra.run.dir=files/text.txt
train hydra.typo=1
train hydra/launcher=typo
train --config-dir files/configs experiment=key
train --config-dir files/configs experiment=range
train --config-dir files/configs experiment=syntax
train --config-dir files/configs experiment=list
train --config-dir files/configs experiment=binary
train resume=latest
train resume=nowhere
train resume=files
train resume=files/text.txt
train resume=latest --multirun
train resume=files/runs/empty_config
train resume=files/runs/text_config
train resume=files/runs/binary_config
train resume=files/runs/old_key
train resume=files/runs/wrong_value
train resume=files/runs/no_config
train resume=files/runs/truncated_state

play foo=1
play game=files/syntax.py
play first=stockfish
play first=uct:many
play first=uct:100,,
play first=uct:100,num_simulations
play first=,
play first=nowhere.safetensors
play first=files/text.txt
play first=files/networks/empty.safetensors
play first=files/networks/text.safetensors
play first=files/networks/truncated.safetensors
play first=files/networks/plain.safetensors
play first=files/networks/metadata.safetensors
play first=files/networks/other_shape.safetensors
play game=connect_four first=files/networks/tic_tac_toe.safetensors
play first=latest
play game=othello:4 first=gtp:nothing_at_all
play first=gtp:
play num_simulations=0
play time_limit_s=0
play time_limit_s=nan
play seed=-1
play hint=human
play hint=maybe
play boards=all
play moves=9
play moves=[0,0,0,0,0,0,0]
play moves=[a]
play moves=[
play moves={}
play game=tic_tac_toe moves=[1,1]
play game=othello moves=[1]
play game=othello moves=f5d6c3
play game=othello setup=standard moves=e3f3
play game=othello setup=usual
play game=tic_tac_toe setup=standard
play game=othello moves=[a1]
play engine=onnx
play endgame=maybe
play engine=openvino precision=int4
play device=tpu
play rollout_weights=files/text.txt
play rollout_weights=nowhere
play statistics=page
play second

match foo=1
match a=uct:10 b=nowhere
match a=uct:10 b=human
match num_games=3
match game=tic_tac_toe a=random b=random opening_plies=9
match a=random b=random opening_plies=1000
match a=random b=random sprt=true elo0=50 elo1=0
match a=random b=random sprt=true alpha=0.9
match a=random b=random sprt=true num_games=3
match game=othello a=random b=random drawn_openings=true
match a=random b=random json=nowhere/x.json
match a=random b=random json=files/text.txt/x.json
match game=othello a=files/networks/tic_tac_toe.safetensors b=random

rate run=nowhere
rate run=latest
rate run=files/runs/empty_config
rate run=files/runs/no_networks
rate players=uct:10
rate players=[
rate num_games=-1
rate games_per_match=3
rate num_networks=many
rate output=files

engine foo=1
work
work a b
work no/where
work . num_threads=-1
work . device=abacus
work . name=!!!
work . frobnicate=1
engine player=nowhere
engine player=files/networks/text.safetensors
engine game=chess
engine player=files/networks/text.safetensors

prove game=connect_x:5x5x4 player=human
prove player=stockfish
prove show=-1
prove player=files/networks/truncated.safetensors

evaluate player=nowhere
evaluate player=human
evaluate player=random baseline=nowhere
evaluate player=random baseline=files/networks/metadata.safetensors
evaluate player=files/networks/metadata.safetensors
evaluate player=random set=nowhere.csv
evaluate player=random set=files
evaluate player=random set=files/sets/empty.csv
evaluate player=random set=files/sets/text.csv
evaluate player=random set=files/sets/columns.csv
evaluate player=random set=files/sets/values.csv
evaluate player=random set=files/sets/moves.csv
evaluate player=random set=files/sets/binary.csv
evaluate player=random set=files/sets/short.csv
evaluate player=random game=othello:4
evaluate player=random show=-1
evaluate player=random plot=nowhere/x.png
evaluate player=random plot=x.doc
evaluate player=random json=nowhere/x.json

make_evaluation_set num_positions=1
make_evaluation_set out=nowhere/x.csv
make_evaluation_set out=files
make_evaluation_set out=files/sets/text.csv
make_evaluation_set game=othello max_empties=40 out=x.csv

plot run=nowhere
plot run=files
plot run=files/runs/empty_metrics
plot run=files/runs/text_metrics
plot run=files/runs/list_metrics
plot run=files/runs/metrics output=nowhere/x.png
plot run=files/runs/metrics output=x.doc
plot what=exact run=files/runs/metrics
plot what=everything
plot lines=mean
plot what=game run=files/runs/no_networks
plot what=game first=nowhere
plot what=game moves=9
plot what=game output=x.mp4
plot what=position num_simulations=0
plot what=position rolling_mean=3
plot rolling_mean=0
plot run=files/runs/metrics,files/runs/metrics

export network=nowhere
export network=uct
export network=best game=othello:4
export network=files/no_networks
export format=tflite
export format=kaggle game=othello
export format=kaggle output=files/syntax.py
export output=nowhere/x.onnx

pettingzoo env=chess
pettingzoo env=
pettingzoo first=stockfish
pettingzoo num_games=0
pettingzoo render=video
pettingzoo seed=-1
pettingzoo sampled_plies=-1
"""


def command_lines() -> list[str]:
    """Return the command lines, in order."""
    return [line for line in COMMANDS.strip().splitlines() if line]


def make_files(folder: Path) -> None:
    """Make the damaged and mistaken files that the commands name."""
    texts = {
        "text.txt": "This is no file of ours.\n",
        "syntax.py": "def step(:\n",
        "empty.py": "",
        "raises.py": "raise RuntimeError('not today')\n",
        "two.py": "class A:\n    pass\n\n\nclass B:\n    pass\n",
        "configs/experiment/key.yaml": "# @package _global_\nlearner:\n  lr: 1\n",
        "configs/experiment/range.yaml": "# @package _global_\nlearner:\n  batch_size: 0\n",
        "configs/experiment/syntax.yaml": "# @package _global_\nlearner: [\n",
        "configs/experiment/list.yaml": "- a\n- b\n",
        "sets/empty.csv": "",
        "sets/text.csv": "This is no set.\n",
        "sets/columns.csv": "a,b,c\n1,2,3\n",
    }
    first = Path(__file__).parents[1] / "alphazero/evaluation/exact/data/connect_four.csv"
    lines = first.read_text().splitlines()[1:]  # without the checksum
    texts["sets/values.csv"] = "\n".join([*lines[:-1], lines[-1].replace("0", "x")]) + "\n"
    texts["sets/moves.csv"] = "\n".join([*lines[:-1], "9 9 9 9 9" + lines[-1]]) + "\n"
    texts["sets/short.csv"] = "\n".join([*lines[:-1], lines[-1].partition(",")[0]]) + "\n"
    for name, text in texts.items():
        _write(folder / name, text.encode())
    _write(folder / "sets/binary.csv", bytes(range(256)))
    _write(folder / "configs/experiment/binary.yaml", bytes(range(256)))
    _make_networks(folder / "networks")
    _make_runs(folder / "runs", (folder / "networks/tic_tac_toe.safetensors").read_bytes())


def _make_networks(folder: Path) -> None:
    game = make_game("tic_tac_toe")
    folder.mkdir()
    whole = folder / "tic_tac_toe.safetensors"
    settings = NetworkSettings(blocks=1, channels=4)
    network = make_network(game.planes_shape, game.num_actions, settings)
    save_network(whole, network_arrays(network), game.name, dataclasses.asdict(settings), {})
    _write(folder / "empty.safetensors", b"")
    _write(folder / "text.safetensors", b"This is no network.\n" * 20)
    _write(folder / "truncated.safetensors", whole.read_bytes()[:2000])
    arrays = {"weights": np.zeros(4, np.float32)}
    save_file(arrays, folder / "plain.safetensors")
    write_safetensors(folder / "metadata.safetensors", arrays, {"format": "alphazero-network-2"})
    metadata = {"network": "{}", "game": "[]"}
    write_safetensors(folder / "other_shape.safetensors", arrays, metadata)


def _make_runs(folder: Path, network: bytes) -> None:
    config = (  # nothing is left to be measured
        b"game:\n  name: tic_tac_toe\nevaluator:\n  engine: torch\n  precision: float32\n"
        b"learner:\n  precision: float32\nselfplay:\n  num_parallel_games: 8\n"
    )
    metrics = b'{"iteration": 1, "elapsed_s": 1.0, "learner.loss": 1.0}\n'
    runs = {
        "empty_config": {"config.yaml": b"", "state.safetensors": b""},
        "text_config": {"config.yaml": b"hello", "state.safetensors": b""},
        "binary_config": {"config.yaml": bytes(range(256)), "state.safetensors": b""},
        "old_key": {"config.yaml": config + b"nothing:\n  x: 1\n", "state.safetensors": b""},
        "wrong_value": {"config.yaml": config + b"seed: many\n", "state.safetensors": b""},
        "no_config": {"state.safetensors": b""},
        "truncated_state": {"config.yaml": config, "state.safetensors": network[:500]},
        "no_networks": {"config.yaml": config, "state.safetensors": b"", "metrics.jsonl": metrics},
        "empty_metrics": {"config.yaml": config, "state.safetensors": b"", "metrics.jsonl": b""},
        "text_metrics": {"config.yaml": config, "state.safetensors": b"", "metrics.jsonl": b"hi\n"},
        "list_metrics": {"config.yaml": config, "state.safetensors": b"", "metrics.jsonl": b"[]\n"},
        "metrics": {"config.yaml": config, "state.safetensors": b"", "metrics.jsonl": metrics},
    }
    for name, files in runs.items():
        for file, content in files.items():
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


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        make_files(Path(temporary) / "files")
        os.chdir(temporary)
        for command_line in command_lines():
            try:
                status, out, err = answer(command_line)
            except BaseException as error:
                status, out, err = -1, "", f"NOT CAUGHT: {type(error).__name__}: {error}"
            print(
                f"$ alphazero {command_line}\n[{status}] {out[-300:]}{err.rstrip()}\n", flush=True
            )
