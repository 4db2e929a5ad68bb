"""Load a stored network as a player, with its inference engine and evaluation cache.

The network is given as a file or as the folder of a run; the result is a `Player`. This is the only
kind of player that needs torch.
"""

import sys
from pathlib import Path
from typing import NamedTuple

from torch import nn

from alphazero.config.settings import from_stored
from alphazero.games.batched_game import Game
from alphazero.inference.cache import CachedEvaluator
from alphazero.inference.engines.agreement import sample_positions
from alphazero.inference.engines.registry import REFERENCE, EngineChoice, preferred_engine
from alphazero.inference.evaluator import Evaluator, ImpossibleAnswersError
from alphazero.inference.network_evaluator import EvaluatorSettings, NetworkEvaluator
from alphazero.network.interface import NetworkSettings
from alphazero.network.registry import check_stored_kind, make_network
from alphazero.network.weights import (
    NetworkFile,
    load_arrays,
    load_network,
    network_game,
    network_info,
)
from alphazero.own_games.registry import (
    family_of,
    make_game,
    make_stored_game,
    same_game,
    warn_of_changed_rules,
)
from alphazero.players.base import PlayerSettings
from alphazero.players.network_alone import NetworkAlone
from alphazero.players.search_player import SearchPlayer, simulations_per_move
from alphazero.runtime.device import choose_device, set_num_threads
from alphazero.runtime.errors import InputError, StoredFileError
from alphazero.runtime.random_generators import child_generator
from alphazero.solvers.endings import make_endings
from alphazero.storage.pretrained import is_shipped, knows_board, learned_games
from alphazero.storage.run_folder import find_network

#: Size in bytes of the cache that stores evaluations for searches of single positions.
CACHE_BYTES = 64_000_000
#: Minimum number of positions of a batch for each core; a player has all cores to itself.
_SMALLEST_PART = 6
#: Number of random positions on which an engine is calibrated and compared with float32.
_NUM_SAMPLE_POSITIONS = 256


class LoadedNetwork(NamedTuple):
    """A stored network, ready to evaluate positions."""

    module: nn.Module  #: the network, in evaluation mode
    settings: NetworkSettings  #: the network's architecture and size
    file: NetworkFile  #: the file's contents: weights, settings and facts about the training


def load_network_player(
    game: Game, path: str | Path, settings: PlayerSettings | None = None
) -> SearchPlayer | NetworkAlone:
    """Load a stored network as a player.

    Args:
        path: a network file, or the folder of a run, whose newest network is used.
        settings: search limits, device, inference engine, exact endgames and seed; settings for UCT
            are ignored. An engine whose outputs differ too much from those of torch in float32 is
            replaced (see `alphazero.inference.network_evaluator`).

    Returns:
        A player that searches, or plays the network's most likely move if ``settings`` turn search
        off.

    Raises:
        StoredFileError: if there is no network at ``path``, or it plays another game or cannot play
            this one.
        ConfigError: if a setting is invalid, or the network is of a user-defined class that
            ``settings`` do not name.
    """
    settings = settings or PlayerSettings()
    path = find_network(path)
    wanted = EngineChoice(settings.engine, settings.precision)
    loaded = load_module(game, path, settings.network_kind)
    device = choose_device(settings.device)
    num_threads = set_num_threads(0)
    sample = sample_positions(game, _NUM_SAMPLE_POSITIONS, child_generator(0, "sample"))
    try:
        evaluator = NetworkEvaluator(
            loaded.module,
            sample,
            game,
            preferred_engine(wanted, device, loaded.settings.kind),
            EvaluatorSettings(cache_mb=0),
            device,
            num_threads,
            _SMALLEST_PART,
        )
    except ImpossibleAnswersError as error:
        raise StoredFileError(f"'{path}' cannot play {game.name}: {error}", path=path) from None
    player = SearchPlayer(
        game,
        evaluator,
        simulations_per_move(settings.num_simulations, settings.time_limit_s),
        settings.time_limit_s,
        seed=settings.seed,
        name=_display_name(path, wanted),
        batches_leaves=True,
        cache=make_cache(game, evaluator),
        endings=make_endings(game) if settings.endgame == "auto" else None,
    )
    return player if settings.with_search else NetworkAlone(game, evaluator, player)


