"""Games whose rules are a PettingZoo environment: `make_game("pettingzoo:connect_four_v3")`.

In: an AEC environment of two players without hidden information, whose observation is a dict of board planes and an action mask. Out: a
`PythonGame`, each of whose positions owns a copy of the environment. Nothing here knows the rules of any game.
"""

import copy
import functools

import numpy as np

from alphazero.games import rules
from alphazero.games.connect_x import ConnectX
from alphazero.games.pettingzoo_package import classic_module
from alphazero.games.python_game import PythonGame
from alphazero.games.tic_tac_toe import TicTacToe
from alphazero.runtime.errors import ConfigError

# The compiled games with the same board and the same numbers of actions as the environment: their sizes and symmetries hold here too.
# (tictactoe_v3 numbers its squares column by column, which is the same board seen along its diagonal.)
CLASSIC_TWINS = {"tictactoe_v3": TicTacToe(3), "connect_four_v3": ConnectX(6, 7, 4)}

_SHARED_ATTRIBUTES = ("action_spaces", "observation_spaces", "screen", "clock")


def make_pettingzoo_game(environment_name: str) -> PythonGame:
    """Return the game of one of PettingZoo's own environments, named ``"pettingzoo:" + environment_name``.

    Raises:
        ConfigError: with one plain sentence if it is not one of those known here, or PettingZoo is not installed.
    """
    if environment_name not in CLASSIC_TWINS:
        names = ", ".join(f"pettingzoo:{name}" for name in CLASSIC_TWINS)
        raise ConfigError(f"there is no game 'pettingzoo:{environment_name}'; there are: {names}.")
    classic_module(environment_name)
    twin = CLASSIC_TWINS[environment_name]
    return game_of_environment(
        f"pettingzoo:{environment_name}",
        functools.partial(_make_classic, environment_name),
        max_plies=rules.max_plies(twin),
        symmetries=rules.symmetries(twin),
    )


def game_of_environment(name: str, make_environment, max_plies: int, symmetries=None) -> PythonGame:
    """Return the game whose rules are the environments that ``make_environment()`` makes.

    Args:
        name: what the game is to be called.
        make_environment: a function without arguments that returns an AEC environment; it must be importable if states are to be pickled.
        max_plies, symmetries: see `PythonGame`.

    Raises:
        ConfigError: if the environment does not have two agents and one set of actions.
    """
    environment = make_environment()
    agents = environment.possible_agents
    if len(agents) != 2:
        raise ConfigError(
            f"'{name}' has {len(agents)} agents: only games of two players can be wrapped."
        )
    sizes = {getattr(environment.action_space(agent), "n", None) for agent in agents}
    if len(sizes) != 1 or None in sizes:
        raise ConfigError(
            f"'{name}' has no common discrete set of actions: both agents must have the same Discrete space."
        )
    start = EnvironmentPosition(make_environment)
    return PythonGame(
        name, start, num_actions=int(sizes.pop()), max_plies=max_plies, symmetries=symmetries
    )


class EnvironmentPosition:
    """A position of a game, kept as an environment of its own; see `alphazero.games.python_game.Position`.

    Args:
        make_environment: returns a new environment.
        moves: the actions that lead to the position.
    """

    def __init__(self, make_environment, moves=()):
        self.moves = ()  #: the actions that led here
        self._make_environment = make_environment
        self._environment = make_environment().unwrapped
        self._environment.reset(seed=0)
        self._player = self._index(self._environment.agent_selection)
        for move in moves:
            self.step(move)

    def __reduce__(self):
        return type(self), (self._make_environment, self.moves)

    def __eq__(self, other) -> bool:
        return isinstance(other, EnvironmentPosition) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def clone(self) -> "EnvironmentPosition":
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._environment = _copy_environment(self._environment)
        return twin

    def step(self, action: int) -> None:
        self._environment.step(int(action))
        self.moves = (*self.moves, int(action))
        # At the end of the game environments differ in whom they select; who would move is then the one who did not just move.
        self._player = (
            1 - self._player if self.is_over() else self._index(self._environment.agent_selection)
        )

    def player_to_move(self) -> int:
        return self._player

    def is_over(self) -> bool:
        return any(self._environment.terminations.values()) or any(
            self._environment.truncations.values()
        )

    def result(self) -> float:
        return float(np.sign(self._environment.rewards[self._agent]))

    def legal_actions(self) -> np.ndarray:
        return np.flatnonzero(self._environment.observe(self._agent)["action_mask"])

    def observe(self) -> np.ndarray:
        return np.moveaxis(self._planes(), 2, 0).astype(np.float32)

    def cells(self) -> np.ndarray:
        """Read the board from the first two planes, the own pieces and the other player's (true of all boards that this file names)."""
        planes = self._planes().astype(bool)
        return np.where(
            planes[:, :, 0], 1 + self._player, np.where(planes[:, :, 1], 2 - self._player, 0)
        ).astype(np.int8)

    @property
    def _agent(self) -> str:
        return self._environment.possible_agents[self._player]

    def _index(self, agent: str) -> int:
        return self._environment.possible_agents.index(agent)

    def _planes(self) -> np.ndarray:
        """Return the environment's observation for the player to move, [H, W, C]."""
        return np.asarray(self._environment.observe(self._agent)["observation"])

    def _key(self) -> tuple:
        return self._player, self.is_over(), self._planes().tobytes()


def _copy_environment(environment):
    """Return a copy of a raw environment that plays on by itself.

    `copy.deepcopy` of the object would not do: PettingZoo's environments pickle as "make a new one", so that their deep copy is a game at
    its start. The attributes are copied instead; the spaces never change and are shared (60 us instead of 170 us on connect_four_v3), and so
    is what it would draw on, which cannot be copied and is never used here.
    """
    shared = {
        id(value): value for key, value in vars(environment).items() if key in _SHARED_ATTRIBUTES
    }
    twin = object.__new__(type(environment))
    twin.__dict__.update(copy.deepcopy(vars(environment), shared))
    return twin


def _make_classic(environment_name: str):
    return classic_module(environment_name).raw_env()
