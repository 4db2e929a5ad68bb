"""The training loop: the one module that knows every stage, from self-play to the stored network.

In: settings and the folder of a run. Out: a stream of events (`alphazero.training.events`), and
files. `Trainer.run` follows the pseudo-code of the paper (Silver et al. 2018): play games with the
network, train it on them, and, if there is a gate, keep the new network only where it beats the old
one.

A run is deterministic: on a CPU, stopping after an iteration and resuming gives the same weights,
bit for bit, as never having stopped. Only a time limit (`run.time_limit_s`) can change that.
"""

import dataclasses
import math
import shutil
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import torch

from alphazero.games.registry import make_game
from alphazero.inference.engines.agreement import PositionSample, sample_positions
from alphazero.inference.engines.engine import EngineChoice
from alphazero.inference.network_evaluator import NetworkEvaluator
from alphazero.learner.learner import Learner
from alphazero.learner.report import LearnerReport
from alphazero.network.registry import make_network
from alphazero.network.weights import network_arrays, save_network
from alphazero.replay.buffer import Batch, ReplayBuffer
from alphazero.runtime.device import choose_device, set_num_threads
from alphazero.runtime.errors import StoredFileError
from alphazero.runtime.random_generators import child_generator
from alphazero.selfplay.game_record import GameRecord
from alphazero.storage.checkpoint import load_state, save_state
from alphazero.storage.run_folder import RunFolder
from alphazero.training.autotune import tune
from alphazero.training.events import IterationReport, StageProgress
from alphazero.training.gate import Gate
from alphazero.training.health import HealthMonitor, check_weights
from alphazero.training.illustrations import illustrations
from alphazero.training.reports import game_text, selfplay_report, workers_report
from alphazero.training.settings import TrainSettings
from alphazero.training.strength import StrengthMeasurement
from alphazero.workers.choose_source import SourceSettings, make_source

_NUM_ENGINE_POSITIONS = 256  # on which the engine is calibrated and compared with the reference
# New samples whose loss is measured before training on them; that takes half as long as a step.
_NUM_HELD_OUT_SAMPLES = 512
_STEPS_BETWEEN_EVENTS = 16  # of the learner
_Played = tuple[list[GameRecord], IterationReport]  # the games of an iteration, the new report


