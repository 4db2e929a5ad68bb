"""Golden playthroughs: a game of each kind, written out so that a person can follow it.

A change of the rules, of the numbering of actions or of the layout of states shows as a difference
in a text file.

    pytest tests/games/test_game_playthroughs.py --regenerate-playthroughs

writes them again: an existing file keeps its moves, a game without a file gets a random game. Read
the difference before you commit it.
"""

import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from game_samples import BREAKTHROUGH, EXAMPLE, PUZZLE, label, random_games

from alphazero.own_games.registry import make_game

FOLDER = Path(__file__).parents[1] / "playthroughs"
#: One for each name that `make_game` knows; a name that stands for many sizes needs one of them.
NAMES = (
    "tic_tac_toe",
    "connect_four",
    "connect_x:4x3x3",
    "connect_x:8x8x4",
    "othello",
    "othello:6",
    "othello:4",
    "gomoku:7x6x4",
    "othello:10",
    EXAMPLE,
    PUZZLE,
    BREAKTHROUGH,
)


@pytest.mark.parametrize("name", NAMES, ids=label)
def test_the_game_is_played_as_recorded(name, request):
    path = FOLDER / f"{label(name)}.txt"
    game = make_game(name)
    if request.config.getoption("--regenerate-playthroughs"):
        moves = recorded_moves(path, game) if path.exists() else random_moves(game, label(name))
        path.write_text(written_out(game, label(name), moves))
    assert path.exists(), f"{path.name} is missing: run with --regenerate-playthroughs"
    assert written_out(game, label(name), recorded_moves(path, game)) == path.read_text()


def random_moves(game, name):
    plies, _ = random_games(game, 1, seed=zlib.crc32(name.encode()))
    return [int(ply.actions[0]) for ply in plies]


def recorded_moves(path, game):
    texts = re.findall(r"^plays (.*)$", path.read_text(), re.MULTILINE)
    return [game.text_to_action(text) for text in texts]


def written_out(game, name, moves):
    """Return the whole text of a game."""
    planes = " x ".join(map(str, game.planes_shape))
    lines = [
        f"game {name}",
        f"actions {game.num_actions}",
        f"state {game.state_size} x {game.state_dtype}",
        f"planes {planes}",
    ]
    lines += [f"symmetries {len(game.cell_symmetries)}", f"at most {game.max_plies} plies"]
    for ply in range(len(moves) + 1):
        lines += ["", *described(game, game.play_moves(moves[:ply]), ply)]
        if ply < len(moves):
            lines.append(f"plays {game.action_to_text(moves[ply])}")
    return "\n".join(lines) + "\n"


def described(game, state, ply):
    inspected = game.inspect(state[None])
    digest = zlib.crc32(np.ascontiguousarray(game.observe(state[None])).tobytes())
    yield f"ply {ply}, player {inspected.players[0]} to move"
    yield from game.state_to_text(state).split("\n")
    if game.state_dtype == np.uint64:
        yield "state " + " ".join(f"{word:x}" for word in state)
    yield f"planes {digest:08x}"
    if inspected.over[0]:
        yield f"over, result {inspected.results[0]:g} for player {inspected.players[0]}"
    else:
        legal = np.flatnonzero(inspected.legal_action_mask[0])
        yield "legal " + " ".join(game.action_to_text(action) for action in legal)
