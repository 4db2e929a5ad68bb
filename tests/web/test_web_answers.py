"""What the players of the page answer: moves, analyses, exact results, reviews, mistakes, runs."""

import json
import os
import re
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from game_samples import BREAKTHROUGH_PYTHON
from solver_samples import late_states
from web_samples import collect, copy_run, make_backend

from alphazero.inference.evaluator import UniformEvaluator
from alphazero.network.weights import load_network
from alphazero.network.window_states import LOOKED_UP
from alphazero.own_games.registry import make_game
from alphazero.play.requests import Refusal
from alphazero.players.search_player import SearchPlayer
from alphazero.solvers.base import UnsolvableError
from alphazero.solvers.endings import make_endings
from alphazero.storage.pretrained import shipped_folder
from alphazero.web import exact_scores, review
from alphazero.web.exact_scores import Solvers
from alphazero.web.network_search import NetworkSearch, SearchTask
from alphazero.web.thinking import MAX_LOADED

TTT = {"game": "tic_tac_toe"}
#: X has two in a row and moves.
WINNING = [0, 3, 1, 4]


@pytest.fixture(scope="module")
def backend():
    return make_backend()


# --- moves ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("player", ["best", "uct", "solver"])
def test_every_player_that_looks_ahead_takes_a_win(backend, player):
    request = TTT | {"moves": WINNING, "player": {"id": player}}
    last = collect(backend.move(request))[-1]
    assert last == {"type": "move", "action": 2}


def test_a_random_move_is_legal_and_not_always_the_same(backend):
    request = TTT | {"moves": [0], "player": {"id": "random"}}
    moves = {collect(backend.move(request))[-1]["action"] for _ in range(40)}
    assert moves <= set(range(1, 9)) and len(moves) > 1


def test_the_solver_has_a_stand_in_where_nothing_is_solved(backend):
    request = {"game": "othello:6", "player": {"id": "solver"}}
    *progress, last = collect(backend.move(request))
    assert progress[0]["total"] == 200
    legal = backend.position({"game": "othello:6"})["positions"][0]["legal"]
    assert last["action"] in legal


@pytest.mark.parametrize("num_simulations", [0, 1, 30])
def test_a_network_makes_as_many_simulations_as_asked(backend, num_simulations):
    player = {"id": "best", "num_simulations": num_simulations}
    last = collect(backend.analyse({"game": "connect_four", "player": player}))[-1]
    assert last["num_simulations"] == num_simulations


@pytest.mark.parametrize(
    "player, status",
    [
        ("best", 400),
        ({}, 422),
        ({"id": "nobody"}, 422),
        ({"id": "../best"}, 422),
        ({"id": "best" * 200}, 422),
        ({"id": "best", "num_simulations": 10**9}, 400),
        ({"id": "uct", "num_simulations": 0}, 400),
        ({"id": "uct", "time_limit_s": 1e9}, 400),
    ],
)
def test_players_that_do_not_exist_and_limits_without_end_are_refused(backend, player, status):
    for method in (backend.move, backend.analyse):
        with pytest.raises(Refusal) as refused:
            method(TTT | {"player": player})
        assert refused.value.status == status


def test_nobody_moves_after_the_end(backend):
    request = TTT | {"moves": [0, 3, 1, 4, 2], "player": {"id": "uct"}}
    for method in (backend.move, backend.analyse):
        with pytest.raises(Refusal):
            method(request)
    with pytest.raises(Refusal):
        backend.exact(TTT | {"moves": [0, 3, 1, 4, 2]})


@pytest.mark.parametrize("player", ["uct", "best"])
def test_what_takes_time_before_the_first_move_is_said_once(player):
    backend = make_backend()
    request = TTT | {"player": {"id": player, "num_simulations": 5}}
    first, *_, last = collect(backend.move(request))
    assert (first["type"], first["done"], first["total"]) == ("progress", 0, 5) and first["note"]
    assert last["type"] == "move"
    assert not any(message.get("note") for message in collect(backend.move(request)))


