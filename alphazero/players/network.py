"""The player with a network: its best guess at once, or the guess looked over by a PUCT search.

In: a stored network, or one in memory. Out: moves, see `alphazero.players.base.Player`. It is the one player that needs torch.
"""

import dataclasses
import math
import time
from pathlib import Path

import numpy as np

from alphazero.games.registry import same_game
from alphazero.inference.engines.agreement import sample_positions
from alphazero.inference.engines.engine import REFERENCE, EngineChoice
from alphazero.inference.network_evaluator import EvaluatorSettings, NetworkEvaluator
from alphazero.network.interface import NetworkSettings
from alphazero.network.registry import make_network
from alphazero.network.weights import load_arrays, load_network, network_game
from alphazero.players.base import Analysis, Choice
from alphazero.runtime.device import choose_device, set_num_threads
from alphazero.runtime.random_generators import child_generator
from alphazero.runtime.settings import from_stored
from alphazero.search.batched_search import TreeSearch
from alphazero.search.roots import SearchMode
from alphazero.search.settings import SearchSettings
from alphazero.search.tree import bytes_per_node
from alphazero.storage.pretrained import is_shipped
from alphazero.storage.run_folder import find_network

DEFAULT_SIMULATIONS = 200
SIMULATIONS_OF_A_TIME_LIMIT = (
    200_000  # where only the clock ends a search, the tree still ends somewhere
)
_SAMPLE_ROWS = 256  # random positions that an engine is calibrated with and compared on
MEMORY_BYTES = 400_000_000  # of the trees of one batch; more games than fit take turns


