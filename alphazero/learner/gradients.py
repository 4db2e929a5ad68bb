"""Computes the gradients of a batch; on a CPU, each thread handles one part of the batch.

Torch can also split every layer among threads, but then the threads wait for each other in each
layer, and oneDNN's gradients of convolutions busy-wait: if another program uses one of
two cores, a step takes 5 to 13 times as long as on one thread (`docs/performance.md`). Batch
normalization uses the mean and variance of each part, as it does when several GPUs share a batch
(`torch.nn.parallel.DistributedDataParallel`).
"""

import copy
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import torch
from torch.nn.modules.dropout import _DropoutNd

from alphazero.learner.loss import Losses, Targets, losses, value_targets
from alphazero.learner.settings import LearnerSettings
from alphazero.network.interface import NetworkOutput
from alphazero.replay.buffer import Batch

# Fewest samples in a part; with fewer, the statistics of batch normalization are noisy.
_SMALLEST_PART = 64
# Number of weights times samples per thread; with less work, another thread does not pay off.
_WORK_PER_THREAD = 10_000_000


class Answers(NamedTuple):
    """A network's predictions for M samples, with the samples' targets and the mean losses."""

    output: NetworkOutput  #: the predictions in float32, for the player to move
    targets: Targets  #: what the network should have predicted
    losses: Losses  #: means over the samples


class Gradients:
    """Computes the gradients of the loss for one network, in parallel parts on a CPU.

    Args:
        network: already on ``device``; the ``.grad`` of its parameters receives the gradients.
        settings: batch size, number format and weights of the loss.
        device: the torch device of the network and the batches.
        num_threads: maximum number of concurrent threads on a CPU; a GPU needs only one.
        shares_cores: whether self-play uses the same cores at the same time. Each part of a batch
            then has one thread, because several would often wait for each other.

    Attributes:
        parameters: the trainable parameters of ``network``.
        num_threads: number of threads used, over all parts together.
    """

    def __init__(
        self,
        network: torch.nn.Module,
        settings: LearnerSettings,
        device: torch.device,
        num_threads: int,
        shares_cores: bool = False,
    ):
        self.parameters = [weights for weights in network.parameters() if weights.requires_grad]
        self._settings = settings
        self._device = device
        is_random = any(isinstance(module, _DropoutNd) for module in network.modules())
        work = sum(weights.numel() for weights in self.parameters) * settings.batch_size
        num_threads = min(num_threads, max(work // _WORK_PER_THREAD, 1))
        num_parts = max(settings.batch_size // _SMALLEST_PART, 1)
        num_parts = min(num_parts, num_threads)
        # Threads would draw random numbers in an unpredictable order.
        if is_random or device.type != "cpu":
            num_parts = 1
        self._networks = [network]
        shared = {id(weights): weights for weights in network.parameters()}
        for _ in range(1, num_parts):  # copies with separate normalization statistics
            self._networks.append(copy.deepcopy(network, dict(shared)).train())
        if shares_cores:
            num_threads = num_parts
        self.num_threads = num_threads  # threads of all parts together
        threads_per_part = num_threads // num_parts
        self._pool = ThreadPoolExecutor(
            num_parts, initializer=torch.set_num_threads, initargs=(threads_per_part,)
        )

    @torch.enable_grad()  # a notebook may have turned gradients off
    def compute(self, samples: Batch) -> Answers:
        """Write the gradient of the mean loss to ``.grad`` of every parameter of the network.

        Args:
            samples: a batch of tensors on the device.

        Returns:
            The predictions, targets and losses for the batch.
        """
        num_samples = len(samples.outcomes)
        num_parts = min(len(self._networks), max(num_samples // _SMALLEST_PART, 1))
        if num_parts == 1:
            network = self._networks[0]
            loss, answers = self._forward(network, samples)
            network.zero_grad()
            loss.backward()
            return answers
        columns = [torch.as_tensor(column).tensor_split(num_parts) for column in samples]
        parts = [Batch(*part) for part in zip(*columns)]
        gradients, of_parts = zip(*self._pool.map(self._part, self._networks, parts))
        shares = [len(part.outcomes) / num_samples for part in parts]
        for weights, *own_gradients in zip(self.parameters, *gradients):
            weights.grad = None
            if own_gradients[0] is not None:
                # Fused optimizers require gradients in the memory layout of the weights.
                weights.grad = torch.zeros_like(weights)
                for gradient, share in zip(own_gradients, shares):
                    weights.grad.add_(gradient, alpha=share)
        return _joined(of_parts, shares)

    @torch.enable_grad()  # the setting belongs to a thread
    def _part(
        self, network: torch.nn.Module, samples: Batch
    ) -> tuple[tuple[torch.Tensor | None, ...], Answers]:
        """Return the gradients of the mean loss over one part of the batch, and its predictions.

        A gradient is None if the loss does not depend on the parameter.

        Args:
            network: the network, or a copy that shares its weights.
            samples: this part of the batch, as tensors.
        """
        loss, answers = self._forward(network, samples)
        gradients = torch.autograd.grad(loss, self.parameters, allow_unused=True)
        return gradients, answers

    def _forward(self, network: torch.nn.Module, samples: Batch) -> tuple[torch.Tensor, Answers]:
        is_half = self._settings.precision == "bfloat16"
        with torch.autocast(self._device.type, torch.bfloat16, enabled=is_half):
            answers = forward_loss(network, samples, self._settings)
        return answers.losses.total(self._settings.value_weight), answers


def forward_loss(network: torch.nn.Module, samples: Batch, settings: LearnerSettings) -> Answers:
    """Compute a network's predictions and losses for M samples, as tensors on its device.

    Args:
        network: the network, whose training or evaluation mode is left as it is.
        samples: a batch of tensors on the network's device.
        settings: only ``root_value_fraction``, which mixes the value targets, is used.
    """
    planes = torch.as_tensor(samples.planes).contiguous(memory_format=torch.channels_last)
    prior_logits, value_logits = network(planes)
    output = NetworkOutput(prior_logits.float(), value_logits.float())
    values = value_targets(
        samples.outcomes,
        samples.root_values,
        settings.root_value_fraction,
        output.value_logits.shape[1],
    )
    targets = Targets(samples.action_weights, samples.legal_action_mask, values)
    return Answers(output, targets, losses(output, targets))


def _joined(answers: Sequence[Answers], shares: Sequence[float]) -> Answers:
    """Join the predictions for the parts of a batch, and average the parts' losses.

    Args:
        answers: the predictions, targets and mean losses of each part.
        shares: each part's fraction of the samples, by which its losses are weighted.
    """
    outputs, targets, losses_of_parts = zip(*answers)
    means = []
    for of_parts in zip(*losses_of_parts):
        means.append(sum(loss * share for loss, share in zip(of_parts, shares)))
    return Answers(
        NetworkOutput(*map(torch.cat, zip(*outputs))),
        Targets(*map(torch.cat, zip(*targets))),
        Losses(*means),
    )
