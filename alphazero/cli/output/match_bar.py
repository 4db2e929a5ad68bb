"""The progress bar of `alphazero match`, and the sequential test that may end the match."""

from collections.abc import Sequence
from typing import Self

from alphazero.cli.output.counting_bar import CountingBar
from alphazero.evaluation.match import MatchProgress
from alphazero.evaluation.sprt import Sprt


class MatchBar:
    """A bar on standard error with the result so far and the time left.

    Args:
        num_games: the most games that are played.
        sprt: the test that may end the match early; its log-likelihood ratio is shown.
    """

    def __init__(self, num_games: int, sprt: Sprt | None = None):
        self._sprt, self._llr = sprt, ""
        self._progress = CountingBar()
        self._task = self._progress.add_task("playing", total=num_games)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *error) -> None:
        self._progress.stop()

    def __call__(self, progress: MatchProgress) -> None:
        """Show how far the match is."""
        text = f"A: {progress.wins} won, {progress.draws} drawn, {progress.losses} lost{self._llr}"
        self._progress.update(self._task, completed=progress.num_finished, description=text)

    def should_stop(self, pair_counts: Sequence[int]) -> bool:
        """Return whether the test ends the match, see `alphazero.evaluation.match.play_match`."""
        result = self._sprt.test(pair_counts)
        self._llr = f", LLR {result.llr:+.2f}"
        return result.accepted is not None
