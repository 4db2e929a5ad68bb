"""Tables in Markdown for TensorBoard: the workers of an iteration, the settings of a run."""

from alphazero.config.settings import rows
from alphazero.runtime.errors import value_text
from alphazero.training.settings import TrainSettings
from alphazero.workers.source import WorkerReport


def workers_table(workers: list[WorkerReport]) -> str:
    """Return a row for each of at least one worker; the share is that of the iteration's games."""
    total = max(sum(worker.num_games for worker in workers), 1)
    facts = [_facts(worker, total) for worker in workers]
    lines = [facts[0].keys(), ["---"] * len(facts[0]), *(one.values() for one in facts)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _facts(worker: WorkerReport, total: int) -> dict[str, str]:
    """Return the cells of a worker's row by the titles of their columns."""
    facts, speed = worker.facts, worker.facts.evaluations_per_s
    return {
        "worker": worker.name,
        "host": facts.host,
        "engine": facts.engine,
        "threads": str(facts.num_threads),
        "evaluations/s": f"{speed:,.0f}" if speed else "not measured",
        "games/s while playing": f"{worker.games_per_s:,.1f}",
        "games": f"{worker.num_games:,}",
        "share": f"{worker.num_games / total:.0%}",
        "staleness": f"{worker.total_staleness / max(worker.num_games, 1):.1f}",
        "state": "there" if worker.is_alive else "lost",
    }


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
