"""The console logger: prints a line for each iteration, and a progress bar with the time left."""

import math
from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn
from rich.progress import Progress as ProgressBars
from rich.text import Text

from alphazero.runtime.console import counted
from alphazero.training.events import Alarm, IterationReport, StageProgress
from alphazero.training.reports import PuzzleReport, WorkersReport

#: Columns of the table: title, width, and format string of the cells.
_COLUMNS = (
    ("iteration", 9, "{0.iteration}"),
    ("time", 8, "{minutes}:{seconds:02d}"),
    ("games", 6, "{0.selfplay.num_games}"),
    ("plies", 6, "{0.selfplay.game_length:.1f}"),
    ("pos/s", 7, "{0.selfplay.positions_per_s:,.0f}"),
    ("window", 8, "{0.window:,}"),
    ("loss", 7, "{0.learner.loss:.3f}"),
    ("policy", 7, "{0.learner.policy_loss:.3f}"),
    ("value", 7, "{0.learner.value_loss:.3f}"),
)
_LINES_BETWEEN_HEADERS = 25
_INDENT = " " * 10  # for the lines below an iteration
_ALARM_WIDTH = 100


class ConsoleLogger:
    """Prints a line of metrics per iteration and, as a context manager, shows a progress bar.

    An iteration's line is printed at the next event, when the iteration has been stored, so that no
    printed iteration is ever lost.

    Args:
        console: the console to print on.
        first_fraction: fraction of the run that was already done when it was started or resumed.
    """

    def __init__(self, console: Console, first_fraction: float):
        self._console = console
        self._bars = ProgressBars(
            TextColumn("{task.description}"),
            BarColumn(bar_width=10),
            TextColumn("{task.percentage:>3.0f}%"),
            _TimeLeft(first_fraction),
            console=console,
            transient=True,
            refresh_per_second=4,
        )
        self._run = self._bars.add_task("run", total=1.0)
        self._num_lines = 0
        self._engine = ""
        self._alarms: list[Alarm] = []  # alarms that are on
        self._unstored: IterationReport | None = None

    def __enter__(self) -> "ConsoleLogger":
        if self._console.is_interactive:  # otherwise rich would leave an empty line
            self._bars.start()
        return self

    def __exit__(self, exception_type: type | None, *_: object) -> None:
        if exception_type is None:
            self._print_stored()
        if self._console.is_interactive:
            self._bars.stop()
        if self._alarms:
            self._console.print(Text("Alarms still on at the end:", style="bold yellow"))
        for alarm in self._alarms:
            self._print_alarm(alarm, f"since iteration {alarm.since}, ")

    def show(self, event: StageProgress | IterationReport) -> None:
        """Update the progress bar and print notices, such as the loss of a worker; keep a report.

        A report is printed at the next event, when its iteration has been stored.
        """
        self._print_stored()
        if isinstance(event, IterationReport):
            self._unstored = event
            return
        for notice in event.notices:
            self._print(_INDENT + notice, "cyan")
        text = f"{event.iteration}: {event.stage} {event.done}/{event.total}"
        self._bars.update(self._run, completed=event.progress, description=text)

    def _print_stored(self) -> None:
        """Print the line, measurements and alarms of the iteration that has just been stored.

        If that has been done already, nothing is printed.
        """
        report = self._unstored
        self._unstored = None
        if report is None:
            return
        self._print_line(report)
        engine = report.engine
        if engine is not None:
            if self._engine and engine.name != self._engine:
                reason = f"; refused: {engine.refused}" if engine.refused else ""
                self._print(f"{_INDENT}the network now runs on {engine.name}{reason}", "yellow")
            self._engine = engine.name
        if report.workers is not None:
            self._print(_INDENT + _workers_text(report.workers), "cyan")
        for text in _measurements(report):
            self._print(_INDENT + text, "green")
        for alarm in report.alarms:
            if alarm.since == report.iteration:
                self._print_alarm(alarm, "ALARM, ")
        for name in report.ended_alarms:
            self._print(f"{_INDENT}over: {name.replace('_', ' ')}", "green")
        self._alarms = report.alarms

    def _print_line(self, report: IterationReport) -> None:
        """Print an iteration's line, preceded by the table's header every 25 lines."""
        if self._num_lines % _LINES_BETWEEN_HEADERS == 0:
            titles = [title.rjust(width) for title, width, _ in _COLUMNS]
            self._print(" ".join(titles), "bold")
        self._num_lines += 1
        minutes, seconds = divmod(round(report.elapsed_s), 60)
        cells = (
            text.format(report, minutes=minutes, seconds=seconds).rjust(width)
            for _, width, text in _COLUMNS
        )
        self._print(" ".join(cells))

    def _print_alarm(self, alarm: Alarm, when: str) -> None:
        """Print an alarm below the table, wrapped to the width of the console.

        Args:
            alarm: its text states the problem, the likely cause and the advice.
            when: text to print first, such as "ALARM, ".
        """
        text = Text(when + alarm.text, style="yellow")
        text.highlight_words([when + alarm.title, alarm.key], style="bold")
        width = min(self._console.width, _ALARM_WIDTH)
        indented = Padding.indent(text, len(_INDENT))
        self._console.print(indented, width=width, soft_wrap=False)

    def _print(self, line: str, style: str = "") -> None:
        self._console.print(Text(line, style=style), soft_wrap=True)


