"""The training loop: the one file that knows the whole arrow, from self-play to the stored network.

In: settings and a run's folder. Out: a stream of events (`alphazero.training.events`). `Trainer.run` reads like the pseudo-code of the paper (Silver et
al. 2018): play games with the network, learn from them, and, if asked for, keep the new network only where it beats the old one.

A run is deterministic: on a CPU, stopping after an iteration and resuming gives the same weights, bit for bit, as never having stopped. Only the
clock can change that (`run.time_limit_s`).
"""

import dataclasses
import math
import shutil
import time
from collections.abc import Iterator

import numpy as np

from alphazero.evaluation.exact.accuracy import measure_accuracy
from alphazero.evaluation.exact.sets import EvaluationSet, read_set, shipped_path
from alphazero.evaluation.match import Openings, play_match
from alphazero.games.registry import make_game, same_game
from alphazero.inference.engines.agreement import PositionSample, sample_positions
from alphazero.inference.engines.engine import EngineChoice
from alphazero.inference.network_evaluator import NetworkEvaluator
from alphazero.learner.learner import Learner
from alphazero.network.registry import make_network
from alphazero.network.weights import network_arrays, save_network
from alphazero.players.base import PlayerSettings
from alphazero.players.network import EvaluatorPlayer
from alphazero.players.uct import UctPlayer
from alphazero.replay.buffer import Replay
from alphazero.runtime.device import choose_device, set_num_threads
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.threads import ParallelSelfPlay
from alphazero.solvers.enumeration import ExactValues
from alphazero.solvers.proof import prove
from alphazero.storage.checkpoint import load_state, save_state
from alphazero.storage.run_folder import RunFolder
from alphazero.training.autotune import tune
from alphazero.training.events import (
    ExactReport,
    IterationReport,
    PitReport,
    ProofSummary,
    SelfPlayReport,
    StageProgress,
    StrengthReport,
)
from alphazero.training.health import HealthMonitor, divergence
from alphazero.training.settings import TrainSettings
from alphazero.training.symptoms import lower_rate

_SAMPLE_ROWS = (
    256  # positions that the engine is calibrated with and compared on after each iteration
)
_HELD_OUT_SAMPLES = 512  # of an iteration's new games, that the network is tested on before it learns from them: half the time of one step of learning


