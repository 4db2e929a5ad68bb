"""Upload a network and its model card to a repository of the Hugging Face Hub. Whoever can read the
repository can name it as a player: hf:OWNER/NAME.

    alphazero push checkpoints/connect_four/RUN hf:OWNER/NAME
    alphazero push network=best game=othello to=hf:OWNER/NAME public=true

The card is the one that `scripts/ship_network.py` wrote beside the network, or else a short one.
"""

import dataclasses
from pathlib import Path

from alphazero.cli.export import NETWORK_HELP, game_and_network
from alphazero.cli.players import DEFAULT_GAME
from alphazero.config.settings import option
from alphazero.evaluation.run_facts import summary
from alphazero.network.weights import load_network
from alphazero.players.hub import hub, repository_of
from alphazero.runtime.console import Console
from alphazero.runtime.files import read_text

POSITIONAL = "network to"
_HEAD = """---
library_name: alphazero-selfplay
tags: [alphazero, reinforcement-learning]
---

"""


@dataclasses.dataclass
class Settings:
    """Settings of the `push` command: the network, and the repository that receives it."""

    network: str = option("best", NETWORK_HELP)
    to: str = option("", "the repository, hf:OWNER/NAME")
    public: bool = option(False, "let everyone read a new repository; otherwise only you can")
    game: str | None = option(None, f"the game; by default the network's, for best {DEFAULT_GAME}")


def run(settings: Settings, console: Console) -> None:
    """Check the network, and upload it and its card in one commit.

    Raises:
        ConfigError: if a setting cannot be used, the hub refuses or cannot be reached, or
            `huggingface_hub` is missing.
        StoredFileError: if the network's file is damaged.
    """
    game, path = game_and_network(settings.network, settings.game, "checkpoints")
    name, revision, file = repository_of(settings.to)
    card = _card_text(path, name).encode()
    with hub(settings.to) as package:
        package.create_repo(name, private=not settings.public, exist_ok=True)
        add = package.CommitOperationAdd
        files = [add(file, path), add("README.md", card)]
        package.create_commit(name, files, commit_message="A network", revision=revision)
    console.print(f"Uploaded {path} as {settings.to}, a player of {game.name}.", markup=False)


def _card_text(path: Path, repository: str) -> str:
    """Return the Markdown of a repository's first page.

    Args:
        path: the network's file. The card that lies beside it is used, or else a short one.
        repository: "owner/name".
    """
    network = load_network(path)
    card = path.with_suffix(".md")
    text = f"# A network for {network.game}\n\n{summary(network.info) or 'Not measured.'}\n"
    if card.is_file():
        text = read_text(card)
    use = f'    pip install "alphazero-selfplay[hub]"\n    alphazero play second=hf:{repository}\n'
    return f"{_HEAD}{text}\n## From the hub\n\n{use}"
