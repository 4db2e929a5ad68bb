"""The Python API: the functions that notebooks and scripts call.

After `import alphazero as az`, they are `az.load_player`, `az.train` and so on;
`alphazero/__init__.py` lists all of them. Each function calls one stage of the pipeline.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from alphazero.config.settings import check, from_plain, from_stored
from alphazero.evaluation.exact.accuracy import AccuracyReport
from alphazero.evaluation.exact.accuracy import measure_accuracy as _measure_accuracy
from alphazero.evaluation.exact.set_file import find_set
from alphazero.evaluation.match import play_match as _play_match
from alphazero.evaluation.openings import choose_openings
from alphazero.evaluation.report import MatchReport
from alphazero.games.batched_game import Game
from alphazero.own_games.registry import make_game
from alphazero.players.base import Player, PlayerSettings
from alphazero.players.registry import make_player
from alphazero.runtime.errors import ConfigError
from alphazero.solvers.proof import ProofReport
from alphazero.solvers.proof import prove as _prove
from alphazero.storage.run_folder import RunFolder
from alphazero.training.events import IterationReport, StageProgress
from alphazero.training.settings import TrainSettings, check_rules, check_run, settings_to_resume

if TYPE_CHECKING:
    from alphazero.training.trainer import Trainer


def load_player(spec: str, game: Any, **settings: Any) -> Player:
    """Make the player described by a specification such as "uct:1000" or the path of a network.

    Args:
        spec: "random", "uct", "uct:1000" (UCT with 1000 simulations per move), "solver" (an exact
            solver of the game), "best" (the network that ships with the game), "network" (the
            game's newest network under checkpoints/, otherwise the shipped one), "gtp:COMMAND" (an
            external Othello engine that speaks the Go Text Protocol), "hf:OWNER/NAME" (a network of
            the Hugging Face Hub), or the path of a network file or of a run's folder.
        game: anything that `make_game` accepts: a name, a game, or rules in plain Python.
        settings: fields of `alphazero.players.base.PlayerSettings`, such as
            ``num_simulations=400``, ``time_limit_s=1.0`` (seconds per move), ``with_search=False``
            or ``seed=1``.

    Raises:
        ConfigError: if there is no such player or setting, or a value is not allowed.
    """
    # Notebooks often pass numpy numbers, which the type check refuses.
    plain = {
        key: value.item() if isinstance(value, np.generic) else value
        for key, value in settings.items()
    }
    return make_player(spec, make_game(game), from_plain(PlayerSettings, plain))


def play_match(
    game: Any,
    player_a: Player | str,
    player_b: Player | str,
    num_games: int = 100,
    opening_plies: int = 4,
    seed: int = 0,
    drawn_openings: bool | None = None,
) -> MatchReport:
    """Play a match between two players, in which each opening is played twice with sides swapped.

    Args:
        game: anything that `make_game` accepts: a name, a game, or rules in plain Python.
        player_a: a player, or a specification as in `load_player`.
        player_b: the opponent: a player or a specification.
        num_games: total number of games to play; must be even.
        opening_plies: number of random plies at the start of each pair of games, so that pairs
            differ.
        seed: seed of the openings only; players have seeds of their own.
        drawn_openings: True for openings that perfect play draws, False for any; None means drawn
            ones where an exact solver of the game is quick.

    Returns:
        The result from player A's viewpoint: wins, draws, losses, ``score`` in [0, 1] with its 95%
        confidence interval, the Elo difference, and from which ``openings`` the games started.

    Raises:
        ConfigError: if the number of games is odd, a player does not exist, or no opening of this
            length exists.
        UnsolvableError: if ``drawn_openings`` is True and no solver can solve the game.
    """
    game = make_game(game)
    a, b = _player(player_a, game), _player(player_b, game)
    openings = choose_openings(game, opening_plies, seed, drawn_openings)
    return _play_match(game, a, b, num_games, openings)


def measure_accuracy(
    game: Any, player: Player | str, evaluation_set: str | Path | None = None
) -> AccuracyReport:
    """Measure how often a player's moves agree with those of an exact solver.

    Args:
        game: anything that `make_game` accepts: a name, a game, or rules in plain Python.
        player: a player, or a specification as in `load_player`.
        evaluation_set: path of a CSV file of positions whose moves an exact solver has scored; if
            None, the set that ships with the game is used.

    Returns:
        The accuracy, with its 95% confidence interval: the fraction of positions in which the
        player's move keeps the exact result (win, draw or loss).

    Raises:
        ConfigError: if no evaluation set ships with the game, or the player does not exist.
        StoredFileError: if the file is missing or is not an evaluation set of this game.
    """
    game = make_game(game)
    positions = find_set(evaluation_set, game)
    return _measure_accuracy(_player(player, game).choose, positions)


def prove(game: Any, player: Player | str) -> ProofReport:
    """Check a player's move in every position of a small game against perfect play.

    Args:
        game: anything that `make_game` accepts: a name, a game, or rules in plain Python.
        player: a player, or a specification as in `load_player`.

    Returns:
        Every position that the player misplays, and the results of its games against every possible
        sequence of opposing moves. A player that loses none of these games is unbeatable.

    Raises:
        InputError: if the game has too many positions to enumerate.
        ConfigError: if the player does not exist.
    """
    game = make_game(game)
    chosen = _player(player, game)
    return _prove(game, lambda states: chosen.choose(states).actions)


def make_settings(*overrides: Any) -> TrainSettings:
    """Make the settings of a training run from arguments such as ``"game=connect_four"``.

    Args:
        overrides: arguments as for ``alphazero train``, such as ``"game=connect_four"``,
            ``"experiment=connect_four_5min"`` or ``"learner.batch_size=512"``. Instead of
            ``"game=..."``, you may pass any game that `make_game` accepts, such as ``MyGame()``.

    Raises:
        ConfigError: if a key does not exist, a value is not allowed for its key, or ``resume=`` is
            among the arguments, which only `train` accepts.
    """
    settings = _compose(overrides)
    check_run(settings)
    return settings


def _compose(overrides: Iterable[Any]) -> TrainSettings:
    from alphazero.training.run_config import compose

    settings = compose(
        [one if isinstance(one, str) else f"game={make_game(one).name}" for one in overrides]
    )
    if settings.resume:
        message = f"resume={settings.resume} is not a setting here: call train(resume=...)."
        raise ConfigError(message, key="resume", value=settings.resume)
    return settings


def train(
    *overrides: Any,
    settings: TrainSettings | None = None,
    resume: str | Path | None = None,
    game: Any = None,
    network_kind: str | None = None,
    drop_games: bool = False,
    progress: Callable[[StageProgress], None] | None = None,
) -> Iterator[IterationReport]:
    """Train a network by self-play, yielding a report after each iteration has been stored.

    The run gets a folder with checkpoints, metrics and TensorBoard events, just as with ``alphazero
    train``. This is a generator: nothing runs until you iterate over it. You may stop at any time
    and continue after the last stored iteration with ``resume``.

    Args:
        overrides: arguments as in `make_settings`, such as ``"game=connect_four"`` or ``MyGame()``.
        settings: complete settings, in place of ``overrides``.
        resume: the folder of a run to continue with its stored settings, or "latest"; cannot be
            combined with ``overrides`` or ``settings``.
        game: with ``resume`` only: your own game, required if the run used one, because stored
            settings never execute code.
        network_kind: with ``resume`` only: the network class, as ``module:Class``; required if the
            run used your own network.
        drop_games: with ``resume`` only: keep the network but delete all stored games, for example
            because they are damaged or the rules have changed.
        progress: called several times a second with a `StageProgress`: the current stage, such as
            "self-play", and how many of its games or learner steps are finished.

    Raises:
        ConfigError: if a setting is not allowed, two of ``overrides``, ``settings`` and ``resume``
            are given, the run to continue does not exist, or another process is training that run.
        StoredFileError: if the run to continue cannot be read.
        TrainingDivergedError: if losses or weights are not finite; all stored iterations are kept.
    """
    from alphazero.training.trainer import Trainer

    if (resume is not None) + (settings is not None) + bool(overrides) > 1:
        message = "give one of overrides, settings and resume: a resumed run keeps its settings."
        raise ConfigError(message, key="resume", value=resume)
    if game is not None and resume is None:
        message = "game= is for a resumed run only: pass the game among the overrides."
        raise ConfigError(message, key="game", value=game)
    if resume is not None:
        name = None if game is None else make_game(game).name
        folder = RunFolder.find(str(resume), TrainSettings().run.root, None)
        settings = settings_to_resume(folder, name, network_kind)
        settings.run.drop_games = drop_games
        run_game = check_run(settings)
        check_rules(folder, settings, run_game)
    else:
        settings = settings or _compose(overrides)
        check(settings)
        run_game = check_run(settings)
        folder = RunFolder.create(settings.run.root, run_game.name, settings.run.name)
    folder = RunFolder(folder.path.absolute())  # a notebook may change the working directory
    with folder.locked():
        trainer = Trainer(settings, folder, run_game)
        if resume is not None:
            trainer.restore()
        yield from _stored_reports(trainer, progress)


def _stored_reports(
    trainer: "Trainer", progress: Callable[[StageProgress], None] | None
) -> Iterator[IterationReport]:
    """Run the trainer, yielding each iteration's report once the iteration has been stored.

    Args:
        trainer: the trainer of a new or restored run.
        progress: called with each `StageProgress`; if None, these events are dropped.
    """
    from alphazero.training.loggers.tensorboard import TensorBoardLogger

    tensorboard = TensorBoardLogger(trainer)
    finished = None  # yielded at the trainer's next event: by then the iteration is stored
    for event in trainer.run():
        if finished is not None:
            yield finished
            finished = None
        if isinstance(event, IterationReport):
            tensorboard.iteration(event)
            finished = event
        elif progress is not None:
            progress(event)
    if finished is not None:
        yield finished


@dataclasses.dataclass(frozen=True)
class Run:
    """A stored training run: its settings, metrics and networks."""

    path: Path  #: the run's folder
    settings: TrainSettings  #: all settings, as stored when the run began or was last resumed
    #: {metric, such as "learner.loss": value} for each stored iteration, oldest first
    metrics: list[dict[str, Any]]
    networks: list[Path]  #: paths of the stored network files, oldest first


def load_run(path: str | Path = "latest", root: str | Path = "checkpoints") -> Run:
    """Load the settings, metrics and network paths of a stored training run.

    If the settings name a file with the rules of a game, this file is not executed.

    Args:
        path: the run's folder, or "latest" for the run under ``root`` that was trained last.
        root: the folder that contains all runs; used only for "latest".

    Raises:
        ConfigError: if there is no such run, it has not finished an iteration, or its settings do
            not fit this version of the program.
        StoredFileError: if the run's settings or metrics are missing or damaged.
    """
    folder = RunFolder.find(str(path), str(root), None, "path", "metrics.jsonl")
    return Run(
        path=folder.path,
        settings=from_stored(TrainSettings, folder.read_config(), folder.config),
        metrics=folder.read_metrics(),
        networks=sorted((folder.path / "networks").glob("*.safetensors")),
    )


def _player(player: Player | str, game: Game) -> Player:
    return load_player(player, game) if isinstance(player, str) else player
