"""Captured updates on the CPU, where a replay calls the update with the buffers of the graph."""

import dataclasses

import pytest
from learner_samples import assert_same_state, make_learner, random_batch, random_batches

from alphazero.learner.captured_update import CapturedUpdate


@pytest.mark.parametrize("optimizer", ("muon", "sgd"))
def test_training_with_captured_updates_is_training(optimizer, monkeypatch):
    num_captures = 0
    capture = CapturedUpdate._capture

    def counted(update, samples):
        nonlocal num_captures
        num_captures += 1
        capture(update, samples)

    monkeypatch.setattr(CapturedUpdate, "_capture", counted)
    settings = dict(optimizer=optimizer, ema_half_life_steps=3.0, epochs=1)
    captured, plain = make_learner(**settings), make_learner(**settings)
    captured.captures = True
    for progress in (0.0, 0.5, 0.9):
        batches = [*random_batches(5), random_batch(7), *random_batches(5)]
        for learner in (captured, plain):
            list(learner.learn(batches, progress))
        assert dataclasses.asdict(captured.report) == dataclasses.asdict(plain.report)
    assert_same_state(captured.state_dict(), plain.state_dict())
    assert num_captures == 3  # one for each learning rate
