"""The learner, which trains the network on samples (Silver et al. 2018, "Training").

Each step computes the loss (`alphazero.learner.loss`) and its gradients
(`alphazero.learner.gradients`), and the optimizers (`alphazero.learner.optimizers`) update the
weights. This module does not depend on search or games.
"""

import collections
import operator

import torch
from torch.optim.swa_utils import update_bn

from alphazero.learner.captured_update import CapturedUpdate
from alphazero.learner.gradients import Answers, Gradients, forward_loss
from alphazero.learner.optimizers import (
    learning_rate,
    load_optimizer,
    make_optimizers,
    optimizer_arrays,
    set_learning_rate,
)
from alphazero.learner.report import HeldOutReport, LearnerReport, TrainingStatistics
from alphazero.learner.settings import LearnerSettings
from alphazero.learner.weight_average import WeightAverage
from alphazero.network.weights import load_arrays, network_arrays
from alphazero.replay.buffer import Batch
from alphazero.runtime.device import torch_threads
from alphazero.runtime.process import keep_freed_memory

# Only every eighth step is measured: computing the report's numbers takes as long as a step of a
# small network.
_MEASURE_EVERY = 8
_NORM_BATCHES = 8  # newest batches, on which the averaged network's normalization is measured


class Learner:
    """Trains a network and, if the settings enable it, keeps a moving average of its weights.

    Args:
        network: the network to train in place, already on ``device``.
        settings: optimizer, number of steps, loss and number format.
        device: the torch device to which batches are copied.
        num_threads: number of threads per step on a CPU; None means torch's current number.
        shares_cores: whether self-play uses the same cores at the same time; each part of a batch
            then has only one thread (see `alphazero.learner.gradients.Gradients`).

    Attributes:
        num_steps: number of steps in all finished calls of `learn`.
        uses_cuda_graph: whether updates of the weights are CUDA graphs, as on an NVIDIA GPU.
    """

    def __init__(
        self,
        network: torch.nn.Module,
        settings: LearnerSettings,
        device: torch.device,
        num_threads: int | None = None,
        shares_cores: bool = False,
    ):
        keep_freed_memory()
        self.network = network
        self.settings = settings
        self.device = device
        self.num_steps = 0
        self.uses_cuda_graph = device.type == "cuda"
        self._captured_update = CapturedUpdate(self._update, device)
        self.report = LearnerReport()  #: the metrics of the last call of `learn`
        num_threads = num_threads or torch.get_num_threads()
        self._gradients = Gradients(network, settings, device, num_threads, shares_cores)
        self._optimizers = make_optimizers(network, settings)
        half_life = settings.ema_half_life_steps
        self._average = WeightAverage(network, half_life) if half_life else None
        self._newest_planes = collections.deque(maxlen=_NORM_BATCHES)
        self._autocast = torch.autocast(
            device.type, torch.bfloat16, enabled=settings.precision == "bfloat16"
        )

    @property
    def played_network(self) -> torch.nn.Module:
        """The network for search, matches and network files: the averaged one if there is one."""
        return self.network if self._average is None else self._average.network

    @property
    def is_finite(self) -> bool:
        """Whether all weights, averages of weights and normalization statistics are finite."""
        for network in (self.network, self.played_network):
            for tensor in network.state_dict().values():
                if not torch.isfinite(tensor).all():
                    return False
        return True

    def steps_for(self, num_new_samples: int, window: int) -> int:
        """Return the number of learner steps to take in an iteration, at least 1.

        With ``epochs``, this is the number of full batches in that many passes over the window.
        Otherwise a sample is trained on `LearnerSettings.replay_ratio` times on average.

        Args:
            num_new_samples: number of samples added by this iteration's games.
            window: number of samples in the replay window.
        """
        settings = self.settings
        if settings.epochs:
            return settings.epochs * max(window // settings.batch_size, 1)
        return max(round(num_new_samples * settings.replay_ratio / settings.batch_size), 1)

    def learn(self, batches, progress: float):
        """Take one training step per batch, yielding the number of steps so far after each.

        Once the generator is exhausted, `played_network` is ready for use and `report` is set.

        Args:
            batches: an iterable of `Batch`; with `LearnerSettings.epochs`, all epochs must have
                the same number of batches.
            progress: fraction of the run that is done, in [0, 1]; determines the learning rate.
        """
        rate = learning_rate(self.settings, progress)
        set_learning_rate(self._optimizers, self.settings, rate)
        self.network.train()
        statistics = TrainingStatistics(self.device, self.settings.value_weight)
        self._newest_planes.clear()
        self._captured_update.reset()  # the learning rate has changed
        update = self._captured_update if self.uses_cuda_graph else self._update
        num_steps = 0
        step_losses = []
        with torch_threads(self._gradients.num_threads):
            for batch in batches:
                samples = self._on_device(batch)
                answers, gradient_norm = update(samples)
                if self._average is not None:
                    self._average.add(self.network)
                    self._newest_planes.append(samples.planes)
                if num_steps % _MEASURE_EVERY == 0:
                    statistics.add(answers, samples.outcomes, gradient_norm)
                if self.settings.epochs:
                    loss = answers.losses.total(self.settings.value_weight)
                    step_losses.append(loss.detach())
                num_steps += 1
                yield num_steps
        self.num_steps += num_steps
        if self._average is not None:
            with self._autocast:
                update_bn(self._newest_planes, self._average.network)
        self.report = statistics.report(self.network, num_steps, rate)
        if step_losses:
            by_epoch = torch.stack(step_losses).view(self.settings.epochs, -1)
            self.report.epoch_losses = by_epoch.mean(dim=1).tolist()

    @torch.no_grad()
    def held_out_losses(self, batch: Batch) -> HeldOutReport:
        """Compute the losses of `played_network` on a batch without training on it.

        Args:
            batch: samples that have not been trained on, as numpy arrays.
        """
        samples = self._on_device(batch)
        parts = forward_loss(self.played_network.eval(), samples, self.settings).losses
        loss = float(parts.total(self.settings.value_weight))
        num_samples = len(samples.outcomes)
        return HeldOutReport(num_samples, loss, float(parts.policy), float(parts.value))

    def _update(self, samples: Batch) -> tuple[Answers, torch.Tensor]:
        """Compute the gradients and update the weights.

        Args:
            samples: a batch of tensors on the device.

        Returns:
            The predictions and losses before the update, and the norm of the gradients.
        """
        answers = self._gradients.compute(samples)
        limit = self.settings.max_gradient_norm or torch.inf
        gradient_norm = torch.nn.utils.clip_grad_norm_(self._gradients.parameters, limit)
        for optimizer in self._optimizers.values():
            optimizer.step()
        return answers, gradient_norm

    def _on_device(self, batch: Batch) -> Batch:
        """Copy a batch of numpy arrays to tensors on the device."""
        columns = [torch.from_numpy(array) for array in batch]
        if self.device.type == "cuda":
            # Copying from pinned memory waits for nothing: the next batch is made in the meantime.
            columns = [column.pin_memory() for column in columns]
        return Batch(*(column.to(self.device, non_blocking=True) for column in columns))

    def state_dict(self) -> dict:
        """Return copies of all that training changes, as nested dictionaries.

        These are the weights, the averaged weights if there are any, the optimizers' states and the
        number of steps.
        """
        state: dict = {"network": network_arrays(self.network)}
        for name, optimizer in self._optimizers.items():
            state[name] = optimizer_arrays(optimizer)
        state["num_steps"] = self.num_steps
        if self._average is not None:
            arrays = network_arrays(self._average.network)
            state["average"] = {"network": arrays, "num_steps": self._average.num_steps}
        return state

    def load_state_dict(self, state: dict) -> None:
        """Restore a state that `state_dict` returned.

        If averaging is on and the state has no average, the average starts as a copy of the
        weights.

        Raises:
            InputError: if a weight or buffer is missing, unknown or of the wrong shape.
            ValueError: if the shapes or dtypes of an optimizer's state do not fit its weights.
        """
        load_arrays(self.network, state["network"])
        if self._average is not None:
            average = state.get("average") or {"network": state["network"], "num_steps": 0}
            load_arrays(self._average.network, average["network"])
            self._average.num_steps = operator.index(average["num_steps"])
        for name, optimizer in self._optimizers.items():
            load_optimizer(optimizer, state[name])
        self.num_steps = operator.index(state["num_steps"])
