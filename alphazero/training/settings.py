"""The settings of a training run: a section for each stage, and the checks between settings.

This module defines the meaning and range of each key; the files in `configs/` hold values.
"""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import torch

from alphazero.config.settings import from_stored, option, section
from alphazero.games.batched_game import Game
from alphazero.inference.engines.agreement import sample_positions
from alphazero.inference.engines.registry import EngineChoice, preferred_engine
from alphazero.inference.network_evaluator import EvaluatorSettings
from alphazero.learner.settings import LearnerSettings
from alphazero.network.interface import NetworkSettings
from alphazero.network.registry import check_settings, check_stored_kind
from alphazero.network.window_states import LOOKED_UP, are_pieces
from alphazero.own_games.registry import (
    family_of,
    is_shipped_game,
    make_game,
    make_stored_game,
    same_game,
    usual_name,
)
from alphazero.own_games.rules_digest import network_shapes
from alphazero.replay.settings import ReplaySettings, check_memory
from alphazero.runtime.device import choose_device, has_bfloat16
from alphazero.runtime.errors import ConfigError
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.settings import SelfPlaySettings
from alphazero.storage.run_folder import RunFolder
from alphazero.workers.choose_source import unsendable_reason
from alphazero.workers.settings import WorkerSettings


@dataclasses.dataclass
class GameSettings:
    """The setting that names the game which the network learns to play."""

    name: str = option(
        "tic_tac_toe",
        "tic_tac_toe, connect_four, connect_x:ROWSxCOLUMNSxLENGTH, othello, othello:SIZE, gomoku, "
        "gomoku:ROWSxCOLUMNSxLENGTH, the path of your own game's file, or MODULE:CLASS",
    )
    also: list[str] = option(
        [],
        "other boards of the game, which the run plays and learns in turn with it, such as "
        "[gomoku:9x9,gomoku:11x11]; for network=windows",
    )


@dataclasses.dataclass
class PitSettings:
    """Settings of the gate: matches of the new network against the last accepted one.

    AlphaGo Zero has this gate, AlphaZero does not.
    """

    every: int = option(0, "iterations between matches with the old network; 0 is never", low=0)
    num_games: int = option(40, "games of a match: each opening twice", low=2, even=True)
    num_simulations: int = option(64, "simulations for a move", low=1, high=1_000_000)
    opening_plies: int = option(4, "random plies at the start of a pair of games", low=0, high=100)
    acceptance: float = option(0.55, "score that the new network needs to stay", low=0.0, high=1.0)
    counted: str = option("pairs", "pairs of games, or single games", choices=("pairs", "games"))
    tie_score: float = option(0.5, "what an even pair or a drawn game counts", 0.0, 1.0)


@dataclasses.dataclass
class EvaluationSettings:
    """Settings for measuring strength during the run; the measurements never affect training."""

    every: int = option(5, "iterations between measurements; 0 measures only at the end", low=0)
    num_games: int = option(40, "games against UCT; 0 is none", low=0, even=True)
    final_num_games: int = option(100, "games against UCT at the end; 0 is none", low=0, even=True)
    num_simulations: int = option(64, "the network's simulations for a move", low=1, high=1_000_000)
    uct_simulations: int = option(1000, "UCT's simulations for a move", low=1, high=10_000_000)
    opening_plies: int = option(4, "random plies at the start of a pair of games", low=0, high=100)
    exact: bool = option(True, "measure accuracy on the evaluation set that ships with the game")
    prove: bool = option(False, "check the moves in all positions (small games only)")
    stop_when_proven: bool = option(False, "end the run as soon as every such move is perfect")


@dataclasses.dataclass
class RunSettings:
    """Settings of the run itself: its length, folder, number of threads and stored files."""

    num_iterations: int = option(50, "iterations of self-play and learning", low=1, high=1_000_000)
    time_limit_s: float = option(
        0.0,
        "seconds of self-play, learning and pits, over all resumes: no iteration begins that would "
        "exceed them, judged by the last ones, and one that would ends early; measurements and "
        "setup are not counted; 0 is no limit",
        low=0.0,
    )
    root: str = option("checkpoints", "folder of all runs; each run's folder is ROOT/GAME/NAME")
    name: str = option("", "the run's name; empty takes the date and time")
    num_threads: int = option(0, "CPU threads of network and self-play; 0 is all", low=0, high=1024)
    drop_games: bool = option(
        False,
        "resume= keeps the network and drops all stored games, which are damaged or of other "
        "rules; it is valid for one resume",
    )
    keep_networks: int = option(20, "networks to keep, spread over the run; 0 keeps all", low=0)