def test_uct_moves_while_a_network_is_being_loaded(monkeypatch):
    backend, begins, may_end = make_backend(), threading.Event(), threading.Event()
    load = backend.thinking._load

    def slowly(*arguments):
        begins.set()
        assert may_end.wait(60)
        return load(*arguments)

    monkeypatch.setattr(backend.thinking, "_load", slowly)
    network, uct = (
        TTT | {"player": {"id": name, "num_simulations": 5}} for name in ("best", "uct")
    )
    messages = []
    loading = threading.Thread(target=backend.move(network), args=(messages.append,))
    loading.start()
    assert begins.wait(60) and messages[0]["note"]
    assert collect(backend.move(uct))[-1]["type"] == "move"
    assert len(messages) == 1
    may_end.set()
    loading.join()
    assert messages[-1]["type"] == "move"


# --- analyses -------------------------------------------------------------------------------------


@pytest.mark.parametrize("player, num_simulations", [("best", 400), ("uct", 3_000)])
def test_an_analysis_is_consistent(backend, player, num_simulations):
    game = make_game("connect_x:5x5x4") if player == "uct" else make_game("connect_four")
    moves = [2, 2, 1]
    chosen = {"id": player, "num_simulations": num_simulations}
    found = collect(backend.analyse({"game": game.name, "moves": moves, "player": chosen}))[-1]
    assert found["final"] and found["num_simulations"] == found["total"] == num_simulations
    state = game.play_moves(moves)
    legal = np.flatnonzero(game.legal_action_mask(state[None])[0]).tolist()
    actions = {one["action"]: one for one in found["actions"]}
    assert sorted(actions) == legal
    assert sum(one["visits"] for one in actions.values()) == num_simulations
    assert found["line"][0] == found["best"]
    assert actions[found["best"]]["visits"] == max(one["visits"] for one in actions.values())
    game.play_moves(moves + found["line"])  # is legal
    assert (found["network"] is None) == (player == "uct")
    if player == "best":
        assert sum(one["prior"] for one in actions.values()) == pytest.approx(1, abs=1e-3)
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("game, player", [("othello:6", "best"), ("othello:4", "uct")])
def test_the_tree_of_an_analysis_is_one(backend, game, player):
    chosen = {"id": player, "num_simulations": 500}
    found = collect(backend.analyse({"game": game, "player": chosen}))
    tree = found[-1]["tree"]
    root, *others = tree
    assert (root["id"], root["parent"], root["visits"]) == (0, None, found[-1]["num_simulations"])
    by_id = {node["id"]: node for node in tree}
    assert list(by_id) == list(range(len(tree))) and 100 < len(tree) <= 1_000
    for node in others:
        parent = by_id[node["parent"]]
        assert node["parent"] < node["id"]
        assert node["visits"] <= parent["visits"]
        siblings = [one for one in others if one["parent"] == parent["id"]]
        assert len(siblings) <= parent["num_children"]
        assert -1 <= node["value"] <= 1
    children = {one["action"]: one for one in others if one["parent"] == 0}
    for entry in found[-1]["actions"]:
        if entry["action"] in children:
            child = children[entry["action"]]
            assert (child["visits"], child["value"]) == (entry["visits"], entry["value"])


def test_a_proven_result_is_marked_for_the_player_who_chooses(backend):
    player = {"id": "best", "num_simulations": 300}
    found = collect(backend.analyse(TTT | {"moves": WINNING, "player": player}))[-1]
    assert (found["proven"], found["value"], found["best"]) == (1, 1.0, 2)
    entry = next(one for one in found["actions"] if one["action"] == 2)
    assert (entry["proven"], entry["value"]) == (1, 1.0)
    node = next(node for node in found["tree"] if node["parent"] == 0 and node["action"] == 2)
    assert node["proven"] == 1


def test_the_network_alone_is_what_it_says_without_a_search(backend):
    asked = {"game": "connect_four", "moves": [3]}
    searched = collect(backend.analyse(asked | {"player": {"id": "best", "num_simulations": 200}}))
    alone = collect(backend.analyse(asked | {"player": {"id": "best", "num_simulations": 0}}))
    assert alone[-1]["network"] == searched[-1]["network"]
    assert alone[-1]["value"] == alone[-1]["network"]["value"] != searched[-1]["value"]
    assert alone[-1]["best"] == alone[-1]["network"]["best"]


