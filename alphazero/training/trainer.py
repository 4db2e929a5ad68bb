"""The training loop: the only module that depends on every stage, from self-play to storage.

Given the settings and the folder of a run, a `Trainer` yields events (`alphazero.training.events`)
and writes the files of the run. `Trainer.run` follows the pseudo-code of the paper (Silver et al.
2018): play games with the network, train it on them, and, if there is a gate, keep the new network
only if it beats the old one.

A run is deterministic: on a CPU, a run that is stopped after an iteration and resumed ends with the
same weights, bit for bit, as an uninterrupted one, unless it has a time limit (`run.time_limit_s`).
"""

import contextlib
import dataclasses
import itertools
import math
import statistics
import time
from collections.abc import Generator, Iterator

import numpy as np
import torch

from alphazero.games.batched_game import Game
from alphazero.inference.engines.agreement import PositionSample, sample_positions
from alphazero.inference.engines.registry import EngineChoice
from alphazero.inference.evaluator import ImpossibleAnswersError, UniformEvaluator
from alphazero.inference.network_evaluator import EvaluatorSettings, NetworkEvaluator
from alphazero.learner.learner import Learner
from alphazero.network.registry import make_network
from alphazero.network.windows import WindowNetwork
from alphazero.own_games.registry import make_game
from alphazero.replay.buffer import Batch, ReplayBuffer
from alphazero.replay.settings import ReplaySettings
from alphazero.runtime.device import choose_device, set_num_threads
from alphazero.runtime.errors import StoredFileError
from alphazero.runtime.random_generators import child_generator
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.settings import games_in, games_until
from alphazero.selfplay.threads import ParallelSelfPlay
from alphazero.storage.run_folder import RunFolder
from alphazero.training.board import NUM_ENGINE_POSITIONS, Board
from alphazero.training.events import IterationReport, StageProgress
from alphazero.training.gate import Gate
from alphazero.training.health import HealthMonitor, TrainingDivergedError
from alphazero.training.reports import selfplay_report, workers_report
from alphazero.training.resume import RunStore
from alphazero.training.settings import TrainSettings, fill_in_auto
from alphazero.training.strength import StrengthMeasurement
from alphazero.workers.choose_source import make_source, plays_on_here

# New samples whose loss is measured before training; this takes half as long as a learner step.
_NUM_HELD_OUT_SAMPLES = 512
_STEPS_BETWEEN_EVENTS = 16  # learner steps between two events
_NUM_TIMED_ITERATIONS = 3  # newest iterations; their median duration predicts the next one
#: Typical start and end of a stage, as fractions of an iteration; the other stages come last.
_STAGES = {"self-play": (0.0, 0.7), "learning": (0.7, 1.0)}


