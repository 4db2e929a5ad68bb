"""AlphaZero self-play training: from the rules of a game to a player of measured strength.

The public API, in which each name is imported on first use:

    make_game           make a game from its name or from your own game's file
    load_player         make a player: a network, UCT, an exact solver, random
    play_match          play paired games between two players, with a 95% confidence interval
    measure_accuracy    compare a player's moves with an exact solver's
    prove               check a player's move in every position of a small game
    make_settings       make the settings of a training run from command-line arguments
    train               train a network and yield a report after each iteration
    load_run            load a stored run: its settings, metrics and networks

The packages in data-flow order; each imports only packages above it:

    runtime/      compiled kernels, random generators, devices, the console, safe files
    config/       settings with ranges, read from the command line and from files
    games/        rules (scalar, compiled) and the batched game that everything else uses
    boards/       positions and moves in human-readable form: text, shapes, pictures
    textbook/     UCT and AlphaZero in plain Python, for learning; tests compare search/ with it
    search/       PUCT and Gumbel search for many games in lockstep; uct/: the rollout baseline
    own_games/    games by name: ours, users' own classes and files, and games of libraries
    network/      the policy/value networks, pure functions of tensors; stored weights
    inference/    the evaluator: an engine (torch, OpenVINO, CUDA) behind a cache
    selfplay/     training games in lockstep, one thread per core; records of finished games
    replay/       the window of recent samples, training targets, random symmetries
    learner/      the training step: losses, optimizers, averaged weights
    storage/      checkpoints, run folders, the networks that ship with the package
    solvers/      exact solvers, enumeration of small games, proofs that a player is unbeatable
    players/      players that choose moves: random, UCT, network, solver, GTP programs
    evaluation/   matches, Elo, SPRT, tournaments; exact/: accuracy against a solver
    workers/      where training games are played: threads, processes, a Ray cluster
    training/     the training loop, its settings, reports, alarms and loggers
    plots/        pictures of runs, positions and games
    play/         the terminal board and the JSON engine
    interop/      PettingZoo environments and agents, exported and shared networks
    web/          the server of the browser page for play and analysis
    cli/          the console command `alphazero`, one file per command
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alphazero.api import Run as Run
    from alphazero.api import load_player as load_player
    from alphazero.api import load_run as load_run
    from alphazero.api import make_settings as make_settings
    from alphazero.api import measure_accuracy as measure_accuracy
    from alphazero.api import play_match as play_match
    from alphazero.api import prove as prove
    from alphazero.api import train as train
    from alphazero.evaluation.exact.accuracy import AccuracyReport as AccuracyReport
    from alphazero.evaluation.report import MatchReport as MatchReport
    from alphazero.games.batched_game import Game as Game
    from alphazero.own_games.registry import make_game as make_game
    from alphazero.players.base import Analysis as Analysis
    from alphazero.players.base import Choice as Choice
    from alphazero.players.base import Player as Player
    from alphazero.runtime.errors import ConfigError as ConfigError
    from alphazero.runtime.errors import InputError as InputError
    from alphazero.runtime.errors import StoredFileError as StoredFileError
    from alphazero.solvers.proof import ProofReport as ProofReport
    from alphazero.training.events import IterationReport as IterationReport
    from alphazero.training.settings import TrainSettings as TrainSettings

#: Public names and the modules that define them. Each is imported on first use, so `import
#: alphazero` is fast and has no side effects.
_PUBLIC = {
    "AccuracyReport": "alphazero.evaluation.exact.accuracy",
    "Analysis": "alphazero.players.base",
    "Choice": "alphazero.players.base",
    "ConfigError": "alphazero.runtime.errors",
    "Game": "alphazero.games.batched_game",
    "InputError": "alphazero.runtime.errors",
    "IterationReport": "alphazero.training.events",
    "MatchReport": "alphazero.evaluation.report",
    "Player": "alphazero.players.base",
    "ProofReport": "alphazero.solvers.proof",
    "Run": "alphazero.api",
    "StoredFileError": "alphazero.runtime.errors",
    "TrainSettings": "alphazero.training.settings",
    "load_player": "alphazero.api",
    "load_run": "alphazero.api",
    "make_game": "alphazero.own_games.registry",
    "make_settings": "alphazero.api",
    "measure_accuracy": "alphazero.api",
    "play_match": "alphazero.api",
    "prove": "alphazero.api",
    "train": "alphazero.api",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'alphazero' has no attribute '{name}'")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
