"""The games that the tests cover, and random games of them."""

import runpy
from pathlib import Path
from typing import NamedTuple

import numpy as np

from alphazero.own_games.registry import make_game

EXAMPLE = str(Path(__file__).parents[1] / "examples" / "snort.py")
PUZZLE = str(Path(__file__).parents[1] / "examples" / "peg_solitaire.py")
#: A game whose pieces move, and its twin, a class in plain Python.
BREAKTHROUGH = str(Path(__file__).parents[1] / "examples" / "breakthrough.py")
BREAKTHROUGH_PYTHON = str(Path(__file__).parents[1] / "examples" / "breakthrough_python.py")
TWICE = str(Path(__file__).parent / "twice_game.py")

#: Every game, in several sizes if it has them: square, wide and tall boards, boards that just fit
#: 64 bits and boards that do not.
GAME_NAMES = (
    "tic_tac_toe",
    "connect_four",
    "connect_x:4x3x3",
    "connect_x:3x9x3",
    "connect_x:15x4x5",
    "connect_x:31x2x5",
    "connect_x:8x8x4",
    "connect_x:5x40x6",
    "othello",
    "othello:6",
    "othello:4",
    EXAMPLE,
    PUZZLE,
    BREAKTHROUGH,
    "gomoku:4x9x3",
    "gomoku",
    "gomoku:7x7x4",
    "othello:10",
)


class Ply(NamedTuple):
    """One step of games in lockstep, without those that are finished."""

    states: np.ndarray  #: [B, K], positions that are not final
    actions: np.ndarray  #: int32[B], the actions played in them
    games: np.ndarray  #: int64[B], the game that each row belongs to


def label(name: str) -> str:
    """Return a game's name without its folder, fit for a file name."""
    return Path(name).stem.replace(":", "_") if name.endswith(".py") else name.replace(":", "_")


def python_breakthrough(side: int = 5):
    """Return the start position of the class in `BREAKTHROUGH_PYTHON`."""
    return runpy.run_path(BREAKTHROUGH_PYTHON)["Breakthrough"](side)


def random_games(game, num_games: int, seed: int) -> tuple[list[Ply], np.ndarray]:
    """Play uniformly random games; return their plies and the final states [num_games, K]."""
    rng = np.random.default_rng(seed)
    states, games = game.initial_states(num_games), np.arange(num_games)
    final = states.copy()
    plies = []
    while len(states):
        mask = game.legal_action_mask(states)
        actions = np.where(mask, rng.random(mask.shape), -1.0).argmax(axis=1).astype(np.int32)
        plies.append(Ply(states, actions, games))
        following = game.step(states, actions)
        final[games[following.over]] = following.states[following.over]
        states, games = following.states[~following.over], games[~following.over]
    return plies, final


def random_states(name: str, num_games: int = 40, seed: int = 7) -> np.ndarray:
    """Return the positions of random games, final ones included, [B, K]."""
    plies, final = random_games(make_game(name), num_games, seed)
    return np.concatenate([*(ply.states for ply in plies), final])