# --- one search at a time -------------------------------------------------------------------------


def stopping(messages, most):
    """Return a client that keeps messages, and leaves after some."""

    def emit(message):
        messages.append(message)
        if len(messages) >= most:
            raise InterruptedError

    return emit


class SlowEvaluator(UniformEvaluator):
    """Takes a little for each batch."""

    def __init__(self, num_actions, seconds=0.0):
        super().__init__(num_actions)
        self.seconds = seconds

    def evaluate(self, planes):
        time.sleep(self.seconds)
        return super().evaluate(planes)


def network_search(seconds=0.0, **settings):
    game = make_game("connect_four")
    evaluator = SlowEvaluator(game.num_actions, seconds)
    return NetworkSearch(SearchPlayer(game, evaluator, 1, **settings)), game, evaluator


def test_two_tabs_get_the_answers_that_one_alone_gets():
    search, game, _ = network_search(seconds=0.001)
    states = [game.play_moves([k, k]) for k in range(4)]
    alone = [search.search(SearchTask(state, 60)) for state in states]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda state: search.search(SearchTask(state, 60)), states))
    assert found == alone


def test_a_closed_page_leaves_the_search_to_the_next_question():
    search, game, _ = network_search(seconds=0.005)
    messages = []
    asked = SearchTask(game.initial_states()[0], 5_000, stopping(messages, 1))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(search.search, asked)
        assert search.search(SearchTask(game.play_moves([3]), 5)).num_simulations == 5
        with pytest.raises(InterruptedError):
            first.result()
    assert 0 < messages[0]["done"] < 5_000


def test_a_failure_is_that_of_one_question():
    search, game, evaluator = network_search()
    state = game.initial_states()[0]
    evaluate, evaluator.evaluate = evaluator.evaluate, None
    with pytest.raises(TypeError):
        search.search(SearchTask(state, 5))
    evaluator.evaluate = evaluate
    assert search.search(SearchTask(state, 5)).num_simulations == 5


def test_a_position_near_the_end_is_solved_unless_somebody_watches_or_nothing_is_searched():
    search, game, _ = network_search()
    search.player = replace(search.player, endings=make_endings(game))
    state = late_states(game.name, 8, 1, seed=1)[0]
    scores = search.player.endings.scores(state, 10_000)
    solved = search.search(SearchTask(state, 10))
    assert solved.num_simulations == 0 and scores[solved.best] == scores.max()
    assert solved.value == np.sign(scores.max())
    assert search.search(SearchTask(state, 10, watch=lambda view: None)).num_simulations > 0
    assert search.search(SearchTask(state, 0)).network is not None


# --- exact results --------------------------------------------------------------------------------


def test_exact_results_are_the_solvers(backend):
    found = backend.exact(TTT | {"moves": [0]})
    assert (found["known"], found["value"], found["meaning"]) == (True, 0, "distance")
    assert found["values"][0] is None and found["values"][4] == 0 and found["values"][1] == -1
    assert found["scores"][1] < 0
    ending = backend.exact({"game": "othello:4"})
    best = ending["values"].index(ending["value"])
    assert ending["meaning"] == "discs"
    assert max(filter(None, ending["scores"])) == ending["scores"][best]


def test_what_is_too_hard_says_so():
    backend = make_backend()
    backend.thinking.solvers = Solvers(max_nodes=1_000)
    found = backend.exact({"game": "connect_x:5x5x4"})
    assert found["known"] is False and found["reason"]
    squares = backend.exact({"game": "othello"})
    assert squares["known"] is False and re.search(r"60 .* 20 ", squares["reason"])


def test_a_game_that_is_too_large_to_solve_leaves_nothing_in_memory(monkeypatch):
    """An error that is kept would keep all positions that were enumerated before it."""
    enumerated = []

    class Enumerated(np.ndarray):
        pass

    def give_up(*_):
        positions = np.zeros(1).view(Enumerated)
        enumerated.append(weakref.ref(positions))
        raise UnsolvableError("too many positions.")

    monkeypatch.setattr(exact_scores, "make_solver", give_up)
    backend = make_backend()
    for moves in ([], [0], [0]):
        found = backend.exact(TTT | {"moves": moves})
        assert found == {"known": False, "reason": "too many positions."}
    assert len(enumerated) == 1 and enumerated[0]() is None


