"""Muon: steps that are orthogonal, whatever the gradient's size, and that go on after a stop as if never stopped."""

import copy

import pytest
import torch

from alphazero.learner.muon import Muon, orthogonalized


@pytest.mark.parametrize("shape", [(3, 5, 11), (2, 11, 5), (1, 4, 4)])
def test_singular_values_come_near_one_and_directions_stay(shape):
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    found = orthogonalized(matrices)
    # The quintic keeps what it has brought near 1 between 0.68 and 1.21 (Jordan et al.); these matrices have no tiny singular value.
    values = torch.linalg.svdvals(found)
    assert 0.6 < values.min() and values.max() < 1.25
    left, _, right = torch.linalg.svd(matrices, full_matrices=False)
    inner = left.transpose(1, 2) @ found @ right.transpose(1, 2)
    torch.testing.assert_close(
        inner, torch.diag_embed(inner.diagonal(dim1=1, dim2=2)), atol=1e-4, rtol=0
    )  # the same singular vectors


def test_a_step_by_hand():
    kernel = torch.nn.Parameter(torch.zeros(4, 2, 1, 1))
    kernel.grad = torch.tensor([[3.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 3.0]]).view(4, 2, 1, 1)
    Muon([kernel], lr=0.1, momentum=0.5).step()
    # Both directions count the same, whatever the gradient's size; four rows to two columns make the step sqrt(2) longer.
    step = -kernel.detach().view(4, 2) / (0.1 * 2**0.5)
    assert torch.equal(step != 0, kernel.grad.view(4, 2) != 0)
    assert 0.6 < step[0, 0] < 1.25 and step[0, 0] == step[3, 1]


def test_the_momentum_remembers_and_the_size_of_the_gradient_does_not_count():
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
    # Average .9 * .1 east + .1 north; direction .1 north + .9 of that = .081 east + .19 north.
    assert second[0, 0] < 0 and second[0, 1] < 0
    assert float(second[0, 0] / second[0, 1]) == pytest.approx(0.081 / 0.19, rel=1e-4)


def test_kernels_of_one_shape_are_stepped_as_if_alone():
    generator = torch.Generator().manual_seed(1)
    kernels = [
        torch.nn.Parameter(torch.randn(shape, generator=generator))
        for shape in [(3, 2, 3, 3), (5, 3, 1, 1), (3, 2, 3, 3)]
    ]
    for kernel in kernels:
        kernel.grad = torch.randn(kernel.shape, generator=generator)
    alone = copy.deepcopy(kernels)
    for kernel, twin in zip(kernels, alone):
        twin.grad = kernel.grad.clone()
        Muon([twin], lr=0.1).step()
    Muon(kernels, lr=0.1).step()
    for kernel, twin in zip(kernels, alone):
        torch.testing.assert_close(kernel, twin)
