"""Illustrations of an iteration for loggers: a sample game, and histograms.

In: the games of an iteration, and the network trained on them. Out: `Illustrations`, data only.
"""

from typing import NamedTuple

import numpy as np
import torch
from tensorboard.compat.proto.histogram_pb2 import HistogramProto
from torch.utils.tensorboard.summary import make_histogram

from alphazero.boards.skin import skin_of
from alphazero.boards.text import ending_text
from alphazero.games.batched_game import Game
from alphazero.selfplay.game_record import GameRecord

_NUM_BINS = 40
_MAX_POSITIONS = 4096  # positions whose entropy is computed


class Illustrations(NamedTuple):
    """A sample game and histograms, made every `run.sample_game_every` iterations."""

    sample_game: GameRecord
    #: histograms by tag: "policy/entropy_by_position" (of the policy target, in nats) and
    #: "weights/LAYER" (without biases and normalizations)
    histograms: dict[str, HistogramProto]


def illustrations(records: list[GameRecord], network: torch.nn.Module) -> Illustrations:
    """Make the illustrations of an iteration.

    Args:
        records: the games of the iteration, at least one.
        network: the network that plays the next iteration.
    """
    values = {f"weights/{name}": weights for name, weights in _layer_weights(network).items()}
    values["policy/entropy_by_position"] = search_entropies(records)
    histograms = {
        tag: make_histogram(array.astype(float), _NUM_BINS)
        for tag, array in values.items()
        if array.size
    }
    return Illustrations(records[0], histograms)


def game_text(game: Game, record: GameRecord) -> str:
    """Format a game as text: its moves, its result and its last position."""
    moves = skin_of(game).notation.list_text(record.actions.tolist())
    last = game.step(record.states[-1:], record.actions[-1:]).states[0]
    sides = "the first player", "the second player"
    ending = ending_text(game, sides, record.first_player_result)
    return f"{moves}\n{ending} after {len(record.actions)} plies\n\n{game.state_to_text(last)}"


def search_entropies(records: list[GameRecord]) -> np.ndarray:
    """Return the policy target's entropy, in nats, in M <= 4,096 positions: float32[M]."""
    targets = np.concatenate([record.action_weights[record.is_target] for record in records])
    targets = targets[:: -(-len(targets) // _MAX_POSITIONS) or 1]
    return -(targets * np.log(np.maximum(targets, 1e-30))).sum(axis=1)


def _layer_weights(network: torch.nn.Module) -> dict[str, np.ndarray]:
    """Return the flattened float32 weights of each layer, by its name."""
    return {
        name.removesuffix(".weight"): parameter.detach().float().flatten().cpu().numpy()
        for name, parameter in network.named_parameters()
        if parameter.dim() > 1
    }
