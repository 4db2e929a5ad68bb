"""The logger that writes a run's curves and texts to TensorBoard's event file.

At the start of a run, it also writes the run's settings and the layout of the charts.
"""

import math
from collections.abc import Mapping

from torch.utils.tensorboard import summary

from alphazero.boards.skin import skin_of
from alphazero.boards.text import ending_text
from alphazero.games.batched_game import Game
from alphazero.selfplay.game_record import GameRecord
from alphazero.training.curves import CURVES
from alphazero.training.events import IterationReport, flat
from alphazero.training.loggers.charts import layout, start_records
from alphazero.training.loggers.event_file import EventFile
from alphazero.training.run_config import default_settings
from alphazero.training.trainer import Trainer


class TensorBoardLogger:
    """Writes a run's curves, alarms and sample games to a TensorBoard event file.

    In a resumed run, this file replaces the events of iterations that had not been stored.

    Args:
        trainer: the run's trainer, which gives the settings, the folder and the last iteration.
        varied: {key: text} of the settings and config-group choices that distinguish the run within
            its sweep; None if there is no sweep.

    Raises:
        OSError: if the file cannot be written.
    """

    def __init__(self, trainer: Trainer, varied: Mapping[str, str] | None = None):
        self._game = trainer.game
        settings = trainer.settings
        self._described: set[str] = set()
        purge_step = trainer.iteration + 1 if trainer.iteration else None
        self._file = EventFile(trainer.folder.path, purge_step)
        self._file.add(summary.custom_scalars(layout(settings)))
        usual = default_settings(settings.game.name)
        for record in start_records(settings, usual, varied or {}):
            self._file.add(record)
        self._file.flush()

    def iteration(self, report: IterationReport) -> None:
        """Write an iteration's metrics, alarms and sample game to the event file.

        Raises:
            OSError: if the file cannot be written; it then contains nothing of the iteration.
        """
        step = report.iteration
        row = flat(report) | {"num_alarms": len(report.alarms)}
        for tag, curve in CURVES.items():
            figure = curve.figure(row)
            if not math.isnan(figure):
                self._write(tag, figure, step)
        self._write_alarms(report)
        if report.sample_game is not None:
            text = _game_text(self._game, report.sample_game)
            self._add_text("sample_game", f"```\n{text}\n```", step)
        if report.last:
            self._file.add(summary.hparams({}, {})[2])  # the run has ended
        self._file.flush()

    def _write_alarms(self, report: IterationReport) -> None:
        """Queue a text for each alarm that begins or ends in an iteration, under its own tag."""
        for alarm in report.alarms:
            if alarm.since == report.iteration:
                self._add_text(f"health/{alarm.name}", alarm.text, report.iteration)
        for name in report.ended_alarms:
            text = f"**over**: {name.replace('_', ' ')}"
            self._add_text(f"health/{name}", text, report.iteration)

    def _add_text(self, tag: str, text: str, step: int) -> None:
        """Queue a Markdown text, to be shown in TensorBoard's TEXT tab under ``tag``.

        Args:
            tag: the text's heading in the tab.
            text: the text, in Markdown.
            step: the iteration to which the text belongs.
        """
        self._file.add(summary.text(tag, text), step)

    def _write(self, tag: str, figure: float, step: int) -> None:
        """Queue a curve's value; a curve's first value also carries its description.

        Args:
            tag: the curve's tag in `CURVES`.
            figure: the curve's value in the iteration; must not be NaN.
            step: the iteration, which is the position on the x-axis.
        """
        record = summary.scalar(tag, figure)
        if tag not in self._described:
            self._described.add(tag)
            metadata = record.value[0].metadata
            # TensorBoard's data server keeps the description only if the data class is set too.
            metadata.summary_description = CURVES[tag].description
            metadata.plugin_data.plugin_name = "scalars"
            metadata.data_class = "DATA_CLASS_SCALAR"
        self._file.add(record, step)


def _game_text(game: Game, record: GameRecord) -> str:
    """Format a finished game as text: its moves, its result, its length and its last position.

    Moves are in the game's notation; the result is like "the first player wins after 12 plies".
    """
    moves = skin_of(game).notation.list_text(record.actions.tolist())
    board = game.state_to_text(game.play_moves(record.actions))
    sides = "the first player", "the second player"
    ending = ending_text(game, sides, record.first_player_result)
    return f"{moves}\n{ending} after {len(record.actions)} plies\n\n{board}"