class EvaluatorPlayer:
    """Plays what an evaluator says, with a PUCT search or without.

    Args:
        evaluator: see `alphazero.inference.evaluator.Evaluator`.
        num_simulations: for a move; 0 plays the largest prior at once.
        time_limit_s: seconds for a move; with num_simulations, whichever ends first.
    """

    def __init__(
        self,
        game,
        evaluator,
        num_simulations: int,
        time_limit_s: float | None = None,
        seed: int = 0,
        name: str = "network",
        settings=None,
    ):
        self.game = game
        self.name = name
        self.evaluator = evaluator
        self._num_simulations = num_simulations
        self._time_limit_s = time_limit_s
        self._seed = seed
        self._settings = settings or SearchSettings()
        per_game = (num_simulations + 1) * bytes_per_node(game.num_actions)
        self.batch_size = (
            int(min(max(MEMORY_BYTES // per_game, 1), 256)) if time_limit_s is None else 1
        )
        self._search: TreeSearch | None = None

    def choose(self, states: np.ndarray) -> Choice:
        """See `alphazero.players.base.Player.choose`."""
        parts = [
            self._choose(states[start : start + self.batch_size])
            for start in range(0, len(states), self.batch_size)
        ]
        return Choice(*(np.concatenate(columns) for columns in zip(*parts)))

    def analyse(self, state: np.ndarray, progress=None) -> Analysis:
        """See `alphazero.players.base.Player.analyse`."""
        unknown = np.full(self.game.num_actions, math.nan, np.float32)
        if self._num_simulations == 0:
            choice = self._choose(state[None])
            action, value = int(choice.actions[0]), float(choice.values[0])
            return Analysis(
                action,
                choice.action_weights[0],
                value,
                np.zeros(self.game.num_actions, np.int32),
                unknown,
                [action],
                0,
            )
        search = self._searched(state[None], progress)
        output = search.output(np.array([0]))
        tree = search.tree
        visits = tree.children_visits[0, 0].copy()
        return Analysis(
            int(output.actions[0]),
            output.action_weights[0],
            float(output.root_values[0]),
            visits,
            np.where(visits > 0, tree.children_values[0, 0], unknown),
            search.principal_variation(0),
            int(tree.node_visits[0, 0]) - 1,
        )

    def limited(self, num_simulations: int | None, time_limit_s: float | None):
        """See `alphazero.players.base.Player.limited`."""
        if num_simulations is None and time_limit_s is None:
            num_simulations, time_limit_s = self._num_simulations, self._time_limit_s
        elif num_simulations is None:
            num_simulations = SIMULATIONS_OF_A_TIME_LIMIT
        return EvaluatorPlayer(
            self.game,
            self.evaluator,
            num_simulations,
            time_limit_s,
            self._seed,
            self.name,
            self._settings,
        )

    def _choose(self, states) -> Choice:
        if self._num_simulations == 0:
            return self._best_guess(states)
        output = self._searched(states).output(np.arange(len(states)))
        return Choice(output.actions, output.action_weights, output.root_values)

    def _best_guess(self, states) -> Choice:
        logits, values = self.evaluator.evaluate(self.game.observe(states))
        logits = np.where(self.game.legal_action_mask(states), logits, -np.inf)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return Choice(
            logits.argmax(axis=1).astype(np.int32),
            weights / weights.sum(axis=1, keepdims=True),
            values,
        )

    def _searched(self, states, progress=None) -> TreeSearch:
        """Search each of at most `batch_size` positions from scratch; the answer never depends on what was asked before."""
        if self._search is None or len(self._search.root_states) < len(states):
            generator = child_generator(self._seed, "network player")
            self._search = TreeSearch(
                self.game,
                self.evaluator,
                len(states),
                self._num_simulations,
                self._search_settings(),
                generator,
            )
        search, rows = self._search, np.arange(len(states))
        search.stop(np.arange(len(search.root_states)))
        search.reset(rows, states, self._num_simulations, SearchMode.EVALUATION)
        deadline = None if self._time_limit_s is None else time.monotonic() + self._time_limit_s
        search.run(
            deadline,
            None
            if progress is None
            else lambda share: progress(int(share * self._num_simulations), self._num_simulations),
        )
        return search

    def _search_settings(self) -> SearchSettings:
        """Return the settings, with PUCT at the root if the time is limited.

        Sequential halving must know its number of simulations beforehand.
        """
        if self._time_limit_s is None:
            return self._settings
        return dataclasses.replace(self._settings, root="puct")


class NetworkPlayer(EvaluatorPlayer):
    """Plays with a stored network.

    Args:
        path: a network file, or the directory of a run, whose newest network is taken.
        with_search: False plays the network's best guess at once.
        choice: what runs the network; one that is too far from float32 is replaced, see `alphazero.inference.network_evaluator`.

    Raises:
        ValueError: with one plain sentence if there is no network or it is one of another game.
    """

    def __init__(
        self,
        game,
        path: str | Path,
        num_simulations: int | None = None,
        time_limit_s: float | None = None,
        with_search: bool = True,
        seed: int = 0,
        device: str = "auto",
        choice: EngineChoice = REFERENCE,
    ):
        path = find_network(path)
        stored = load_network(path)
        if not same_game(game.name, stored.game):
            raise ValueError(f"the network '{path}' plays {stored.game}, not {game.name}.")
        network = make_network(
            game.planes_shape,
            game.num_actions,
            from_stored(NetworkSettings, stored.settings, path, "network."),
        )
        load_arrays(network, stored.arrays)
        if num_simulations is None:
            num_simulations = (
                DEFAULT_SIMULATIONS if time_limit_s is None else SIMULATIONS_OF_A_TIME_LIMIT
            )
        sample = sample_positions(game, _SAMPLE_ROWS, child_generator(0, "sample"))
        own_settings = EvaluatorSettings(cache_mb=0)
        evaluator = NetworkEvaluator(
            network,
            sample,
            game,
            choice,
            own_settings,
            choose_device(device),
            num_threads=set_num_threads(0),
        )
        super().__init__(
            game,
            evaluator,
            num_simulations if with_search else 0,
            time_limit_s,
            seed,
            name=_display_name(path, choice),
        )


def _display_name(path: Path, choice: EngineChoice) -> str:
    """Return a short name that tells networks apart, and the engine, if it is not the reference.

    It is best for the one that ships with the game, RUN/000012 for one of a run's, otherwise the file's.
    """
    name = (
        f"{path.parent.parent.name}/{path.stem}"
        if path.parent.name == "networks"
        else "best"
        if is_shipped(path)
        else path.stem
    )
    return name if choice == REFERENCE else f"{name} on {choice}"


def network_file_game(path: str | Path) -> str:
    """Return the name of the game that the network at ``path`` (a file, or a run's directory) plays; raises ValueError with a sentence."""
    return network_game(find_network(path))
