"""Muon: momentum made orthogonal, for the convolutions' kernels.

In: kernels with gradients. Out: a step that turns every direction of a kernel by the same amount, the rare ones as much as the frequent. K. Jordan et
al. 2024 ("Muon: an optimizer for hidden layers in neural networks"); a kernel [out, in, h, w] is the matrix [out, in * h * w], as there. PyTorch's
own `torch.optim.Muon` takes matrices one by one and is not in every PyTorch that this project runs with; here kernels of one shape are one batch.
"""

import torch

# Of the quintic a x + b x^3 + c x^5, which brings every singular value near 1 within five rounds (Jordan et al.).
_A, _B, _C = 3.4445, -4.7750, 2.0315
_ROUNDS = 5


class Muon(torch.optim.Optimizer):
    """Steps of orthogonalised momentum; other weights than kernels go to another optimiser.

    Args:
        kernels: parameters of two dimensions or more; the first is the outputs'.
        lr: step size: about the length of a step of each output's row, where Adam's is that of a single weight.
        momentum: share of the old direction in the new one, in Nesterov's form.
    """

    def __init__(self, kernels, lr: float, momentum: float = 0.95):
        super().__init__(kernels, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:
        """Take one step with the gradients as they are."""
        for group in self.param_groups:
            for kernels in _by_shape(group["params"]):
                averages = [
                    self.state[kernel].setdefault("momentum", torch.zeros_like(kernel))
                    for kernel in kernels
                ]
                gradients = [kernel.grad for kernel in kernels]
                torch._foreach_lerp_(averages, gradients, 1 - group["momentum"])
                directions = torch.stack(
                    torch._foreach_lerp(gradients, averages, group["momentum"])
                ).flatten(2)
                turns = orthogonalized(directions)
                rows, columns = turns.shape[1:]
                scale = -group["lr"] * max(1.0, rows / columns) ** 0.5
                torch._foreach_add_(
                    kernels, list(turns.view(len(kernels), *kernels[0].shape)), alpha=scale
                )


def orthogonalized(matrices: torch.Tensor) -> torch.Tensor:
    """Return matrices [M, R, C] with the same directions whose singular values are near 1 (0.7 to 1.2), by Newton-Schulz rounds."""
    wide = matrices.shape[1] <= matrices.shape[2]
    x = matrices if wide else matrices.transpose(1, 2)
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_ROUNDS):
        squares = x @ x.transpose(1, 2)
        x = _A * x + (_B * squares + _C * squares @ squares) @ x
    return x if wide else x.transpose(1, 2)


def _by_shape(kernels) -> list[list[torch.Tensor]]:
    groups: dict[torch.Size, list[torch.Tensor]] = {}
    for kernel in kernels:
        if kernel.grad is not None:
            groups.setdefault(kernel.shape, []).append(kernel)
    return list(groups.values())
