"""Make PettingZoo AEC environments from this package's games.

The environments' observations have the form that PettingZoo's own board games use, a dict of

    observation  int8[H, W, 2], the agent's own pieces and the opponent's
    action_mask  int8[A], 1 = legal; all 0 for the agent that is not to move

Rewards come with the last move: 1 and -1, or 0 and 0. Games with another range of results give
results on their own scoring scale, and a puzzle has one agent. In an environment made by `env`, an
illegal action ends the game with -1 for the agent that played it and 0 for the other.
"""

import re

import numpy as np

from alphazero.boards.painter import Picture, paint
from alphazero.boards.shapes import board_shapes
from alphazero.boards.skin import skin_of
from alphazero.boards.text import plain_board
from alphazero.games.batched_game import Game
from alphazero.own_games.adapters.pettingzoo_game import CLASSIC_TWINS, classic_module
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError, require

require("pettingzoo", "pettingzoo", "pygame")  # before imports whose errors would help less

from gymnasium import spaces  # noqa: E402
from pettingzoo import AECEnv  # noqa: E402
from pettingzoo.utils import wrappers  # noqa: E402

AGENTS = ("player_0", "player_1")
RENDER_MODES = ("human", "ansi", "rgb_array")
CELL_PIXELS = 48  #: the side of a cell in an image, in pixels


def env(game_name: str, render_mode: str | None = None) -> AECEnv:
    """Make one of this package's games as an environment with PettingZoo's usual wrappers.

    The wrappers check the order of calls, and end the game after an illegal action.

    Args:
        game_name: a name that `alphazero.own_games.registry.make_game` accepts.
        render_mode: with "human", the board is printed after every move; with "ansi", `render`
            returns it as text, and with "rgb_array" as an image, uint8[h, w, 3]. If None, nothing
            is drawn.

    Raises:
        ConfigError: if there is no such game or render mode.
    """
    raw = raw_env(game_name, render_mode)
    environment = wrappers.TerminateIllegalWrapper(raw, illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(environment))


def raw_env(game_name: str, render_mode: str | None = None) -> "GameEnvironment":
    """Make one of this package's games as an environment without wrappers.

    An illegal action raises ValueError and does not end the game.

    Args:
        game_name: a name that `alphazero.own_games.registry.make_game` accepts.
        render_mode: "human", "ansi", "rgb_array" or None, as in `env`.

    Raises:
        ConfigError: if there is no such game or render mode.
    """
    return GameEnvironment(make_game(game_name), render_mode)


def make_environment(name: str, render_mode: str | None = None) -> AECEnv:
    """Make an environment by its name, either PettingZoo's or one of this package's games.

    Args:
        name: the name of a PettingZoo environment that plays one of this package's games, such as
            "connect_four_v3", or of a game as `env` accepts it.
        render_mode: "human", "ansi", "rgb_array" or None, as in `env`.

    Raises:
        ConfigError: if there is no such environment, game or render mode.
    """
    if name in CLASSIC_TWINS:
        return classic_module(name).env(render_mode=render_mode)
    if re.fullmatch(r"\w+_v\d+", name):
        raise ConfigError.of("env", name, list(CLASSIC_TWINS), "there is no such environment")
    return env(name, render_mode)


class GameEnvironment(AECEnv):
    """A game of this package as a PettingZoo environment.

    Unlike with PettingZoo's own environments, a deep copy keeps the position.

    Args:
        game: the rules of the game.
        render_mode: "human", "ansi", "rgb_array" or None (see `env`).

    Raises:
        ConfigError: if there is no such render mode.
    """

    def __init__(self, game: Game, render_mode: str | None = None):
        super().__init__()
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ConfigError.of("render_mode", render_mode, list(RENDER_MODES))
        self.game = game
        self.render_mode = render_mode
        self.metadata = {
            "name": game.name,
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self.possible_agents = list(AGENTS[: game.num_players])
        board = spaces.Box(0, 1, (*game.planes_shape[1:], 2), np.int8)
        mask = spaces.Box(0, 1, (game.num_actions,), np.int8)
        space = spaces.Dict({"observation": board, "action_mask": mask})
        agents = self.possible_agents
        self.observation_spaces = dict.fromkeys(agents, space)
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in agents}

    def observation_space(self, agent: str) -> spaces.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict | None = None) -> None:
        """Start a new game from the start position, in which the first agent is to move.

        Args:
            seed: has no effect, because the games have no chance events.
            options: have no effect.
        """
        self.agents = list(self.possible_agents)
        self._state = self.game.initial_states()[0]
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._update()

    def step(self, action: int | None) -> None:
        """Play an action for the agent that is to move, and update rewards and terminations.

        Args:
            action: the action; None for an agent whose game is over, as PettingZoo requires.

        Raises:
            ValueError: if the action is not legal.
        """
        agent = self.agent_selection
        if action is None or self.terminations[agent]:
            return self._was_dead_step(action)
        self.game.check_legal(self._state, int(action))
        after = self.game.step(self._state[None], np.array([action]))
        self._state = after.states[0]
        self._update()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        index = AGENTS.index(agent)
        own = self._board == 1 + index
        other = self._board == 2 - index
        planes = np.stack([own, other], axis=2)
        mask = self._legal_action_mask & (agent == self.agent_selection)
        return {"observation": planes.astype(np.int8), "action_mask": mask.astype(np.int8)}

    def render(self) -> str | np.ndarray | None:
        """Print the board, or return it as text or as an image, depending on the render mode.

        Returns:
            Text in the mode "ansi", an image (uint8[h, w, 3]) in the mode "rgb_array", otherwise
            None.
        """
        if self.render_mode == "rgb_array":
            height, width = self._board.shape
            shapes = board_shapes(self._board, skin_of(self.game))
            return np.asarray(paint(Picture(width, height, CELL_PIXELS, shapes)))
        if self.render_mode == "ansi":
            return self._text()
        if self.render_mode == "human":
            print(self._text(), flush=True)
        return None

    def _update(self) -> None:
        """Update the board, the agent to move, its legal actions and, at the end, the rewards."""
        inspected = self.game.inspect(self._state[None])
        player = int(inspected.players[0])
        self.agent_selection = AGENTS[player]
        self._legal_action_mask = inspected.legal_action_mask[0]
        self._board = self.game.cells(self._state)
        self._first_result: float | None = None  # for the first player, once over
        if inspected.over[0]:
            sign = 1 if player == 0 else -1
            first_result = sign * float(inspected.results[0])
            self._first_result = first_result
            results = map(self.game.own_result, (first_result, -first_result))
            self.rewards = dict(zip(self.possible_agents, results))
            self.terminations = dict.fromkeys(self.possible_agents, True)

    def _text(self) -> str:
        if self.game.num_players == 1:
            return self.game.state_to_text(self._state)
        letters = self.game.piece_letters
        board = plain_board(self.game, self._board, self._legal_action_mask, str)
        names = {agent: f"{agent} ({letters[1 + index]})" for index, agent in enumerate(AGENTS)}
        # The rewards do not tell: PettingZoo drops those of agents that are done.
        if self._first_result == 0.0:
            return f"{board}\na draw"
        if self._first_result is not None:
            winner = names[AGENTS[self._first_result < 0]]
            return f"{board}\n{winner} wins"
        if not self.agents or any(self.terminations.values()):
            return f"{board}\nended by an illegal action"
        return f"{board}\n{names[self.agent_selection]} to move"
