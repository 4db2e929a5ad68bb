"""Several threads of the UCT search: each grows a tree of its own, and the roots' statistics are summed."""

import time

import numpy as np
import pytest

from alphazero.games.registry import make_game
from alphazero.players.registry import make_player
from alphazero.runtime.errors import ConfigError
from alphazero.search.uct import search as uct
from alphazero.search.uct.search import UctSearch
from alphazero.search.uct.tree import ROOT_INDEX, children_of, on_own_lines


def run(search, moves=()):
    """Return what a search finds after a list of moves."""
    return search.run(search.game.play_moves(list(moves)))


def single_searches(game, search, statistics):
    """Return searches with one thread each that begin with the shares and the random numbers of ``search``'s threads."""
    singles = [
        UctSearch(game, num_simulations=worker.simulations, statistics=statistics)
        for worker in search.workers
    ]
    for single, worker in zip(singles, search.workers):
        single.workers[0].rng[:] = worker.rng
    return singles


@pytest.mark.parametrize("statistics", ["node", "position"])
@pytest.mark.parametrize(
    ("name", "moves"), [("connect_four", [3, 3]), ("othello:6", []), ("tic_tac_toe", [4])]
)
def test_the_result_is_the_sum_of_independent_searches(name, moves, statistics):
    game = make_game(name)
    search = UctSearch(game, num_simulations=1000, num_threads=3, statistics=statistics, seed=7)
    singles = single_searches(game, search, statistics)
    found, parts = run(search, moves), [run(single, moves) for single in singles]
    assert [part.num_simulations for part in parts] == [334, 333, 333]
    assert found.num_simulations == 1000
    visits = np.array([part.visits for part in parts])
    assert len({tuple(row) for row in visits}) == 3  # trees that differ
    assert (found.visits == visits.sum(axis=0)).all()
    wins = np.nansum([part.visits * part.values for part in parts], axis=0)
    seen = found.visits > 0
    np.testing.assert_allclose(found.values[seen], wins[seen] / found.visits[seen], atol=1e-5)
    assert found.value == pytest.approx(
        sum(part.num_simulations * part.value for part in parts) / 1000, abs=1e-9
    )
    assert found.visits[found.action] == found.visits.max()


def test_the_expected_line_goes_on_with_the_tree_that_visited_the_move_most():
    game = make_game("connect_four")
    lines = set()
    for seed in range(20):
        search = UctSearch(game, num_simulations=300, num_threads=3, seed=seed)
        singles = single_searches(game, search, "node")
        found, parts = run(search), [run(single) for single in singles]
        most = int(np.argmax([part.visits[found.action] for part in parts]))
        line = search.principal_variation()
        assert line[0] == found.action
        if parts[most].action == found.action:
            assert line == singles[most].principal_variation()
            lines.add(most)
        game.play_moves(line)  # legal from the first move to the last
    assert lines == {0, 1, 2}


@pytest.mark.parametrize("statistics", ["node", "position"])
def test_seed_simulations_and_threads_fix_the_moves_of_a_whole_game(statistics):
    game = make_game("connect_four")

    def moves(num_threads, seed):
        search, played, visits = (
            UctSearch(
                game, num_simulations=300, num_threads=num_threads, statistics=statistics, seed=seed
            ),
            [],
            [],
        )
        for _ in range(6):
            found = run(search, played)
            played.append(found.action)
            visits.append(found.visits.tolist())
        return visits

    assert moves(2, seed=1) == moves(2, seed=1)
    assert moves(2, seed=1) != moves(2, seed=2)
    assert moves(2, seed=1) != moves(3, seed=1) != moves(1, seed=1)


def test_a_win_at_once_is_found_by_threads_too():
    for final_move in ("visits", "value"):
        search = UctSearch(
            make_game("connect_x:4x3x3"), num_simulations=200, num_threads=2, final_move=final_move
        )
        found = run(search, [0, 1, 2, 0, 2, 1, 1, 1])
        assert found.action == 2
        assert found.values[2] == 1.0


@pytest.mark.parametrize("num_simulations", [1, 2, 3, 5, 17])
def test_simulations_are_shared_out_to_the_last_one(num_simulations):
    search = UctSearch(make_game("connect_four"), num_simulations=num_simulations, num_threads=4)
    for found in (run(search), run(search)):
        assert found.visits.sum() == found.num_simulations == num_simulations
        assert found.visits[found.action] > 0


def test_nodes_are_shared_out():
    game = make_game("connect_four")
    search = UctSearch(game, num_simulations=30_000, num_threads=3, max_nodes=1000)
    assert [len(worker.tree.nodes) for worker in search.workers] == [333] * 3
    assert search.memory_bytes == 3 * (16 * 333 + 8)
    assert run(search).num_simulations == 30_000
    assert all(333 - 7 < worker.tree.sizes[0] <= 333 for worker in search.workers)


def test_a_time_limit_ends_every_thread_after_some_work():
    search = UctSearch(
        make_game("connect_four"),
        num_simulations=None,
        time_limit_s=0.05,
        num_threads=2,
        max_nodes=10_000,
    )
    found = run(search)
    assert (
        found.visits.sum() == found.num_simulations == sum(worker.done for worker in search.workers)
    )
    assert all(worker.done >= uct.FIRST_CHUNK for worker in search.workers)


