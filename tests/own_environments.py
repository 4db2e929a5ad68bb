"""PettingZoo environments as a user might write them: two agents take 1, 2 or 3 from a heap."""

import copy

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper, OrderEnforcingWrapper


class Heap(AECEnv):
    """Who takes the last wins. Options turn it into what does not qualify as a game."""

    def __init__(self, heap=8, num_agents=2, masked=True, parallel=False, length=8):
        self.possible_agents = [f"taker_{index}" for index in range(num_agents)]
        self.metadata = {"name": "heap", "is_parallelizable": parallel}
        self.start, self.masked = heap, masked
        if length is not None:
            self.max_plies = length

    def observation_space(self, agent):
        planes = spaces.Box(0, 1, (8,), np.int8)
        return spaces.Dict({"observation": planes, "action_mask": spaces.Box(0, 1, (3,), np.int8)})

    def action_space(self, agent):
        return spaces.Discrete(3)

    def reset(self, seed=None, options=None):
        self.heap = self.start
        self.agents = list(self.possible_agents)
        self.agent_selection = self.agents[0]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}

    def observe(self, agent):
        seen = {"observation": (np.arange(8) < self.heap).astype(np.int8)}
        mask = (np.arange(3) < self.heap).astype(np.int8)
        return seen | {"action_mask": mask} if self.masked else seen

    def step(self, action):
        self.heap -= action + 1
        mover = self.agent_selection
        if not self.heap:
            self.rewards = {agent: 1 if agent == mover else -1 for agent in self.agents}
            self.terminations = dict.fromkeys(self.agents, True)
        following = self.agents.index(mover) + 1
        self.agent_selection = self.agents[following % len(self.agents)]


class ClonedHeap(Heap):
    """With a copy of its own, and a count of the copies."""

    def __init__(self):
        super().__init__()
        self.num_clones = [0]

    def clone(self):
        self.num_clones[0] += 1
        return copy.copy(self)


class OnesAndTwos(BaseWrapper):
    """Forbids to take three."""

    def observe(self, agent):
        seen = super().observe(agent)
        return seen | {"action_mask": seen["action_mask"] * np.array([1, 1, 0], np.int8)}


def ones_and_twos():
    """Return the environment in a wrapper of the user's, and that in one of PettingZoo's own."""
    return OrderEnforcingWrapper(OnesAndTwos(Heap()))


class _Parallel:
    possible_agents = ["a", "b"]


PARALLEL = _Parallel
