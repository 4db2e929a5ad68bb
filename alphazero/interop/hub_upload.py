"""Upload a network and its model card to a repository of the Hugging Face Hub."""

from pathlib import Path

from alphazero.evaluation.run_facts import summary
from alphazero.network.weights import load_network
from alphazero.players.hub import hub, repository_of
from alphazero.runtime.files import read_text

_HEAD = """---
library_name: alphazero-selfplay
tags: [alphazero, reinforcement-learning]
---

"""


def upload(path: Path, to: str, public: bool) -> None:
    """Upload a network and its card in one commit, after a check of the file.

    Args:
        path: the network's file.
        to: the repository, such as "hf:owner/name".
        public: whether everyone can read the repository if it is new.

    Raises:
        StoredFileError: if the file is damaged or not a network.
        ConfigError: if `to` names no repository, the hub refuses or cannot be reached, or
            `huggingface_hub` is missing.
    """
    name, revision, file = repository_of(to)
    card = card_text(path, name).encode()
    with hub(to) as package:
        package.create_repo(name, private=not public, exist_ok=True)
        add = package.CommitOperationAdd
        files = [add(file, path), add("README.md", card)]
        package.create_commit(name, files, commit_message="A network", revision=revision)


def card_text(path: Path, repository: str) -> str:
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
