"""Settings that all tests share: pytest options, signals and OpenMP."""

import signal

import pytest

from alphazero.runtime.process import limit_spinning

#: The files that take longest, the longest first.
LONGEST = [
    "test_training.py",
    "test_doc_examples.py",
    "test_game_check.py",
    "test_web_page.py",
    "test_web_analysis.py",
    "test_config.py",
    "test_wrong_inputs.py",
    "test_game_files.py",
    "test_health.py",
    "test_benchmark.py",
    "test_hydra.py",
    "test_cli_train.py",
    "test_game_laws.py",
    "test_engine.py",
    "test_compare.py",
    "test_engines.py",
    "test_play_terminal.py",
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
    """Let networks play with torch in float32, and with exact leaves very near the end.

    Measuring is slow, and no two machines are alike. The rules of game files are tried briefly.
    Nothing is printed of kernels that are compiled, so that standard error is that of the command.
    """
    from alphazero.games import game_file
    from alphazero.inference import fastest_engine
    from alphazero.inference.engines.engine import REFERENCE
    from alphazero.players import exact_leaves
    from alphazero.runtime import jit

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fastest_engine, "candidates", lambda *_: [REFERENCE])
        patch.setattr(fastest_engine, "has_other_engines", lambda _: False)
        speed = exact_leaves.LeafSpeed([1.0] * 6, 1e7, 1e4)
        patch.setattr(exact_leaves, "leaf_speed", lambda *_: speed)
        patch.setattr(exact_leaves, "known_speed", lambda _: speed)
        patch.setattr(game_file, "_SECONDS", 0.2)
        patch.setattr(jit, "announce_first_compilation", lambda: None)
        yield