class Trainer:
    """A training run.

    Args:
        settings: checked settings.
        folder: where everything goes.
    """

    def __init__(self, settings: TrainSettings, folder: RunFolder):
        self.settings = settings
        self.folder = folder
        self._num_threads = set_num_threads(settings.run.num_threads)
        self.game = make_game(settings.game.name)
        device = choose_device(settings.device)
        network = make_network(
            self.game.planes_shape, self.game.num_actions, settings.network, settings.seed
        ).to(device)
        self.tuning = tune(
            settings, self.game, network, device, self._num_threads
        )  #: what was measured, None if nothing was left open
        self.learner = Learner(network, settings.learner, device)
        self._sample = sample_positions(
            self.game, _SAMPLE_ROWS, child_generator(settings.seed, "sample")
        )
        self.evaluator = self._evaluator(self.learner.played_network)
        generator = child_generator(settings.seed, "self-play")
        self.selfplay = ParallelSelfPlay(
            self.game, self.evaluator.streams, settings.selfplay, settings.search, generator
        )
        generator = child_generator(settings.seed, "replay")
        self.replay = Replay(self.game, settings.replay, generator, settings.network.ownership_head)
        self.health = HealthMonitor(settings)
        self.iteration = 0
        self.stored_iteration = 0  #: the one after which a resume goes on
        self._elapsed_s = 0.0
        self._rows_of: dict[int, int] = {}  # target rows of each iteration whose games are stored
        self._accepted: dict | None = None  # the learner's state at the last accepted pit
        self._exact: ExactValues | None = None
        self._evaluation_set: EvaluationSet | None = None
        self._positions_per_s = math.nan
        self._stored_s = 0.0

    def run(self) -> Iterator[StageProgress | IterationReport]:
        """Play, learn, measure and store until the run is done; yield what happens.

        Raises:
            ValueError: with plain sentences if the weights are not finite any more; the iteration before is kept.
        """
        if self.iteration == 0:
            self.folder.write_config(dataclasses.asdict(self.settings))
            self._accepted = self.learner.state_dict() if self.settings.pit.every else None
        finished = self.finished
        while not finished:
            start = time.monotonic()
            records, report = yield from self._play()
            yield from self._learn(report)
            self._stop_if_diverged(report)
            yield from self._pit(report)
            self._update_evaluator(report)
            report.store_s = self._stored_s
            self._elapsed_s += time.monotonic() - start
            finished = report.last = self.finished
            measured = time.monotonic()
            yield from self._measure(report)
            report.measure_s = time.monotonic() - measured
            finished = report.last = finished or self._is_proven(report)
            report.elapsed_s = self._elapsed_s
            report.free_disk_gb = shutil.disk_usage(self.folder.path).free / 1e9
            self.health.observe(report)
            yield report
            self._store(records, report)

    @property
    def finished(self) -> bool:
        """Whether the run has done all its iterations or used up its time."""
        return self.run_fraction >= 1.0

    @property
    def run_fraction(self) -> float:
        """The share of the run that is done, in [0, 1]."""
        return self._share(self.iteration)

    # --- the stages of an iteration -----------------------------------------------------------------------------------------------------

    def _play(self):
        """Play the games of an iteration; return them and the beginning of the report."""
        self.iteration += 1
        wanted = self.settings.selfplay.games_per_iteration
        counts, stream_counts = self.selfplay.counts, self._stream_counts()
        start = time.monotonic()
        records: list[GameRecord] = []
        num_positions = 0
        for record in self.selfplay.play(wanted, self._share(self.iteration - 1)):
            records.append(record)
            num_positions += len(record.actions)
            self._positions_per_s = num_positions / (time.monotonic() - start)
            yield self._progress("self-play", min(len(records), wanted), wanted)
        num_samples = sum(self.replay.add(record) for record in records)
        self._rows_of[self.iteration] = num_samples
        selfplay = self._selfplay_report(
            records, num_samples, counts, stream_counts, time.monotonic() - start
        )
        return records, IterationReport(
            self.iteration, selfplay, None, self.replay.window, selfplay_s=selfplay.seconds
        )

    def _learn(self, report: IterationReport):
        """Look at what the network says of the new games, then train it on the window."""
        start = time.monotonic()
        fresh = self.replay.spread(report.selfplay.num_samples, _HELD_OUT_SAMPLES)
        if fresh is not None:
            report.held_out = self.learner.losses_on(fresh)
        steps = self.learner.steps_for(report.selfplay.num_samples, self.replay.window)
        for done in self.learner.learn(
            self._timed(self._batches(steps), report), self._share(self.iteration - 1)
        ):
            if done % 16 == 0 or done == steps:
                yield self._progress("learning", done, steps)
        report.learner = self.learner.report
        report.learner_s = time.monotonic() - start

    def _stop_if_diverged(self, report: IterationReport) -> None:
        """Stop before a network that is of no use any more plays, or takes the place of the one that is stored."""
        sentence = divergence(report)
        if sentence is not None:
            rate = "=".join(lower_rate(self.settings))
            kept = f"Iteration {self.stored_iteration} is kept; go on from it with:  alphazero train {self.folder.resume_words(self.game.name)} {rate}"
            raise ValueError(
                f"{sentence} {kept if self.stored_iteration else f'Begin again with {rate}.'}"
            )

    def _timed(self, batches, report: IterationReport):
        """Pass the batches on, and add up the time that it takes to make them."""
        while True:
            start = time.monotonic()
            batch = next(batches, None)
            report.sampling_s += time.monotonic() - start
            if batch is None:
                return
            yield batch

    def _batches(self, steps: int):
        settings = self.settings.learner
        if settings.epochs:
            for _ in range(settings.epochs):
                yield from self.replay.epoch(settings.batch_size)
        else:
            for _ in range(steps):
                yield self.replay.sample(settings.batch_size)

    def _pit(self, report: IterationReport):
        """Let the new network play the last accepted one, and restore that where the new one is not better by enough."""
        pit = self.settings.pit
        if not pit.every or self.iteration % pit.every:
            return
        yield self._progress("pit", 0, pit.num_games)
        old = make_network(self.game.planes_shape, self.game.num_actions, self.settings.network).to(
            self.learner.device
        )
        rejected = self.learner.state_dict()
        self.evaluator.update(self.learner.played_network)
        self.learner.load_state_dict(self._accepted)
        old.load_state_dict(self.learner.played_network.state_dict())
        players = [
            self._player(evaluator, pit.num_simulations)
            for evaluator in (self.evaluator, self._evaluator(old))
        ]
        openings = Openings(pit.opening_plies, self._seed("pit"))
        match = play_match(self.game, *players, pit.num_games, openings)
        accepted = match.score >= pit.acceptance
        if accepted:
            self.learner.load_state_dict(rejected)
            self._accepted = rejected
        report.pit = PitReport(match.score, match.wins, match.draws, match.losses, accepted)

    def _measure(self, report: IterationReport):
        """Play against UCT, compare moves with exact ones where a set of them ships and, for small games, look at every position, where it is due."""
        settings = self.settings.evaluation
        if not report.last and (not settings.every or self.iteration % settings.every):
            return
        player = self._player(self.evaluator, settings.num_simulations)
        num_games = settings.final_num_games if report.last else settings.num_games
        if num_games:
            yield self._progress("evaluation", 0, num_games)
            opponent = UctPlayer(
                self.game,
                PlayerSettings(num_simulations=settings.uct_simulations, seed=self._seed("uct")),
            )
            openings = Openings(settings.opening_plies, self._seed("evaluation"))
            match = play_match(self.game, player, opponent, num_games, openings)
            report.strength = StrengthReport(
                opponent.name,
                settings.num_simulations,
                match.score,
                *match.score_interval,
                match.wins,
                match.draws,
                match.losses,
                len({game.moves for game in match.games}),
            )
        if settings.exact and shipped_path(self.game.name):
            yield self._progress("exact moves", 0, 1)
            report.exact = self._exact_report(player)
        if settings.prove:
            yield self._progress("proof", 0, 1)
            self._exact = self._exact or ExactValues(self.game)
            proof = prove(self.game, lambda states: player.choose(states).actions, self._exact)
            report.proof = ProofSummary(
                proof.num_not_final,
                proof.num_accurate,
                proof.num_losses,
                proof,
            )

    def _exact_report(self, player: EvaluatorPlayer) -> ExactReport:
        """Compare the moves of the network, alone and with search, with those of an exact solver."""
        self._evaluation_set = self._evaluation_set or read_set(
            shipped_path(self.game.name), self.game
        )
        raw = measure_accuracy(player.limited(0, None).choose, self._evaluation_set)
        searched = measure_accuracy(player.choose, self._evaluation_set, with_values=False)
        return ExactReport(
            num_positions=len(self._evaluation_set),
            num_simulations=self.settings.evaluation.num_simulations,
            raw_accuracy=raw.accuracy().fraction,
            raw_optimal=raw.optimal().fraction,
            accuracy=searched.accuracy().fraction,
            optimal=searched.optimal().fraction,
            value_error=raw.values.mean_error,
            result_accuracy=raw.values.result_accuracy.fraction,
        )

    # --- what it leaves behind ----------------------------------------------------------------------------------------------------------

    def _store(self, records, report: IterationReport) -> None:
        """Write games, network and state, in this order: only the state makes the iteration count."""
        start = time.monotonic()
        info = {
            "run": self.folder.path.name,
            "iteration": self.iteration,
            "elapsed_s": round(self._elapsed_s, 1),
        }
        if report.strength is not None:
            info["strength"] = dataclasses.asdict(report.strength)
        self.folder.save_games(self.iteration, records)
        settings = dataclasses.asdict(self.settings.network)
        save_network(
            self.folder.network(self.iteration),
            network_arrays(self.learner.played_network),
            self.game.name,
            settings,
            info,
        )
        save_state(self.folder.state, self.state_dict())
        self.stored_iteration = self.iteration
        self.folder.drop_games(self.iteration, self.settings.replay.window_max, self._rows_of)
        self.folder.drop_networks(self.settings.run.keep_networks)
        self._stored_s = time.monotonic() - start

    def state_dict(self) -> dict:
        """Return what a resume needs beside the stored games."""
        return {
            "iteration": self.iteration,
            "elapsed_s": self._elapsed_s,
            "learner": self.learner.state_dict(),
            "accepted": self._accepted,
            "selfplay": self.selfplay.state_dict(),
            "replay": self.replay.state_dict(),
            "rows_of": self._rows_of,
            "health": self.health.state_dict(),
        }

    def restore(self) -> None:
        """Go back to the last finished iteration of the folder.

        Raises:
            ValueError: with one plain sentence if its files cannot be read.
        """
        try:
            state = load_state(self.folder.state)
        except ValueError as error:
            raise ValueError(
                f"{error} Without it the run cannot go on; its networks, in {self.folder.path / 'networks'}, can still play."
            ) from None
        self.iteration = self.stored_iteration = state["iteration"]
        self._elapsed_s = state["elapsed_s"]
        self.learner.load_state_dict(state["learner"])
        self._accepted = state["accepted"] or (
            self.learner.state_dict() if self.settings.pit.every else None
        )
        self.selfplay.load_state_dict(state["selfplay"])
        self._rows_of = {int(number): rows for number, rows in state["rows_of"].items()}
        games = self.folder.load_games(self.iteration, self.settings.replay.window_max)
        self.replay.load_state_dict(state["replay"], games)
        self.health.load_state_dict(state.get("health"))
        self.evaluator.update(self.learner.played_network, self._newest_positions())
        self.folder.cut_metrics(self.iteration)

    # --- small things -------------------------------------------------------------------------------------------------------------------

    def _evaluator(self, network) -> NetworkEvaluator:
        settings = self.settings.evaluator
        choice = EngineChoice(settings.engine, settings.precision)
        return NetworkEvaluator(
            network,
            self._sample,
            self.game,
            choice,
            settings,
            self.learner.device,
            self._num_threads,
        )

    def _update_evaluator(self, report: IterationReport) -> None:
        """Let search have the new weights, on an engine that was compared with the reference on positions of the newest games."""
        self.evaluator.update(self.learner.played_network, self._newest_positions())
        report.engine = self.evaluator.report

    def _newest_positions(self) -> PositionSample:
        states = self.replay.newest_states(_SAMPLE_ROWS)
        if len(states):
            self._sample = PositionSample(
                self.game.observe(states), self.game.legal_action_mask(states)
            )
        return self._sample

    def _stream_counts(self) -> np.ndarray:
        """Return the sums of the streams' `StreamCounts`."""
        return np.sum([stream.counts for stream in self.evaluator.streams], axis=0)

    def _player(self, evaluator, num_simulations: int) -> EvaluatorPlayer:
        name = f"iteration {self.iteration}"
        return EvaluatorPlayer(
            self.game,
            evaluator,
            num_simulations,
            seed=self._seed("player"),
            name=name,
            settings=self.settings.search,
        )

    def _seed(self, name: str) -> int:
        return int(child_generator(self.settings.seed, f"{name} {self.iteration}").integers(2**31))

    def _share(self, iterations: int) -> float:
        """Return the share of the run that is done after so many iterations, by number or by time, whichever is further."""
        run = self.settings.run
        by_time = self._elapsed_s / run.time_limit_s if run.time_limit_s else 0.0
        return min(max(iterations / run.num_iterations, by_time), 1.0)

    def _progress(self, stage: str, done: int, total: int) -> StageProgress:
        share = self._share(self.iteration - 1)
        loss = self.learner.report.loss
        return StageProgress(
            stage,
            done,
            total,
            self.iteration,
            share,
            share / max(self.iteration - 1, 1),
            self._positions_per_s,
            loss,
        )

    def _is_proven(self, report: IterationReport) -> bool:
        return (
            self.settings.evaluation.stop_when_proven
            and report.proof is not None
            and report.proof.perfect
        )

    def _selfplay_report(
        self, records: list[GameRecord], num_samples: int, before, stream_counts, seconds: float
    ) -> SelfPlayReport:
        counts = self.selfplay.counts
        asked, evaluated, network_s = self._stream_counts() - stream_counts
        worker_seconds = seconds * len(self.selfplay.workers)
        simulations = counts.num_simulations - before.num_simulations
        evaluations = counts.num_evaluations - before.num_evaluations
        num_positions = sum(len(record.actions) for record in records)
        results = np.array([record.first_player_result for record in records])
        every = self.settings.run.sample_game_every
        return SelfPlayReport(
            num_games=len(records),
            num_positions=num_positions,
            num_samples=num_samples,
            seconds=seconds,
            positions_per_s=num_positions / seconds,
            simulations_per_s=simulations / seconds,
            evaluations_per_s=evaluated / seconds,
            cache_hit_rate=float(1 - evaluated / max(asked, 1)),
            evaluator_fraction=(counts.evaluator_s - before.evaluator_s) / worker_seconds,
            network_fraction=network_s / worker_seconds,
            mean_batch=evaluations / max(counts.num_batches - before.num_batches, 1),
            search_depth=(counts.total_depth - before.total_depth) / max(simulations, 1),
            game_length=num_positions / len(records),
            first_player_wins=float((results == 1).mean()),
            draws=float((results == 0).mean()),
            distinct_games=len({record.actions.tobytes() for record in records}) / len(records),
            sample_game=self._game_text(records[0])
            if every and self.iteration % every == 0
            else "",
        )

    def _game_text(self, record: GameRecord) -> str:
        """Return a game as text: its moves, its result and its last position."""
        game = self.game
        moves = " ".join(game.action_to_text(int(action)) for action in record.actions)
        last = game.step(record.states[-1:], record.actions[-1:]).states[0]
        result = {1: "the first player wins", 0: "a draw", -1: "the second player wins"}[
            record.first_player_result
        ]
        return f"{moves}\n{result} after {len(record.actions)} plies\n\n{game.state_to_text(last)}"


def check_resumable(old: TrainSettings, new: TrainSettings) -> None:
    """Refuse settings that a run cannot change once it has begun.

    Raises:
        ConfigError: naming the first such key.
    """
    if not same_game(new.game.name, old.game.name):
        raise ConfigError(
            f"game.name={new.game.name} cannot change in a resumed run, which has {old.game.name}: begin a new run for it.",
            key="game.name",
            value=new.game.name,
            allowed=old.game.name,
        )
    for name, keys in (("network", None), ("learner", ["optimizer"])):
        before, after = (
            dataclasses.asdict(getattr(old, name)),
            dataclasses.asdict(getattr(new, name)),
        )
        for key in keys or before:
            if before[key] != after[key]:
                raise ConfigError(
                    f"{name}.{key}={after[key]} cannot change in a resumed run, which has {before[key]}: begin a new run for it."
                )
    if old.selfplay.num_parallel_games > new.selfplay.num_parallel_games:
        raise ConfigError(
            "selfplay.num_parallel_games cannot shrink in a resumed run: games are under way in every slot."
        )
