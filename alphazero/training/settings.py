"""The settings of a training run, one section for each stage. `configs/` holds values for them; this file says what each means and may be."""

import dataclasses
from pathlib import Path

import numpy as np

from alphazero.games.registry import make_game
from alphazero.inference.network_evaluator import EvaluatorSettings
from alphazero.learner.learner import LearnerSettings
from alphazero.network.interface import NetworkSettings
from alphazero.replay.buffer import ReplaySettings
from alphazero.runtime.device import choose_device
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.settings import check, option, section
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.settings import SelfPlaySettings


@dataclasses.dataclass
class GameSettings:
    """Which game."""

    name: str = option(
        "tic_tac_toe",
        "tic_tac_toe, connect_four, connect_x:ROWSxCOLUMNSxLENGTH, othello, othello:6, or the path of your own game's file",
    )


@dataclasses.dataclass
class PitSettings:
    """The gate against the previous network (AlphaGo Zero; AlphaZero left it out)."""

    every: int = option(
        0,
        "iterations between pits of the new network against the last accepted one; 0 is never",
        low=0,
    )
    num_games: int = option(
        40, "games of a pit, an even number: each opening is played with both colours", low=2
    )
    num_simulations: int = option(64, "simulations for a move in a pit", low=1, high=1_000_000)
    opening_plies: int = option(
        4,
        "random plies at the start of each pair of games, so that no two pairs are alike",
        low=0,
        high=100,
    )
    acceptance: float = option(
        0.55,
        "score (a draw is half a win) that the new network needs; below it the old one is restored",
        low=0.0,
        high=1.0,
    )


@dataclasses.dataclass
class EvaluationSettings:
    """Measurements of strength during the run. They never change what is learned."""

    every: int = option(5, "iterations between measurements; 0 is only at the end", low=0)
    num_games: int = option(40, "games against UCT, an even number; 0 is none", low=0)
    final_num_games: int = option(100, "games against UCT at the end of the run; 0 is none", low=0)
    num_simulations: int = option(64, "the network's simulations for a move", low=1, high=1_000_000)
    uct_simulations: int = option(1000, "UCT's simulations for a move", low=1, high=10_000_000)
    opening_plies: int = option(
        4, "random plies at the start of each pair of games", low=0, high=100
    )
    exact: bool = option(
        True,
        "measure against the exact evaluation set that ships with the game, where there is one",
    )
    prove: bool = option(
        False,
        "look at every position of the game (small games only): with each measurement and at the end",
    )
    stop_when_proven: bool = option(
        False, "end the run as soon as the proof finds no position misplayed"
    )


@dataclasses.dataclass
class RunSettings:
    """The run as a whole."""

    num_iterations: int = option(50, "iterations of self-play and learning", low=1)
    time_limit_s: float = option(
        0.0,
        "seconds after which no new iteration begins, those before a resume included; 0 is no limit",
        low=0.0,
    )
    root: str = option("checkpoints", "folder of all runs; the run's own is ROOT/GAME/NAME")
    name: str = option("", "the run's name; empty takes the date and time")
    num_threads: int = option(
        0, "threads of the network on a CPU; 0 takes all cores", low=0, high=1024
    )
    retune: bool = option(
        False, "measure what is left to auto again, though this machine has been measured before"
    )
    sample_game_every: int = option(
        5, "iterations between games that are drawn in TensorBoard; 0 is none", low=0
    )
    keep_networks: int = option(
        20, "networks kept, spread evenly over the run, with the newest; 0 keeps all", low=0
    )


