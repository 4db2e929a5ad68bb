"""The page's positions and catalogue: what a request may name, and what the page gets to draw."""

import os
import shutil
from pathlib import Path

import pytest
from game_samples import BREAKTHROUGH
from starlette.responses import JSONResponse
from web_samples import collect, copy_run, make_backend

from alphazero.own_games.registry import OFFERED, make_game
from alphazero.play.requests import Refusal
from alphazero.web import catalogue
from alphazero.web.backend import Backend

PASS_MOVES = [2, 1, 8, 3]  # of 4 x 4 Othello: white must pass


@pytest.fixture(scope="module")
def backend():
    return make_backend()


def last(backend, **request):
    return backend.position(request)["positions"][-1]


def test_the_catalogue_has_every_kind_of_game_with_players_and_levels(backend):
    described = backend.games()
    games = {game["name"]: game for game in described["games"]}
    assert described["default_game"] in games
    assert {game["style"] for game in games.values()} >= {"plate", "green", "lines"}
    for name, entry in games.items():
        game = make_game(name)
        assert entry["rows"] == game.planes_shape[1]
        assert {"uct", "solver", "random"} <= {player["id"] for player in entry["players"]}
        players = {player["id"]: player["max_simulations"] for player in entry["players"]}
        for level in entry["levels"]:
            num = level["player"].get("num_simulations", 0)
            assert num <= players[level["player"]["id"]]
        for setup in entry["setups"]:
            assert len(setup["action_texts"]) == game.num_actions
            assert len(set(setup["sides"])) == len(set(setup["colors"][:2])) == 2
    assert games["othello"]["setups"][0]["sides"] == ["Black", "White"]
    assert [games[name]["action_kind"] for name in ("connect_four", "othello")] == [
        "column",
        "square",
    ]


def test_a_game_that_the_user_names_comes_first(tmp_path):
    assert make_backend(game="connect_x:4x4x3").games()["default_game"] == "connect_x:4x4x3"
    named = make_backend(game="connect_x:4x4x3").games()["games"][0]
    assert (named["name"], named["rows"], named["columns"]) == ("connect_x:4x4x3", 4, 4)


def test_games_of_other_libraries_have_titles_and_legal_moves_in_their_words():
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    backend = Backend("nowhere", [BREAKTHROUGH, "open_spiel:breakthrough", "open_spiel:chess"])
    titles = [game["title"] for game in backend.games()["games"]]
    assert len(set(titles)) == len(titles) and "Chess" in titles
    assert "Breakthrough (open_spiel:breakthrough)" in titles
    chess = last(backend, game="open_spiel:chess")
    assert dict(zip(chess["legal"], chess["legal_texts"]))[89] == "a3"
    assert last(backend, game="open_spiel:breakthrough")["legal_texts"] is None


def test_several_games_of_the_users_come_before_the_usual_ones():
    named = ["connect_x:4x4x3", BREAKTHROUGH]
    found = Backend("nowhere", named).games()
    assert found["default_game"] == named[0]
    names = [named[0], Path(BREAKTHROUGH).name]
    assert [game["name"] for game in found["games"]] == [*names, *OFFERED]


def test_a_game_file_goes_by_a_name_that_does_not_show_where_it_is(tmp_path):
    config = copy_run(tmp_path, "breakthrough/run") / "config.yaml"
    config.write_text(config.read_text().replace("name: tic_tac_toe", f"name: {BREAKTHROUGH}"))
    other = tmp_path / "breakthrough.py"
    shutil.copy(BREAKTHROUGH, other)
    backend = Backend(str(tmp_path), [BREAKTHROUGH, str(other)])
    first, second = backend.games()["games"][:2]
    assert (first["name"], second["name"]) == ("breakthrough.py", str(other))
    assert backend.games()["default_game"] == "breakthrough.py"
    assert backend.live()["runs"][0]["game"] == "breakthrough.py"
    assert last(backend, game="breakthrough.py") == last(backend, game=BREAKTHROUGH)


@pytest.mark.parametrize(
    "library, name",
    [
        ("pyspiel", "open_spiel:breakthrough"),
        ("pettingzoo", "pettingzoo:connect_four_v3"),
        pytest.param("pgx", "pgx:tic_tac_toe", marks=pytest.mark.slow),
    ],
)
def test_games_of_other_libraries_are_played_and_analysed(library, name):
    pytest.importorskip(library)
    backend = make_backend(game=name)
    (move,) = backend.position({"game": name})["positions"][0]["legal"][:1]
    request = {"game": name, "moves": [move], "player": {"id": "uct", "num_simulations": 5}}
    for answers in (
        backend.games(),
        backend.position({"game": name, "moves": [move]}),
        collect(backend.move(request)),
        collect(backend.analyse(request)),
    ):
        JSONResponse(answers)


def test_what_a_board_would_not_show_is_drawn_by_the_rules(backend):
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    name = "open_spiel:oware"
    shown = last(make_backend(game=name), game=name, moves="[0]")
    assert "A  B  C" in shown["drawn"] and shown["legal"]
    assert last(backend, game="connect_four", moves="4")["drawn"] is None


