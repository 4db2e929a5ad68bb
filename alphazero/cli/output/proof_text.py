"""The text of a proof, as `alphazero prove` and `alphazero train` print it.

In: a `ProofReport`. Out: lines of plain text; nothing is printed.
"""

from alphazero.solvers.proof import ProofReport


def proof_lines(report: ProofReport) -> list[str]:
    """Return a proof as lines of text."""
    lines = [f"Against every possible play of the opponent ({report.game_name}):"]
    for side, name in zip(report.sides, ("first:", "second:")):
        lines += [
            f"  player moves {name:<7} {side.num_positions:,} positions can occur, "
            f"the player is to move in {side.num_choices:,} of them",
            f"    {sum(side.games):,} different games: {_counts_text(side.games)}",
            f"    {sum(side.final_positions):,} different final positions: "
            f"{_counts_text(side.final_positions)}",
        ]
    return [
        *lines,
        f"  {_verdict(report)}",
        f"  best possible result kept in {report.num_accurate:,} of {report.num_not_final:,} "
        "unfinished positions",
    ]


def _verdict(report: ProofReport) -> str:
    if report.unbeatable:
        return "unbeatable: no play of the opponent wins"
    if report.perfect:
        loser = "first" if report.sides[0].games[2] else "second"
        return (
            f"perfect, but {report.num_losses:,} games are lost: the player who moves {loser} "
            "loses this game against perfect play, and no move of this player makes it worse"
        )
    return f"beatable: {report.num_losses:,} games are lost"


def _counts_text(counts: tuple[int, int, int]) -> str:
    won, drawn, lost = counts
    return f"{won:,} won, {drawn:,} drawn, {lost:,} lost"
