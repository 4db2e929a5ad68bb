"""The learner: rows in, better weights out.

In: batches of the replay. Out: `LearnerReport`. The loss is in `alphazero.learner.loss`; weight decay is that of the optimisers, which
`alphazero.learner.optimizers` makes. Knows nothing of search and games.
"""

import collections
import dataclasses
import math

import torch

from alphazero.learner.averaged_weights import WeightAverage
from alphazero.learner.loss import (
    LossWeights,
    Targets,
    loss_gradients,
    losses,
    masked_log_softmax,
    value_targets,
)
from alphazero.learner.optimizers import (
    load_optimizer,
    make_optimizers,
    optimizer_arrays,
    update_of,
)
from alphazero.learner.uninformed_loss import Baseline
from alphazero.network.interface import NetworkOutput, expected_value
from alphazero.network.tiny import TinyNetwork
from alphazero.network.weights import load_arrays, network_arrays
from alphazero.replay.buffer import Batch
from alphazero.runtime.memory import keep_freed_memory
from alphazero.runtime.settings import option

_MEASURE_EVERY = 8  # steps: the figures of the report cost as much as a small network's step itself
_NORM_BATCHES = (
    8  # of the newest batches, which the averaged network's normalisations are measured on
)


@dataclasses.dataclass
class LearnerSettings:
    """How the network learns."""

    optimizer: str = option(
        "adamw",
        "optimiser (AlphaZero: sgd with momentum); muon is for the kernels, with adamw for all else",
        choices=("muon", "adamw", "adam", "sgd"),
    )
    learning_rate: float = option(2e-3, "step size at the start", low=0.0, high=100.0)
    final_learning_rate: float = option(
        2e-4, "step size at the end of the run", low=0.0, high=100.0
    )
    muon_learning_rate: float = option(
        0.02,
        "step size of muon at the start (Jordan: 0.02); it falls as the other does",
        low=0.0,
        high=100.0,
    )
    schedule: str = option(
        "cosine",
        "how the step size goes from the one to the other over the run",
        choices=("constant", "linear", "cosine", "step"),
    )
    step_at: list[float] = option(
        [0.5, 0.8],
        "shares of the run at which schedule=step goes on to the next of its equal ratios",
        low=0.0,
        high=1.0,
    )
    weight_decay: float = option(1e-4, "weight decay (AlphaZero: 1e-4)", low=0.0, high=10.0)
    momentum: float = option(0.9, "momentum of sgd (AlphaZero: 0.9)", low=0.0, high=0.999)
    batch_size: int = option(256, "rows of a step (AlphaZero: 4096)", low=1, high=1_000_000)
    replay_ratio: float = option(
        6.0,
        "times that each new row is trained on, on average; sets the number of steps of an iteration",
        low=0.0,
        high=1000.0,
    )
    epochs: int = option(
        0,
        "if not 0: passes over the whole window in each iteration, in place of replay_ratio",
        low=0,
        high=1000,
    )
    max_gradient_norm: float = option(
        5.0, "gradients are scaled down to this norm; 0 leaves them", low=0.0
    )
    value_weight: float = option(
        1.0, "weight of the value loss beside the policy loss (AlphaZero: 1)", low=0.0, high=100.0
    )
    root_value_fraction: float = option(
        0.5,
        "share of the search's value in the value target, the rest is the game's result (AlphaZero: 0)",
        low=0.0,
        high=1.0,
    )
    ownership_weight: float = option(
        0.5,
        "weight of the ownership head's loss, a mean over the cells (KataGo: 1.5)",
        low=0.0,
        high=100.0,
    )
    ema_half_life_steps: float = option(
        0.0,
        "search plays with an average of the weights, in which a step counts half as much after so many more; 0 plays with the newest",
        low=0.0,
    )
    precision: str = option(
        "auto",
        "number format of the forward pass; auto measures at the start",
        choices=("auto", "float32", "bfloat16"),
    )


@dataclasses.dataclass
class LearnerReport:
    """Means over every eighth step of an iteration."""

    num_steps: int = 0
    loss: float = (
        math.nan
    )  #: policy loss + value_weight * value loss + those of the auxiliary heads
    policy_loss: float = (
        math.nan
    )  #: cross-entropy of the network's policy against the visit shares, nats
    value_loss: float = (
        math.nan
    )  #: cross-entropy (win/draw/loss) or squared error (scalar) of the value head
    policy_entropy: float = math.nan  #: of the network's policy over the legal actions, nats
    target_entropy: float = math.nan  #: of the visit shares, nats
    value_error: float = math.nan  #: mean |v - z|, z the rows' outcomes
    calibration_error: float = (
        math.nan
    )  #: mean over ten bins of v, weighted by their rows, of |mean v - mean z|
    gradient_norm: float = math.nan  #: before clipping
    weight_norm: float = math.nan
    learning_rate: float = math.nan
    uninformed_policy_loss: float = (
        math.nan
    )  #: the policy loss of the same probability for every legal action
    uninformed_value_loss: float = (
        math.nan
    )  #: the value loss of always answering the mean of the value targets
    weight_size: float = math.nan  #: root of the mean square of the weights
    ownership_loss: float | None = (
        None  #: cross-entropy of a cell, nats; None: the network has no such head
    )