def test_positions_of_a_game_are_those_of_the_rules(backend):
    answer = backend.position({"game": "connect_four", "moves": "443"})
    assert answer["moves"] == [3, 3, 2]
    assert [position["ply"] for position in answer["positions"]] == [0, 1, 2, 3]
    game = make_game("connect_four")
    final = answer["positions"][-1]
    assert final["cells"] == game.cells(game.play_moves([3, 3, 2])).tolist()
    assert (final["to_move"], final["over"], final["winner"]) == (1, False, None)
    assert (final["legal"], final["marked"], final["counts"]) == (list(range(7)), [[5, 2]], [2, 1])
    part = backend.position({"game": "connect_four", "moves": [3, 3, 2], "from_ply": 2})
    assert part["positions"] == answer["positions"][2:]


def test_several_games_are_answered_like_each_of_them(backend):
    requests = [{"game": "tic_tac_toe", "moves": moves} for moves in ([], [4, 0], "1,5,9")]
    answers = backend.positions({"requests": requests})
    assert answers == [backend.position(one) for one in requests]
    with pytest.raises(Refusal):
        wrong = {"game": "tic_tac_toe", "moves": [4, 4]}
        backend.positions({"requests": [*requests, wrong]})


def test_a_finished_game_has_a_winner_and_its_line(backend):
    won = last(backend, game="connect_four", moves=[0, 1, 0, 1, 0, 1, 0])
    assert (won["over"], won["winner"], won["legal"]) == (True, 0, [])
    assert sorted(won["marked"]) == [[2, 0], [3, 0], [4, 0], [5, 0]]
    drawn = last(backend, game="tic_tac_toe", moves="123546879")
    assert (drawn["over"], drawn["winner"]) == (True, None)


def test_a_forced_pass_is_announced_and_may_be_left_out(backend):
    position = last(backend, game="othello:4", setup="white_first", moves=PASS_MOVES)
    assert position["forced_pass"] and position["legal"] == [16]
    assert not last(backend, game="othello:4", setup="white_first", moves=[2])["forced_pass"]


def test_othello_is_shown_as_everywhere_unless_asked(backend):
    usual = backend.position({"game": "othello", "moves": "f5d6c3"})
    assert len(usual["moves"]) == 3
    board = usual["positions"][0]["board"].splitlines()
    assert board[3:5] == ["---WB---", "---BW---"]  # white at d4 and e5
    with pytest.raises(Refusal):
        backend.position({"game": "othello", "moves": "f5d6c3", "setup": "white_first"})


@pytest.mark.parametrize("setup", ["standard", "white_first"])
def test_a_board_that_is_shown_can_be_started_from(backend, setup):
    request = {"game": "othello:6", "setup": setup}
    legal = backend.position(request)["positions"][0]["legal"]
    shown = last(backend, **request, moves=legal[:1])
    again = last(backend, **request, board=shown["board"], to_move=1)
    assert again["cells"] == shown["cells"] and again["legal"] == shown["legal"]
    further = last(backend, **request, board=shown["board"], to_move=1, moves=again["legal"][:1])
    assert further["to_move"] == 0 and further["ply"] == 1


@pytest.mark.parametrize(
    "board, said", [("----", "has 4 rows, not 1."), ("\n".join("-" * 4), "needs 4 squares, not 1.")]
)
def test_a_board_of_another_size_is_refused_with_both_numbers(backend, board, said):
    with pytest.raises(Refusal, match=said):
        backend.position({"game": "othello:4", "board": board})


def test_a_board_may_be_written_in_small_letters_and_with_dots(backend):
    shown = last(backend, game="othello:4", board="\n ....\n .bw. \n-wb-\n____\n")
    assert shown["board"] == "----\n-BW-\n-WB-\n----"
    drop = last(backend, game="tic_tac_toe", board="x--\n-o-\n---")
    assert drop["board"] == "X..\n.O.\n..."


@pytest.mark.parametrize(
    "request_, status",
    [
        ({}, 422),
        ({"game": "chess"}, 422),
        ({"game": "examples/snort.py"}, 422),
        ({"game": "connect_four", "moves": [7]}, 422),
        ({"game": "connect_four", "moves": [True]}, 422),
        ({"game": "connect_four", "moves": [3] * 7}, 422),
        ({"game": "connect_four", "moves": {"a": 1}}, 400),
        ({"game": "connect_four", "moves": "4" * 9_000}, 422),
        ({"game": "connect_four", "moves": "a1"}, 422),
        ({"game": "connect_four", "setup": "standard"}, 422),
        ({"game": "connect_four", "to_move": 2}, 400),
        ({"game": "connect_four", "board": "XO"}, 422),
        ({"game": "connect_four", "board": "X" * 5_000}, 422),
        ({"game": "connect_four", "from_ply": 1}, 400),
        ({"game": "connect_four", "path": "/etc/passwd"}, 400),
    ],
)
def test_what_is_no_position_is_refused_in_a_sentence(backend, request_, status):
    with pytest.raises(Refusal) as refused:
        backend.position(request_)
    assert refused.value.status == status
    assert str(refused.value).rstrip().endswith((".", "]")) and "\n" not in str(refused.value)


