"""Two small networks: a tiny one for laptops and tests, and that of docs/notebooks.md.

Both have one convolution without padding and one layer of units shared by the two heads.
docs/notebooks.md describes the second network's notebook and its training recipe.
"""

import torch
from torch import nn

from alphazero.network.interface import NetworkOutput, NetworkSettings, num_value_logits
from alphazero.runtime.errors import ConfigError


class TinyNetwork(nn.Module):
    """A network of one convolution, one shared layer, and linear heads for policy and value.

    Args:
        planes_shape: (C, H, W), the shape of the game's input planes.
        num_actions: A, the number of policy logits.
        settings: the kernel size, the numbers of channels and units, and the kind of value head.
    """

    def __init__(
        self, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ):
        super().__init__()
        self.conv = nn.Conv2d(planes_shape[0], settings.channels, settings.kernel_size)
        self.shared = nn.Linear(_num_features(planes_shape, settings), settings.shared_units)
        self.policy = nn.Linear(settings.shared_units, num_actions)
        self.value = nn.Linear(settings.shared_units, num_value_logits(settings))

    @staticmethod
    def check_settings(
        planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ) -> None:
        """Check that the convolution's kernel fits on the board.

        Raises:
            ConfigError: if the kernel is larger than the board's shorter side.
        """
        _check_kernel_fits(planes_shape, settings)

    def forward(self, planes: torch.Tensor) -> NetworkOutput:
        """Map planes, float32[M, C, H, W], to policy logits and value logits.

        The policy logits are float32[M, A]; the value logits are float32[M, 3] for a win/draw/loss
        head and float32[M, 1] for a scalar head.
        """
        features = torch.relu(self.conv(planes)).flatten(1)
        x = torch.relu(self.shared(features))
        return NetworkOutput(self.policy(x), self.value(x))


class NotebookNetwork(nn.Module):
    """The network of the notebook in docs/notebooks.md: a convolution, a layer and two heads.

    Its convolution has no bias and no activation function, and its input is a single plane: the
    board as seen by the player to move, with 1 for this player's pieces and -1 for the opponent's.
    That is the difference of the first two planes of the game's input; further planes are ignored.

    Args:
        planes_shape: (C, H, W), the shape of the game's input planes; C >= 2.
        num_actions: A, the number of policy logits.
        settings: the kernel size, the numbers of channels and units, and the kind of value head.
    """

    def __init__(
        self, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ):
        super().__init__()
        self.conv = nn.Conv2d(1, settings.channels, settings.kernel_size, bias=False)
        self.shared = nn.Linear(_num_features(planes_shape, settings), settings.shared_units)
        self.policy_hidden = nn.Linear(settings.shared_units, settings.policy_units)
        self.policy = nn.Linear(settings.policy_units, num_actions)
        self.value_hidden = nn.Linear(settings.shared_units, settings.value_units)
        self.value = nn.Linear(settings.value_units, num_value_logits(settings))

    @staticmethod
    def check_settings(
        planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ) -> None:
        """Check that the kernel fits on the board and that the game has at least two planes.

        Raises:
            ConfigError: if the kernel is larger than the board's shorter side, or the game has only
                one plane.
        """
        _check_kernel_fits(planes_shape, settings)
        if planes_shape[0] < 2:
            reason = "it reads own and opponent's pieces from two planes, and the game has one"
            raise ConfigError.of("network.kind", settings.kind, "resnet or tiny", reason)

    def forward(self, planes: torch.Tensor) -> NetworkOutput:
        """Map planes, float32[M, C, H, W], to policy logits and value logits.

        The policy logits are float32[M, A]; the value logits are float32[M, 3] for a win/draw/loss
        head and float32[M, 1] for a scalar head.
        """
        board = planes[:, :1] - planes[:, 1:2]
        features = self.conv(board).flatten(1)
        x = torch.relu(self.shared(features))
        policy = self.policy(torch.relu(self.policy_hidden(x)))
        value = self.value(torch.relu(self.value_hidden(x)))
        return NetworkOutput(policy, value)


def _num_features(planes_shape: tuple[int, int, int], settings: NetworkSettings) -> int:
    """Return how many numbers a convolution without padding outputs, over all channels."""
    _, height, width = planes_shape
    lost = settings.kernel_size - 1
    return settings.channels * (height - lost) * (width - lost)


def _check_kernel_fits(planes_shape: tuple[int, int, int], settings: NetworkSettings) -> None:
    """Check that the kernel of a convolution without padding fits on the board.

    Raises:
        ConfigError: if the kernel is larger than the board's shorter side.
    """
    _, height, width = planes_shape
    size = settings.kernel_size
    largest = min(height, width)
    if size > largest:
        reason = f"the {settings.kind} network's kernel must fit the {height} x {width} board"
        raise ConfigError.of("network.kernel_size", size, f"at most {largest}", reason)
