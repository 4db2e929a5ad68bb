"""The learning rate over a run."""

import math

from alphazero.learner.settings import LearnerSettings


def learning_rate(settings: LearnerSettings, progress: float) -> float:
    """Return the learning rate at a point of the run.

    It starts at ``settings.learning_rate``. Unless the schedule is "constant", it ends at
    ``settings.final_learning_rate``: along a line, along half a cosine wave, or by the same factor
    at each of ``settings.step_at``.

    Args:
        progress: fraction of the run that is done; clipped to [0, 1].
    """
    first = settings.learning_rate
    last = settings.final_learning_rate
    progress = min(max(progress, 0.0), 1.0)
    if settings.schedule == "constant":
        return first
    if settings.schedule == "linear":
        return first + (last - first) * progress
    if settings.schedule == "cosine":
        return last + (first - last) * 0.5 * (1 + math.cos(math.pi * progress))
    if first == 0 or last == 0:
        return first  # no ratio leads from one to the other
    num_passed = sum(progress >= fraction for fraction in settings.step_at)
    return first * (last / first) ** (num_passed / max(len(settings.step_at), 1))
