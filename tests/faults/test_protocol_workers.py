"""Workers that are broken or hostile: what they answer is right or refused.

The learner goes on, counts each game once and says what it refuses.
"""

import copy
import math

import numpy as np
from hostile import Tally, mostly, try_all
from hypothesis import strategies as st
from workers.test_dispatcher import Room

from alphazero.own_games.registry import make_game
from alphazero.selfplay.game_check import GamesError, check_games
from alphazero.selfplay.game_record import GameRecord, flatten
from alphazero.workers.transport import Answered
from alphazero.workers.unit import NO_WORK, Answer

GAME = make_game("tic_tac_toe")


def a_game(seed: int) -> GameRecord:
    """Return a random game of tic-tac-toe."""
    generator = np.random.default_rng(seed)
    states, found, actions, over, results, players = GAME.initial_states(), [], [], False, None, []
    while not over:
        action = int(generator.choice(np.flatnonzero(GAME.legal_action_mask(states)[0])))
        found.append(states[0])
        players.append(GAME.players(states)[0])
        actions.append(action)
        after = GAME.step(states, np.array([action]))
        states, over, results = after.states, after.over[0], after.results[0]
    length = len(actions)
    signs = np.where(np.array(players) == after.players[0], 1, -1)
    return GameRecord(
        np.array(found),
        np.array(actions, np.int32),
        np.eye(GAME.num_actions, dtype=np.float32)[actions],
        np.zeros(length, np.float32),
        (signs * results).astype(np.float32),
        np.ones(length, np.bool_),
        np.zeros(length, np.float32),
    )


def _changed(columns: dict[str, np.ndarray], name: str, kind: str, draw) -> dict:
    """Return the arrays of games with one that is wrong in some way."""
    array = columns[name]
    place = draw(st.integers(0, max(array.size - 1, 0)))
    if kind == "missing":
        return {key: value for key, value in columns.items() if key != name}
    if kind == "unknown":
        return columns | {draw(st.sampled_from(["x", "\x1b[2J", "x" * 500])): array}
    if kind == "short":
        array = array[: draw(st.integers(0, len(array)))]
    elif kind == "shape":
        array = array.reshape(draw(st.sampled_from([(-1,), (1, -1), (-1, 1), (-1, 1, 1)])))
    elif kind == "type":
        array = array.astype(draw(st.sampled_from(["i1", "i4", "u8", "f2", "f8", "?"])))
    elif kind == "scalar":
        array = array.ravel()[:1].reshape(())
    elif kind == "shuffled":
        array = array[::-1].copy()
    else:
        array = array.copy()
        wrong = draw(st.sampled_from([0, 1, -1, 2, 7, 100, 2**30, -(2**31), 0.5, math.nan, 1e30]))
        with np.errstate(all="ignore"):
            array.ravel()[place] = np.array(wrong, np.float64).astype(array.dtype)
    return columns | {name: array}


@st.composite
def answers(draw) -> Answer:
    """Return an answer to a unit that is wrong in none, one or several things."""
    columns = flatten([a_game(seed) for seed in draw(st.lists(st.integers(0, 30), min_size=1))])
    names = sorted(columns)
    kinds = ["value"] * 6 + ["missing", "unknown", "short", "shape", "type", "scalar", "shuffled"]
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from(names))
        if name in columns and columns[name].ndim and columns[name].size:
            columns = _changed(columns, name, draw(st.sampled_from(kinds)), draw)
    return Answer(0, 0, columns, NO_WORK, 1.0)


def _is_right(answer: Answer) -> bool:
    """Return whether games are those of the rules, by playing them move by move."""
    columns, at = answer.games, 0
    for length in columns["lengths"]:
        actions = columns["actions"][at : at + length].tolist()
        states = [GAME.play_moves(actions[:ply]) for ply in range(length)]
        end = GAME.inspect(GAME.play_moves(actions)[None])
        players = GAME.players(np.array(states))
        results = np.where(players == end.players[0], end.results[0], -end.results[0])
        is_same = np.array_equal(columns["states"][at : at + length], states)
        if not (end.over[0] and is_same):
            return False
        if not np.array_equal(columns["outcomes"][at : at + length], results):
            return False
        at += length
    weights, legal = columns["action_weights"], GAME.legal_action_mask(columns["states"])
    sums = weights[columns["is_target"]].sum(axis=1)
    return at == len(columns["actions"]) and not (weights * ~legal).any() and np.allclose(sums, 1)


def test_any_answer_is_right_or_refused(amount):
    tally = Tally()

    def check(answer):
        try:
            check_games(answer.games, GAME)
        except GamesError as error:
            assert str(error).isprintable()
            tally["refused"] += 1
            return
        assert _is_right(answer)
        tally["right"] += 1

    try_all(answers(), check, amount(50, 4_000))
    assert tally["right"] and tally["refused"]
    tally.show("answers of workers")


def test_the_dispatcher_counts_right_answers_once_and_dismisses_who_sends_others(amount):
    """Answers come twice, late, for units of others or of nobody, and with anything in them."""
    tally, games = Tally(), [a_game(seed) for seed in range(40)]
    units = mostly(st.sampled_from([0, 1]), st.sampled_from([7, -1, 10**30, 0.5, "x", None, (1,)]))

    def check(sent):
        room = Room(games)
        room.join("a")
        asked, num_games = list(room.hands["a"]), 0
        for which, answer, num_copies in sent:
            is_asked = which in (0, 1)
            answer = answer._replace(unit_id=asked[which].id if is_asked else which)
            room.happens(*[Answered("a", copy.copy(answer))] * num_copies)
        num_games = len(room.take(10**6))
        assert len(room.transport.dismissed) <= 1
        assert num_games <= sum(np.size(answer.games.get("lengths", [])) for _, answer, _ in sent)
        assert room.report()["a"].num_games == num_games
        tally[
            "dismissed" if room.transport.dismissed else "counted" if num_games else "passed"
        ] += 1

    sent = st.lists(st.tuples(units, answers(), st.integers(1, 3)), min_size=1, max_size=3)
    try_all(sent, check, amount(10, 800))
    tally.show("dispatcher, answers")