class _TimeLeft(ProgressColumn):
    """Shows the time left, estimated from the mean speed since the run was started or resumed.

    rich's own column would require many updates of equal size.

    Args:
        first_fraction: fraction of the run that was already done when it was started or resumed.
    """

    def __init__(self, first_fraction: float):
        super().__init__()
        self._first_fraction = first_fraction

    def render(self, task: Task) -> Text:
        done = task.completed - self._first_fraction
        elapsed = task.elapsed or 0.0
        if done <= 0 or elapsed < 2:
            return Text("time left -:--:--", style="cyan")
        minutes, seconds = divmod(round(elapsed * (1 - task.completed) / done), 60)
        hours, minutes = divmod(minutes, 60)
        return Text(f"time left {hours}:{minutes:02d}:{seconds:02d}", style="cyan")


def _workers_text(workers: WorkersReport) -> str:
    """Format the number of workers, their speed, and how old the games' networks are.

    The text is like "4 workers, 0 lost; 12.5 games/s, 0.8 networks old, 0% dropped".
    """
    return (
        f"{counted(workers.num_workers, 'worker')}, {workers.num_lost} lost; "
        f"{workers.games_per_s:,.1f} games/s, {workers.staleness:.1f} networks old, "
        f"{workers.stale_fraction:.0%} dropped"
    )


def _measurements(report: IterationReport) -> Iterator[str]:
    """Yield a line of text for each measurement of strength made in an iteration.

    A line is like "pit 56%, accepted" or "12 of 12 positions perfect, 0 games lost".
    """
    pit = report.pit
    puzzle = report.puzzle
    strength = report.strength
    exact = report.exact
    proof = report.proof
    if pit is not None:
        verdict = "accepted" if pit.accepted else "rejected, the old network is restored"
        yield f"pit {pit.score:.0%}, {verdict}"
    if puzzle is not None and strength is not None:
        yield _puzzle_text(puzzle, strength.opponent)
    elif strength is not None:
        results = f"{strength.wins} won, {strength.draws} drawn, {strength.losses} lost"
        interval = f"95% interval {strength.score_low:.1%} to {strength.score_high:.1%}"
        yield f"{strength.score:.1%} against {strength.opponent} ({results}; {interval})"
    if exact is not None:
        yield (
            f"accuracy {exact.accuracy:.1%} on {exact.num_positions:,} positions, "
            f"{exact.raw_accuracy:.1%} without search; best score {exact.optimal:.1%}, "
            f"{exact.raw_optimal:.1%}; value error {exact.value_error:.3f}"
        )
    if proof is not None:
        lost = "" if puzzle else f", {counted(proof.num_losses, 'game')} lost"
        yield f"{proof.num_accurate:,} of {proof.num_positions:,} positions perfect{lost}"


def _puzzle_text(puzzle: PuzzleReport, opponent: str) -> str:
    """Format the network's results in a one-player game, and UCT's from the same openings.

    The text gives both mean results, the margin of their difference and, if known, how often each
    player reached the best possible result.

    Args:
        puzzle: the results of the network and of UCT.
        opponent: UCT's name as a player, with its number of simulations.
    """
    text = (
        f"mean result {puzzle.mean_result:.2f} from {counted(puzzle.num_openings, 'opening')}, "
        f"{opponent} {puzzle.uct_mean_result:.2f} "
        f"(95% interval of the difference ± {puzzle.difference_margin:.2f})"
    )
    if math.isfinite(puzzle.solved):
        text += f"; best possible result in {puzzle.solved:.0%}, {opponent} {puzzle.uct_solved:.0%}"
    return text