class Trainer:
    """A training run.

    Args:
        settings: checked settings; those left to "auto" are filled in.
        folder: where all files of the run go.

    Attributes:
        tuning: what was measured for the settings left to "auto"; None if there were none.
        evaluator: runs the network in search.
        iteration: the iteration in progress or, between iterations, the last one.
        stored_iteration: the last stored iteration, after which a resume continues; 0 if none.
    """

    def __init__(self, settings: TrainSettings, folder: RunFolder):
        self.settings = settings
        self.folder = folder
        self.game = make_game(settings.game.name)
        self._num_threads = set_num_threads(settings.run.num_threads)
        device = choose_device(settings.device)
        network = self._make_network(device)
        wanted_evaluator = dataclasses.replace(settings.evaluator)
        self.tuning = tune(settings, self.game, network, device, self._num_threads)
        self.learner = Learner(network, settings.learner, device)
        self._sample = sample_positions(
            self.game, _NUM_ENGINE_POSITIONS, child_generator(settings.seed, "sample")
        )
        self.evaluator = self._make_evaluator(self.learner.played_network)
        self.source = make_source(
            SourceSettings(
                settings.workers,
                settings.network,
                settings.evaluator,
                wanted_evaluator,
                settings.search,
                settings.selfplay,
                settings.seed,
                settings.device,
            ),
            self.game,
            self.evaluator.streams,
        )
        generator = child_generator(settings.seed, "replay")
        self.replay = ReplayBuffer(self.game, settings.replay, generator)
        self.gate = Gate(self.game, settings, self.learner, self._make_evaluator)
        self.strength = StrengthMeasurement(self.game, settings)
        self.health = HealthMonitor(settings)
        self.iteration = 0
        self.stored_iteration = 0
        self._elapsed_s = 0.0
        self._num_samples: dict[int, int] = {}  # by iteration, of those whose games are stored
        self._positions_per_s = math.nan
        self._store_s = 0.0
        self._collected_at = 0.0  # when the last games were; 0 before the first

    def run(self) -> Iterator[StageProgress | IterationReport]:
        """Play, learn, measure and store until the run is finished; yield what happens.

        An iteration is stored when the caller requests the next event after its report. So what is
        written about it is there before it counts, and a resume finds no gap.

        Raises:
            TrainingDivergedError: if the weights are not finite; the last stored iteration remains.
        """
        if self.iteration == 0:
            self.folder.write_config(dataclasses.asdict(self.settings))
            self.gate.accept()
        self.source.update(self.iteration, self.learner.played_network, self._sample)
        try:
            yield from self._run()
        finally:
            self.source.close()

    def _run(self) -> Iterator[StageProgress | IterationReport]:
        """Make iterations until the run is finished."""
        finished = self.finished
        while not finished:
            start = time.monotonic()
            records, report = yield from self._play()
            yield from self._learn(report)
            self._check_weights(report)
            yield from self._pit(report)
            self._update_evaluator(report)
            report.store_s = self._store_s
            self._elapsed_s += time.monotonic() - start
            report.last = self.finished
            yield from self._measure(report)
            finished = report.last = report.last or self._is_proven(report)
            report.elapsed_s = self._elapsed_s
            report.free_disk_gb = shutil.disk_usage(self.folder.path).free / 1e9
            self.health.observe(report)
            self._illustrate(records, report)
            yield report
            self._store(records, report)

    @property
    def finished(self) -> bool:
        """Whether the run has made all its iterations or used up its time."""
        return bool(self.reached_limits)

    @property
    def reached_limits(self) -> dict[str, int | float]:
        """The settings that end the run now, with their values."""
        run = self.settings.run
        reached: dict[str, int | float] = {}
        if self.iteration >= run.num_iterations:
            reached["run.num_iterations"] = run.num_iterations
        if run.time_limit_s and self._elapsed_s >= run.time_limit_s:
            reached["run.time_limit_s"] = run.time_limit_s
        return reached

    @property
    def elapsed_s(self) -> float:
        """The seconds of training so far, those before a resume included."""
        return self._elapsed_s

    @property
    def run_fraction(self) -> float:
        """The fraction of the run that is done, in [0, 1]."""
        return self._fraction_after(self.iteration)

    # --- the stages of an iteration ---------------------------------------------------------------

    def _play(self) -> Generator[StageProgress, None, _Played]:
        """Play the games of an iteration; return them and the new report."""
        self.iteration += 1
        num_games = self.settings.selfplay.games_per_iteration
        work_before = self.source.work
        start = time.monotonic()
        records: list[GameRecord] = []
        num_positions = 0
        for played in self.source.play(num_games, self._fraction_after(self.iteration - 1)):
            records += played.records
            num_positions += sum(len(record.actions) for record in played.records)
            self._positions_per_s = num_positions / (time.monotonic() - start)
            progress = self._progress("self-play", min(len(records), num_games), num_games)
            yield progress._replace(notices=tuple(played.notices))
        self.replay.begin_iteration()
        num_samples = sum(self.replay.add(record) for record in records)
        self._num_samples[self.iteration] = num_samples
        seconds = time.monotonic() - start
        work = self.source.work.since(work_before)
        played_s = self._played_s(seconds)
        selfplay = selfplay_report(records, num_samples, work, played_s)
        report = IterationReport(
            self.iteration, selfplay, LearnerReport(), self.replay.window, selfplay_s=seconds
        )
        report.workers = workers_report(self.source.worker_reports(), played_s)
        return records, report

    def _played_s(self, seconds: float) -> float:
        """Return the seconds in which the newest games were played.

        Args:
            seconds: that the trainer waited for them.
        """
        now = time.monotonic()
        if self.source.plays_on and self._collected_at:
            seconds = now - self._collected_at
        self._collected_at = now
        return seconds

    def _learn(self, report: IterationReport) -> Iterator[StageProgress]:
        """Measure the loss on samples of the new games, then train on the replay window."""
        start = time.monotonic()
        held_out = self.replay.evenly_spaced(report.selfplay.num_samples, _NUM_HELD_OUT_SAMPLES)
        if held_out is not None:
            report.held_out = self.learner.held_out_losses(held_out)
        num_steps = self.learner.steps_for(report.selfplay.num_samples, self.replay.window)
        batches = self._timed(self._batches(num_steps), report)
        for done in self.learner.learn(batches, self._fraction_after(self.iteration - 1)):
            if done % _STEPS_BETWEEN_EVENTS == 0 or done == num_steps:
                self.source.tend()
                yield self._progress("learning", done, num_steps)
        report.learner = self.learner.report
        report.learner_s = time.monotonic() - start

    def _batches(self, num_steps: int) -> Iterator[Batch]:
        """Yield the batches of an iteration."""
        settings = self.settings.learner
        if settings.epochs:
            yield from self.replay.epochs(settings.batch_size, settings.epochs, settings.reshuffle)
        else:
            for _ in range(num_steps):
                yield self.replay.sample(settings.batch_size)

    def _timed(self, batches: Iterator[Batch], report: IterationReport) -> Iterator[Batch]:
        """Pass batches on; add the time that it takes to make them to the report."""
        while True:
            start = time.monotonic()
            batch = next(batches, None)
            report.sampling_s += time.monotonic() - start
            if batch is None:
                return
            yield batch

    def _check_weights(self, report: IterationReport) -> None:
        """Stop the run before a diverged network plays or is stored."""
        resume_words = self.folder.resume_words(self.game.name)
        check_weights(report, self.settings, self.stored_iteration, resume_words)

    def _pit(self, report: IterationReport) -> Iterator[StageProgress]:
        """If a pit is due, let the gate decide which network stays."""
        if self.gate.is_due(self.iteration):
            yield self._progress("pit", 0, self.settings.pit.num_games)
            report.pit = self.gate.pit(self.evaluator, self._sample, self.iteration)

    def _update_evaluator(self, report: IterationReport) -> None:
        """Let search use the new weights, on an engine compared with float32."""
        self.evaluator.update(self.learner.played_network, self._newest_positions())
        report.engine = self.evaluator.report
        self.source.update(self.iteration, self.learner.played_network, self._sample)

    def _measure(self, report: IterationReport) -> Iterator[StageProgress]:
        """Measure the strength of the network if that is due."""
        start = time.monotonic()
        for measurement, num_parts in self.strength.measure(report, self.evaluator):
            yield self._progress(measurement, 0, num_parts)
        report.measure_s = time.monotonic() - start

    def _illustrate(self, records: list[GameRecord], report: IterationReport) -> None:
        """Add a sample game and the illustrations to the report if they are due."""
        every = self.settings.run.sample_game_every
        if every and (report.last or self.iteration % every == 0):
            report.selfplay.sample_game = game_text(self.game, records[0])
            report.illustrations = illustrations(records, self.learner.played_network)

    def _is_proven(self, report: IterationReport) -> bool:
        """Return whether the run ends early because the network plays every position perfectly."""
        stop = self.settings.evaluation.stop_when_proven
        return stop and report.proof is not None and report.proof.perfect

    # --- stored files -----------------------------------------------------------------------------

    def _store(self, records: list[GameRecord], report: IterationReport) -> None:
        """Write games, network and state, in this order: the state makes the iteration count."""
        start = time.monotonic()
        self.folder.save_games(self.iteration, records)
        info = {
            "run": self.folder.path.name,
            "iteration": self.iteration,
            "elapsed_s": round(self._elapsed_s, 1),
        }
        if report.strength is not None:
            info["strength"] = dataclasses.asdict(report.strength)
        save_network(
            self.folder.network(self.iteration),
            network_arrays(self.learner.played_network),
            self.game.name,
            dataclasses.asdict(self.settings.network),
            info,
        )
        save_state(self.folder.state, self.state_dict())
        self.source.stored()
        self.stored_iteration = self.iteration
        self.folder.drop_games(self.settings.replay.window_max, self._num_samples)
        self.folder.drop_networks(self.settings.run.keep_networks)
        self._store_s = time.monotonic() - start

    def state_dict(self) -> dict:
        """Return what a resume needs besides the stored games."""
        return {
            "iteration": self.iteration,
            "elapsed_s": self._elapsed_s,
            "learner": self.learner.state_dict(),
            "accepted": self.gate.accepted,
            "selfplay": self.source.state_dict(),
            "replay": self.replay.state_dict(),
            "rows_of": self._num_samples,
            "health": self.health.state_dict(),
        }

    def restore(self) -> None:
        """Continue after the last stored iteration of the folder.

        Raises:
            StoredFileError: if its files cannot be read.
        """
        path = self.folder.state
        try:
            self._load_state(load_state(path))
        except StoredFileError as error:
            raise self._not_resumable(str(error), error.path) from None
        except (KeyError, TypeError, AttributeError) as error:
            message = f"'{path}' does not hold what this version needs."
            raise self._not_resumable(message, path) from error
        self.evaluator.update(self.learner.played_network, self._newest_positions())
        self.folder.cut_metrics(self.iteration)

    def _load_state(self, state: dict) -> None:
        self.iteration = self.stored_iteration = state["iteration"]
        self._elapsed_s = state["elapsed_s"]
        self.learner.load_state_dict(state["learner"])
        self.gate.accepted = state["accepted"]
        if self.gate.accepted is None:
            self.gate.accept()
        self.source.load_state_dict(state["selfplay"])
        self._num_samples = {int(number): count for number, count in state["rows_of"].items()}
        games = self.folder.load_games(self.iteration, self.settings.replay.window_max)
        self.replay.load_state_dict(state["replay"], games)
        self.health.load_state_dict(state.get("health"))

    def _not_resumable(self, reason: str, path: Path) -> StoredFileError:
        networks = self.folder.path / "networks"
        return StoredFileError(
            f"{reason} Without it the run cannot be resumed; its networks in {networks} can still "
            "play.",
            path=path,
        )

    # --- parts ------------------------------------------------------------------------------------

    def _make_network(self, device: torch.device) -> torch.nn.Module:
        settings = self.settings
        network = make_network(
            self.game.planes_shape, self.game.num_actions, settings.network, settings.seed
        )
        return network.to(device)

    def _make_evaluator(self, network: torch.nn.Module) -> NetworkEvaluator:
        settings = self.settings.evaluator
        return NetworkEvaluator(
            network,
            self._sample,
            self.game,
            EngineChoice(settings.engine, settings.precision),
            settings,
            self.learner.device,
            self._num_threads,
        )

    def _newest_positions(self) -> PositionSample:
        """Return positions of the newest games; before the first game, random ones."""
        states = self.replay.newest_states(_NUM_ENGINE_POSITIONS)
        if len(states):
            self._sample = PositionSample(
                self.game.observe(states), self.game.legal_action_mask(states)
            )
        return self._sample

    def _fraction_after(self, num_iterations: int) -> float:
        """Return the fraction of the run that is done, by iterations or by time: the larger one."""
        run = self.settings.run
        by_time = self._elapsed_s / run.time_limit_s if run.time_limit_s else 0.0
        return min(max(num_iterations / run.num_iterations, by_time), 1.0)

    def _progress(self, stage: str, done: int, total: int) -> StageProgress:
        """Return the event that tells how far the iteration in progress is."""
        num_finished = self.iteration - 1
        fraction = self._fraction_after(num_finished)
        return StageProgress(
            stage=stage,
            done=done,
            total=total,
            iteration=self.iteration,
            run_fraction=fraction,
            iteration_fraction=fraction / max(num_finished, 1),
            positions_per_s=self._positions_per_s,
            loss=self.learner.report.loss,
        )
