"""Muon: gradient descent with orthogonalized momentum, for the kernels of convolutions.

A step changes a kernel by the same amount in every direction, whether the gradient points there
rarely or often.

Source: K. Jordan et al. 2024 ("Muon: an optimizer for hidden layers in neural networks"). As there,
a kernel [out, in, h, w] is treated as the matrix [out, in * h * w]. Kernels of equal shape are
updated as one batch; PyTorch's `torch.optim.Muon` updates matrices one by one and is missing from
older versions.
"""

import torch

# Coefficients of the quintic a x + b x^3 + c x^5, which brings every singular value close to 1
# within five iterations (Jordan et al.).
_A = 3.4445
_B = -4.7750
_C = 2.0315
_NUM_ITERATIONS = 5


class Muon(torch.optim.Optimizer):
    """Updates kernels by orthogonalized momentum; all other weights need another optimizer.

    Args:
        kernels: parameters with two or more axes, the first of which indexes the outputs.
        lr: learning rate: roughly the step length of each output's row (Adam's is the step length
            of a single weight).
        momentum: factor by which the gradients' moving average decays per step; the update is
            Nesterov's.
        dtype: number format of the Newton-Schulz iterations; bfloat16, as in Jordan's code, is
            faster on processors that support it.
    """

    def __init__(self, kernels, lr: float, momentum: float = 0.95, dtype=torch.float32):
        super().__init__(kernels, {"lr": lr, "momentum": momentum})
        self._dtype = dtype

    @torch.no_grad()
    def step(self) -> None:
        """Update every kernel that has a gradient by one step."""
        for group in self.param_groups:
            for kernels in _by_shape(group["params"]):
                directions = [self._direction(kernel, group["momentum"]) for kernel in kernels]
                matrices = torch.stack(directions).flatten(2)
                steps = orthogonalized(matrices.to(self._dtype))
                num_rows, num_columns = steps.shape[1:]
                scale = -group["lr"] * max(1.0, num_rows / num_columns) ** 0.5
                for kernel, step in zip(kernels, steps):
                    kernel.add_(step.view(kernel.shape), alpha=scale)

    def _direction(self, kernel: torch.Tensor, momentum: float) -> torch.Tensor:
        """Add the gradient to the kernel's moving average; return Nesterov's update direction.

        Args:
            kernel: the kernel, whose moving average is updated in place.
            momentum: factor by which the moving average decays per step.
        """
        state = self.state[kernel]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(kernel)
        average = state["momentum"]
        average.lerp_(kernel.grad, 1 - momentum)
        return torch.lerp(kernel.grad, average, momentum)


def orthogonalized(matrices: torch.Tensor) -> torch.Tensor:
    """Return matrices, [M, R, C], with their singular values moved to between 0.7 and 1.2.

    The singular vectors stay the same: five Newton-Schulz iterations approximate the nearest
    orthogonal matrices.
    """
    is_wide = matrices.shape[1] <= matrices.shape[2]
    x = matrices if is_wide else matrices.transpose(1, 2)
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_NUM_ITERATIONS):
        squares = x @ x.transpose(1, 2)
        factors = torch.baddbmm(squares, squares, squares, beta=_B, alpha=_C)
        x = torch.baddbmm(x, factors, x, beta=_A)
    return x if is_wide else x.transpose(1, 2)


def _by_shape(kernels) -> list[list[torch.Tensor]]:
    """Group the kernels by shape, leaving out those without gradients."""
    groups: dict[torch.Size, list[torch.Tensor]] = {}
    for kernel in kernels:
        if kernel.grad is not None:
            groups.setdefault(kernel.shape, []).append(kernel)
    return list(groups.values())