def test_a_review_finds_the_blunder(backend):
    moves = [4, 1, 0, 8, 6, 2, 3]  # O answers the centre at an edge, which loses
    messages = collect(backend.review(TTT | {"moves": moves}))
    assert messages[-1] == {"type": "done"}
    plies = {message["ply"]: message for message in messages[:-1]}
    assert sorted(plies) == list(range(len(moves) + 1))
    assert [plies[ply]["value"] for ply in range(4)] == [0, 0, 1, 1]
    assert plies[1]["loss"] == 1 and plies[1]["played"] == 1 != plies[1]["best"]
    assert [plies[ply]["loss"] for ply in (0, 2, 3)] == [0, 0, 0]
    assert all(message["exact"] for message in plies.values())
    assert plies[7]["played"] is None and plies[7]["value"] == 1
    game = make_game("tic_tac_toe")
    for name, before, result in (("answer", moves[:2], 1), ("better", moves[:1], 0)):
        line = plies[1][name]
        last = game.play_moves([*before, *line])
        assert game.over(last[None])[0] and abs(game.results(last[None])[0]) == result
    assert plies[0]["better"] == plies[0]["answer"] == []  # it lost nothing


def test_of_equally_good_moves_a_review_names_the_one_that_a_search_prefers(backend, monkeypatch):
    def prefers_the_right(game, player, task):
        legal = np.flatnonzero(game.legal_action_mask(task.state[None])[0]).tolist()
        actions = [{"action": action, "visits": action} for action in legal]
        return SimpleNamespace(actions=actions, line=[0], best=0, value=0.0, proven=None)

    monkeypatch.setattr(backend.thinking, "search", prefers_the_right)
    text = "4,4,4,7,4,4,1,2,1,2,7,2,2,3,7,3,7,7,5,5"  # instead of 7, columns 1, 3 and 4 win alike
    moves = [int(column) - 1 for column in text.split(",")]
    messages = collect(backend.review({"game": "connect_four", "moves": moves}))
    (found,) = [message for message in messages[:-1] if message["ply"] == 14]
    assert found["exact"] and found["loss"] == 2 and found["played"] == 6
    assert found["best"] == found["better"][0] == 3


def test_a_review_solves_though_the_first_solution_takes_long(backend, monkeypatch):
    """As where the solver is compiled, or enumerates the game."""
    scores, waited = backend.thinking.solvers.scores, []

    def slow(*position):
        if not waited:
            waited.append(time.sleep(0.6))
        return scores(*position)

    monkeypatch.setattr(review, "_EXACT_S", 0.5)
    monkeypatch.setattr(backend.thinking.solvers, "scores", slow)
    messages = collect(backend.review(TTT | {"moves": [4, 1, 0, 8, 6, 2, 3]}))
    assert waited and all(message["exact"] for message in messages[:-1])


def test_the_first_board_of_a_game_comes_with_the_list_of_games(backend):
    for game in backend.games()["games"]:
        setup = game["setups"][0]["id"]
        asked = backend.position({"game": game["name"], "setup": setup, "moves": []})
        assert game["start"] == asked and len(asked["positions"]) == 1


def test_a_review_finds_moves_that_win_later_or_lose_sooner(backend):
    moves = [4, 1, 2, 0, 8, 6, 5]  # X misses 6, which wins at once; O blocks it; X wins by 5
    messages = collect(backend.review(TTT | {"moves": moves}))
    plies = {message["ply"]: message for message in messages[:-1]}
    assert plies[4]["loss"] == 0 and plies[4]["score_loss"] > 0 and plies[4]["best"] == 6
    assert plies[6]["score_loss"] == 0 and plies[6]["best"] == plies[6]["played"]
    assert plies[7]["score_loss"] is None


