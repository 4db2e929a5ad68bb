"""Train a small network to answer as a large one: its policy and value in positions of all kinds.

    python scripts/distil.py connect_four student.safetensors
    python scripts/distil.py othello:6 student.safetensors network=2x32 num_positions=1e6

The large network, the one that ships unless `teacher=FILE` names another, plays games against
itself, in which a part of the moves is random: between none and six of ten, by game. The small one
learns from each distinct position, in its symmetric images, with the learner of `alphazero train`.
The positions are kept beside the student, in `student.npz`, and are played once only.
"""

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from script_command import exit_status

from alphazero.cli.progress import progress
from alphazero.games.batched_game import Game
from alphazero.inference.network_evaluator import NetworkEvaluator
from alphazero.learner.learner import Learner
from alphazero.network.registry import make_network
from alphazero.network.weights import network_arrays, save_network
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player
from alphazero.replay.buffer import Batch
from alphazero.runtime.device import has_bfloat16, set_num_threads
from alphazero.training.run_config import compose

#: Of this script; all other settings are those of `alphazero train`.
_OWN_SETTINGS = {"teacher": "best", "num_positions": "3e6", "num_steps": "30000"}
_NUM_GAMES = 2048  #: games at a time
_MAX_RANDOM_FRACTION = 0.6
_NUM_CALLS = 100  #: of the learner; its rate falls between calls
_NUM_HELD_OUT = 16_384
_CPU = torch.device("cpu")


class Answers(NamedTuple):
    """The teacher's answers in N positions."""

    states: np.ndarray  #: [N, K]
    policies: np.ndarray  #: float16[N, A], 0 where an action is illegal
    values: np.ndarray  #: float16[N], for the player to move


def main(arguments: list[str]) -> int:
    """Read the arguments and train the student; return the exit status."""
    if len(arguments) < 2 or {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    return exit_status(lambda: distil(arguments[0], Path(arguments[1]), arguments[2:]))


def distil(game_name: str, path: Path, arguments: list[str]) -> None:
    """Train a student and write it to a file."""
    values = dict(argument.partition("=")[::2] for argument in arguments)
    teacher, num_positions, num_steps = (
        values.pop(key, default) for key, default in _OWN_SETTINGS.items()
    )
    values.setdefault("network", "patterns")
    game = make_game(game_name)
    settings = compose([f"game.name={game_name}"] + [f"{key}={values[key]}" for key in values])
    settings.learner.root_value_fraction = 1.0  # there are values, but no results
    if settings.learner.precision == "auto":
        settings.learner.precision = "bfloat16" if has_bfloat16(_CPU) else "float32"
    set_num_threads(0)
    kept = path.with_suffix(".npz")
    if kept.exists():
        answers = Answers(**np.load(kept))
    else:
        evaluator = make_player(teacher, game, PlayerSettings()).evaluator
        answers = ask(game, evaluator, int(float(num_positions)))
        np.savez(kept, **answers._asdict())
    network = make_network(game, settings.network, settings.seed)
    learner = Learner(network, settings.learner, _CPU)
    train(game, learner, answers, int(float(num_steps)))
    info = {"teacher": teacher, "num_positions": len(answers.values), "num_steps": num_steps}
    info["rules_digest"] = game.rules_digest
    arrays = network_arrays(learner.played_network)
    save_network(path, arrays, game.name, dataclasses.asdict(settings.network), info)
    print(f"The student is {path}.")


def ask(game: Game, evaluator: NetworkEvaluator, num_positions: int) -> Answers:
    """Let the teacher play, and return its answers in distinct positions."""
    generator = np.random.default_rng(0)
    parts: list[Answers] = []
    seen: set[bytes] = set()
    states = game.initial_states(_NUM_GAMES)
    random_fractions = generator.random(_NUM_GAMES) * _MAX_RANDOM_FRACTION
    with progress("the teacher's answers", num_positions) as show:
        while len(seen) < num_positions:
            legal = game.inspect(states).legal_action_mask
            logits, values = evaluator.evaluate(game.observe(states))
            logits = np.where(legal, logits, -np.inf)
            policies = np.exp(logits - logits.max(axis=1, keepdims=True))
            policies /= policies.sum(axis=1, keepdims=True)
            keys = [state.tobytes() for state in states]
            new = [row for row, key in enumerate(keys) if key not in seen and not seen.add(key)]
            parts.append(
                Answers(
                    states[new],
                    policies[new].astype(np.float16),
                    values[new].astype(np.float16),
                )
            )
            is_random = generator.random(_NUM_GAMES) < random_fractions
            weights = np.where(is_random[:, None], legal, policies)
            thresholds = generator.random((_NUM_GAMES, 1)) * weights.sum(axis=1, keepdims=True)
            actions = (weights.cumsum(axis=1) > thresholds).argmax(axis=1)
            after = game.step(states, actions)
            states = after.states
            over = np.flatnonzero(after.over)
            states[over] = game.initial_states(len(over))
            random_fractions[over] = generator.random(len(over)) * _MAX_RANDOM_FRACTION
            show(len(seen))
    return Answers(*map(np.concatenate, zip(*parts)))


def train(game: Game, learner: Learner, answers: Answers, num_steps: int) -> None:
    """Train the student, and print its losses on positions that it did not learn from."""
    generator = np.random.default_rng(1)
    rows = generator.permutation(len(answers.values))
    num_held_out = min(_NUM_HELD_OUT, len(rows) // 10)
    held_out, rows = rows[:num_held_out], rows[num_held_out:]
    batch_size = learner.settings.batch_size

    def batches(number: int) -> Iterator[Batch]:
        for _ in range(number):
            symmetry = int(generator.integers(len(game.cell_symmetries)))
            yield batch_of(game, answers, generator.choice(rows, batch_size), symmetry)

    per_call = max(num_steps // _NUM_CALLS, 1)
    with progress("learning steps", num_steps) as show:
        for done in range(0, num_steps, per_call):
            number = min(per_call, num_steps - done)
            for step in learner.learn(batches(number), done / num_steps):
                show(done + step)
    report = learner.held_out_losses(batch_of(game, answers, held_out, 0))
    chosen = answers.policies[held_out].astype(np.float64)
    entropy = -(chosen * np.log(np.maximum(chosen, 1e-12))).sum(axis=1).mean()
    print(
        f"on {num_held_out:,} other positions: KL divergence from the teacher's policy "
        f"{report.policy_loss - entropy:.4f} nats, value loss {report.value_loss:.4f} nats"
    )


def batch_of(game: Game, answers: Answers, rows: np.ndarray, symmetry: int) -> Batch:
    """Return samples, transformed by one of the game's symmetries; 0 is the identity."""
    states = answers.states[rows]
    cells, actions = game.cell_symmetries[symmetry], game.action_symmetries[symmetry]
    observed = game.observe(states)
    planes = np.empty_like(observed)
    planes.reshape(*planes.shape[:2], -1)[..., cells] = observed.reshape(*planes.shape[:2], -1)
    policies = np.empty((len(rows), len(actions)), np.float32)
    policies[:, actions] = answers.policies[rows]
    legal = np.empty(policies.shape, np.bool_)
    legal[:, actions] = game.inspect(states).legal_action_mask
    policies /= policies.sum(axis=1, keepdims=True)  # half precision has rounded them
    values = answers.values[rows].astype(np.float32)
    return Batch(planes, policies, legal, values, values)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
