"""Captured updates on the CPU, where a replay calls the update with the buffers of the graph."""

import contextlib
import dataclasses
from types import SimpleNamespace

import pytest
import torch
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
    captured.uses_cuda_graph = True
    for progress in (0.0, 0.5, 0.9):
        batches = [*random_batches(5), random_batch(7), *random_batches(5)]
        for learner in (captured, plain):
            list(learner.learn(batches, progress))
        assert dataclasses.asdict(captured.report) == dataclasses.asdict(plain.report)
    assert_same_state(captured.state_dict(), plain.state_dict())
    assert num_captures == 3  # one for each learning rate


@pytest.mark.parametrize("error", (RuntimeError, ValueError))
def test_a_capture_that_fails_leaves_updates_as_they_are(error, monkeypatch, caplog):
    """With stand-ins for CUDA: the thread is back on its stream, and no second capture is tried."""

    @contextlib.contextmanager
    def failing_graph(graph, stream, capture_error_mode):
        streams.append(stream)
        yield
        raise error("out of memory")  # as its end does, before it would leave the stream

    own = SimpleNamespace(device="cuda:0")
    streams = [own]
    monkeypatch.setattr(torch.cuda, "CUDAGraph", object)
    monkeypatch.setattr(torch.cuda, "graph", failing_graph)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: streams[-1])
    monkeypatch.setattr(torch.cuda, "set_stream", streams.append)
    update = CapturedUpdate(lambda samples: samples.outcomes, torch.device("cpu"))
    update._stream, update._num_calls = SimpleNamespace(device="cuda:0"), 3
    batch = random_batch(4)
    for _ in range(2):
        assert (update(batch) == batch.outcomes).all()
    assert streams == [own, update._stream, own]
    assert len(caplog.records) == 1