@dataclasses.dataclass
class TrainSettings:
    """All settings of a training run, in a section for each stage."""

    game: GameSettings = section(GameSettings, "the game")
    network: NetworkSettings = section(NetworkSettings, "the network's shape")
    evaluator: EvaluatorSettings = section(EvaluatorSettings, "how the network is run in search")
    search: SearchSettings = section(SearchSettings, "the tree search of self-play")
    selfplay: SelfPlaySettings = section(SelfPlaySettings, "how training games are played")
    workers: WorkerSettings = section(WorkerSettings, "who plays the training games")
    replay: ReplaySettings = section(ReplaySettings, "which samples are trained on")
    learner: LearnerSettings = section(LearnerSettings, "how the network learns")
    pit: PitSettings = section(PitSettings, "the gate against the previous network")
    evaluation: EvaluationSettings = section(EvaluationSettings, "strength measurements")
    run: RunSettings = section(RunSettings, "length, place and threads of the run")
    seed: int = option(0, "root of all random numbers of the run", low=0, high=2**31 - 1)
    device: str = option("auto", "auto, cpu, cuda or cuda:1; auto takes a GPU if there is one")
    resume: str = option("", "folder of a run to continue, or latest")


def check_run(settings: TrainSettings) -> Game:
    """Check the settings of a run against each other and the game, and make the game.

    Each value by itself has been checked: see `alphazero.config.settings.check`.

    Returns:
        The game, whose usual name becomes `settings.game.name`.

    Raises:
        ConfigError: if a value is not allowed; the message names the key, the value and what is
            allowed.
    """
    replay = settings.replay
    if replay.window_start > replay.window_max:
        allowed = f"at most replay.window_max={replay.window_max}"
        reason = "the window only grows"
        raise ConfigError.of("replay.window_start", replay.window_start, allowed, reason)
    name = settings.run.name
    if Path(name).name != name or name == "..":
        reason = "run.root says where it is"
        raise ConfigError.of("run.name", name, "the name of one folder", reason)
    choose_device(settings.device)
    game = make_game(settings.game.name)
    settings.game.name = game.name
    _check_game(settings, game)
    if settings.game.also:
        _check_boards(settings)
    return game


def fill_in_auto(settings: TrainSettings, device: torch.device) -> None:
    """Replace "auto" in the engine and precision settings by values that suit the device.

    If the number of parallel games is 0, it becomes ``games_per_iteration`` rounded down to a power
    of two, but at least 64 and at most 512 (on a GPU: 512 and 4,096).

    Args:
        settings: changed in place.
        device: the device that runs the network.
    """
    evaluator = settings.evaluator
    selfplay = settings.selfplay
    wanted = EngineChoice(evaluator.engine, evaluator.precision)
    evaluator.engine, evaluator.precision = preferred_engine(wanted, device, settings.network.kind)
    if settings.learner.precision == "auto":
        settings.learner.precision = "bfloat16" if has_bfloat16(device) else "float32"
    if not selfplay.num_parallel_games:
        choice = EngineChoice(evaluator.engine, evaluator.precision)
        low, high = (512, 4096) if choice.device_for(device).type == "cuda" else (64, 512)
        power_of_two = 1 << (selfplay.games_per_iteration.bit_length() - 1)
        selfplay.num_parallel_games = min(max(power_of_two, low), high)


def settings_to_resume(
    folder: RunFolder, game: str | None, network_kind: str | None
) -> TrainSettings:
    """Load the settings of a run that is to be resumed.

    Args:
        folder: the run's folder.
        game: the name of the game given by the user, or None. It is required if the run uses a
            user-defined game, because a stored file alone must not cause code to run.
        network_kind: the network class given by the user as ``module:Class``, or None. It is
            required if the run uses such a class, for the same reason.

    Raises:
        StoredFileError: if the settings cannot be read.
        ConfigError: if the stored settings do not fit this version, the user names another game
            than the run's, or the run uses a user-defined game or network that the user has not
            named.
    """
    settings = from_stored(TrainSettings, folder.read_config(), folder.config)
    source = f"the run '{folder.path}'"
    digest = folder.rules_digest
    check_stored_kind(settings.network.kind, source, network_kind, "network.kind")
    stored_game = make_stored_game(settings.game.name, source, game, digest=digest)
    settings.game.name = stored_game.name
    settings.run.drop_games = False
    return settings