@dataclasses.dataclass
class TrainSettings:
    """Everything that a run is made of."""

    game: GameSettings = section(GameSettings, "which game")
    network: NetworkSettings = section(NetworkSettings, "the network's shape")
    evaluator: EvaluatorSettings = section(EvaluatorSettings, "how the network is run in search")
    search: SearchSettings = section(SearchSettings, "the tree search of self-play")
    selfplay: SelfPlaySettings = section(SelfPlaySettings, "how training games are played")
    replay: ReplaySettings = section(ReplaySettings, "how much of the past is trained on")
    learner: LearnerSettings = section(LearnerSettings, "how the network learns")
    pit: PitSettings = section(PitSettings, "the gate against the previous network")
    evaluation: EvaluationSettings = section(EvaluationSettings, "measurements of strength")
    run: RunSettings = section(RunSettings, "length, place and threads of the run")
    seed: int = option(0, "root of every random number of the run", low=0, high=2**31 - 1)
    device: str = option(
        "auto",
        "where the network lives: auto, cpu, cuda, cuda:1; auto takes the GPU when there is one",
    )
    resume: str = option("", "go on with the run in this folder, or with the latest one")


def check_run(settings: TrainSettings) -> None:
    """Hold every value to its range, and values that depend on each other to their rules.

    Raises:
        ConfigError: naming the keys, the values and what is allowed.
    """
    check(settings)
    for key, count in (
        ("pit.num_games", settings.pit.num_games),
        ("evaluation.num_games", settings.evaluation.num_games),
        ("evaluation.final_num_games", settings.evaluation.final_num_games),
    ):
        if count % 2:
            raise ConfigError(
                f"{key}={count} is not allowed: games come in pairs with colours swapped, so the number must be even."
            )
    if settings.replay.window_start > settings.replay.window_max:
        raise ConfigError(
            f"replay.window_start={settings.replay.window_start} is not allowed: it must not exceed replay.window_max={settings.replay.window_max}."
        )
    if Path(settings.run.name).name != settings.run.name or settings.run.name == "..":
        raise ConfigError(
            f"run.name={settings.run.name} is not allowed: it is the name of one folder, and run.root says where that is."
        )
    choose_device(settings.device)
    _check_game(settings, make_game(settings.game.name))


def _check_game(settings: TrainSettings, game) -> None:
    """Hold settings to the game that they are for."""
    if np.dtype(game.state_dtype).kind == "O":
        raise ConfigError(
            f"game.name={game.name} can be played but not trained on: its positions are Python objects, which no file holds; "
            "write its rules as docs/ADD_A_GAME.md shows."
        )
    _, height, width = game.planes_shape
    if settings.network.kind == "tiny" and settings.network.kernel_size > min(height, width):
        raise ConfigError(
            f"network.kernel_size={settings.network.kernel_size} is not allowed: the tiny network's kernel must fit the board of {game.name}, "
            f"{height} by {width}."
        )
    _check_ownership_head(settings.network, game)
    fraction = settings.selfplay.adjudicated_fraction
    if fraction > 0 and settings.network.ownership_head:
        raise ConfigError(
            f"selfplay.adjudicated_fraction={fraction:g} is not allowed with "
            "network.ownership_head=true: that head learns from the board at the end of a game, "
            "which adjudicated games do not reach.",
            key="selfplay.adjudicated_fraction",
            value=fraction,
            allowed=[0],
        )
    played = settings.evaluation.num_games or settings.evaluation.final_num_games
    for key, used, plies in (
        ("pit.opening_plies", settings.pit.every, settings.pit.opening_plies),
        ("evaluation.opening_plies", played, settings.evaluation.opening_plies),
    ):
        if used and plies >= game.max_plies:
            raise ConfigError(
                f"{key}={plies} is not allowed: a game of {game.name} is over after {game.max_plies} plies at the latest."
            )


def _check_ownership_head(network: NetworkSettings, game) -> None:
    """Check that the network and the game have what the ownership head needs."""
    if not network.ownership_head:
        return
    key = "network.ownership_head"
    if network.kind == "tiny":
        raise ConfigError(
            f"{key}=true is not allowed with network.kind=tiny: only the residual network has "
            "this head; use kind=resnet.",
            key=key,
            value=True,
            allowed=[False],
        )
    try:
        has_board = game.cells(game.initial_states()[0]).shape == game.planes_shape[1:]
    except NotImplementedError:
        has_board = False
    if not has_board:
        raise ConfigError(
            f"{key}=true is not allowed for {game.name}: its rules give no board of the planes' "
            "size (the rule `cells`) to learn from.",
            key=key,
            value=True,
            allowed=[False],
        )
