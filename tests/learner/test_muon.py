"""Muon: its steps are orthogonal, and do not depend on the size of the gradient."""

import pytest
import torch

from alphazero.learner.muon import Muon, orthogonalized


@pytest.mark.parametrize("shape", [(3, 5, 11), (2, 11, 5), (1, 4, 4)])
def test_singular_values_come_close_to_one_and_singular_vectors_stay(shape):
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    found = orthogonalized(matrices)
    # The quintic keeps values close to 1 between 0.68 and 1.21 (Jordan et al.); these matrices have
    # no tiny singular value.
    values = torch.linalg.svdvals(found)
    assert 0.6 < values.min() and values.max() < 1.25
    left, _, right = torch.linalg.svd(matrices, full_matrices=False)
    inner = left.transpose(1, 2) @ found @ right.transpose(1, 2)
    diagonal = torch.diag_embed(inner.diagonal(dim1=1, dim2=2))
    torch.testing.assert_close(inner, diagonal, atol=1e-4, rtol=0)


def test_a_step_by_hand():
    kernel = torch.nn.Parameter(torch.zeros(4, 2, 1, 1))
    kernel.grad = torch.tensor([[3.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 3.0]]).view(4, 2, 1, 1)
    Muon([kernel], lr=0.1, momentum=0.5).step()
    # Both directions count the same, whatever the gradient's size. With four rows and two columns,
    # the step is sqrt(2) times longer.
    step = -kernel.detach().view(4, 2) / (0.1 * 2**0.5)
    assert torch.equal(step != 0, kernel.grad.view(4, 2) != 0)
    assert 0.6 < step[0, 0] < 1.25 and step[0, 0] == step[3, 1]


def test_momentum_is_kept_and_the_size_of_the_gradient_does_not_matter():
    def step(kernel, optimizer, gradient):
        before = kernel.detach().clone()
        kernel.grad = gradient.view_as(kernel)
        optimizer.step()
        return (kernel.detach() - before).flatten(1)

    east, north = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    kernels = [torch.nn.Parameter(torch.zeros(1, 2, 1, 1)) for _ in range(2)]
    optimizers = [Muon([kernel], lr=1.0, momentum=0.9) for kernel in kernels]
    first = [
        step(kernel, optimizer, size * east)
        for kernel, optimizer, size in zip(kernels, optimizers, (1.0, 100.0))
    ]
    torch.testing.assert_close(*first)
    second = step(kernels[0], optimizers[0], north)
    # The average is 0.9 * 0.1 east + 0.1 north. The direction is 0.1 north plus 0.9 of the average:
    # 0.081 east + 0.19 north.
    assert second[0, 0] < 0 and second[0, 1] < 0
    assert float(second[0, 0] / second[0, 1]) == pytest.approx(0.081 / 0.19, rel=1e-4)
