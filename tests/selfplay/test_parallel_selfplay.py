"""Self-play workers: each plays on its own, and every game is played exactly once."""

import collections

import numpy as np
import pytest
from search_samples import HashEvaluator
from test_selfplay import assert_same_records

from alphazero.own_games.registry import make_game
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.lockstep import SelfPlay
from alphazero.selfplay.settings import SelfPlaySettings
from alphazero.selfplay.threads import ParallelSelfPlay, split_evenly
from alphazero.storage.checkpoint import load_state, save_state

GAME = make_game("connect_x:4x4x3")


def settings_of(**changed):
    values = dict(num_parallel_games=7, num_simulations=12, num_sampled_plies=4) | changed
    return SelfPlaySettings(**values)


def make_workers(num_workers, seed=0, evaluators=None, search=None, **settings):
    evaluators = evaluators or [HashEvaluator(GAME.num_actions) for _ in range(num_workers)]
    return ParallelSelfPlay(
        GAME,
        evaluators,
        settings_of(**settings),
        search or SearchSettings(),
        np.random.default_rng(seed),
    )


def unfinished(state):
    """Count the games in progress, each as what was noted of its moves and its position."""
    games, columns = [], "states actions action_weights root_values players is_target".split()
    for own in state.values():
        for row, ply in enumerate(own["plies"]):
            noted = [own[name][row, :ply].tobytes() for name in columns]
            games.append((*noted, own["roots"][row].tobytes(), bool(own["playing"][row])))
    return collections.Counter(games)


# --- how many workers, games and steps ------------------------------------------------------------


@pytest.mark.parametrize("num_workers", (1, 3))
def test_carried_over_games_go_on_in_the_next_call(num_workers):
    selfplay = make_workers(num_workers)
    assert len(list(selfplay.play(9))) >= 9
    state = selfplay.state_dict()
    openings = {
        own["actions"][row, :ply].tobytes()
        for own in state.values()
        for row, ply in enumerate(own["plies"])
    }
    assert 5 <= sum(unfinished(state).values()) <= 7
    later = list(selfplay.play(30))
    assert openings <= {
        record.actions[:ply].tobytes() for record in later for ply in range(len(record.actions))
    }


# --- what a worker plays --------------------------------------------------------------------------


@pytest.mark.parametrize("num_workers", (1, 3))
@pytest.mark.parametrize(
    "search", (SearchSettings(), SearchSettings(root="gumbel", forced_playouts_k=2.0))
)
def test_workers_play_what_single_self_plays_with_the_same_generators_play(num_workers, search):
    parallel = make_workers(num_workers, seed=3, search=search, carry_over=False)
    singles = [
        SelfPlay(
            GAME,
            HashEvaluator(GAME.num_actions),
            settings_of(num_parallel_games=size, carry_over=False),
            search,
            generator,
        )
        for size, generator in zip(
            split_evenly(7, num_workers), np.random.default_rng(3).spawn(num_workers)
        )
    ]
    for num_games in (8, 1, 11):
        expected = [
            collections.deque(single.play(share))
            for single, share in zip(singles, split_evenly(num_games, num_workers))
        ]
        for record in parallel.play(num_games):  # each is the next one of some worker
            next(
                queue for queue in expected if queue and all(map(np.array_equal, record, queue[0]))
            ).popleft()
        assert not any(expected)
    assert [worker._generator.bit_generator.state for worker in parallel.workers] == [
        single._generator.bit_generator.state for single in singles
    ]


@pytest.mark.parametrize("num_workers", (1, 3))
def test_an_error_in_a_worker_reaches_the_caller(num_workers):
    class Failing(HashEvaluator):
        def evaluate(self, planes):
            if len(self.num_rows) == 20:
                raise RuntimeError("the network is gone")
            return super().evaluate(planes)

    evaluators = [HashEvaluator(GAME.num_actions) for _ in range(num_workers - 1)] + [
        Failing(GAME.num_actions)
    ]
    with pytest.raises(RuntimeError) as error:
        list(make_workers(num_workers, evaluators=evaluators).play(100))
    assert error.value.args == ("the network is gone",)


# --- stop and go on -------------------------------------------------------------------------------


@pytest.mark.parametrize("num_workers", (1, 3))
@pytest.mark.parametrize("carry_over", (True, False))
def test_restored_games_go_on_as_if_never_stopped(tmp_path, num_workers, carry_over):
    original, restored = (make_workers(num_workers, seed, carry_over=carry_over) for seed in (1, 2))
    list(restored.play(4))  # whatever was there before is gone
    list(original.play(5))
    save_state(tmp_path / "state.safetensors", original.state_dict())
    expected = list(original.play(11)) + list(original.play(3))
    restored.load_state_dict(load_state(tmp_path / "state.safetensors"))
    assert_same_records(list(restored.play(11)) + list(restored.play(3)), expected)


@pytest.mark.parametrize("before, after", ((1, 3), (3, 2)))
def test_with_another_number_of_workers_new_games_are_played(before, after):
    original = make_workers(before, seed=1)
    list(original.play(4))
    moved = make_workers(after, seed=9)
    moved.load_state_dict(original.state_dict())
    assert not unfinished(moved.state_dict())
    assert len(list(moved.play(5))) >= 5


@pytest.mark.parametrize("num_workers", (1, 3))
def test_with_more_parallel_games_those_in_progress_continue(num_workers):
    original = make_workers(num_workers, seed=1)
    list(original.play(4))
    games = unfinished(original.state_dict())
    grown = make_workers(num_workers, seed=2, num_parallel_games=12)
    grown.load_state_dict(original.state_dict())
    assert unfinished(grown.state_dict()) == games
    assert len(list(grown.play(5))) >= 5
    assert 7 < sum(unfinished(grown.state_dict()).values()) <= 12
