"""The optimisers: which weights each has, how its state is stored, and its step.

In: a network and the learner's settings. Out: optimisers of torch, and for convolutions' kernels `alphazero.learner.muon`, whose states go to files as plain
arrays. Knows nothing of losses and batches.
"""

import numpy as np
import torch

from alphazero.learner.muon import Muon


def make_optimizers(network: torch.nn.Module, settings) -> dict[str, torch.optim.Optimizer]:
    """Return the optimisers by the names that their states are stored under: one, or with muon two.

    Args:
        settings: an `alphazero.learner.learner.LearnerSettings`.
    """
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    if settings.optimizer == "sgd":
        momentum = settings.momentum
        return {
            "optimizer": torch.optim.SGD(
                parameters,
                settings.learning_rate,
                momentum,
                weight_decay=settings.weight_decay,
                nesterov=momentum > 0,
            )
        }
    kernels = (
        [module.weight for module in network.modules() if isinstance(module, torch.nn.Conv2d)]
        if settings.optimizer == "muon"
        else []
    )
    turned = {id(kernel) for kernel in kernels}
    others = [parameter for parameter in parameters if id(parameter) not in turned]
    kind = torch.optim.Adam if settings.optimizer == "adam" else torch.optim.AdamW
    optimizers = {
        "optimizer": kind(
            others, settings.learning_rate, weight_decay=settings.weight_decay, fused=True
        )
    }
    return optimizers | ({"muon": Muon(kernels, settings.muon_learning_rate)} if kernels else {})


def optimizer_arrays(optimizer: torch.optim.Optimizer) -> dict:
    """Return copies of an optimiser's state as arrays and numbers."""
    return {
        str(index): {
            name: value.detach().cpu().numpy().copy() if torch.is_tensor(value) else value
            for name, value in state.items()
        }
        for index, state in optimizer.state_dict()["state"].items()
    }


def load_optimizer(optimizer: torch.optim.Optimizer, arrays: dict) -> None:
    """Restore what `optimizer_arrays` returned."""
    state = {
        int(index): {
            name: torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray) else value
            for name, value in entry.items()
        }
        for index, entry in arrays.items()
    }
    optimizer.load_state_dict(
        {"state": state, "param_groups": optimizer.state_dict()["param_groups"]}
    )


def update_of(optimizer: torch.optim.Optimizer):
    """Return what takes the optimiser's step.

    Once Adam has its moments, that is the kernel of torch.optim's fused Adam with its arguments made once, on the optimiser's own state: the step
    of torch.optim spends 80 us on hooks, groups and checks where the kernel takes 10. Not for another optimiser, nor a torch that has no such kernel.
    """
    name = "_fused_adamw_" if isinstance(optimizer, torch.optim.AdamW) else "_fused_adam_"
    if (
        not isinstance(optimizer, (torch.optim.Adam, torch.optim.AdamW))
        or not optimizer.state
        or not hasattr(torch, name)
    ):
        return optimizer.step
    (group,) = optimizer.param_groups
    parameters = [parameter for parameter in group["params"] if parameter in optimizer.state]
    states = [optimizer.state[parameter] for parameter in parameters]
    num_steps = states[0]["step"]
    for state in states:  # they have all taken the same number: one counter, counted up once
        state["step"] = num_steps
    kernel, counters = getattr(torch, name), [num_steps] * len(parameters)
    means, squares = ([state[key] for state in states] for key in ("exp_avg", "exp_avg_sq"))
    beta1, beta2 = group["betas"]
    options = dict(
        lr=group["lr"],
        beta1=beta1,
        beta2=beta2,
        weight_decay=group["weight_decay"],
        eps=group["eps"],
    )
    options |= dict(amsgrad=False, maximize=False, grad_scale=None, found_inf=None)

    def update():
        num_steps.add_(1)
        kernel(
            parameters,
            [parameter.grad for parameter in parameters],
            means,
            squares,
            [],
            counters,
            **options,
        )

    return update