class Trainer:
    """A training run, which plays games, trains the network on them and stores every iteration.

    Args:
        settings: checked settings; values left to "auto" are replaced in place.
        folder: the folder for all of the run's files.
        game: the game of the settings, as `alphazero.training.settings.check_run` returns it.

    Attributes:
        boards: the game and the other boards of `game.also`, which iterations play in turn.
        store: writes finished iterations to the folder, and restores them.
        iteration: the iteration in progress or, between iterations, the last finished one.
        elapsed_s: seconds of training so far, including those before the run was resumed, but
            without measurements.
    """

    def __init__(self, settings: TrainSettings, folder: RunFolder, game: Game):
        self.settings = settings
        self.folder = folder
        self.game = game
        self._num_threads = set_num_threads(settings.run.num_threads)
        device = choose_device(settings.device)
        self._compile()
        network = make_network(game, settings.network, settings.seed)
        games = [game, *map(make_game, settings.game.also)]
        if isinstance(network, WindowNetwork):
            for other in games[1:]:
                network.add_board(*other.planes_shape[1:])
        network = network.to(device)
        wanted_evaluator = dataclasses.replace(settings.evaluator)
        fill_in_auto(settings, device)
        shares = plays_on_here(settings.workers, self.game, self._num_threads)
        self.learner = Learner(network, settings.learner, device, self._num_threads, shares)
        replay = dataclasses.replace(  # the boards share the window equally
            settings.replay,
            window_start=-(-settings.replay.window_start // len(games)),
            window_max=-(-settings.replay.window_max // len(games)),
        )
        self.boards = [self._make_board(one, wanted_evaluator, replay) for one in games]
        self.gate = Gate(self.game, settings, self.learner, self._make_evaluator)
        self.strength = StrengthMeasurement(self.game, settings)
        self.health = HealthMonitor(settings)
        self.store = RunStore(folder, settings, self.boards, self.learner, self.gate)
        self.iteration = 0
        self.elapsed_s = 0.0
        self._durations_s: list[float] = []  # durations of the iterations so far
        # When self-play of the current iteration began; None outside its training.
        self._started_at: float | None = None
        # Seconds of learning and pit per game in the last iteration; None before the first.
        self._learn_s_per_game: float | None = None
        self._collected_at = 0.0  # time when the last games were collected; 0 before the first

    def run(self) -> Iterator[StageProgress | IterationReport]:
        """Play, learn, measure and store until the run is finished, yielding progress and reports.

        The run is finished when it has reached its number of iterations or its time limit, or when
        the network's moves are proven perfect and `evaluation.stop_when_proven` is set.

        An iteration is stored when the caller requests the next event after its report. Loggers
        therefore record an iteration before it counts as finished, and a resumed run leaves no gap
        in their records.

        Raises:
            TrainingDivergedError: if the weights or the network's outputs are not finite; all
                stored iterations are kept.
        """
        if self.iteration == 0:
            self.folder.write_config(dataclasses.asdict(self.settings))
            self.folder.write_rules(self.game.rules_text)
            self.gate.accept()
        self._update_sources()
        is_last = bool(self.reached_limits)
        try:
            while not is_last:
                self._started_at = time.monotonic()
                records, report = yield from self._play()
                yield from self._learn(report)
                yield from self._pit(report)
                self._stop_clock(report)
                yield from self._measure(report)
                self._complete(report, records)
                yield report
                self.store.write(records, report)
                is_last = report.last
        finally:
            for board in self.boards:
                board.source.close()

    def restore(self) -> None:
        """Restore the run from its folder, so that `run` continues after the last stored iteration.

        Raises:
            StoredFileError: if no stored state can be restored.
            ConfigError: if the rules of the game have changed, and either `run.drop_games` is not
                set or the network no longer fits the rules.
        """
        self.elapsed_s = self.store.restore()
        self.iteration = self.store.iteration
        self.folder.cut_metrics(self.iteration)
        with contextlib.suppress(StoredFileError):  # metrics.jsonl was removed
            rows = self.folder.read_metrics()
            self.health.restore(rows)
            times = [0.0, *(row["elapsed_s"] for row in rows)]
            self._durations_s = [end - start for start, end in itertools.pairwise(times)]
        self._update_evaluators()

    @property
    def board(self) -> Board:
        """The board that the iteration in progress plays, or the last one has played."""
        return self.boards[max(self.iteration - 1, 0) % len(self.boards)]

    @property
    def evaluator(self) -> NetworkEvaluator:
        """Runs the newest network on the run's first board, for self-play and measurements."""
        return self.boards[0].evaluator

    @property
    def resume_words(self) -> str:
        """The command-line arguments with which `alphazero train` resumes the run."""
        return self.folder.resume_words(self.game.name, self.settings.network.kind)

    @property
    def reached_limits(self) -> dict[str, int | float]:
        """The limits that forbid another iteration, as {setting: value}; empty if none does.

        The time limit counts as reached if the time left is less than a usual iteration takes.
        """
        run = self.settings.run
        reached: dict[str, int | float] = {}
        if self.iteration >= run.num_iterations:
            reached["run.num_iterations"] = run.num_iterations
        left_s = run.time_limit_s - self.elapsed_s
        if run.time_limit_s and (left_s <= 0 or left_s < self.usual_iteration_s):
            reached["run.time_limit_s"] = run.time_limit_s
        return reached

    @property
    def usual_iteration_s(self) -> float:
        """The median duration of the last three iterations, in seconds, without measurements.

        It is 0 before the first iteration has ended.
        """
        if not self._durations_s:
            return 0.0
        return statistics.median(self._durations_s[-_NUM_TIMED_ITERATIONS:])

    @property
    def progress(self) -> float:
        """The fraction of the whole run that is done, in [0, 1].

        It is the fraction of the games or, if larger, of the time limit.
        """
        return self._progress_after(self.iteration)

    # --- the stages of an iteration ---------------------------------------------------------------

    def _play(self) -> Generator[StageProgress, None, tuple[list[GameRecord], IterationReport]]:
        """Start the next iteration: play its games and add them to its board's replay window.

        If the time limit would be exceeded, self-play ends with the games that have finished, at
        least one.

        Yields:
            A progress event whenever games have finished.

        Returns:
            The games, and a new report with the metrics of self-play.
        """
        self.iteration += 1
        board = self.board
        num_games = games_in(self.settings.selfplay, self.iteration)
        start = time.monotonic()
        records: list[GameRecord] = []
        for played in board.source.play(num_games, self._progress_after(self.iteration - 1)):
            records += played.records
            event = self._event("self-play", min(len(records), num_games), num_games)
            yield event._replace(notices=tuple(played.notices))
            if records and self._exceeds_limit(len(records)):
                break
        board.replay.begin_iteration()
        num_samples = sum(board.replay.add(record) for record in records)
        now = time.monotonic()
        work = board.new_work()
        # Workers that play on while the network learns have played since the last collection.
        if board.source.plays_on and self._collected_at:
            played_s = now - self._collected_at
        else:
            played_s = now - start
        self._collected_at = now
        selfplay = selfplay_report(board.game, records, num_samples, work, played_s)
        report = IterationReport(self.iteration, selfplay, window=board.replay.window)
        report.selfplay_s = now - start
        report.workers = workers_report(board.source.tally(), played_s)
        return records, report

    def _learn(self, report: IterationReport) -> Iterator[StageProgress]:
        """Measure the loss on samples of the new games, then train on the replay windows.

        Training ends at the time limit, after at least one step.

        Args:
            report: the iteration's report, which receives the losses.

        Yields:
            A progress event every 16 learner steps and after the last step.

        Raises:
            TrainingDivergedError: if the losses or weights are not finite. The network has then
                neither played nor been stored.
        """
        start = time.monotonic()
        replay = self.board.replay
        held_out = replay.evenly_spaced(report.selfplay.num_samples, _NUM_HELD_OUT_SAMPLES)
        if held_out is not None:
            report.held_out = self.learner.held_out_losses(held_out)
        num_steps = self.learner.steps_for(report.selfplay.num_samples, replay.window)
        batches = self._batches(num_steps, report)
        for done in self.learner.learn(batches, self._progress_after(self.iteration - 1)):
            if done % _STEPS_BETWEEN_EVENTS == 0 or done == num_steps:
                self.board.source.poll()
                yield self._event("learning", done, num_steps)
        report.learner = self.learner.report
        report.learner_s = time.monotonic() - start
        figures = report.learner.loss, report.learner.weight_norm
        if not all(map(math.isfinite, figures)) or not self.learner.is_finite:
            raise self._diverged(report)

    def _pit(self, report: IterationReport) -> Iterator[StageProgress]:
        """Run the gate's match if it is due, then load the kept network into the evaluators.

        Args:
            report: the iteration's report, which receives the result of the match.

        Yields:
            A progress event if the match is due.

        Raises:
            TrainingDivergedError: if the weights are finite but the network's outputs are not.
        """
        try:
            if self.gate.is_due(self.iteration):
                yield self._event("pit", 0, self.settings.pit.num_games)
                report.pit = self.gate.pit(self.evaluator, self.boards[0].sample, self.iteration)
            self._update_evaluators()
        except ImpossibleAnswersError as error:
            raise self._diverged(report) from error
        report.engine = self.evaluator.report
        self._update_sources()

    def _measure(self, report: IterationReport) -> Iterator[StageProgress]:
        """Measure the network's strength if that is due, and decide whether the run ends.

        Args:
            report: the iteration's report, which receives the measurements and ``last``.

        Yields:
            A progress event before each measurement.
        """
        start = time.monotonic()
        report.last = bool(self.reached_limits)
        for measurement, num_parts in self.strength.measure(report, self.evaluator):
            yield self._event(measurement, 0, num_parts)
        report.measure_s = time.monotonic() - start
        is_proven = report.proof is not None and report.proof.report.perfect
        report.last |= self.settings.evaluation.stop_when_proven and is_proven

    def _complete(self, report: IterationReport, records: list[GameRecord]) -> None:
        """Complete an iteration's report with times, alarms and its first game as a sample."""
        report.elapsed_s = self.elapsed_s
        report.store_s = self.store.seconds
        self.health.observe(report)
        report.sample_game = records[0] if self.board is self.boards[0] else None

    # --- parts ------------------------------------------------------------------------------------

    def _compile(self) -> None:
        """Compile the kernels of self-play by playing a short game, before any time is measured."""
        few = dataclasses.replace(self.settings.selfplay, num_parallel_games=1, num_simulations=2)
        evaluators = [UniformEvaluator(self.game.num_actions)]
        generator = np.random.default_rng(0)
        selfplay = ParallelSelfPlay(self.game, evaluators, few, self.settings.search, generator)
        list(selfplay.play(1))

    def _batches(self, num_steps: int, report: IterationReport) -> Iterator[Batch]:
        """Yield an iteration's training batches, adding the time for making them to the report.

        Args:
            num_steps: number of batches; ignored if ``learner.epochs`` is set.
            report: the iteration's report, whose ``sampling_s`` is increased.
        """
        settings = self.settings.learner
        newest = self.boards.index(self.board)
        boards = [*self.boards[newest:], *self.boards[:newest]]
        replays = [board.replay for board in boards if board.replay.window]
        in_turn = itertools.islice(itertools.cycle(replays), num_steps)
        batches: Iterator[Batch]
        batches = (replay.sample(settings.batch_size) for replay in in_turn)
        if settings.epochs:
            replay = self.board.replay
            batches = replay.epochs(settings.batch_size, settings.epochs, settings.reshuffle)
        while True:
            start = time.monotonic()
            batch = next(batches, None)
            report.sampling_s += time.monotonic() - start
            if batch is None:
                return
            yield batch
            if not settings.epochs and self._exceeds_limit(0):  # epochs are trained to their end
                return

    def _diverged(self, report: IterationReport) -> TrainingDivergedError:
        return TrainingDivergedError(report, self.settings, self.store.iteration, self.resume_words)

    def _make_board(self, game: Game, wanted: EvaluatorSettings, settings: ReplaySettings) -> Board:
        """Make the parts of the run that depend on a board.

        Args:
            wanted: the user's evaluator settings, which may say "auto".
            settings: those of this board's replay buffer.
        """
        seed = self.settings.seed
        sample = sample_positions(game, NUM_ENGINE_POSITIONS, child_generator(seed, "sample"))
        evaluator = self._make_evaluator(self.learner.played_network, game, sample)
        source = make_source(self.settings, wanted, game, evaluator.streams, self._num_threads)
        replay = ReplayBuffer(game, settings, child_generator(seed, "replay"))
        return Board(game, sample, evaluator, source, replay)

    def _make_evaluator(
        self, network: torch.nn.Module, game: Game, sample: PositionSample
    ) -> NetworkEvaluator:
        settings = self.settings.evaluator
        return NetworkEvaluator(
            network,
            sample,
            game,
            EngineChoice(settings.engine, settings.precision),
            settings,
            self.learner.device,
            self._num_threads,
        )

    def _update_evaluators(self) -> None:
        for board in self.boards:
            board.evaluator.update(self.learner.played_network, board.newest_positions())

    def _update_sources(self) -> None:
        for board in self.boards:
            board.source.update(self.iteration, self.learner.played_network, board.sample)

    def _progress_after(self, num_iterations: int) -> float:
        """Return the fraction of the run that is done after ``num_iterations``, in [0, 1].

        It is the fraction of the games or, if larger, of the time limit, if there is one.
        """
        return self._fraction(games_until(self.settings.selfplay, num_iterations), self.elapsed_s)

    def _fraction(self, num_games: float, seconds: float) -> float:
        """Return the larger of two fractions, of the run's games and of its time limit, if any."""
        run = self.settings.run
        all_games = games_until(self.settings.selfplay, run.num_iterations)
        by_time = seconds / run.time_limit_s if run.time_limit_s else 0.0
        return min(max(num_games / all_games, by_time), 1.0)

    @property
    def _iteration_s(self) -> float:
        """Seconds of training in the current iteration; 0 while its strength is measured."""
        return 0.0 if self._started_at is None else time.monotonic() - self._started_at

    def _stop_clock(self, report: IterationReport) -> None:
        """Add the duration of the iteration's training to the time of the run."""
        seconds = self._iteration_s
        self._started_at = None
        self._durations_s.append(seconds)
        self.elapsed_s += seconds
        self._learn_s_per_game = (seconds - report.selfplay_s) / report.selfplay.num_games

    def _exceeds_limit(self, num_games: int) -> bool:
        """Return whether the iteration would exceed the run's time limit.

        Args:
            num_games: number of games still to learn from, 0 while learning. In the
                first iteration, learning is assumed to take as long as self-play.
        """
        limit_s = self.settings.run.time_limit_s
        if not limit_s:
            return False
        seconds = self._iteration_s
        learn_s = 0.0
        if num_games:
            per_game = self._learn_s_per_game
            learn_s = seconds if per_game is None else per_game * num_games
        return self.elapsed_s + seconds + learn_s >= limit_s

    def _event(self, stage: str, done: int, total: int) -> StageProgress:
        """Make a progress event for the current iteration.

        Args:
            stage: name of the stage, such as "self-play".
            done: number of finished parts of the stage, such as games.
            total: number of parts of the whole stage.
        """
        settings = self.settings.selfplay
        begin, end = _STAGES.get(stage, (1.0, 1.0))
        part = begin + (end - begin) * done / max(total, 1)
        num_games = part * games_in(settings, self.iteration)
        num_games += games_until(settings, self.iteration - 1)
        return StageProgress(
            stage=stage,
            done=done,
            total=total,
            iteration=self.iteration,
            progress=self._fraction(num_games, self.elapsed_s + self._iteration_s),
        )