def test_a_time_that_is_over_before_it_began_gives_each_thread_a_chunk():
    search = UctSearch(
        make_game("tic_tac_toe"),
        num_simulations=None,
        time_limit_s=1e-9,
        num_threads=3,
        max_nodes=10_000,
    )
    assert run(search).num_simulations == 3 * uct.FIRST_CHUNK


def test_progress_counts_the_simulations_of_all_threads(monkeypatch):
    monkeypatch.setattr(uct, "PROGRESS_S", 0.0)
    reports = []
    game = make_game("tic_tac_toe")
    UctSearch(game, num_simulations=20_000, num_threads=2).run(
        game.initial_states()[0], lambda *report: reports.append(report)
    )
    done, totals = zip(*reports)
    assert (
        len(done) > 2
        and list(done) == sorted(done)
        and set(totals) == {20_000}
        and done[-1] == 20_000
    )


def test_an_interruption_ends_all_threads_and_the_next_search_is_whole(monkeypatch):
    monkeypatch.setattr(uct, "PROGRESS_S", 0.0)
    search = UctSearch(
        make_game("tic_tac_toe"),
        num_simulations=None,
        time_limit_s=20.0,
        num_threads=2,
        max_nodes=10_000,
    )

    def interrupt(done, total):
        raise KeyboardInterrupt

    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        search.run(search.game.initial_states()[0], interrupt)
    assert time.perf_counter() - started < 10.0  # a thread that is not told goes on for 20 s
    search._time_limit_s = 0.01
    assert run(search).num_simulations == sum(worker.done for worker in search.workers)
    assert all(worker.done >= uct.FIRST_CHUNK for worker in search.workers)


def test_an_error_in_any_thread_is_raised(monkeypatch):
    search = UctSearch(make_game("tic_tac_toe"), num_simulations=100, num_threads=2)

    def fail(*_):
        raise RuntimeError("broken")

    monkeypatch.setattr(search.workers[1], "simulate", fail)
    with pytest.raises(RuntimeError, match="broken"):
        run(search)


def test_zero_takes_all_cores(monkeypatch):
    monkeypatch.setattr(uct.os, "sched_getaffinity", lambda _: {0, 1, 5}, raising=False)
    assert len(UctSearch(make_game("tic_tac_toe"), num_threads=0).workers) == 3


def test_arrays_on_own_lines_are_copies_apart_from_everything():
    for array in (
        np.array([7], np.uint64),
        np.zeros(0, np.bool_),
        np.arange(6, dtype=np.int32).reshape(2, 3),
    ):
        copies = [on_own_lines(array) for _ in range(20)]
        assert all(
            (copy == array).all() and copy.dtype == array.dtype and copy.shape == array.shape
            for copy in copies
        )
        assert all(
            copy.flags.c_contiguous and copy.flags.aligned and copy.flags.writeable
            for copy in copies
        )
        lines = [copy.ctypes.data // 128 for copy in copies]
        assert array.size == 0 or (
            len(set(lines)) == 20 and all(copy.ctypes.data % 128 == 0 for copy in copies)
        )


def test_threads_share_no_memory_that_they_write():
    search = UctSearch(
        make_game("othello:6"),
        num_simulations=50,
        num_threads=2,
        rollout="weighted",
        statistics="position",
    )
    first, second = (
        [worker.rng, *worker.tree, *worker._scratch, *worker._rollouts.scratch]
        for worker in search.workers
    )
    assert not any(np.shares_memory(a, b) for a in first for b in second)


def test_the_roots_of_all_trees_list_the_same_moves():
    search = UctSearch(
        make_game("othello"), num_simulations=200, num_threads=3, statistics="position"
    )
    run(search, [20])
    first, *others = (children_of(worker.tree, ROOT_INDEX)[0].tolist() for worker in search.workers)
    assert first and all(other == first for other in others)


# --- the words that name a player -------------------------------------------------------------------------------------------------------


def test_a_player_with_threads_says_so_in_its_name_and_keeps_them_under_other_limits():
    game = make_game("tic_tac_toe")
    player = make_player("uct:50,num_threads=2", game)
    assert player.name == "uct:50,num_threads=2"
    assert make_player(player.name, game).settings == player.settings
    assert len(player.limited(20, None)._search.workers) == 2
    assert make_player("uct:50", game).name == "uct:50"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"num_threads": -1}, "num_threads=-1 is not allowed: it is a number from 0 on"),
        (
            {"num_threads": 2, "max_nodes": 19},
            "max_nodes=19 is not allowed: for tic_tac_toe with 2 threads it goes from 20 to",
        ),
    ],
)
def test_impossible_numbers_are_refused_in_a_sentence(settings, words):
    with pytest.raises(ValueError, match=words):
        UctSearch(make_game("tic_tac_toe"), **settings)


@pytest.mark.parametrize("word", ["-1", "1025", "two"])
def test_impossible_words_are_refused_in_a_sentence(word):
    with pytest.raises(ConfigError, match="num_threads") as error:
        make_player(f"uct,num_threads={word}", make_game("tic_tac_toe"))
    assert "\n" not in str(error.value)