def make_cache(game: Game, evaluator: Evaluator) -> CachedEvaluator:
    """Make a player's cache of network evaluations, whose results do not depend on request order.

    Symmetric positions share one entry, which is evaluated in a fixed orientation.

    Args:
        evaluator: evaluates the positions that are not in the cache.
    """
    symmetries = game.cell_symmetries, game.action_symmetries
    return CachedEvaluator(evaluator, game.planes_shape, *symmetries, CACHE_BYTES, True)


def game_of_network(path: str | Path, named: str | None = None) -> Game:
    """Make the game that a stored network plays.

    A user-defined game is made only if the user names it, because making it runs its file.

    Args:
        path: a network file, or the folder of a run.
        named: the game named by the user; None if the user named none.

    Raises:
        StoredFileError: if there is no network at ``path``.
        ConfigError: if the user names another game, or the network plays a user-defined game that
            the user has not named.
    """
    path = find_network(path)
    name = network_game(path)
    if named is not None and family_of(named) == family_of(name):
        return make_game(named)  # perhaps of another board: `load_module` knows if it is played
    digest = network_info(path).get("rules_digest", "")
    return make_stored_game(name, f"the network '{path}'", named, digest=digest)


def load_module(game: Game, path: Path, network_kind: str | None = None) -> LoadedNetwork:
    """Load a network file as a torch module; warn if the game's rules have changed since training.

    A network of windows also plays the other boards of this package's games. A warning says if it
    has not seen all windows of a larger one.

    Args:
        path: the network file.
        network_kind: the user-defined network class ``module:Class`` that may be imported; if None,
            no such class may be.

    Raises:
        ConfigError: if the network is of a class ``module:Class`` that ``network_kind`` does not
            name.
        StoredFileError: if the file is not a network, or the network cannot play this game.
    """
    stored = load_network(path)
    network_settings = from_stored(NetworkSettings, stored.settings, path)
    digest = stored.info.get("rules_digest", "")
    if not same_game(game.name, stored.game, game.rules_digest, digest):
        if network_settings.kind != "windows" or family_of(game.name) != family_of(stored.game):
            message = f"the network '{path}' plays {stored.game}, not {game.name}."
            raise StoredFileError(message, path=path)
        if not knows_board(learned_games(stored), game.name):
            text = f"warning: the network '{path}' was trained on smaller boards than {game.name}"
            print(f"{text} and plays it badly.", file=sys.stderr)
    check_stored_kind(network_settings.kind, f"the network '{path}'", network_kind)
    network = make_network(game, network_settings)
    try:
        load_arrays(network, stored.arrays)
    except InputError as error:
        raise StoredFileError(f"'{path}' cannot play {game.name}: {error}", path=path) from None
    warn_of_changed_rules(game, digest, f"the network '{path}'")
    return LoadedNetwork(network.eval(), network_settings, stored)


def _display_name(path: Path, wanted: EngineChoice) -> str:
    """Return the name under which a network's player appears in matches and tables.

    It is RUN/000012 for a network of a run, "best" for a network that ships with the package, and
    otherwise the file's name without its suffix. If the user has chosen an engine or precision
    other than the reference, the name ends with it, as in "best on openvino int8".

    Args:
        path: the network file.
        wanted: the engine and precision that the user has chosen; "auto" if left open.
    """
    if path.parent.name == "networks":
        name = f"{path.parent.parent.name}/{path.stem}"
    else:
        name = "best" if is_shipped(path) else path.stem
    if wanted.engine == "auto" and wanted.precision == "auto":
        return name
    choice = wanted._replace(precision=wanted.precision.replace("auto", "float32"))
    return name if choice == REFERENCE else f"{name} on {choice}"
