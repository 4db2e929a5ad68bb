"""Every wrong input gets one sentence that names it, and leaves nothing behind."""

import re
import shlex

import pytest
from mostly_slow import mostly_slow
from wrong_inputs import INSIDE, answer, command_lines, make_files

from alphazero.cli import COMMANDS

OF_THE_USER = "RuntimeError: not today"  # raised by the game file raises.py


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    make_files(folder / "files")
    return folder


def names_in(folder) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def names_its_input(command_line, message) -> bool:
    """Return whether a message holds a key, a value or a word of the command line.

    A command alone need not be named, and a wrong config file is named by its settings.
    """
    command, *words = shlex.split(command_line)
    if not words:
        return True
    names = set(re.findall(r"\w+", " ".join(words).lower()))
    names |= {"learner"} if "files/configs" in command_line else set()
    is_quoted = any(word.partition("=")[2] in message for word in words)
    return is_quoted or bool(names & set(re.findall(r"\w+", message.lower())))


@pytest.mark.parametrize("command_line", mostly_slow(command_lines(), 2))
def test_a_wrong_command_is_refused_in_a_sentence_and_nothing_is_made(
    command_line, folder, monkeypatch
):
    monkeypatch.chdir(folder)
    before = names_in(folder)
    status, out, err = answer(command_line)
    # Without a cache of kernels, the first of them is announced.
    err = "".join(line for line in err.splitlines(True) if "Compiling" not in line)
    assert (status, out) == (2, ""), out + err
    assert err.startswith("error: ") and not INSIDE.search(err.replace(OF_THE_USER, "")), err
    assert err.count("\n") == 1 or command_line.split()[0] not in COMMANDS, err
    assert names_its_input(command_line, err), err
    assert names_in(folder) == before
