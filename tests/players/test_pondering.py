"""`ponder=true`: thoughts on a person's time speed the next search up and change nothing."""

import io
import threading
import time

import numpy as np
import pytest
from rich.console import Console
from search_samples import HashEvaluator

from alphazero.inference.cache import CachedEvaluator
from alphazero.own_games.registry import make_game
from alphazero.play.pondering import ponderer, pondering
from alphazero.play.terminal import HumanPlayer, TerminalGame
from alphazero.players.random import RandomPlayer
from alphazero.players.search_player import SearchPlayer

GAME = make_game("connect_x:4x5x4")


def thinking_player(num_simulations=200):
    evaluator = HashEvaluator(GAME.num_actions)
    symmetries = GAME.cell_symmetries, GAME.action_symmetries
    cache = CachedEvaluator(evaluator, GAME.planes_shape, *symmetries, 4_000_000, True)
    return SearchPlayer(GAME, evaluator, num_simulations, batches_leaves=True, cache=cache)


def wait_until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_the_next_search_finds_evaluations_in_the_cache_and_answers_the_same():
    state = GAME.initial_states()[0]
    reply = thinking_player(3000).analyse(state).action
    after = GAME.step(state[None], np.array([reply])).states[0]
    rested, pondered = thinking_player(), thinking_player()
    expected = rested.analyse(after)
    with pondering(ponderer(pondered), state):
        wait_until(lambda: pondered.cache.counts.num_requested > 3000)
    num_misses = pondered.cache.counts.num_evaluated
    found = pondered.analyse(after)
    assert (
        pondered.cache.counts.num_evaluated - num_misses < 0.5 * rested.cache.counts.num_evaluated
    )
    assert found.action == expected.action and np.array_equal(found.visits, expected.visits)


def test_pondering_ends_with_its_block():
    player, threads = thinking_player(), threading.active_count()
    engine = ponderer(player)
    with pytest.raises(KeyboardInterrupt):
        with pondering(engine, GAME.initial_states()[0]):
            wait_until(lambda: player.cache.counts.num_requested > 20)
            raise KeyboardInterrupt
    assert threading.active_count() == threads
    again = engine.limited(200).analyse(
        GAME.initial_states()[0]
    )  # a search that was stopped spoils nothing
    assert again.num_simulations > 0 and again.action_weights.sum() == pytest.approx(1)


def test_players_without_a_memory_do_not_ponder():
    assert ponderer(RandomPlayer(GAME, 1)) is None
    assert ponderer(SearchPlayer(GAME, HashEvaluator(GAME.num_actions), 20)) is None
    assert ponderer(thinking_player().limited(0)) is None
    with pondering(None, GAME.initial_states()[0]):
        pass


@pytest.mark.parametrize("ponders", (True, False))
def test_an_engine_ponders_while_a_person_chooses_if_it_is_told_to(ponders):
    engine = thinking_player(30)
    lookups = []

    def read_line(prompt):
        before = engine.cache.counts.num_requested
        end = time.monotonic() + (30 if ponders else 0.1)
        while engine.cache.counts.num_requested < before + 30 and time.monotonic() < end:
            time.sleep(0.001)
        lookups.append(engine.cache.counts.num_requested - before)
        if len(lookups) == 3:
            raise EOFError
        return "3"

    console = Console(file=io.StringIO(), width=100)
    TerminalGame(GAME, (HumanPlayer(), engine), console, read_line, ponders=ponders).run()
    assert [number > 0 for number in lookups] == [ponders] * 3
