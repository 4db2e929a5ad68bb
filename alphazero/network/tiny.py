"""The tiny network of the published notebook recipe."""

import torch
from torch import nn

from alphazero.network.interface import NetworkOutput, NetworkSettings, num_value_logits


class TinyNetwork(nn.Module):
    """One convolution without padding, one layer of shared units, two linear heads."""

    def __init__(
        self, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ):
        super().__init__()
        num_planes, height, width = planes_shape
        side = settings.kernel_size - 1
        self.conv = nn.Conv2d(num_planes, settings.channels, settings.kernel_size)
        self.shared = nn.Linear(
            settings.channels * (height - side) * (width - side), settings.shared_units
        )
        self.policy = nn.Linear(settings.shared_units, num_actions)
        self.value = nn.Linear(settings.shared_units, num_value_logits(settings))
        self.register_buffer(
            "_patches", _patch_cells(planes_shape, settings.kernel_size), persistent=False
        )

    def forward(self, planes: torch.Tensor) -> NetworkOutput:
        """Map planes [M, C, H, W] to logits."""
        x = torch.relu(self.shared(torch.relu(self.conv(planes)).flatten(1)))
        return NetworkOutput(self.policy(x), self.value(x))

    @torch.no_grad()
    def backpropagate(self, planes: torch.Tensor, output_gradients) -> NetworkOutput:
        """Map planes to logits and set the gradient of every weight, by hand.

        The same numbers as autograd's, up to rounding. In a network this small autograd's bookkeeping costs more than the arithmetic: without it a
        whole step of the learner takes half the time (64 rows of Connect Four).

        Args:
            planes: float32[M, C, H, W], contiguous.
            output_gradients: maps the output to the loss's gradients by its two fields.
        """
        conv, shared, channels = self.conv, self.shared, self.conv.out_channels
        # The convolution is a product of matrices, with the channels last; the shared units' weights are put in the same order.
        patches = planes.flatten(1).index_select(1, self._patches).view(-1, conv.weight[0].numel())
        features = (
            torch.addmm(conv.bias, patches, conv.weight.flatten(1).t())
            .relu_()
            .view(len(planes), -1)
        )
        shared_weight = _swapped(shared.weight, channels)
        units = torch.addmm(shared.bias, features, shared_weight.t()).relu_()
        output = NetworkOutput(self.policy(units), self.value(units))

        policy_gradient, value_gradient, *_ = output_gradients(output)
        for linear, gradient in ((self.policy, policy_gradient), (self.value, value_gradient)):
            linear.weight.grad, linear.bias.grad = gradient.t() @ units, gradient.sum(dim=0)
        # What a relu lets through is its output's sign; a product with that takes 5 us, one with a comparison 26.
        units_gradient = torch.addmm(
            policy_gradient @ self.policy.weight, value_gradient, self.value.weight
        ).mul_(units.sign())
        shared.weight.grad = _swapped(units_gradient.t() @ features, features.shape[1] // channels)
        shared.bias.grad = units_gradient.sum(dim=0)
        features_gradient = (
            (units_gradient @ shared_weight).mul_(features.sign()).view(-1, channels)
        )
        conv.weight.grad = (
            (patches.t() @ features_gradient).t().reshape(conv.weight.shape).contiguous()
        )
        conv.bias.grad = features_gradient.sum(dim=0)
        return output


def _patch_cells(planes_shape: tuple[int, int, int], kernel_size: int) -> torch.Tensor:
    """Return the flat indices of the planes' cells under the kernel, int64[places of the kernel * C * kernel_size^2]."""
    num_planes, height, width = planes_shape
    cells = torch.arange(num_planes * height * width).view(planes_shape)
    patches = cells.unfold(1, kernel_size, 1).unfold(
        2, kernel_size, 1
    )  # [C, H', W', kernel_size, kernel_size]
    return patches.permute(1, 2, 0, 3, 4).flatten()


def _swapped(weights: torch.Tensor, size: int) -> torch.Tensor:
    """Return weights [N, size * other] with the two factors of the columns in the other order: [N, other * size]."""
    return weights.unflatten(1, (size, -1)).transpose(1, 2).flatten(1)
