"""An engine behind GTP that is broken or hostile: a legal move, or a sentence that names it."""

import io
import shlex
import sys

import numpy as np
import pytest
from harness import run
from hostile import corpus, fuzz
from hypothesis import strategies as st

from alphazero.own_games.registry import make_game
from alphazero.players import gtp
from alphazero.players.gtp import GtpError, GtpPlayer

GAME = make_game("othello:4")
START = GAME.initial_states()


class Engine:
    """A process that answers with the given bytes, whatever it is asked."""

    def __init__(self, answers: bytes):
        self.stdin = io.StringIO()
        self.stdout = io.TextIOWrapper(io.BytesIO(answers), encoding="utf-8", errors="replace")

    def poll(self):
        return None

    def kill(self):
        pass

    wait = kill


def kind_of(answers: bytes, monkeypatch) -> str:
    """Ask an engine for a move; return what became of it."""
    engine = Engine(answers)  # kept, as a process that runs
    monkeypatch.setattr(gtp, "_start", lambda _: engine)
    try:
        player = GtpPlayer(GAME, "hostile")
        choice = player.choose_after([[]], START)
        assert choice.actions[0] in (gtp.RESIGN, *range(GAME.num_actions))
        assert np.isfinite(choice.action_weights).all()
        return "move"
    except GtpError as error:
        assert "hostile" in str(error)
        assert str(error).isprintable() and len(str(error)) < 1_000
        return "refused"


_GREETINGS = b"= \n\n" * 2  # to boardsize and clear_board


@pytest.mark.parametrize("answer", corpus("gtp"))
def test_kept_answers_are_refused_in_a_sentence(answer, monkeypatch):
    assert kind_of(answer, monkeypatch) == "refused"
    is_move = answer in (b"= a1\n\n", b"= resign\n\n")  # a match refuses a1: see below
    assert kind_of(_GREETINGS + answer, monkeypatch) == ("move" if is_move else "refused")


def test_an_answer_that_the_end_of_the_output_cuts_off_is_the_last_one(monkeypatch):
    monkeypatch.setattr(gtp, "_ANSWER_LIMIT_S", 5.0)
    assert kind_of(b"=", monkeypatch) == "refused"
    assert kind_of(_GREETINGS + b"= pass", monkeypatch) in ("move", "refused")


def test_any_answer_is_a_move_or_a_sentence(monkeypatch):
    squares = st.from_regex(rb"= ?[a-dA-D][1-4]\n\n", fullmatch=True)
    lines = st.sampled_from([b"=", b"?", b"=\n\n", b"\n", b"\r\n", b"pass", b"= PASS\n\n", b"\t#"])
    parts = st.lists(squares | lines | st.binary(max_size=6), max_size=8).map(b"".join)
    answers = st.sampled_from([b"", _GREETINGS]).flatmap(lambda begin: parts.map(begin.__add__))

    def kind(answer):
        return kind_of(answer, monkeypatch)

    fuzz("GTP, answers", answers, kind, (50, 6_000), "move", "refused")


#: Programs that answer the first two commands and then do something else.
HOSTILE = {
    "dies by a signal": "import os; os.kill(os.getpid(), 9)",
    "closes its output": "import os, time; os.close(1); time.sleep(600)",
    "bytes": "sys.stdout.buffer.write(bytes(range(256)) * 9 + b'\\n\\n')",
    "illegal move": "w('= a1\\n\\n'); [w('= a1\\n\\n') for _ in sys.stdin]",
    "pass that is not allowed": "w('= pass\\n\\n'); [w('= pass\\n\\n') for _ in sys.stdin]",
}
_PROGRAM = """
import sys
def w(text):
    sys.stdout.write(text); sys.stdout.flush()
for line in sys.stdin:
    if line.startswith('genmove'):
        break
    w('= \\n\\n')
"""


@pytest.mark.parametrize("deed", HOSTILE.values(), ids=HOSTILE)
def test_a_match_against_a_hostile_program_ends_in_a_sentence(deed):
    program = shlex.join([sys.executable, "-S", "-c", _PROGRAM + deed])
    words = ["game=othello:4", f"a=gtp:{program}", "b=random", "num_games=2", "opening_plies=0"]
    ended = run(["match", *words])
    assert ended.status == 2 and ended.stderr.count("error:") == 1
    assert "Traceback" not in ended.stderr
