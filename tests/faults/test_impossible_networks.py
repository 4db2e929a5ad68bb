"""Commands refuse a network whose weights are finite and whose answers are not, in one line.

The networks are forged: `save_network` writes them, so that every checksum is right.
"""

import itertools

import numpy as np
import pytest
from harness import run

from alphazero.network.weights import load_network, save_network
from alphazero.storage.pretrained import shipped_network

LARGEST = np.float32(3e38)
#: What is done to the weights by name; the answers of all of them are impossible.
FORGERIES = {
    "scaled by 1e20": lambda name, array: array * np.float32(1e20),
    "a negative variance": lambda name, array: -array if name.endswith("running_var") else array,
    "as large as they can be": lambda name, array: np.where(array < 0, -LARGEST, LARGEST),
}
COMMANDS = {
    "match": "match a={} b=random num_games=2 opening_plies=2 num_simulations=20 device=cpu",
    "play": "play first={} second=random num_simulations=20 seed=1 device=cpu",
    "engine": "engine player={} num_simulations=20 device=cpu",
}
ENGINES = ("engine=torch", "engine=openvino", "engine=openvino precision=int8")
QUICK = set(zip(FORGERIES, COMMANDS, ENGINES))
CASES = [
    case if case in QUICK else pytest.param(*case, marks=pytest.mark.slow)
    for case in itertools.product(FORGERIES, COMMANDS, ENGINES)
]


@pytest.mark.parametrize("forgery, command, engine", CASES)
def test_a_network_with_impossible_answers_is_refused(forgery, command, engine, tmp_path):
    stored, path = load_network(shipped_network("tic_tac_toe")), tmp_path / "forged.safetensors"
    arrays = {
        name: FORGERIES[forgery](name, array).astype(np.float32)
        if array.dtype.kind == "f"
        else array
        for name, array in stored.arrays.items()
    }
    save_network(path, arrays, stored.game, stored.settings, stored.info)
    words = [*COMMANDS[command].format(path).split(), *engine.split()]
    ended = run(words, stdin=b'{"game": "tic_tac_toe", "moves": [0]}\n')
    ended.assert_refused("forged.safetensors")
    assert ended.stdout == ""
