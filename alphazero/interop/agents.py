"""Let agents play in PettingZoo environments: players of this package, or people at the terminal.

An agent maps an observation to an action in the environment's numbering. Any object with a `name`
and the method `act` is an agent, so agents that were written for other programs can play too. The
environment decides which actions are legal, who wins and what the agents observe.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from alphazero.boards.session import Session
from alphazero.boards.skin import skin_of
from alphazero.boards.text import PLAIN, draw_board
from alphazero.evaluation.report import MatchGame, MatchReport
from alphazero.interop.board_view import BoardView
from alphazero.play.screen import prompt, read_move
from alphazero.players.base import Player

if TYPE_CHECKING:
    from pettingzoo import AECEnv

#: What an agent sees, as `environment.last()` returns it: a dict of ``observation``, int8[H, W, 2],
#: the agent's own pieces and the opponent's, and ``action_mask``, int8[A], 1 = legal.
Observation = dict[str, np.ndarray]


class Agent(Protocol):
    """The interface of agents, which choose actions in a PettingZoo environment."""

    name: str  #: the agent's name in reports

    def act(self, observation: Observation, agent: str) -> int:
        """Choose a legal action, and return its number in the environment.

        Args:
            observation: the board as this agent sees it, and the legal actions; see `Observation`.
            agent: the environment's name for this agent, such as "player_0".
        """


class PettingZooAgent:
    """Wraps one of this package's players as an agent, which sees only its observations.

    Args:
        player: a player made for the game of ``view``.
        view: converts the environment's boards (see `alphazero.interop.board_view.view_of`).
        num_sampled_plies: number of plies at the start of a game in which actions are sampled in
            proportion to the player's action weights, so that games differ; afterwards, the
            player's chosen action is played.
        seed: the seed of this sampling.
    """

    def __init__(self, player: Player, view: BoardView, num_sampled_plies: int = 0, seed: int = 0):
        self.player = player
        self.name = player.name
        self._view = view
        self._num_sampled_plies = num_sampled_plies
        self._generator = np.random.default_rng(seed)

    def act(self, observation: Observation, agent: str) -> int:
        """Choose an action with the player, in the position that an observation shows.

        Args:
            observation: the board and the legal actions (see `Observation`).
            agent: the environment's name for this agent, such as "player_0".

        Returns:
            The action in the environment's numbering.

        Raises:
            ValueError: if it is not this agent's turn, or if the observation or the mask
                contradicts the rules of this package's game.
        """
        view = self._view
        planes = observation["observation"]
        mask = observation["action_mask"][view.actions].astype(bool)
        state = view.state(planes, view.agents.index(agent))
        our_mask = view.game.legal_action_mask(state[None])[0]
        if not np.array_equal(our_mask, mask):
            raise ValueError(f"the action mask contradicts the rules of {view.game.name} here.")
        action = self._choose(state, int(np.count_nonzero(planes)))
        return int(view.actions[action])

    def _choose(self, state: np.ndarray, ply: int) -> int:
        choice = self.player.choose(state[None])
        if ply >= self._num_sampled_plies:
            return int(choice.actions[0])
        weights = choice.action_weights[0].astype(np.float64)
        return int(self._generator.choice(len(weights), p=weights / weights.sum()))


class LeftGame(Exception):
    """Raised when the person at the terminal leaves the game."""


class HumanAgent:
    """A person at the terminal, who types moves as in `alphazero play`.

    Args:
        view: converts the environment's boards (see `alphazero.interop.board_view.view_of`).
    """

    def __init__(self, view: BoardView):
        self.name = "human"
        self._view = view

    def act(self, observation: Observation, agent: str) -> int:
        """Print the board, ask until the person types a legal move, and return its action.

        Raises:
            LeftGame: if the person types q or quit, or if the input ends.
        """
        view = self._view
        skin = skin_of(view.game)
        state = view.state(observation["observation"], view.agents.index(agent))
        session = Session(view.game, start=state)
        print(draw_board(view.game, skin, state, PLAIN).plain)
        while True:
            try:
                text = input(f"{agent} (q leaves): {prompt(session, skin)}").strip()
                if text.lower() in ("q", "quit"):
                    raise EOFError
                return int(view.actions[read_move(session, skin, text)])
            except EOFError:
                raise LeftGame from None
            except ValueError as error:
                print(error)


# --- games ----------------------------------------------------------------------------------------


class Episode(NamedTuple):
    """The actions and the rewards of a finished game in a PettingZoo environment."""

    actions: tuple[int, ...]  #: actions in the environment's numbering
    rewards: dict[str, float]  #: each agent's sum of rewards over the game, which is its result


def play_episode(
    environment: "AECEnv",
    agents: dict[str, Agent],
    seed: int | None = None,
    on_move: Callable | None = None,
) -> Episode:
    """Play one game to its end in a PettingZoo environment.

    Args:
        environment: an AEC environment, which is reset first; in the render mode "human" it shows
            every position.
        agents: the agent that plays under each of the environment's agent names.
        seed: the seed passed to the environment's `reset`; if None, the environment chooses one.
        on_move: called as ``on_move(agent_name, action)`` after every move, unless it is None.

    Returns:
        The actions of both agents in order, and each agent's rewards.

    Raises:
        LeftGame: if a person leaves the game.
    """
    environment.reset(seed=seed)
    if environment.render_mode == "human":
        environment.render()
    actions = []
    rewards = dict.fromkeys(environment.possible_agents, 0.0)
    for name in environment.agent_iter():
        observation, reward, terminated, truncated, _ = environment.last()
        rewards[name] += float(reward)
        if terminated or truncated:
            environment.step(None)
            continue
        action = agents[name].act(observation, name)
        environment.step(action)
        actions.append(action)
        if on_move is not None:
            on_move(name, action)
    return Episode(tuple(actions), rewards)


def play_match(
    environment: "AECEnv",
    first: Agent,
    second: Agent,
    num_games: int,
    seed: int = 0,
    on_move: Callable | None = None,
    on_game: Callable | None = None,
) -> MatchReport:
    """Play games between two agents that alternate in moving first, starting with ``first``.

    All games begin at the start position, so the report has no pairs of games with equal openings:
    each game has its own pair index.

    Args:
        environment: an AEC environment with two agents.
        first: the agent that moves first in games 1, 3, 5 and so on.
        second: the other agent.
        num_games: number of games to play; fewer are played if a person leaves.
        seed: the environment's seed in the first game; each later game adds 1.
        on_move: called as ``on_move(agent_name, action)`` after every move, unless it is None.
        on_game: called with the `MatchGame` of the report after every game, unless it is None.

    Returns:
        The report, with ``first`` as player A. If a person leaves, it contains only the games
        finished before, perhaps none.
    """
    games = []
    names = environment.possible_agents
    for index in range(num_games):
        is_first = index % 2 == 0
        first_name, second_name = names if is_first else names[::-1]
        agents = {first_name: first, second_name: second}
        try:
            episode = play_episode(environment, agents, seed + index, on_move)
        except LeftGame:
            break
        # The agent with the larger sum of rewards wins, so an illegal action loses.
        sign = np.sign(episode.rewards[first_name] - episode.rewards[second_name])
        game = MatchGame(episode.actions, is_first, float(1 + sign) / 2, index)
        games.append(game)
        if on_game is not None:
            on_game(game)
    return MatchReport(environment.metadata["name"], first.name, second.name, 0, seed, tuple(games))
