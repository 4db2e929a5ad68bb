"""Play games between two agents in a PettingZoo environment, by the environment's own rules.

The environment decides which actions are legal, who wins and what the agents observe.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from alphazero.evaluation.report import MatchGame, MatchReport
from alphazero.interop.agents import Agent, LeftGame

if TYPE_CHECKING:
    from pettingzoo import AECEnv


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
