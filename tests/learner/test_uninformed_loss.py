"""The loss of an uninformed predictor, against a network that gives the same answer everywhere."""

import pytest
import torch
from learner_samples import CPU, random_targets

from alphazero.learner.loss import Targets, losses
from alphazero.learner.report import UninformedLoss
from alphazero.network.interface import NetworkOutput


@pytest.mark.parametrize("num_value_logits", (1, 3))
def test_the_uninformed_loss_is_that_of_a_network_with_one_answer(num_value_logits):
    parts = [random_targets(size, num_value_logits, seed=size) for size in (5, 40, 17)]
    uninformed = UninformedLoss(CPU)
    for part in parts:
        uninformed.add(part)
    targets = Targets(*(torch.cat(columns) for columns in zip(*(part[:3] for part in parts))))
    mean = targets.values.mean(dim=0)
    logits = torch.atanh(mean) if num_value_logits == 1 else mean.log()
    expected = losses(NetworkOutput(torch.zeros(62, 9), logits.expand(62, -1)), targets)
    assert uninformed.losses() == pytest.approx([float(loss) for loss in expected[:2]], rel=1e-5)
