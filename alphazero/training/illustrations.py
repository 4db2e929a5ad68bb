"""What loggers show of an iteration besides figures: one game, and distributions as histograms.

In: the games of an iteration and the network trained on them. Out: `Illustrations`, data only.
Letters for shapes: T plies, A actions, N bins.
"""

from typing import NamedTuple

import numpy as np
import torch

from alphazero.games.batched_game import Game
from alphazero.selfplay.game_record import GameRecord

_NUM_BINS = 40
_MAX_POSITIONS = 4096  # whose entropy is computed


class Histogram(NamedTuple):
    """How often values fall into bins of equal width."""

    counts: np.ndarray  #: int64[N]
    edges: np.ndarray  #: float64[N + 1], of the bins; the first and the last are values
    sum: float
    sum_squares: float

    @classmethod
    def of(cls, values: np.ndarray) -> "Histogram":
        """Return the histogram of finite values; there is at least one."""
        low, high = float(values.min()), float(values.max())
        if low < high:
            counts, edges = np.histogram(values, _NUM_BINS)
        else:  # numpy would make a range of width 1
            counts, edges = np.array([len(values)]), np.array([low, high])
        return cls(counts, edges, float(values.sum()), float(np.square(values).sum()))


class Illustrations(NamedTuple):
    """Made every `run.sample_game_every` iterations, and after the last one."""

    sample_game: GameRecord
    search_entropy: Histogram | None  #: of the policy target of each position, nats
    layer_weights: dict[str, Histogram]  #: by layer; biases and normalizations are left out


def illustrations(records: list[GameRecord], network: torch.nn.Module) -> Illustrations:
    """Return the illustrations of an iteration.

    Args:
        records: its games, at least one.
        network: which the next iteration plays with.
    """
    entropies = search_entropies(records)
    return Illustrations(
        sample_game=records[0],
        search_entropy=Histogram.of(entropies) if len(entropies) else None,
        layer_weights={name: Histogram.of(array) for name, array in layer_weights(network).items()},
    )


def game_text(game: Game, record: GameRecord) -> str:
    """Return a game as text: its moves, its result and its last position."""
    moves = " ".join(game.action_to_text(int(action)) for action in record.actions)
    last = game.step(record.states[-1:], record.actions[-1:]).states[0]
    results = {1: "the first player wins", 0: "a draw", -1: "the second player wins"}
    result = results[record.first_player_result]
    return f"{moves}\n{result} after {len(record.actions)} plies\n\n{game.state_to_text(last)}"


def search_entropies(records: list[GameRecord]) -> np.ndarray:
    """Return float32[M]: the entropy of the policy target in up to 4,096 positions, in nats."""
    targets = np.concatenate([record.action_weights[record.is_target] for record in records])
    targets = targets[:: -(-len(targets) // _MAX_POSITIONS) or 1]
    return -(targets * np.log(np.maximum(targets, 1e-30))).sum(axis=1)


@torch.no_grad()
def layer_weights(network: torch.nn.Module) -> dict[str, np.ndarray]:
    """Return the weights of each layer, flat, float32; they leave the device all at once."""
    layers = {
        name.removesuffix(".weight"): parameter
        for name, parameter in network.named_parameters()
        if parameter.dim() > 1
    }
    flat = torch.cat([parameter.float().flatten() for parameter in layers.values()]).cpu().numpy()
    ends = np.cumsum([parameter.numel() for parameter in layers.values()])
    return dict(zip(layers, np.split(flat, ends[:-1])))
