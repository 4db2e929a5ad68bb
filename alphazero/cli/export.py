"""`alphazero export`: a network as a file for other programs.

In: a network and a format. Out: one file, whose answers were compared with the network's before it
was written.
"""

import dataclasses
from pathlib import Path

from alphazero.cli.game_of_players import DEFAULT_GAME
from alphazero.config.command_line import from_overrides
from alphazero.config.help import print_help
from alphazero.config.settings import option
from alphazero.games.batched_game import Game
from alphazero.games.registry import make_game, make_stored_game
from alphazero.players.registry import network_path
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import check_output, unwritable, write_atomically
from alphazero.storage.run_folder import RunFolder, find_network, folder_name

COMMAND = "alphazero export"
SUMMARY = (
    "Write a network as an ONNX file, for other programs and for browsers, or as a submission to "
    "Kaggle's ConnectX. The file's answers are compared with the network's on 1,000 positions of "
    "random games; a file that does not agree is not written."
)
EXAMPLES = [
    "alphazero export network=best game=othello output=othello.onnx",
    "alphazero export network=checkpoints/connect_four/RUN",
    "alphazero export network=best game=connect_four format=kaggle output=submission.py",
]
_SUFFIXES = {"onnx": ".onnx", "kaggle": ".py"}


@dataclasses.dataclass
class ExportSettings:
    """Which network, and what to write."""

    network: str = option(
        "best", "best (the network that ships with the game), latest, or a network's or run's path"
    )
    game: str | None = option(
        None, f"the game; by default that of the network's file, for best {DEFAULT_GAME}"
    )
    format: str = option(
        "onnx",
        "an ONNX file, or a Python file that plays on Kaggle's ConnectX",
        choices=("onnx", "kaggle"),
    )
    output: str = option(
        "", "the file to write; by default GAME.onnx or submission.py in the current folder"
    )
    root: str = option("checkpoints", "the folder of all runs, for latest without a game")


def main(arguments: list[str], console: Console | None = None) -> int:
    """Write the file, and print where it is and how far it is from the network."""
    if {"-h", "--help"} & set(arguments):
        print_help("export", SUMMARY, ExportSettings(), EXAMPLES)
        return 0
    settings = from_overrides(ExportSettings, arguments, COMMAND)
    game, path = _game_and_network(settings)
    output = Path(settings.output or _default_name(settings.format, game))
    _check_output(output, settings.format)
    data, agreement = _exported(settings.format, game, path)
    try:
        write_atomically(output, data)
    except OSError as error:
        raise unwritable(output, "output", error.strerror or "the disk refuses it") from None
    console = console or Console(highlight=False, emoji=False)
    for line in (
        f"{path} is exported to {output} ({len(data):,} bytes).",
        f"Largest differences on {agreement.num_positions:,} positions of random games: "
        f"logits {agreement.logits:.1e}, values {agreement.value:.1e}.",
    ):
        console.print(line, markup=False, soft_wrap=True)
    return 0


def _game_and_network(settings: ExportSettings) -> tuple[Game, Path]:
    """Return the game, and the file of its network.

    Raises:
        ValueError: if there is no such network, or it is of another game.
    """
    place = settings.network
    if place == "latest" and settings.game is None:
        place = str(RunFolder.find("latest", settings.root, None, key="network").path)
    name = settings.game or DEFAULT_GAME
    found = network_path(place, name)
    if found is None:
        raise ConfigError.of("network", place, "best, latest, or the path of a network or a run")
    path = find_network(found)
    if place in ("best", "latest", "network"):
        return make_game(name), path
    from alphazero.players.network import network_file_game

    return make_stored_game(network_file_game(path), f"the network '{path}'", settings.game), path


def _default_name(format: str, game: Game) -> str:
    return "submission.py" if format == "kaggle" else f"{folder_name(game.name)}.onnx"


def _check_output(output: Path, format: str) -> None:
    """Check, before the work, that the file may be written.

    Raises:
        ConfigError: if it has another ending, holds what `alphazero export` did not write, or
            cannot be written.
    """
    suffix = _SUFFIXES[format]
    if output.suffix.lower() != suffix:
        reason = f"with format={format}, its name ends in {suffix}"
        raise unwritable(output, "output", reason)
    if format == "onnx":
        from alphazero.interop.onnx_file import is_our_onnx_file as is_ours
        from alphazero.interop.onnx_file import require_onnx

        require_onnx()
    else:
        from alphazero.interop.kaggle_submission import is_our_submission as is_ours
    if output.is_file() and not is_ours(output):
        reason = "it exists and was not written by this command; name another file"
        raise unwritable(output, "output", reason)
    check_output(output, "output")


def _exported(format: str, game: Game, path: Path):
    """Return the file's contents, and how far its answers are from the network's.

    Raises:
        ValueError: if the game does not suit the format, or the answers do not agree.
    """
    from alphazero.interop.export_agreement import check_agreement
    from alphazero.players.network import load_module

    loaded = load_module(game, path)
    if format == "onnx":
        from alphazero.interop.onnx_file import onnx_bytes, onnx_evaluate

        data = onnx_bytes(game, loaded.module, loaded.file.info)
        return data, check_agreement(game, loaded.module, onnx_evaluate(data))
    from alphazero.interop.kaggle_submission import submission_bytes, submission_evaluate

    data = submission_bytes(game, loaded.module, loaded.file.info)
    return data, check_agreement(game, loaded.module, submission_evaluate(data))