def test_a_network_of_a_run_is_a_player_by_what_was_found(tmp_path):
    copy_run(tmp_path)
    backend = make_backend(tmp_path)
    players = {player.id for player in backend.catalogue.players(make_game("tic_tac_toe"))}
    assert "run:tic_tac_toe/earlier/000001" in players
    game = backend.catalogue.game("tic_tac_toe")
    for unknown in ("run:tic_tac_toe/../earlier/000001", str(tmp_path), "run:", None, 7):
        with pytest.raises(Refusal):
            backend.catalogue.player(game, unknown)
    with pytest.raises(Refusal):
        backend.catalogue.player(
            backend.catalogue.game("othello"), "run:tic_tac_toe/earlier/000001"
        )


@pytest.mark.parametrize("begins", (True, False))
def test_a_network_of_windows_is_a_player_on_boards_of_all_sizes(tmp_path, begins):
    folder = copy_run(tmp_path, "gomoku_9x9/run")
    text = (folder / "config.yaml").read_text()
    text = text.replace("name: tic_tac_toe\n", "name: gomoku:9x9\n  also:\n  - gomoku:7x7\n", 1)
    text = text.replace("kind: resnet\n", "kind: windows\n", 1)
    (folder / "config.yaml").write_text(text if begins else f"# a\n# b\n{text}")
    catalogue = make_backend(tmp_path).catalogue
    names = ("gomoku", "gomoku:7x7", "gomoku:9x9x4", "connect_four")
    found = {name: catalogue.players(make_game(name)) for name in names}
    is_player = {
        name: "run:gomoku_9x9/run/000001" in {player.id for player in players}
        for name, players in found.items()
    }
    assert is_player == dict(zip(names, (True, True, False, False)))


def test_the_newest_trained_network_analyses_unless_one_ships(tmp_path):
    def analyst(backend, name):
        return backend.catalogue.analyst(backend.catalogue.game(name))["id"]

    run = copy_run(tmp_path, "breakthrough/older")
    config = run / "config.yaml"
    config.write_text(config.read_text().replace("name: tic_tac_toe", f"name: {BREAKTHROUGH}"))
    shutil.copytree(run, tmp_path / "breakthrough" / "newer")
    os.utime(tmp_path / "breakthrough" / "newer" / "metrics.jsonl", (2e9, 2e9))
    backend = make_backend(tmp_path, BREAKTHROUGH)
    assert analyst(backend, BREAKTHROUGH).startswith("run:breakthrough/newer/")
    assert analyst(make_backend("nowhere", BREAKTHROUGH), BREAKTHROUGH) == "uct"
    copy_run(tmp_path)
    assert analyst(make_backend(tmp_path), "tic_tac_toe") == "best"


def test_the_page_never_imports_a_module_that_only_a_run_names(tmp_path, monkeypatch):
    config = copy_run(tmp_path) / "config.yaml"
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    config.write_text(config.read_text().replace("name: tic_tac_toe", "name: trap:Game"))
    assert "trap:Game" not in make_backend(tmp_path).catalogue.game_names()
    assert make_backend(tmp_path).live()["runs"]


def test_actions_that_move_pieces_are_described_by_their_squares():
    backend = make_backend(game=BREAKTHROUGH)
    games = {game["name"]: game for game in backend.games()["games"]}
    game, entry = make_game(BREAKTHROUGH), games[Path(BREAKTHROUGH).name]
    assert (entry["action_kind"], entry["style"], entry["title"]) == (
        "move",
        "wood",
        "Breakthrough",
    )
    assert entry["action_squares"] == [*map(game.action_squares, range(game.num_actions))]
    (setup,) = entry["setups"]
    assert (setup["column_names"], setup["row_names"]) == ([*"abcde"], [*"54321"])
    assert (setup["sides"], setup["colors"]) == (["White", "Black"], ["light", "dark", "wall"])
    assert all(games[name]["action_squares"] is None for name in OFFERED)
    shown = last(backend, game=BREAKTHROUGH, moves="b2-b3,c4d3 c2d3")
    assert sorted(shown["marked"]) == [[2, 3], [3, 2]] and shown["counts"] == [10, 9]


def test_the_levels_are_documented_as_they_were_measured():
    page = (Path(__file__).parents[2] / "docs" / "SERVE.md").read_text()
    rows = {line.split(" | ")[0].strip("| "): line for line in page.splitlines() if " | " in line}
    for level in catalogue.LEVELS:
        cells = [cell.strip(" |") for cell in rows[level.name].split(" | ")[2:]]
        expected = []
        for game in ("connect_four", "othello:6", "othello"):
            elo, stderr = catalogue.measured()[game].get(level.id, (None, None))
            rating = "no rating" if elo is None else f"{elo:,}"
            expected.append(f"{rating} \u00b1 {stderr}" if stderr else rating)
        assert cells == expected


def test_levels_are_listed_by_their_strength(backend):
    for game in backend.games()["games"]:
        elo = [level["elo"] for level in game["levels"]]
        assert None in elo or elo == sorted(elo)
        assert len(elo) > 4
