"""TensorBoard: the figures of every report, sample games, alarms, and the final result."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from alphazero.training.events import IterationReport, StageProgress

#: Figures of every iteration. TensorBoard sorts the groups by name and opens the first two.
_SCALARS = {
    "games/distinct_fraction": lambda r: r.selfplay.distinct_games,
    "games/draws": lambda r: r.selfplay.draws,
    "games/first_player_wins": lambda r: r.selfplay.first_player_wins,
    "games/length_plies": lambda r: r.selfplay.game_length,
    "health/alarms": lambda r: len(r.alarms),
    "health/free_disk_gb": lambda r: r.free_disk_gb,
    "learner/gradient_norm": lambda r: r.learner.gradient_norm,
    "learner/learning_rate": lambda r: r.learner.learning_rate,
    "learner/steps": lambda r: r.learner.num_steps,
    "learner/weight_norm": lambda r: r.learner.weight_norm,
    "learner/weight_size": lambda r: r.learner.weight_size,
    "loss/ownership": lambda r: r.learner.ownership_loss,
    "loss/policy": lambda r: r.learner.policy_loss,
    "loss/policy_held_out": lambda r: r.held_out.policy_loss,
    "loss/policy_uninformed": lambda r: r.learner.uninformed_policy_loss,
    "loss/total": lambda r: r.learner.loss,
    "loss/total_held_out": lambda r: r.held_out.loss,
    "loss/value": lambda r: r.learner.value_loss,
    "loss/value_held_out": lambda r: r.held_out.value_loss,
    "loss/value_uninformed": lambda r: r.learner.uninformed_value_loss,
    "policy/entropy_network": lambda r: r.learner.policy_entropy,
    "policy/entropy_search": lambda r: r.learner.target_entropy,
    "replay/new_samples": lambda r: r.selfplay.num_samples,
    "replay/window_samples": lambda r: r.window,
    "search/depth": lambda r: r.selfplay.search_depth,
    "search/mean_batch": lambda r: r.selfplay.mean_batch,
    "search/policy_kl_from_float32": lambda r: r.engine.policy_kl,
    "search/value_error_from_float32": lambda r: r.engine.value_error,
    "speed/cache_hit_rate": lambda r: r.selfplay.cache_hit_rate,
    "speed/evaluations_per_s": lambda r: r.selfplay.evaluations_per_s,
    "speed/evaluator_fraction": lambda r: r.selfplay.evaluator_fraction,
    "speed/network_fraction": lambda r: r.selfplay.network_fraction,
    "speed/positions_per_s": lambda r: r.selfplay.positions_per_s,
    "speed/simulations_per_s": lambda r: r.selfplay.simulations_per_s,
    "time/elapsed_s": lambda r: r.elapsed_s,
    "time/engine_swap_s": lambda r: r.engine.seconds,
    "time/learner_s": lambda r: r.learner_s,
    "time/measure_s": lambda r: r.measure_s,
    "time/sampling_s": lambda r: r.sampling_s,
    "time/selfplay_s": lambda r: r.selfplay_s,
    "time/store_s": lambda r: r.store_s,
    "value/absolute_error": lambda r: r.learner.value_error,
    "value/calibration_error": lambda r: r.learner.calibration_error,
}


class TensorBoardLogger:
    """Writes event files.

    Args:
        folder: of the run.
        settings: flat settings, for the table of hyper-parameters.
        first_iteration: the first one that will be reported. Events of it and of later iterations,
            written before a resumed run was stopped, are replaced.
    """

    def __init__(self, folder: Path, settings: dict[str, Any], first_iteration: int):
        self._settings = {
            key: value if isinstance(value, (int, float, bool, str)) else str(value)
            for key, value in settings.items()
        }
        purge_step = first_iteration if first_iteration > 1 else None
        self._writer = SummaryWriter(str(folder), purge_step=purge_step)

    def progress(self, event: StageProgress) -> None:
        """Ignore it."""

    def iteration(self, report: IterationReport) -> None:
        """Write the figures and texts of the report."""
        writer, step = self._writer, report.iteration
        for tag, value in _scalars(report):
            writer.add_scalar(tag, value, step)
        if report.selfplay.sample_game:
            writer.add_text("sample_game", f"```\n{report.selfplay.sample_game}\n```", step)
        self._write_alarms(report)
        writer.flush()
        if report.last:
            self._write_result(report)

    def close(self) -> None:
        """Write what is left and close the file."""
        self._writer.close()

    def _write_alarms(self, report: IterationReport) -> None:
        """Write the alarms that begin and those that end, each under its own tag."""
        for alarm in report.alarms:
            if alarm.since == report.iteration:
                paragraphs = (
                    f"**{alarm.title}**: {alarm.seen}.",
                    f"Likely cause: {alarm.cause}.",
                    f"Change `{alarm.key}`: {alarm.advice}.",
                )
                text = "\n\n".join(paragraphs)
                self._writer.add_text(f"health/{alarm.name}", text, report.iteration)
        for name in report.ended_alarms:
            text = f"**over**: {name.replace('_', ' ')}"
            self._writer.add_text(f"health/{name}", text, report.iteration)

    def _write_result(self, report: IterationReport) -> None:
        """Write the settings with the final result, for TensorBoard's table of hyper-parameters."""
        result = {"result/loss": report.learner.loss, "result/elapsed_s": report.elapsed_s}
        if report.strength is not None:
            result["result/score"] = report.strength.score
        if report.exact is not None:
            result["result/exact_error"] = 1 - report.exact.accuracy
        if report.proof is not None:
            misplayed = report.proof.num_positions - report.proof.num_accurate
            result["result/misplayed_positions"] = misplayed
        self._writer.add_hparams(self._settings, result, run_name=".", global_step=report.iteration)


def _scalars(report: IterationReport) -> Iterator[tuple[str, float]]:
    """Yield the tag and the value of each figure that the report has."""
    for tag, figure in _SCALARS.items():
        value = figure(report)
        if value is not None:
            yield tag, value
    if report.pit is not None:
        yield "pit/score", report.pit.score
        yield "pit/accepted", float(report.pit.accepted)
    if report.strength is not None:
        strength = report.strength
        tag = f"strength/score_against_{strength.opponent.replace(':', '_')}"
        yield tag, strength.score
        yield f"{tag}_low", strength.score_low
        yield f"{tag}_high", strength.score_high
        yield "strength/distinct_games", strength.num_distinct
    if report.exact is not None:
        exact = report.exact
        yield "exact/error_network", 1 - exact.raw_accuracy
        yield "exact/error_search", 1 - exact.accuracy
        yield "exact/not_best_network", 1 - exact.raw_optimal
        yield "exact/not_best_search", 1 - exact.optimal
        yield "exact/value_error", exact.value_error
        yield "exact/result_accuracy", exact.result_accuracy
    if report.proof is not None:
        yield "proof/misplayed_positions", report.proof.num_positions - report.proof.num_accurate
        yield "proof/lost_games", report.proof.num_losses
