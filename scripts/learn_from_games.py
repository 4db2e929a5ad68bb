"""Train a new network on the stored games of a run: a quick test of the learner.

    python scripts/learn_from_games.py checkpoints/connect_four/RUN 1200 learner=muon
    python scripts/learn_from_games.py checkpoints/connect_four/RUN 1200 network.position_bias=false

A new network is trained for the given number of steps on all stored games except the newest tenth,
with the learning-rate schedule of a whole run. The script prints its held-out losses on the newest
tenth and, if an evaluation set ships with the game, the accuracy of the network without search and
the error of its values.
"""

import argparse
import dataclasses
import sys
import time

import torch
from rich.progress import track
from script_command import exit_status
from target_quality import stored_games

from alphazero.evaluation.exact.accuracy import measure_accuracy
from alphazero.evaluation.exact.set_file import read_set, shipped_path
from alphazero.inference.engines.registry import REFERENCE, make_engine
from alphazero.learner.learner import Learner
from alphazero.network.registry import make_network
from alphazero.own_games.registry import make_stored_game, warn_of_changed_rules
from alphazero.players.search_player import SearchPlayer
from alphazero.replay.buffer import ReplayBuffer
from alphazero.runtime.device import set_num_threads
from alphazero.runtime.random_generators import child_generator
from alphazero.storage.run_folder import RunFolder
from alphazero.training.run_config import compose
from alphazero.training.settings import TrainSettings, fill_in_auto

_NUM_CALLS = 50  # calls of the learner; the learning rate falls between calls, as in a run
_MAX_HELD_OUT_SAMPLES = 16_384


def main(arguments: list[str]) -> int:
    """Read the arguments and train; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", help="the folder of a run, or latest")
    parser.add_argument("steps", type=int, help="number of learner steps")
    parser.add_argument(
        "settings",
        nargs="*",
        help="settings of `alphazero train` as key=value; the game is the run's",
    )
    options = parser.parse_args(arguments)
    return exit_status(lambda: train(options.run, options.steps, options.settings))


def train(path: str, num_steps: int, arguments: list[str]) -> None:
    """Train and print the held-out losses and the accuracy."""
    folder = RunFolder.find(path, "checkpoints", None)
    game = _game_of(folder, arguments)
    settings = compose([*arguments, f"game.name={game.name}"])
    fill_in_auto(settings, torch.device("cpu"))
    set_num_threads(settings.run.num_threads)
    records = stored_games(folder, game)
    num_held_out = max(len(records) // 10, 1)
    seen = _buffer_of(game, settings, records[:-num_held_out])
    held_out = _buffer_of(game, settings, records[-num_held_out:])
    learner = _train(game, settings, seen, num_steps)
    report = learner.held_out_losses(held_out.evenly_spaced(held_out.window, _MAX_HELD_OUT_SAMPLES))
    print(
        f"held-out losses on {report.num_samples:,} samples of newer games: "
        f"policy {report.policy_loss:.4f} nats, value {report.value_loss:.4f}"
    )
    if shipped_path(game.name) is not None:
        _print_accuracy(game, learner, held_out)


def _game_of(folder: RunFolder, arguments: list[str]):
    """Return the run's game; the user's own game must be named with ``game.name=``."""
    values = dict(argument.partition("=")[::2] for argument in arguments)
    stored_name = folder.read_config()["game"]["name"]
    named = values.get("game.name")
    source, digest = f"the run '{folder.path}'", folder.rules_digest
    game = make_stored_game(stored_name, source, named, key="game.name", digest=digest)
    warn_of_changed_rules(game, digest, source)
    return game


def _buffer_of(game, settings: TrainSettings, records) -> ReplayBuffer:
    """Return a replay buffer whose window holds every sample of the records."""
    num_samples = sum(int(record.is_target.sum()) for record in records)
    replay = dataclasses.replace(settings.replay, window_start=num_samples, window_max=num_samples)
    generator = child_generator(settings.seed, "replay")
    buffer = ReplayBuffer(game, replay, generator)
    for record in records:
        buffer.add(record)
    return buffer


def _train(game, settings: TrainSettings, buffer: ReplayBuffer, num_steps: int) -> Learner:
    """Train a new network for ``num_steps`` steps; print their time and return the learner."""
    network = make_network(game, settings.network, settings.seed)
    learner = Learner(network, settings.learner, torch.device("cpu"))
    batch_size = settings.learner.batch_size
    start, per_call = time.perf_counter(), max(num_steps // _NUM_CALLS, 1)
    for done in track(range(0, num_steps, per_call), f"{buffer.window:,} samples"):
        batches = (buffer.sample(batch_size) for _ in range(min(per_call, num_steps - done)))
        for _ in learner.learn(batches, done / num_steps):
            pass
    ms_per_step = 1000 * (time.perf_counter() - start) / num_steps
    print(
        f"{num_steps:,} steps of {batch_size} samples, {ms_per_step:.1f} ms per step with batches"
    )
    return learner


def _print_accuracy(game, learner: Learner, buffer: ReplayBuffer) -> None:
    """Print the accuracy of the network without search on the game's evaluation set."""
    engine = make_engine(REFERENCE, torch.device("cpu"), 1)
    engine.load(learner.played_network, buffer.sample(64).planes)
    evaluation_set = read_set(shipped_path(game.name), game)
    report = measure_accuracy(SearchPlayer(game, engine, 1).limited(0).choose, evaluation_set)
    accuracy, results = report.accuracy(), report.values.result_accuracy
    low, high = accuracy.interval
    print(
        f"accuracy without search {accuracy.fraction:.1%} ({low:.1%} to {high:.1%}) "
        f"on {accuracy.total:,} positions"
    )
    print(
        f"value error {report.values.mean_error:.3f}; "
        f"result predicted in {results.fraction:.1%} of {results.total:,} positions"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
