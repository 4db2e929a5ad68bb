"""The progress bar of `alphazero rate`."""

from typing import Self

from alphazero.cli.output.counting_bar import CountingBar
from alphazero.evaluation.match import MatchProgress


class RateBar:
    """A bar on standard error with the two players and the time left, over several matches."""

    def __init__(self, num_games: int):
        self._progress = CountingBar()
        self._task = self._progress.add_task("playing", total=num_games)
        self._num_before = 0  # games of the matches that have ended

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *error) -> None:
        self._progress.stop()

    def __call__(self, player_a: str, player_b: str, progress: MatchProgress) -> None:
        """Show how far the match of two players is."""
        done, text = self._num_before + progress.num_finished, f"{player_a} - {player_b}"
        self._progress.update(self._task, completed=done, description=text)

    def count(self, num_games: int) -> None:
        """Count the games of a match that has ended."""
        self._num_before += num_games
