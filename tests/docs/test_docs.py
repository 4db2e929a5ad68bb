"""The pages: every command on them is accepted, every file and link exists."""

import functools
import importlib
import itertools
import re
import shlex
from pathlib import Path

import pytest

from alphazero.cli import COMMANDS
from alphazero.cli.command import read_settings
from alphazero.config.command_line import split_values
from alphazero.runtime.errors import ConfigError
from alphazero.training.run_config import compose

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("checkpoints/best/*.md")),
]
#: The user's own code; tests/cli/test_own_package.py runs such commands.
PLACEHOLDERS = ("my_game", "my_package")


def commands(text):
    """Return the `alphazero` commands of a page, indented or in backticks, as lists of words."""
    text = re.sub(r"\\\n +", " ", text)  # a command of several lines
    indented = re.compile(r"^ {4}(.*)$", re.MULTILINE)
    lines = indented.findall(text) + re.findall(r"`([^`\n]+)`", indented.sub("", text))
    found = []
    for line in lines:
        match = re.match(r"(?:.*\| |taskset -c \d |PYTHONPATH=\S+ )?alphazero (?=[a-z])(.*)", line)
        if match:
            found.append([word for word in shlex.split(match[1], comments=True) if word != "..."])
    return found


def accept(command, *words):
    """Raise ConfigError unless the command takes these words; nothing is run."""
    if command not in COMMANDS:
        raise ConfigError(f"there is no command {command}")
    if "--help" in words or any(word.startswith("resume=") for word in words):
        return
    if command == "train":
        if "--config-dir" not in words and "--cfg" not in words:  # these are tried in test_hydra.py
            settings = [word for word in words if word[0] != "-" and "range(" not in word]
            _accept_run(settings, "--multirun" in words)
        return
    read_settings(importlib.import_module(f"alphazero.cli.{command}"), list(words))


def _accept_run(settings, multirun):
    """Raise ConfigError unless these are settings of a run, or of each run of a sweep."""
    texts = dict(word.partition("=")[::2] for word in settings)
    values = [split_values(text) if multirun else [text] for text in texts.values()]
    for job in itertools.product(*values):
        _compose(
            frozenset(
                f"{key}={value}"
                for key, value in zip(texts, job)
                if key not in ("seed", "run.name")  # many commands differ in nothing else
            )
        )


@functools.cache
def _compose(words):
    return compose(sorted(words))


@pytest.mark.slow
def test_every_command_is_accepted():
    said = {tuple(words) for page in PAGES for words in commands(page.read_text())}
    assert len(said) > 80
    said = {words for words in said if not any(name in " ".join(words) for name in PLACEHOLDERS)}
    refused = {}
    for words in sorted(said):
        try:
            accept(*words)
        except ConfigError as error:
            refused[" ".join(words)] = str(error)
    assert refused == {}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_in_the_help_of_a_command_are_accepted(command):
    text = importlib.import_module(f"alphazero.cli.{command}").__doc__
    found = commands(text.replace(" && ", "\n    "))
    assert command in {words[0] for words in found}
    for words in found:
        accept(*words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_that_a_page_names_exists(page):
    text = page.read_text()
    links = [page.parent / link for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)]
    paths = [
        ROOT / path
        for path in re.findall(
            r"\b(?:alphazero|scripts|configs|tests|docs|examples|checkpoints/best)/[\w./-]*\w", text
        )
    ]
    assert [str(path) for path in links + paths if not path.exists()] == []
    modules = re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", text)  # relative to the package
    places = (ROOT, ROOT / "alphazero")
    assert [name for name in modules if not any((place / name).exists() for place in places)] == []
