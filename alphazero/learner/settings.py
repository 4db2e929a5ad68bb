"""The settings of the learner: optimizer, number of steps, loss and precision."""

import dataclasses

from alphazero.config.settings import option


@dataclasses.dataclass
class LearnerSettings:
    """The settings of the learner: optimizer, number of steps, loss and number format."""

    optimizer: str = option(
        "adamw",
        "optimizer (AlphaZero: sgd with momentum); muon trains the kernels, adamw the rest",
        choices=("muon", "adamw", "adam", "sgd"),
    )
    learning_rate: float = option(2e-3, "learning rate at the start", low=0.0, high=100.0)
    final_learning_rate: float = option(
        2e-4, "learning rate at the end of the run", low=0.0, high=100.0
    )
    muon_learning_rate: float = option(
        0.02,
        "learning rate of muon at the start (Jordan: 0.02); it falls in proportion to the other",
        low=0.0,
        high=100.0,
    )
    schedule: str = option(
        "cosine",
        "how the learning rate falls over the run",
        choices=("constant", "cosine"),
    )
    weight_decay: float = option(1e-4, "weight decay (AlphaZero: 1e-4)", low=0.0, high=10.0)
    momentum: float = option(0.9, "momentum of sgd (AlphaZero: 0.9)", low=0.0, high=0.999)
    batch_size: int = option(256, "samples per step (AlphaZero: 4096)", low=1, high=1_000_000)
    replay_ratio: float = option(
        6.0,
        "how often each sample is trained on, on average; sets the number of steps",
        low=0.0,
        high=1000.0,
    )
    epochs: int = option(
        0,
        "passes over the whole window per iteration, instead of replay_ratio; 0: use replay_ratio",
        low=0,
        high=1000,
    )
    reshuffle: bool = option(
        True, "draw a new order of the samples for every epoch; false keeps one for the iteration"
    )
    max_gradient_norm: float = option(
        5.0, "gradients are scaled down to this norm; 0 disables clipping", low=0.0
    )
    value_weight: float = option(
        1.0, "weight of the value loss; the policy loss has 1 (AlphaZero: 1)", low=0.0, high=100.0
    )
    root_value_fraction: float = option(
        0.5,
        "fraction of the search's value in the value target; the rest is the result (AlphaZero: 0)",
        low=0.0,
        high=1.0,
    )
    ema_half_life_steps: float = option(
        0.0,
        "EMA half-life of the weights that play, in learner steps; 0 disables averaging",
        low=0.0,
    )
    precision: str = option(
        "auto",
        "number format of the forward pass; auto takes bfloat16 if the hardware has it",
        choices=("auto", "float32", "bfloat16"),
    )
