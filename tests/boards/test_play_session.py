"""A session: moves, passes, the winner, and the law of take-back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphazero.boards.session import Session
from alphazero.own_games.registry import make_game

GAMES = {name: make_game(name) for name in ("tic_tac_toe", "connect_x:4x5x3", "othello:4")}
# White has no move after the first four: it passes at ply 4, and black passes at ply 11.
TWO_PASSES = [2, 1, 8, 3, 16, 11, 7, 14, 15, 13, 4, 16, 12]


def _random_session(game, choices) -> Session:
    session = Session(game)
    for choice in choices:
        if session.over:
            break
        session.play(session.legal_actions[choice % len(session.legal_actions)])
    return session


@given(
    st.sampled_from(sorted(GAMES)),
    st.lists(st.integers(0, 50), max_size=20),
    st.sampled_from([(True, False), (False, True), (True, True)]),
)
@settings(max_examples=60, deadline=None)
def test_take_back_then_the_same_moves_gives_the_same_game(name, choices, humans):
    game = GAMES[name]
    session = _random_session(game, choices)
    actions, states = list(session.actions), [state.copy() for state in session.states]
    num_taken_back = session.take_back(lambda player: humans[player])
    kept = len(actions) - num_taken_back
    assert session.actions == actions[:kept]
    assert len(session.states) == kept + 1
    if num_taken_back:
        assert humans[session.player]
        assert not session.is_forced_pass()
    else:  # then no earlier position was a person's to decide
        assert not any(
            humans[session.player_at(ply)] and not session.is_forced_pass(ply)
            for ply in range(len(actions))
        )
    for action in actions[kept:]:
        session.play(action)
    assert session.actions == actions
    np.testing.assert_array_equal(session.states, states)


def test_take_back_goes_to_ones_own_previous_turn():
    against_engine = Session(GAMES["tic_tac_toe"], [4, 0, 8])
    assert against_engine.take_back(lambda player: player == 1) == 2
    assert against_engine.actions == [4]
    between_people = Session(GAMES["tic_tac_toe"], [4, 0, 8])
    assert between_people.take_back(lambda player: True) == 1


def test_forced_passes_are_told_from_single_moves():
    session = Session(GAMES["othello:4"], TWO_PASSES)
    assert [ply for ply in range(len(TWO_PASSES)) if session.is_forced_pass(ply)] == [4, 11]
    assert any(
        len(session.legal_actions_at(ply)) == 1 and not session.is_forced_pass(ply)
        for ply in range(len(TWO_PASSES))
    )


@pytest.mark.parametrize(
    ("name", "moves", "winner"),
    [
        ("tic_tac_toe", [0, 3, 1, 4, 2], 0),
        ("tic_tac_toe", [0, 3, 1, 4, 8, 5], 1),
        ("tic_tac_toe", [0, 1, 2, 4, 3, 5, 7, 6, 8], None),
        ("othello:4", TWO_PASSES, 0),
        ("othello:4", [8, 14, 11, 12, 13, 4, 2, 7, 3, 15, 1, 0], None),
    ],
)
def test_winner(name, moves, winner):
    session = Session(GAMES[name], moves)
    assert session.over
    assert session.winner == winner
