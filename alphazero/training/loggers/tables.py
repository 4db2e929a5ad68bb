"""Tables in Markdown for TensorBoard: the workers of an iteration, the settings of a run."""

from alphazero.config.settings import rows
from alphazero.runtime.errors import value_text
from alphazero.training.settings import TrainSettings
from alphazero.workers.source import WorkerReport

_TITLES = (
    "worker",
    "host",
    "engine",
    "threads",
    "evaluations/s",
    "games/s while playing",
    "games",
    "share",
    "staleness",
    "state",
)


def workers_table(workers: list[WorkerReport]) -> str:
    """Return a row for each worker; the share is that of the iteration's games."""
    total = max(sum(worker.num_games for worker in workers), 1)
    rows = [_TITLES, ["---"] * len(_TITLES), *(_cells(worker, total) for worker in workers)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _cells(worker: WorkerReport, total: int) -> list[str]:
    return [
        worker.name,
        worker.host,
        worker.engine,
        str(worker.num_threads),
        f"{worker.evaluations_per_s:,.0f}" if worker.evaluations_per_s else "not measured",
        f"{worker.games_per_s:,.1f}",
        f"{worker.num_games:,}",
        f"{worker.num_games / total:.0%}",
        f"{worker.staleness:.1f}",
        "there" if worker.is_alive else "lost",
    ]


def settings_table(settings: TrainSettings, recipe: TrainSettings) -> str:
    """Return all settings as a Markdown table, those that differ from the recipe first."""
    usual = {row.key: row.value for row in rows(recipe)}
    changed, others = [], []
    for row in rows(settings):
        value, other = value_text(row.value), value_text(usual[row.key])
        if value == other:
            others.append(f"| {row.key} | {value} | |")
        else:
            changed.append(f"| **{row.key}** | **{value}** | {other} |")
    return "\n".join(["| setting | value | recipe |", "|---|---|---|", *changed, *others])
