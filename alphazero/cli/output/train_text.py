"""What `alphazero train` prints before and after a run.

In: the trainer and its last report. Out: lines of text with rich markup; nothing is printed.
"""

import math
import shutil
import sys
from pathlib import Path

from alphazero.boards.shapes import has_board
from alphazero.cli.output.proof_text import proof_lines
from alphazero.evaluation.run_facts import duration_text
from alphazero.games.batched_game import Game


def start_lines(trainer, resumed: bool) -> list[str]:
    """Return what is trained, where, and how the network runs."""
    num_weights = sum(parameter.numel() for parameter in trainer.learner.network.parameters())
    verb = f"Resuming after iteration {trainer.iteration} of" if resumed else "Training"
    return [
        f"[bold]{verb} {trainer.game.name}[/] in {trainer.folder.path}",
        f"Network: {num_weights:,} weights on {trainer.learner.device}; "
        f"search runs it with {_engine_text(trainer)}.",
        f"Watch with:  {program('tensorboard')} --logdir {trainer.settings.run.root}",
        *(f"note: {note}" for note in _notes(trainer.game)),
    ]


def _notes(game: Game) -> list[str]:
    """Return what is allowed in the rules but looks wrong, and what TensorBoard lacks."""
    if has_board(game):
        return [*game.notes]
    reason = f"the rules of {game.name} give no board (the rule `cells`)"
    return [*game.notes, f"TensorBoard shows no boards: {reason}."]


def end_lines(trainer, report) -> list[str]:
    """Return what the run reached, and what to do with it."""
    lines = [*proof_lines(report.proof.report), ""] if report.proof is not None else []
    if not trainer.finished:
        lines += [
            f"Ended early, after iteration {report.iteration}: the proof is complete "
            "(evaluation.stop_when_proven=true).",
            "",
        ]
    if report.strength is not None:
        opening_plies = trainer.settings.evaluation.opening_plies
        lines.append(_strength_text(report.strength, opening_plies))
    if report.exact is not None:
        lines.append(_exact_text(report.exact, trainer.folder.path))
    return [*lines, *_next_steps(trainer, report)]


def program(name: str = "alphazero") -> str:
    """Return how a program of this installation is called.

    That is its name if the shell finds it, otherwise its path beside the running program.
    """
    beside = Path(sys.argv[0]).with_name(name)
    return name if shutil.which(name) or not beside.is_file() else str(beside)


def _engine_text(trainer) -> str:
    """Return the engine, and why it was chosen."""
    tuning, report = trainer.tuning, trainer.evaluator.report
    if report.refused:
        return f"{report.name} (too far from float32: {report.refused})"
    if tuning is None or len(tuning.engine_speeds) < 2:
        return report.name
    speed = tuning.engine_speeds.get(report.name, 0)
    slowest, slowest_speed = min(tuning.engine_speeds.items(), key=lambda item: item[1])
    when = "by an earlier run" if tuning.remembered else f"in {tuning.seconds:.0f} s"
    return f"{report.name} ({speed:,} evaluations/s, {slowest} {slowest_speed:,}; measured {when})"


def _strength_text(strength, opening_plies: int) -> str:
    interval = f"95% interval {strength.score_low:.1%} to {strength.score_high:.1%}"
    results = f"{strength.wins} won, {strength.draws} drawn, {strength.losses} lost"
    return (
        f"Scored {strength.score:.1%} against {strength.opponent} with "
        f"{strength.num_simulations} simulations per move ({results}; {interval}; "
        f"{strength.num_distinct} distinct games). Each pair of games begins with {opening_plies} "
        "random moves, which may decide it."
    )


def _exact_text(exact, path: Path) -> str:
    return (
        f"Accuracy on {exact.num_positions:,} exactly scored positions: {exact.accuracy:.1%} with "
        f"{exact.num_simulations} simulations, {exact.raw_accuracy:.1%} without search.\n"
        f"Details:  {program()} evaluate player={path}"
    )


def finished_lines(trainer) -> list[str]:
    """Return why a resumed run does nothing, and the command that makes it longer."""
    limits = " and ".join(f"{key}={value:g}" for key, value in trainer.reached_limits.items())
    return [
        f"The run {trainer.folder.path} is finished after {trainer.iteration} iterations: it has "
        f"reached {limits}.",
        f"Train it further:  {_longer_run(trainer)}",
    ]


def _longer_run(trainer) -> str:
    """Return the command that trains a run further: the limits that ended it, doubled."""
    limits = trainer.reached_limits
    if not limits:  # ended by a proof
        limits = {"run.num_iterations": trainer.settings.run.num_iterations}
    done = {"run.num_iterations": trainer.iteration, "run.time_limit_s": trainer.elapsed_s}
    longer = {key: math.ceil(2 * max(value, done[key])) for key, value in limits.items()}
    changes = " ".join(f"{key}={value}" for key, value in longer.items())
    return f"{program()} train {trainer.folder.resume_words(trainer.game.name)} {changes}"


def _next_steps(trainer, report) -> list[str]:
    folder, network = trainer.folder, trainer.folder.network(report.iteration)
    root = Path(trainer.settings.run.root)
    runs = "" if root == Path("checkpoints") else f" runs={root}"
    return [
        f"Trained for {duration_text(report.elapsed_s)}. The network is {network}",
        "",
        "[bold]What next?[/]",
        f"  play against it:   {program()} play game={trainer.game.name} second={network}",
        f"  on a page:         {program()} serve game={trainer.game.name}{runs}",
        f"  look at the run:   {program('tensorboard')} --logdir {folder.path}",
        f"  train it further:  {_longer_run(trainer)}",
    ]
