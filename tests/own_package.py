"""A package outside the repository: a game whose planes are a vector, a network, and a player.

Its entry points are written as an installer writes them, so that nothing has to be installed.
"""

from pathlib import Path

RULES = '''
import numpy as np

class Heap:
    """One heap of seven; take one or two; who takes the last wins."""

    num_actions, max_plies = 2, 7

    def __init__(self, heap=7, player=0):
        self.heap, self.player = heap, player

    def clone(self):
        return Heap(self.heap, self.player)

    def step(self, action):
        self.heap, self.player = self.heap - action - 1, 1 - self.player

    def player_to_move(self):
        return self.player

    def is_over(self):
        return self.heap == 0

    def result(self):
        return -1

    def legal_actions(self):
        return [0, 1] if self.heap > 1 else [0]

    def observe(self):
        return (np.arange(8) == self.heap).astype(np.float32).reshape(8, 1, 1)

    def cells(self):
        return np.zeros((1, 1), np.int8)
'''
NETWORK = '''
import torch
from torch import nn
from alphazero.network.interface import NetworkOutput

class HeapNet(nn.Module):
    """Layers on the planes as a vector; the statistics of the normalization are buffers."""

    def __init__(self, planes_shape, num_actions, settings, units=8):
        super().__init__()
        num_planes, height, width = planes_shape
        self.trunk = nn.Sequential(
            nn.Flatten(), nn.Linear(num_planes * height * width, units), nn.BatchNorm1d(units),
            nn.GELU(),
        )
        self.policy, self.value = nn.Linear(units, num_actions), nn.Linear(units, 3)

    def forward(self, planes):
        x = self.trunk(planes)
        return NetworkOutput(self.policy(x), self.value(x))

class Unknown(HeapNet):
    """Only torch runs this: no other engine knows how to sort by a Python loop."""

    def forward(self, planes):
        if type(planes) is torch.Tensor and torch.jit.is_tracing():
            raise NotImplementedError("no tracing")
        return super().forward(planes)

class Narrow(HeapNet):
    """One logit too few."""

    def __init__(self, planes_shape, num_actions, settings):
        super().__init__(planes_shape, num_actions - 1, settings)

class Viewing(HeapNet):
    """Its memory layout does not suit planes of several rows."""

    def forward(self, planes):
        return super().forward(planes.view(len(planes), -1))

class Tuple(HeapNet):
    def forward(self, planes):
        return tuple(super().forward(planes))
'''
PLAYER = '''
from alphazero.players.without_search import direct_analysis, equal_choice
import numpy as np

class Taker:
    """Takes as many as it can."""

    name, batch_size = "taker", 64

    def __init__(self, game, settings):
        self.game, self.settings = game, settings

    def choose(self, states):
        mask = self.game.legal_action_mask(states)
        largest = np.cumsum(mask, axis=1) == mask.sum(axis=1, keepdims=True)
        values, rng = np.full(len(states), np.nan), np.random.default_rng(self.settings.seed)
        return equal_choice(mask & largest, values, rng)

    def analyse(self, state, progress=None):
        return direct_analysis(self.choose(state[None]))

    def limited(self, num_simulations=None, time_limit_s=None):
        return self

class Halfway:
    name = "halfway"

    def __init__(self, game, settings):
        pass
'''
ENTRY_POINTS = """
[alphazero.games]
heap = heap_package.rules:Heap
broken_heap = heap_package.nothing:Heap

[alphazero.networks]
heap_net = heap_package.network:HeapNet

[alphazero.players]
taker = heap_package.player:Taker
"""


def write_package(folder: Path) -> Path:
    """Write the package and what an installer would write beside it; return the folder."""
    files = {
        "heap_package/__init__.py": "",
        "heap_package/rules.py": RULES,
        "heap_package/network.py": NETWORK,
        "heap_package/player.py": PLAYER,
        "heap_package-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: heap-package\n",
        "heap_package-1.0.dist-info/entry_points.txt": ENTRY_POINTS,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
