"""TensorBoard: every figure of the reports under a name that says what it is, sample games as text, and the settings beside the final result."""

from pathlib import Path

from torch.utils.tensorboard import SummaryWriter

from alphazero.training.events import IterationReport, StageProgress

# TensorBoard shows the groups in alphabetical order and opens the first two: the exact error and the games, where a set ships with the game.
_SCALARS = {
    "loss/total": lambda r: r.learner.loss,
    "loss/policy": lambda r: r.learner.policy_loss,
    "loss/value": lambda r: r.learner.value_loss,
    "loss/ownership": lambda r: r.learner.ownership_loss,
    "policy/entropy_network": lambda r: r.learner.policy_entropy,
    "policy/entropy_search": lambda r: r.learner.target_entropy,
    "value/absolute_error": lambda r: r.learner.value_error,
    "value/calibration_error": lambda r: r.learner.calibration_error,
    "learner/learning_rate": lambda r: r.learner.learning_rate,
    "learner/gradient_norm": lambda r: r.learner.gradient_norm,
    "learner/weight_norm": lambda r: r.learner.weight_norm,
    "learner/steps": lambda r: r.learner.num_steps,
    "loss/total_on_new_games": lambda r: r.held_out.loss,
    "loss/policy_on_new_games": lambda r: r.held_out.policy_loss,
    "loss/value_on_new_games": lambda r: r.held_out.value_loss,
    "loss/policy_of_equal_chances": lambda r: r.learner.uninformed_policy_loss,
    "loss/value_of_one_answer": lambda r: r.learner.uninformed_value_loss,
    "learner/weight_size": lambda r: r.learner.weight_size,
    "health/alarms": lambda r: len(r.alarms),
    "health/free_disk_gb": lambda r: r.free_disk_gb,
    "replay/window_rows": lambda r: r.window,
    "replay/new_rows": lambda r: r.selfplay.num_samples,
    "games/length_plies": lambda r: r.selfplay.game_length,
    "games/first_player_wins": lambda r: r.selfplay.first_player_wins,
    "games/draws": lambda r: r.selfplay.draws,
    "games/distinct_share": lambda r: r.selfplay.distinct_games,
    "search/depth": lambda r: r.selfplay.search_depth,
    "search/mean_batch": lambda r: r.selfplay.mean_batch,
    "speed/positions_per_s": lambda r: r.selfplay.positions_per_s,
    "speed/simulations_per_s": lambda r: r.selfplay.simulations_per_s,
    "speed/evaluations_per_s": lambda r: r.selfplay.evaluations_per_s,
    "speed/cache_hit_rate": lambda r: r.selfplay.cache_hit_rate,
    "speed/evaluator_fraction": lambda r: r.selfplay.evaluator_fraction,
    "speed/network_fraction": lambda r: r.selfplay.network_fraction,
    "time/selfplay_s": lambda r: r.selfplay_s,
    "time/learner_s": lambda r: r.learner_s,
    "time/sampling_s": lambda r: r.sampling_s,
    "time/measure_s": lambda r: r.measure_s,
    "time/store_s": lambda r: r.store_s,
    "time/elapsed_s": lambda r: r.elapsed_s,
    "search/policy_kl_from_float32": lambda r: r.engine.policy_kl,
    "search/value_error_from_float32": lambda r: r.engine.value_error,
    "time/engine_swap_s": lambda r: r.engine.seconds,
}


_EXACT = {
    "error_network": lambda exact: 1 - exact.raw_accuracy,
    "error_search": lambda exact: 1 - exact.accuracy,
    "not_best_network": lambda exact: 1 - exact.raw_optimal,
    "not_best_search": lambda exact: 1 - exact.optimal,
    "value_error": lambda exact: exact.value_error,
    "result_accuracy": lambda exact: exact.result_accuracy,
}


class TensorBoardLogger:
    """Writes event files.

    Args:
        folder: the run's.
        settings: flat settings, for the table of hyper-parameters.
        first_iteration: events from here on, of a run that is resumed, replace those written before it was stopped.
    """

    def __init__(self, folder: Path, settings: dict, first_iteration: int):
        self._folder = str(folder)
        self._settings = {
            key: value if isinstance(value, (int, float, bool, str)) else str(value)
            for key, value in settings.items()
        }
        self._writer = SummaryWriter(
            self._folder, purge_step=first_iteration if first_iteration > 1 else None
        )
        self._last: IterationReport | None = None

    def progress(self, event: StageProgress) -> None:
        """Ignored."""

    def iteration(self, report: IterationReport) -> None:
        """Write the report's figures."""
        writer, step = self._writer, report.iteration
        for name, figure in _SCALARS.items():
            if (number := figure(report)) is not None:
                writer.add_scalar(name, number, step)
        self._write_alarms(report)
        if report.selfplay.sample_game:
            writer.add_text("sample_game", "```\n" + report.selfplay.sample_game + "\n```", step)
        if report.pit is not None:
            writer.add_scalar("pit/score", report.pit.score, step)
            writer.add_scalar("pit/accepted", float(report.pit.accepted), step)
        if report.strength is not None:
            name = report.strength.opponent.replace(":", "_")
            writer.add_scalar(f"strength/score_against_{name}", report.strength.score, step)
            writer.add_scalar(f"strength/score_against_{name}_low", report.strength.score_low, step)
            writer.add_scalar(
                f"strength/score_against_{name}_high", report.strength.score_high, step
            )
            writer.add_scalar("strength/distinct_games", report.strength.num_distinct, step)
        if report.exact is not None:
            for name, figure in _EXACT.items():
                writer.add_scalar(f"exact/{name}", figure(report.exact), step)
        if report.proof is not None:
            writer.add_scalar(
                "proof/misplayed_positions",
                report.proof.num_positions - report.proof.num_accurate,
                step,
            )
            writer.add_scalar("proof/lost_games", report.proof.num_losses, step)
        writer.flush()
        self._last = report
        if report.last:
            self._write_result(report)

    def _write_alarms(self, report: IterationReport) -> None:
        """Write what has begun to go wrong, and what is right again, each under its own name."""
        for alarm in report.alarms:
            if alarm.since == report.iteration:
                parts = (
                    f"**{alarm.title}**: {alarm.seen}.",
                    f"Likely cause: {alarm.cause}.",
                    f"Change `{alarm.key}`: {alarm.advice}.",
                )
                self._writer.add_text(f"health/{alarm.name}", "\n\n".join(parts), report.iteration)
        for name in report.ended_alarms:
            self._writer.add_text(
                f"health/{name}", f"**over**: {name.replace('_', ' ')}", report.iteration
            )

    def _write_result(self, report: IterationReport) -> None:
        """Put the settings beside the final result, for TensorBoard's table of hyper-parameters."""
        result = {"result/loss": report.learner.loss, "result/elapsed_s": report.elapsed_s}
        if report.strength is not None:
            result["result/score"] = report.strength.score
        if report.exact is not None:
            result["result/exact_error"] = 1 - report.exact.accuracy
        if report.proof is not None:
            result["result/misplayed_positions"] = (
                report.proof.num_positions - report.proof.num_accurate
            )
        self._writer.add_hparams(self._settings, result, run_name=".", global_step=report.iteration)

    def close(self) -> None:
        """Write what is left and let go of the file."""
        self._writer.close()
