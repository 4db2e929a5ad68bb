"""The console: one line for each iteration, and below it a bar with the time left."""

import math
import textwrap

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, TextColumn
from rich.progress import Progress as Bars
from rich.text import Text

from alphazero.training.events import Alarm, IterationReport, StageProgress

_HEADER = f"{'iteration':>9} {'time':>8} {'games':>6} {'plies':>6} {'pos/s':>7} {'window':>8} {'loss':>7} {'policy':>7} {'value':>7}"

_INDENT = " " * 10  # of what is said about an iteration
_ALARM_WIDTH = 100


class ConsoleLogger:
    """Prints what happens.

    Args:
        console: where to.
        num_iterations: of the whole run.
        first_share: the share of the run that was done before a resume.
    """

    def __init__(self, console: Console, num_iterations: int, first_share: float):
        self._console = console
        self._num_iterations = num_iterations
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(bar_width=10),
            TextColumn("{task.percentage:>3.0f} %"),
            _TimeLeft(first_share),
            console=console,
            transient=True,
            refresh_per_second=4,
        )
        self._run = self._bars.add_task("run", total=1.0)
        self._rows = 0
        self._selfplay_share = 0.7  # of an iteration's time; the first one has it measured
        self._engine = ""
        self._alarms: list[Alarm] = []  # those that are on

    def __enter__(self):
        self._bars.start()
        return self

    def __exit__(self, *_):
        self._bars.stop()
        if self._alarms:
            self._console.print(Text("Still wrong at the end:", style="bold yellow"))
        for alarm in self._alarms:
            self._say(alarm, f"{alarm.title}, since iteration {alarm.since}")

    def progress(self, event: StageProgress) -> None:
        """Move the bar."""
        parts = {"self-play": (0.0, self._selfplay_share), "learning": (self._selfplay_share, 1.0)}
        before, after = parts.get(event.stage, (1.0, 1.0))
        inside = before + (after - before) * event.done / max(event.total, 1)
        share = event.run_fraction + (event.iteration_fraction or 1.0 / self._num_iterations) * min(
            inside, 1.0
        )
        parts = [f"{event.iteration}: {event.stage} {event.done}/{event.total}"]
        if math.isfinite(event.positions_per_s):
            parts.append(f"{event.positions_per_s:,.0f} pos/s")
        if math.isfinite(event.loss):
            parts.append(f"loss {event.loss:.3f}")
        self._bars.update(self._run, completed=min(share, 1.0), description=", ".join(parts))

    def iteration(self, report: IterationReport) -> None:
        """Print the line of a finished iteration."""
        games, learner = report.selfplay, report.learner
        losses = [] if learner.ownership_loss is None else [learner.ownership_loss]
        if self._rows % 25 == 0:
            self._console.print(
                Text(_HEADER + (f" {'owner':>7}" if losses else ""), style="bold"),
                soft_wrap=True,
            )
        self._rows += 1
        minutes, seconds = divmod(round(report.elapsed_s), 60)
        line = (
            f"{report.iteration:>9} {f'{minutes}:{seconds:02d}':>8} {games.num_games:>6} {games.game_length:>6.1f} {games.positions_per_s:>7,.0f} "
            f"{report.window:>8,} {learner.loss:>7.3f} {learner.policy_loss:>7.3f} {learner.value_loss:>7.3f}"
            + "".join(f" {loss:>7.3f}" for loss in losses)
        )
        self._console.print(Text(line), soft_wrap=True)
        self._selfplay_share = report.selfplay_s / max(report.selfplay_s + report.learner_s, 1e-9)
        self._print_engine(report.engine)
        for measured in _measured(report):
            self._console.print(Text(f"{'':>9} {measured}", style="green"), soft_wrap=True)
        self._print_alarms(report)

    def _print_alarms(self, report: IterationReport) -> None:
        """Say what has begun to go wrong, and what is right again."""
        for alarm in report.alarms:
            if alarm.since == report.iteration:
                self._say(alarm, f"ALARM, {alarm.title}")
        for name in report.ended_alarms:
            self._console.print(
                Text(f"{'':>9} over: {name.replace('_', ' ')}", style="green"), soft_wrap=True
            )
        self._alarms = report.alarms

    def _say(self, alarm: Alarm, begin: str) -> None:
        """Print an alarm under the table, in as many lines as it needs."""
        words = f"{begin}: {alarm.seen}. Likely cause: {alarm.cause}. Change {alarm.key}: {alarm.advice}."
        width = min(self._console.width, _ALARM_WIDTH)
        lines = textwrap.wrap(
            words,
            width,
            initial_indent=_INDENT,
            subsequent_indent=_INDENT,
            break_on_hyphens=False,
            break_long_words=False,
        )
        text = Text("\n".join(lines), style="yellow")
        text.highlight_words([begin, alarm.key], style="bold")
        self._console.print(text, soft_wrap=True)

    def _print_engine(self, engine) -> None:
        """Say when another engine takes over, and why."""
        if self._engine and engine.name != self._engine:
            reason = f": too far from float32: {engine.refused}" if engine.refused else ""
            self._console.print(
                Text(f"{'':>9} the network now runs on {engine.name}{reason}", style="yellow"),
                soft_wrap=True,
            )
        self._engine = engine.name

    def close(self) -> None:
        """Nothing is left to do."""


class _TimeLeft(ProgressColumn):
    """The time left by the share done since the start; rich's own column asks for many updates of equal size.

    Args:
        first_share: the share that a resumed run had done before.
    """

    def __init__(self, first_share: float):
        super().__init__()
        self._first_share = first_share

    def render(self, task):
        done, elapsed = task.completed - self._first_share, task.elapsed or 0.0
        if done < 0.003 or elapsed < 2:
            return Text("time left -:--:--", style="cyan")
        left = round(elapsed * (1 - task.completed) / done)
        return Text(f"time left {left // 3600}:{left // 60 % 60:02d}:{left % 60:02d}", style="cyan")


def _measured(report: IterationReport) -> list[str]:
    parts = []
    if report.pit is not None:
        verdict = "accepted" if report.pit.accepted else "rejected, the old network is restored"
        parts.append(f"pit {report.pit.score:.0%}, {verdict}")
    if report.strength is not None:
        strength = report.strength
        parts.append(
            f"{strength.score:.0%} against {strength.opponent} ({strength.wins} won, {strength.draws} drawn, {strength.losses} lost)"
        )
    if report.exact is not None:
        exact = report.exact
        parts.append(
            f"exact result kept in {exact.accuracy:.1%} of {exact.num_positions:,} positions, {exact.raw_accuracy:.1%} without search; "
            f"best score {exact.optimal:.1%}, {exact.raw_optimal:.1%}; value error {exact.value_error:.3f}"
        )
    if report.proof is not None:
        parts.append(
            f"{report.proof.num_accurate:,} of {report.proof.num_positions:,} positions perfect, {report.proof.num_losses:,} games lost"
        )
    return parts
