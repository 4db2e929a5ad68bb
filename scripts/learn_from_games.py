"""What a network learns from games that are there already: a quick test of anything on the learner's side, with no self-play in between.

    python scripts/learn_from_games.py checkpoints/connect_four/RUN 1200 learner=muon
    python scripts/learn_from_games.py checkpoints/connect_four/RUN 1200 learner=adamw network.position_bias=false

A fresh network takes so many steps on the stored games of a run, all but the newest tenth, with the step size falling as over a whole run. Then it says what
it loses on the newest tenth, how often its policy alone keeps the exact result of the evaluation set, and how wrong its values are there. The words after
the number are those of `alphazero train`; the game is the run's.
"""

import dataclasses
import sys
import time

import torch
from rich.progress import track

from alphazero.evaluation.exact.accuracy import measure_accuracy
from alphazero.evaluation.exact.sets import read_set, shipped_path
from alphazero.games.registry import make_stored_game
from alphazero.inference.engines.engine import REFERENCE, make_engine
from alphazero.learner.learner import Learner
from alphazero.learner.report import HeldOutReport
from alphazero.network.registry import make_network
from alphazero.players.network import EvaluatorPlayer
from alphazero.replay.buffer import Replay
from alphazero.runtime.device import set_num_threads
from alphazero.runtime.random_generators import child_generator
from alphazero.storage.run_folder import RunFolder
from alphazero.training.compose import compose

_ALL = 10**9


def main(path: str, num_steps: int, words: list[str]) -> None:
    """Learn, and print what it came to."""
    folder = RunFolder.find(path, "checkpoints", None)
    stored_game = folder.read_config()["game"]["name"]
    named = next((word[10:] for word in words if word.startswith("game.name=")), None)
    game = make_stored_game(stored_game, f"the run '{folder.path}'", named, key="game.name")
    settings = compose([*words, f"game.name={game.name}"])
    settings.learner.precision = settings.learner.precision.replace("auto", "bfloat16")
    records = folder.load_games(
        max(int(file.stem) for file in (folder.path / "games").iterdir()), _ALL
    )
    held_out = max(len(records) // 10, 1)
    seen, unseen = (
        _replay(game, settings, part) for part in (records[:-held_out], records[-held_out:])
    )
    set_num_threads(settings.run.num_threads)
    network = make_network(game.planes_shape, game.num_actions, settings.network, settings.seed)
    learner = Learner(network, settings.learner, torch.device("cpu"))
    start, chunk = time.perf_counter(), max(num_steps // 50, 1)
    for done in track(
        range(0, num_steps, chunk), f"{seen.window:,} rows"
    ):  # in fifty parts, as in a run: the step size falls from one to the next
        batches = (
            seen.sample(settings.learner.batch_size) for _ in range(min(chunk, num_steps - done))
        )
        for _ in learner.learn(batches, done / num_steps):
            pass
    seconds = time.perf_counter() - start
    found = _losses(learner, unseen)
    print(
        f"{num_steps:,} steps of {settings.learner.batch_size} rows, {1000 * seconds / num_steps:.1f} ms each, batches included"
    )
    print(
        f"on {unseen.window:,} rows of newer games: policy {found.policy_loss:.4f} nats, value {found.value_loss:.4f}"
    )
    if (shipped := shipped_path(game.name)) is not None:
        engine = make_engine(REFERENCE, torch.device("cpu"), 1)
        positions = read_set(shipped, game)
        engine.load(learner.played_network, unseen.sample(64).planes)
        report = measure_accuracy(EvaluatorPlayer(game, engine, 0).choose, positions)
        accuracy, values = report.accuracy(), report.values
        low, high = accuracy.interval
        print(
            f"the network alone keeps the exact result of {accuracy.fraction:.1%} ({low:.1%} to {high:.1%}) of {accuracy.total:,} positions"
        )
        print(
            f"its values are wrong by {values.mean_error:.3f}, and tell the result of {values.result_accuracy.fraction:.1%} of {values.result_accuracy.total:,}"
        )


def _replay(game, settings, records) -> Replay:
    """Return a replay whose window holds every row of the records."""
    rows = sum(int(record.is_target.sum()) for record in records)
    whole = dataclasses.replace(settings.replay, window_start=rows, window_max=rows)
    generator = child_generator(settings.seed, "replay")
    replay = Replay(game, whole, generator, settings.network.ownership_head)
    for record in records:
        replay.add(record)
    return replay


def _losses(learner: Learner, replay: Replay) -> HeldOutReport:
    return learner.losses_on(replay.spread(replay.window, 16_384))


if __name__ == "__main__":
    if len(sys.argv) < 3 or not sys.argv[2].isdigit():
        sys.exit("usage: python scripts/learn_from_games.py RUN STEPS [key=value ...]")
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
