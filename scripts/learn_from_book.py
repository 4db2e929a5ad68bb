"""Teach a new network exact results of Connect Four: what can it hold, and what has a run taught?

    python scripts/learn_from_book.py 3000 network=patterns network.shared_units=512
    python scripts/learn_from_book.py 0 --networks best checkpoints/connect_four/RUN

The positions are those after 12 random moves whose results are in the solver's opening book: nobody
has won, and the player to move cannot win at once. No two are alike or mirrored. A new network with
a win/draw/loss head learns the results of most of them for the given number of steps. The script
prints how well it predicts the results of the other 20,000 without search, and how well the named
networks do.
"""

import argparse
import sys
from collections.abc import Iterator

import numpy as np
import torch
from rich.progress import track
from script_command import exit_status
from torch.nn import functional

from alphazero.games.batched_game import Game
from alphazero.learner.optimizers import learning_rate, make_optimizers, set_learning_rate
from alphazero.network.interface import expected_value
from alphazero.network.registry import make_network
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player
from alphazero.runtime.device import set_num_threads
from alphazero.runtime.jit import njit
from alphazero.solvers.opening_book import CONNECT_FOUR, UNKNOWN, book_index, load_book
from alphazero.training.run_config import compose
from alphazero.training.settings import TrainSettings

_NUM_PLIES = 12
_NUM_GAMES = 1_600_000
_NUM_HELD_OUT = 20_000
_BATCH_SIZE = 1024
_AT_ONCE = 2_000


def main(arguments: list[str]) -> int:
    """Read the arguments and train; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("steps", type=int, help="number of learner steps")
    parser.add_argument("settings", nargs="*", help="settings of `alphazero train` as key=value")
    parser.add_argument("--networks", nargs="+", default=[], help="runs or networks to compare")
    options = parser.parse_intermixed_args(arguments)
    return exit_status(lambda: compare(options.steps, options.settings, options.networks))


def compare(num_steps: int, arguments: list[str], networks: list[str]) -> None:
    """Train for ``num_steps``, if any, and print how well each network predicts the results."""
    settings = compose(["game=connect_four", *arguments])
    set_num_threads(settings.run.num_threads)
    game = make_game("connect_four")
    rng = np.random.default_rng(settings.seed)
    states, results = positions(game, rng)
    held_out = states[:_NUM_HELD_OUT]
    parts = range(0, _NUM_HELD_OUT, _AT_ONCE)
    for name in networks:
        player = make_player(name, game, PlayerSettings(with_search=False))
        chosen = [player.choose(held_out[at : at + _AT_ONCE]) for at in parts]
        values = np.concatenate([choice.values for choice in chosen])
        _report(name, values, results[:_NUM_HELD_OUT])
    if num_steps:
        network = make_network(game, settings.network, settings.seed)
        samples = states[_NUM_HELD_OUT:], results[_NUM_HELD_OUT:]
        _train(network, settings, _batches(game, *samples, rng), num_steps)
        planes = torch.from_numpy(game.observe(held_out)).split(_AT_ONCE)
        with torch.inference_mode():
            values = torch.cat([expected_value(network(part).value_logits) for part in planes])
        _report("new network", values.numpy(), results[:_NUM_HELD_OUT])


def positions(game: Game, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return positions of 12 discs, [N, K], and their results, for the player to move.

    No two are alike or mirrored: all have different entries in the book.
    """
    states = game.initial_states(_NUM_GAMES)
    for _ in range(_NUM_PLIES):
        mask = game.legal_action_mask(states)
        actions = np.where(mask, rng.random(mask.shape), -1.0).argmax(axis=1)
        after = game.step(states, actions)
        states = after.states[~after.over]
    book = load_book(CONNECT_FOUR)
    entries = np.zeros(len(states), np.int64)
    _find_entries(book, states, entries)
    states, entries = states[entries >= 0], entries[entries >= 0]
    order = rng.permutation(np.unique(entries, return_index=True)[1])
    order = order[book.scores[entries[order]] != UNKNOWN]
    return states[order], np.sign(book.scores[entries[order]]).astype(np.int64)


@njit
def _find_entries(book, states, entries):
    for row in range(states.shape[0]):
        state = states[row]
        entries[row] = book_index(book, state[0], state[0] | state[1])


def _batches(
    game: Game, states: np.ndarray, results: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yield planes, half of the batches mirrored, and results: 0 a win, 1 a draw, 2 a loss."""
    while True:
        order = rng.permutation(len(states))
        for rows in np.split(order, range(_BATCH_SIZE, len(order), _BATCH_SIZE))[:-1]:
            planes = torch.from_numpy(game.observe(states[rows]))
            planes = planes.flip(3) if rng.random() < 0.5 else planes
            yield planes, torch.from_numpy(1 - results[rows])


def _train(network: torch.nn.Module, settings: TrainSettings, batches, num_steps: int) -> None:
    optimizers = make_optimizers(network, settings.learner)
    for step, (planes, results) in zip(track(range(num_steps), "learning"), batches):
        loss = functional.cross_entropy(network(planes).value_logits, results)
        network.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), settings.learner.max_gradient_norm)
        rate = learning_rate(settings.learner, step / num_steps)
        set_learning_rate(optimizers, settings.learner, rate)
        for optimizer in optimizers.values():
            optimizer.step()
    network.eval()


def _report(name: str, values: np.ndarray, results: np.ndarray) -> None:
    predicted = np.where(np.abs(values) > 1 / 3, np.sign(values), 0)
    error = np.abs(values - results).mean()
    print(f"{name}: {np.mean(predicted == results):.1%} of the results, value error {error:.3f}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