def check_rules(folder: RunFolder, settings: TrainSettings, game: Game) -> None:
    """Check that a game's rules have not changed since the run was stored.

    Args:
        folder: the run's folder, with the stored rules.
        settings: with ``run.drop_games``, changed rules are allowed if the network still fits them.
        game: the game with its current rules.

    Raises:
        ConfigError: if the rules have changed, and either ``run.drop_games`` is not set or the
            shapes of the network's input and output have changed as well.
    """
    digest = folder.rules_digest
    if not digest or game.rules_digest in ("", digest):
        return
    reason = f"the rules of {game.name} are not those of the run"
    before = network_shapes(folder.read_rules())
    after = network_shapes(game.rules_text)
    if before != after:
        reason += f"; its network cannot be kept, as planes and number of actions were {before}"
        reason += f" and are {after}: start a new run"
        raise ConfigError.of("resume", str(folder.path), reason=reason)
    if not settings.run.drop_games:
        reason += "; run.drop_games=true keeps the network and drops all games"
        raise ConfigError.of("resume", str(folder.path), reason=reason)


def check_resumable(old: TrainSettings, new: TrainSettings) -> None:
    """Check that a run with the settings ``old`` can be resumed with the settings ``new``.

    Raises:
        ConfigError: if they differ in a setting that must not change: the game, the network, the
            optimizer or the seed.
    """
    shape = vars(old.network).items()
    fixed = [(f"network.{name}", value, getattr(new.network, name)) for name, value in shape]
    fixed.append(("game.also", old.game.also, new.game.also))
    fixed.append(("learner.optimizer", old.learner.optimizer, new.learner.optimizer))
    fixed.append(("seed", old.seed, new.seed))  # the random state is stored
    if not same_game(new.game.name, old.game.name):  # `settings_to_resume` has compared the rules
        fixed.insert(0, ("game.name", old.game.name, new.game.name))
    for key, before, after in fixed:
        if before != after:
            reason = "it cannot change in a resumed run; start a new run for it"
            raise ConfigError.of(key, after, before, reason)


def _check_game(settings: TrainSettings, game: Game) -> None:
    """Check the settings whose allowed values depend on the game.

    These are the network's settings, the size of the replay window and the kind of workers.

    Raises:
        ConfigError: if a value is not allowed for this game.
    """
    check_memory(settings.replay, game)
    check_settings(game, settings.network)
    if settings.network.kind in LOOKED_UP and not is_shipped_game(game.name):
        sample = sample_positions(game, 64, np.random.default_rng(0))
        if not are_pieces(sample.planes):
            planes = "the first two planes of the game are not own and opponent's pieces"
            raise ConfigError.of("network.kind", settings.network.kind, "such as resnet", planes)
    if settings.workers.kind not in ("auto", "threads"):
        reason = unsendable_reason(game)
        if reason:
            raise ConfigError.of("workers.kind", settings.workers.kind, "threads", reason)


def _check_boards(settings: TrainSettings) -> None:
    """Check the other boards of a run, whose usual names become `settings.game.also`.

    Raises:
        ConfigError: if a board is not of the same family of games, or is named twice; or if the
            network or the workers are not for several boards.
    """
    family, names = family_of(settings.game.name), [settings.game.name]
    for name in map(usual_name, settings.game.also):
        # Compared first: making a game may run a file, which a stored name must never do.
        if family_of(name) != family or name in names:
            allowed = f"other boards of {family}, once each; [] is none"
            raise ConfigError.of("game.also", name, allowed)
        _check_game(settings, make_game(name))
        names.append(name)
    limits: tuple[tuple[str, Any, tuple], ...] = (
        ("network.kind", settings.network.kind, ("windows",)),
        ("workers.kind", settings.workers.kind, ("threads", "auto")),
        ("learner.epochs", settings.learner.epochs, (0,)),
    )
    for key, value, choices in limits:
        if value not in choices:
            reason = "game.also names other boards; [] is none"
            raise ConfigError.of(key, value, choices[0], reason)
    settings.game.also = names[1:]
