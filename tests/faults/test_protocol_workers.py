"""Workers that are broken or hostile: what they answer is right or refused.

The learner goes on, counts each game once and says what it refuses.
"""

import copy
import math

import numpy as np
from hostile import fuzz, mostly
from hypothesis import strategies as st
from workers.test_dispatcher import Room, records  # noqa: F401

from alphazero.own_games.registry import make_game
from alphazero.selfplay.game_check import GamesError, check_games
from alphazero.selfplay.game_record import flatten
from alphazero.workers.transport import Answered
from alphazero.workers.unit import NO_WORK, Answer

GAME = make_game("tic_tac_toe")
#: What is wrong with an array, given a function that draws.
WRONG = {
    "short": lambda array, draw: array[: draw(st.integers(0, len(array)))],
    "shape": lambda array, draw: array.reshape(draw(st.sampled_from([(-1,), (1, -1), (-1, 1)]))),
    "type": lambda array, draw: array.astype(draw(st.sampled_from(["i1", "u8", "f2", "f8", "?"]))),
    "scalar": lambda array, draw: array.ravel()[:1].reshape(()),
    "shuffled": lambda array, draw: array[::-1].copy(),
}
VALUES = [0, 1, -1, 2, 7, 100, 2**30, -(2**31), 0.5, math.nan, 1e30]


@st.composite
def answers(draw, samples) -> Answer:
    """Return an answer to a unit that is wrong in none, one or several things."""
    columns = flatten(draw(st.lists(st.sampled_from(samples), min_size=1, max_size=4)))
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from(sorted(columns)))
        array = columns[name]
        kind = draw(st.sampled_from(["value"] * 6 + ["missing", "unknown", *WRONG]))
        if kind == "missing":
            del columns[name]
        elif kind == "unknown":
            columns[draw(st.sampled_from(["x", "\x1b[2J", "x" * 500]))] = array
        elif array.ndim and array.size and kind != "value":
            columns[name] = WRONG[kind](array, draw)
        elif array.size:
            columns[name] = array.copy()
            value = np.array(draw(st.sampled_from(VALUES)), np.float64)
            with np.errstate(all="ignore"):
                place = draw(st.integers(0, array.size - 1))
                columns[name].reshape(-1)[place] = value.astype(array.dtype)
    return Answer(0, 0, columns, NO_WORK, 1.0)


def assert_right(columns) -> None:
    """Assert that games are those of the rules, by playing them move by move."""
    at = 0
    for length in columns["lengths"]:
        actions = columns["actions"][at : at + length].tolist()
        states = [GAME.play_moves(actions[:ply]) for ply in range(length)]
        end = GAME.inspect(GAME.play_moves(actions)[None])
        players = GAME.players(np.array(states))
        results = np.where(players == end.players[0], end.results[0], -end.results[0])
        assert end.over[0] and np.array_equal(columns["states"][at : at + length], states)
        assert np.array_equal(columns["outcomes"][at : at + length], results)
        at += length
    weights, legal = columns["action_weights"], GAME.legal_action_mask(columns["states"])
    assert at == len(columns["actions"]) and not (weights * ~legal).any()
    assert np.allclose(weights[columns["is_target"]].sum(axis=1), 1)


def test_any_answer_is_right_or_refused(records):  # noqa: F811
    def kind_of(answer):
        try:
            check_games(answer.games, GAME)
        except GamesError as error:
            assert str(error).isprintable()
            return "refused"
        assert_right(answer.games)
        return "right"

    fuzz("answers of workers", answers(records), kind_of, (50, 4_000), "right", "refused")


def test_the_dispatcher_counts_right_answers_once_and_dismisses_who_sends_others(records):  # noqa: F811
    """Answers come twice, late, for units of others or of nobody, and with anything in them."""
    units = mostly(st.sampled_from([0, 1]), st.sampled_from([7, -1, 10**30, 0.5, "x", None, (1,)]))

    def kind_of(sent):
        room = Room(records)
        room.join("a")
        asked = list(room.hands["a"])
        for which, answer, num_copies in sent:
            answer = answer._replace(unit_id=asked[which].id if which in (0, 1) else which)
            room.happens(*[Answered("a", copy.copy(answer))] * num_copies)
        num_games = len(room.take(10**6))
        assert len(room.transport.dismissed) <= 1
        assert num_games <= sum(np.size(answer.games.get("lengths", [])) for _, answer, _ in sent)
        assert room.report()["a"].num_games == num_games
        if room.transport.dismissed:
            return "dismissed"
        return "counted" if num_games else "passed"

    sent = st.lists(st.tuples(units, answers(records), st.integers(1, 3)), min_size=1, max_size=3)
    fuzz("dispatcher, answers", sent, kind_of, (10, 800), "dismissed")
