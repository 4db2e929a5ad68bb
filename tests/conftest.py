"""Settings that all tests share: pytest options, signals, threads and the order of the files."""

import signal
import sys

import pytest
from unmeasured import patch_measurements

from alphazero.runtime.process import limit_spinning

#: The files that take longest, the longest first.
LONGEST = [
    "test_training.py",
    "test_game_laws.py",
    "test_config.py",
    "test_protocols.py",
    "test_disk.py",
    "test_web_runs_charts.py",
    "test_engine.py",
    "test_cli_train.py",
    "test_batched_search.py",
    "test_puzzle.py",
    "test_web_review.py",
    "test_changed_rules.py",
    "test_own_game.py",
    "test_health.py",
    "test_selfplay.py",
    "test_evaluate_command.py",
    "test_gumbel.py",
]

limit_spinning()  # the tests share the cores with each other; must precede the import of torch


def pytest_addoption(parser):
    parser.addoption(
        "--regenerate-playthroughs",
        action="store_true",
        help="rewrite the golden playthroughs instead of comparing with them; review the diff",
    )
    parser.addoption(
        "--regenerate-cards",
        action="store_true",
        help="rewrite the cards of the pretrained networks from the facts in their files",
    )


def pytest_configure():
    # A shell that starts the tests in the background makes them and their children ignore Ctrl-C,
    # which some tests need.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    # Begun last, a long file would leave the other processes of `make test` with nothing to do.
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONGEST)))


@pytest.fixture(scope="session", autouse=True)
def unmeasured_players():
    """Let networks play without measuring which engine is fastest here."""
    with pytest.MonkeyPatch.context() as patch:
        patch_measurements(patch)
        yield


@pytest.fixture(autouse=True)
def one_thread():
    """Let torch compute on one thread, whatever the test before has set."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