@pytest.mark.slow
def test_a_review_estimates_where_nothing_is_solved():
    backend = make_backend()
    backend.thinking.solvers = Solvers(max_nodes=1)
    moves = [3, 0, 3, 0, 2, 6]  # red lets three in a row stand
    messages = collect(backend.review({"game": "connect_four", "moves": moves}))
    plies = {message["ply"]: message for message in messages[:-1]}
    assert sorted(plies) == list(range(7)) and not plies[0]["exact"]
    assert 0 < plies[0]["value"] < 1 and all(plies[ply]["loss"] >= 0 for ply in range(6))


# --- runs -----------------------------------------------------------------------------------------


def test_a_network_is_read_again_when_its_file_changes(tmp_path):
    """One that is gone, or is no network any more, is a refusal."""
    folder = copy_run(tmp_path)
    path = folder / "networks" / "000001.safetensors"
    backend = make_backend(tmp_path)
    game = make_game("tic_tac_toe")
    player = next(one for one in backend.catalogue.players(game) if one.network == path)
    first = backend.thinking.network(game, player)
    assert backend.thinking.network(game, player) is first
    os.utime(path, (1, 1))
    assert backend.thinking.network(game, player) is not first
    for damage in (lambda: path.write_bytes(b"no network"), path.unlink):
        damage()
        with pytest.raises(Refusal):
            backend.thinking.network(game, player)


def test_the_network_that_was_not_used_for_longest_is_dropped():
    backend = make_backend()
    games = [make_game(name) for name in ("othello:4", "othello:6", "othello", "gomoku:9x9")]
    assert len(games) == MAX_LOADED + 1
    loaded = [
        weakref.ref(backend.thinking.network(game, backend.catalogue.player(game, "best")))
        for game in games
    ]
    assert [search() is None for search in loaded] == [True, False, False, False]


def test_no_shipped_network_needs_more_than_its_tables():
    """OpenVINO would take 150 MB and three seconds more to load; torch 90 MB for its first call."""
    kinds = {
        path.stem: load_network(path).settings["kind"]
        for path in shipped_folder().glob("*.safetensors")
    }
    assert {"tic_tac_toe", "connect_four", "othello", "gomoku"} <= kinds.keys()
    assert set(kinds.values()) <= set(LOOKED_UP)


def test_uct_plays_and_analyses_a_game_in_plain_python(monkeypatch):
    monkeypatch.syspath_prepend(Path(BREAKTHROUGH_PYTHON).parent)
    name = "breakthrough_python:Breakthrough"
    backend = make_backend(game=name)
    assert {"uct", "random"} == {one.id for one in backend.catalogue.players(make_game(name))}
    player = {"id": "uct", "num_simulations": 30}
    (*_, answer) = collect(backend.analyse({"game": name, "moves": "b2b3", "player": player}))
    legal = backend.position({"game": name, "moves": "b2b3"})["positions"][-1]["legal"]
    assert [one["action"] for one in answer["actions"]] == legal
    assert sum(one["visits"] for one in answer["actions"]) == answer["num_simulations"] == 30
    assert answer["best"] == answer["line"][0] and answer["tree"] == []
    (*_, move) = collect(backend.move({"game": name, "moves": "b2b3", "player": player}))
    assert move["action"] in legal


def test_the_first_moves_of_connect_four_have_exact_scores():
    answer = make_backend(game="connect_four").exact({"game": "connect_four", "moves": ""})
    assert answer["known"] and answer["scores"] == [-2, -1, 0, 1, 0, -1, -2]


def test_a_game_that_is_too_large_is_enumerated_once(monkeypatch):
    monkeypatch.setattr(exact_scores, "_MAX_PYTHON_POSITIONS", 100)
    monkeypatch.syspath_prepend(Path(BREAKTHROUGH_PYTHON).parent)
    backend = make_backend(game="breakthrough_python:Breakthrough")
    enumerated = []
    solver = exact_scores.EnumeratedSolver
    monkeypatch.setattr(
        exact_scores, "EnumeratedSolver", lambda *one: enumerated.append(one) or solver(*one)
    )
    for moves in ("", "b2b3", "b2b3 c4d3"):
        request = {"game": "breakthrough_python:Breakthrough", "moves": moves}
        assert not backend.exact(request)["known"]
    assert len(enumerated) == 1
