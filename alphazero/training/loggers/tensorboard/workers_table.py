"""The workers of an iteration as a table in Markdown."""

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