@dataclasses.dataclass
class HeldOutReport:
    """What the network that played the newest games loses on them before it learns from them: an estimate that no overfitting can flatter."""

    num_rows: int = 0
    loss: float = math.nan  #: policy loss + value_weight * value loss
    policy_loss: float = math.nan
    value_loss: float = math.nan


class Learner:
    """A network, its optimiser, and the average of its weights if there is one.

    Args:
        network: trained in place.
        device: where the batches go; the network is there already.
    """

    def __init__(self, network: torch.nn.Module, settings: LearnerSettings, device: torch.device):
        keep_freed_memory()
        self.network = network
        self.settings = settings
        self.device = device
        self.num_steps = 0
        self.report = LearnerReport()  #: of the last call of `learn`
        self._parameters = list(network.parameters())
        self._optimizers = make_optimizers(network, settings)
        self._average = (
            WeightAverage(network, settings.ema_half_life_steps)
            if settings.ema_half_life_steps
            else None
        )
        self._loss_weights = LossWeights(
            settings.value_weight,
            settings.ownership_weight,
        )
        self._autocast = torch.autocast(
            device.type, torch.bfloat16, enabled=settings.precision == "bfloat16"
        )
        by_hand = isinstance(network, TinyNetwork) and settings.precision != "bfloat16"
        self._backpropagate = network.backpropagate if by_hand else self._backpropagate_by_autograd

    @property
    def played_network(self) -> torch.nn.Module:
        """The network that search, matches and stored files get: the average of the weights, or the trained network itself where there is none."""
        return self.network if self._average is None else self._average.network

    def steps_for(self, num_new_rows: int, window: int) -> int:
        """Return how many steps an iteration with ``num_new_rows`` new rows takes."""
        if self.settings.epochs:
            return self.settings.epochs * max(window // self.settings.batch_size, 1)
        return max(round(num_new_rows * self.settings.replay_ratio / self.settings.batch_size), 1)

    def learn(self, batches, progress: float):
        """Take a step for each batch; yield the number of steps done after each, and set `report` at the end.

        Args:
            progress: share of the run that is done, in [0, 1]; sets the step size.
        """
        rate = learning_rate(self.settings, progress)
        for optimizer in self._optimizers.values():
            for group in optimizer.param_groups:
                group["lr"] = rate * (
                    optimizer.defaults["lr"] / self.settings.learning_rate
                    if self.settings.learning_rate
                    else 1.0
                )
        self.network.train()
        self._baseline = Baseline(self.device)
        self._sums, self._calibration = (
            torch.zeros(8, device=self.device),
            torch.zeros((3, 10), device=self.device),
        )
        self._newest_planes = collections.deque(maxlen=_NORM_BATCHES)
        updates = [update_of(optimizer) for optimizer in self._optimizers.values()]
        done = 0
        for batch in batches:
            self._step(batch, updates, measured=done % _MEASURE_EVERY == 0)
            done += 1
            yield done
        self.num_steps += done
        if self._average is not None:
            with self._autocast:
                self._average.measure_norms(self._newest_planes)
        self.report = self._report(done, rate)

    @torch.no_grad()
    def losses_on(self, batch: Batch) -> HeldOutReport:
        """Return what the network that plays loses on rows that it has not learned from yet, and change nothing."""
        rows = Batch(
            *(None if array is None else torch.from_numpy(array).to(self.device) for array in batch)
        )
        output = self.played_network.eval()(rows.planes)
        output = NetworkOutput(
            output.prior_logits.float(), output.value_logits.float()
        )  # the auxiliary heads are left out
        values = value_targets(
            rows.outcomes,
            rows.root_values,
            self.settings.root_value_fraction,
            output.value_logits.shape[1],
        )
        parts = losses(output, Targets(rows.action_weights, rows.legal_action_mask, values))
        policy_loss, value_loss = float(parts.policy), float(parts.value)
        return HeldOutReport(
            len(rows.outcomes),
            policy_loss + self.settings.value_weight * value_loss,
            policy_loss,
            value_loss,
        )

    @torch.no_grad()
    def _step(self, batch: Batch, updates, measured: bool) -> None:
        """Take one step; add its figures to the sums of the report if it is a measured one."""
        rows = Batch(
            *(None if array is None else torch.from_numpy(array).to(self.device) for array in batch)
        )
        targets = None

        def output_gradients(output):
            nonlocal targets
            values = value_targets(
                rows.outcomes,
                rows.root_values,
                self.settings.root_value_fraction,
                output.value_logits.shape[1],
            )
            targets = Targets(rows.action_weights, rows.legal_action_mask, values, rows.owners)
            return loss_gradients(output, targets, self._loss_weights)

        output = self._backpropagate(rows.planes, output_gradients)
        gradient_norm = None
        if self.settings.max_gradient_norm:
            gradient_norm = torch.nn.utils.clip_grad_norm_(
                self._parameters, self.settings.max_gradient_norm
            )
        elif measured:
            gradient_norm = torch.cat(
                [parameter.grad.flatten() for parameter in self._parameters]
            ).norm()
        for update in updates:
            update()
        if self._average is not None:
            self._average.add(self.network)
            self._newest_planes.append(rows.planes)
        if measured:
            self._measure(output, targets, rows.outcomes.float(), gradient_norm)
            self._baseline.add(targets)

    def _backpropagate_by_autograd(self, planes, output_gradients) -> NetworkOutput:
        """Map planes to logits and set the gradient of every weight; see `TinyNetwork.backpropagate`."""
        for parameter in self._parameters:
            parameter.grad = None
        with torch.enable_grad(), self._autocast:
            output = self.network(planes.contiguous(memory_format=torch.channels_last))
        logits = NetworkOutput(
            *(None if tensor is None else tensor.detach().float() for tensor in output)
        )
        pairs = [
            (tensor, gradient.to(tensor.dtype))
            for tensor, gradient in zip(output, output_gradients(logits))
            if tensor is not None
        ]
        torch.autograd.backward(*zip(*pairs))
        return logits

    def _measure(self, output: NetworkOutput, targets: Targets, outcomes, gradient_norm) -> None:
        parts = losses(output, targets)
        log_policy = masked_log_softmax(output.prior_logits, targets.legal_action_mask)
        entropy = -(log_policy.exp() * log_policy).sum(dim=1).mean()
        target_entropy = (
            -(targets.action_weights * targets.action_weights.clamp_min(1e-30).log())
            .sum(dim=1)
            .mean()
        )
        values = expected_value(output.value_logits)
        bins = ((values + 1) * 5).long().clamp(0, 9)
        self._calibration.index_add_(
            1, bins, torch.stack([torch.ones_like(values), values, outcomes])
        )
        value_error = (values - outcomes).abs().mean()
        columns = torch.stack(
            [parts.total(self._loss_weights), entropy, target_entropy, value_error, gradient_norm]
        )
        self._sums[:5] += columns
        for index, part in enumerate(parts):
            if part is not None:
                self._sums[5 + index] += part

    def _report(self, num_steps: int, rate: float) -> LearnerReport:
        means = self._sums / max(-(-num_steps // _MEASURE_EVERY), 1)
        loss, entropy, target_entropy, value_error, gradient_norm, *parts = means.tolist()
        policy_loss, value_loss, ownership_loss = parts
        rows, values, outcomes = self._calibration
        with torch.no_grad():
            weight_norm = math.sqrt(
                sum(float((parameter**2).sum()) for parameter in self.network.parameters())
            )
        uninformed_policy_loss, uninformed_value_loss = self._baseline.losses()
        return LearnerReport(
            num_steps=num_steps,
            loss=loss,
            policy_loss=policy_loss,
            value_loss=value_loss,
            policy_entropy=entropy,
            target_entropy=target_entropy,
            value_error=value_error,
            calibration_error=float((values - outcomes).abs().sum() / rows.sum().clamp_min(1)),
            gradient_norm=gradient_norm,
            weight_norm=weight_norm,
            learning_rate=rate,
            ownership_loss=ownership_loss
            if getattr(self.network, "ownership", None) is not None
            else None,
            uninformed_policy_loss=uninformed_policy_loss,
            uninformed_value_loss=uninformed_value_loss,
            weight_size=weight_norm
            / math.sqrt(sum(parameter.numel() for parameter in self.network.parameters())),
        )

    def state_dict(self) -> dict:
        """Return copies of weights, their average, optimiser and step count as arrays and numbers: further learning does not change them."""
        average = self._average
        averaged = (
            {}
            if average is None
            else {
                "average": {
                    "network": network_arrays(average.network),
                    "num_steps": average.num_steps,
                }
            }
        )
        return {
            "network": network_arrays(self.network),
            **{name: optimizer_arrays(optimizer) for name, optimizer in self._optimizers.items()},
            "num_steps": self.num_steps,
            **averaged,
        }

    def load_state_dict(self, state: dict) -> None:
        """Restore what `state_dict` returned; an average that it lacks begins anew with these weights."""
        load_arrays(self.network, state["network"])
        if self._average is not None:
            average = state.get("average") or {"network": state["network"], "num_steps": 0}
            load_arrays(self._average.network, average["network"])
            self._average.num_steps = average["num_steps"]
        for name, optimizer in self._optimizers.items():
            load_optimizer(optimizer, state[name])
        self.num_steps = state["num_steps"]


def learning_rate(settings: LearnerSettings, progress: float) -> float:
    """Return the step size when ``progress`` in [0, 1] of the run is done."""
    first, last = settings.learning_rate, settings.final_learning_rate
    progress = min(max(progress, 0.0), 1.0)
    if settings.schedule == "constant":
        return first
    if settings.schedule == "linear":
        return first + (last - first) * progress
    if settings.schedule == "cosine":
        return last + (first - last) * 0.5 * (1 + math.cos(math.pi * progress))
    passed = sum(progress >= share for share in settings.step_at)
    return (
        first * (last / first) ** (passed / max(len(settings.step_at), 1))
        if first > 0 and last > 0
        else first
    )
