"""PettingZoo environments as games that can be searched: `make_game("pettingzoo:connect_four_v3")`.

In: an AEC environment of two players without hidden information, whose observation is a dict of
board planes and an action mask. Out: a `PythonGame`, each of whose positions owns a copy of the
environment. Nothing here knows the rules of a game.
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

#: The known environments, each with our game of the same board and actions, whose sizes and
#: symmetries hold for it too. (tictactoe_v3 numbers its squares column by column: the same board,
#: seen along its diagonal.)
CLASSIC_TWINS = {"tictactoe_v3": TicTacToe(3), "connect_four_v3": ConnectX(6, 7, 4)}

_SHARED_ATTRIBUTES = ("action_spaces", "observation_spaces", "screen", "clock")


def make_pettingzoo_game(environment_name: str) -> PythonGame:
    """Return the game ``"pettingzoo:" + environment_name``.

    Raises:
        ConfigError: if the environment is not in `CLASSIC_TWINS`, or PettingZoo is not installed.
    """
    name = f"pettingzoo:{environment_name}"
    if environment_name not in CLASSIC_TWINS:
        names = ", ".join(f"pettingzoo:{known}" for known in CLASSIC_TWINS)
        raise ConfigError.of("game", name, names, "there is no such environment")
    classic_module(environment_name)
    twin = CLASSIC_TWINS[environment_name]
    return game_of_environment(
        name,
        functools.partial(_make_classic, environment_name),
        max_plies=rules.max_plies(twin),
        symmetries=rules.symmetries(twin),
    )


def game_of_environment(name: str, make_environment, max_plies: int, symmetries=None) -> PythonGame:
    """Return the game whose rules are those of an environment.

    Args:
        name: the game's name.
        make_environment: a function without arguments that returns an AEC environment; it must be
            importable if states are to be pickled.
        max_plies, symmetries: see `PythonGame`.

    Raises:
        ConfigError: if the environment does not have two agents with one common set of actions.
    """
    environment = make_environment()
    agents = environment.possible_agents
    if len(agents) != 2:
        message = f"'{name}' has {len(agents)} agents; only games of two players can be wrapped."
        raise ConfigError(message, key="game", value=len(agents), allowed=2)
    sizes: set = {getattr(environment.action_space(agent), "n", None) for agent in agents}
    if len(sizes) != 1 or None in sizes:
        message = f"the agents of '{name}' do not share one Discrete action space."
        allowed = "one Discrete space for both agents"
        raise ConfigError(message, key="game", value=sizes, allowed=allowed)
    return PythonGame(_Start(make_environment, int(sizes.pop()), max_plies, symmetries), name)


class EnvironmentPosition:
    """A position that owns an environment; see `alphazero.games.python_game.Position`.

    Args:
        make_environment: returns a new environment.
        moves: the actions from the start to this position.
    """

    def __init__(self, make_environment, moves=()):
        self.moves: tuple[int, ...] = ()  #: the actions from the start to this position
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
        # When the game is over, environments differ in the agent they select; we take the next.
        if self.is_over():
            self._player = 1 - self._player
        else:
            self._player = self._index(self._environment.agent_selection)

    def player_to_move(self) -> int:
        return self._player

    def is_over(self) -> bool:
        ended, cut = self._environment.terminations, self._environment.truncations
        return any(ended.values()) or any(cut.values())

    def result(self) -> float:
        return float(np.sign(self._environment.rewards[self._agent]))

    def legal_actions(self) -> np.ndarray:
        return np.flatnonzero(self._environment.observe(self._agent)["action_mask"])

    def observe(self) -> np.ndarray:
        return np.moveaxis(self._planes(), 2, 0).astype(np.float32)

    def cells(self) -> np.ndarray:
        """Return the board, int8[H, W], from the first two planes: own pieces, the opponent's.

        All environments of `CLASSIC_TWINS` have these planes.
        """
        planes = self._planes().astype(bool)
        opponents = np.where(planes[:, :, 1], 2 - self._player, 0)
        return np.where(planes[:, :, 0], 1 + self._player, opponents).astype(np.int8)

    def key(self) -> bytes:
        """See `Position`; the observation alone may not tell positions apart."""
        return self._planes().tobytes()

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


class _Start(EnvironmentPosition):
    """The start position, and the sizes of the game."""

    binary_planes = True

    def __init__(self, make_environment, num_actions, max_plies, symmetries):
        super().__init__(make_environment)
        self.num_actions, self.max_plies, self._symmetries = num_actions, max_plies, symmetries

    def __reduce__(self):
        sizes = self.num_actions, self.max_plies, self._symmetries
        return type(self), (self._make_environment, *sizes)

    def symmetries(self):
        return self._symmetries


def _copy_environment(environment):
    """Return an independent copy of a raw environment.

    `copy.deepcopy` of the environment does not work: PettingZoo environments pickle as "make a new
    one", so the copy would be at the start of the game. We copy the attributes instead. The spaces
    never change and are shared (60 us instead of 170 us for connect_four_v3); so are the pygame
    objects, which cannot be copied and are not used here.
    """
    attributes = vars(environment)
    shared = {id(value): value for key, value in attributes.items() if key in _SHARED_ATTRIBUTES}
    twin = object.__new__(type(environment))
    twin.__dict__.update(copy.deepcopy(attributes, shared))
    return twin


def _make_classic(environment_name: str):
    return classic_module(environment_name).raw_env()
