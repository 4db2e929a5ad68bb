"""Games between two agents in a PettingZoo environment, by the environment's own rules.

In: an environment and agents. Out: what was played and the rewards, as data. The environment decides what is legal, who has won and what is
shown; nothing here knows any game.
"""

from collections.abc import Callable
from typing import NamedTuple

from alphazero.evaluation.report import MatchGame, MatchReport
from alphazero.interop.agents import Agent, LeftGame


class Episode(NamedTuple):
    """One finished game."""

    actions: tuple[int, ...]  #: in the environment's numbers
    rewards: dict[
        str, float
    ]  #: of each agent, summed over the game; in a board game its result from that agent's viewpoint
    illegal_agent: str | None  #: who ended the game by an illegal action, if anybody did


def play_episode(
    environment, agents: dict[str, Agent], seed: int | None = None, on_move: Callable | None = None
) -> Episode:
    """Play one game.

    Args:
        environment: an AEC environment; it is reset first. In its mode "human" it shows every position.
        agents: one for each of the environment's names of its agents.
        seed: of the environment.
        on_move: called as ``on_move(agent_name, action)`` after every move.
    """
    environment.reset(seed=seed)
    if environment.render_mode == "human":
        environment.render()
    actions, illegal_agent = [], None
    rewards = dict.fromkeys(environment.possible_agents, 0.0)
    for name in environment.agent_iter():
        observation, reward, terminated, truncated, _ = environment.last()
        rewards[name] += float(reward)
        if terminated or truncated:
            environment.step(None)
            continue
        action = agents[name].act(observation, agent=name)
        if not observation["action_mask"][action]:
            illegal_agent = name
        environment.step(action)
        actions.append(action)
        if on_move is not None:
            on_move(name, action)
    return Episode(tuple(actions), rewards, illegal_agent)


def play_match(
    environment,
    first: Agent,
    second: Agent,
    num_games: int,
    seed: int = 0,
    on_move: Callable | None = None,
    on_game: Callable | None = None,
) -> MatchReport:
    """Play games between two agents, colours alternating; ``first`` moves first in games 0, 2, 4, ...

    Each game is counted by itself (a pair of one): all of them begin at the start of the game, and differ as far as the agents vary.

    Args:
        on_move: see `play_episode`.
        on_game: called as ``on_game(game, episode)`` after every game, with the `MatchGame` that the report will hold.

    Returns:
        The report, in which ``first`` is player A. It holds fewer games, perhaps none, if a person leaves.
    """
    games = []
    names = environment.possible_agents
    for index in range(num_games):
        first_name, second_name = names if index % 2 == 0 else names[::-1]
        try:
            episode = play_episode(
                environment, {first_name: first, second_name: second}, seed + index, on_move
            )
        except LeftGame:
            break
        games.append(MatchGame(episode.actions, index % 2 == 0, points(episode, first_name), index))
        if on_game is not None:
            on_game(games[-1], episode)
    return MatchReport(environment.metadata["name"], first.name, second.name, 0, seed, tuple(games))


def points(episode: Episode, name: str) -> float:
    """Return the points of the agent called ``name``: 1 for a win, 0.5 for a draw, 0 for a loss or an illegal action of its own."""
    other = max(reward for agent, reward in episode.rewards.items() if agent != name)
    return 0.5 if episode.rewards[name] == other else float(episode.rewards[name] > other)
