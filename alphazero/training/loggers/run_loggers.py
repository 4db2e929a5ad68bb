"""The loggers that write a run's files, for `alphazero train` and `alphazero.train`."""

from collections.abc import Mapping
from typing import Any

from alphazero.boards.shapes import has_board
from alphazero.training.loggers.boards import BoardPictures
from alphazero.training.loggers.json_lines import JsonLinesLogger
from alphazero.training.loggers.tensorboard import TensorBoardLogger
from alphazero.training.run_config import recipe_of
from alphazero.training.trainer import Trainer


def file_loggers(trainer: Trainer, varied: Mapping[str, str] | None = None) -> list[Any]:
    """Return the loggers of metrics.jsonl and of TensorBoard.

    Args:
        varied: what tells the run from others of its sweep: settings or choices of config groups.
    """
    settings, folder, game = trainer.settings, trainer.folder, trainer.game
    tensorboard = TensorBoardLogger(
        folder.path,
        settings,
        recipe_of(settings.game.name),
        trainer.iteration + 1,
        pictures=BoardPictures(game) if has_board(game) else None,
        varied=varied,
    )
    return [JsonLinesLogger(folder.metrics), tensorboard]
