"""Upload a network and its model card to a repository of the Hugging Face Hub. Whoever can read the
repository can name it as a player: hf:OWNER/NAME.

    alphazero push checkpoints/connect_four/RUN hf:OWNER/NAME
    alphazero push network=best game=othello to=hf:OWNER/NAME public=true

The card is the one that `scripts/ship_network.py` wrote beside the network, or else a short one.
"""

import dataclasses

from alphazero.cli.export import NETWORK_HELP, game_and_network
from alphazero.cli.players import DEFAULT_GAME
from alphazero.config.settings import option
from alphazero.interop.hub_upload import upload
from alphazero.runtime.console import Console

POSITIONAL = "network to"


@dataclasses.dataclass
class Settings:
    """Settings of the `push` command: the network, and the repository that receives it."""

    network: str = option("best", NETWORK_HELP)
    to: str = option("", "the repository, hf:OWNER/NAME")
    public: bool = option(False, "let everyone read a new repository; otherwise only you can")
    game: str | None = option(None, f"the game; by default the network's, for best {DEFAULT_GAME}")


def run(settings: Settings, console: Console) -> None:
    """Check the network, and upload it and its card.

    Raises:
        ConfigError: if a setting cannot be used, or the hub refuses the upload.
        StoredFileError: if the network's file is damaged.
    """
    game, path = game_and_network(settings.network, settings.game, "checkpoints")
    upload(path, settings.to, settings.public)
    console.print(f"{path} is now {settings.to}, a player of {game.name}.", markup=False)
