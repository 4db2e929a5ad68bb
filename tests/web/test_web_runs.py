"""The training runs of the page: their list, which is pushed as it changes, and their rows."""

import contextlib
import json
import os
import shutil
import threading
import time
from pathlib import Path

import pytest
from web_samples import collect, copy_run, make_backend, running

from alphazero.play.requests import Refusal
from alphazero.runtime import files
from alphazero.storage import run_folder
from alphazero.storage.run_folder import RunFolder
from alphazero.web import run_rows
from alphazero.web.app import Json

EARLIER = "tic_tac_toe/earlier"


def rows_of(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def write_rows(folder, rows, mode="w"):
    with open(folder / "metrics.jsonl", mode) as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def add_row(folder, **figures):
    """Add a row like the first one, after the last."""
    rows = rows_of(folder)
    first, last = rows[0], rows[-1]
    row = first | {"iteration": last["iteration"] + 1, "elapsed_s": last["elapsed_s"] + 10}
    write_rows(folder, [row | figures], "a")


def curves_of(answer):
    return {
        (chart["title"], curve["name"]): curve
        for chart in answer["charts"]
        for curve in chart["curves"]
    }


# --- the list -------------------------------------------------------------------------------------


def test_runs_and_their_networks_are_found_and_play(tmp_path):
    copy_run(tmp_path)
    copy_run(tmp_path, "tic_tac_toe/sweep/0")
    (tmp_path / "tic_tac_toe" / "broken").mkdir()
    (tmp_path / "tic_tac_toe" / "broken" / "config.yaml").write_text("game: [")
    backend = make_backend(tmp_path)
    runs = {run["id"]: run for run in backend.live()["runs"]}
    assert set(runs) == {EARLIER, "tic_tac_toe/sweep/0"}
    run = runs[EARLIER]
    assert run["playable"] and run["game"] == "tic_tac_toe"
    assert (run["num_rows"], run["iterations"], run["training"], run["alarms"]) == (2, 2, False, [])
    assert run["accuracy"] == pytest.approx(4430 / 4520)
    player = {"id": run["networks"][0]["player"], "num_simulations": 10}
    request = {"game": "tic_tac_toe", "player": player}
    assert collect(backend.move(request))[-1]["action"] in range(9)
    for unknown in ("", "..", "tic_tac_toe/broken"):
        with pytest.raises(Refusal) as refused:
            backend.run(unknown)
        assert refused.value.status == 404


def test_damage_is_shown_in_a_line_and_hides_no_run(tmp_path):
    def damaged(name, file, data):
        folder = copy_run(tmp_path, f"tic_tac_toe/{name}")
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_bytes(data)

    rows = b'{"iteration": 1, "elapsed_s": 1, "learner.loss": 1e999}\n'
    rows += b'{"iteration": 2, "elapsed_s": %s, "learner.loss": NaN}\n' % (b"9" * 400)
    rows += b'{"iteration": 2, "elapsed_s": 2, "selfplay.num_games": "x", "alarms": [1]}\n'
    ratings = b'{"networks": {"a": {"iteration": 1}}, "ratings": [{"player": "a", "elo": NaN}]}'
    copy_run(tmp_path)
    damaged("config", "config.yaml", b"game: [")
    damaged("bytes", "config.yaml", b"\xff\x00")
    damaged("numbers", "config.yaml", b"game: {name: tic_tac_toe}\n1: .nan\n2: 2020-01-01\n")
    damaged("no text", "metrics.jsonl", b"\xff\xfe\n")
    damaged("odd", "metrics.jsonl", rows)
    damaged("rated", "ratings.json", ratings)
    damaged("deep", "ratings.json", b"[" * 100_000)
    damaged("digits", "networks/1\u00b2.safetensors", b"")
    backend = make_backend(tmp_path)
    found = backend.live()
    Json(found)
    runs = {run["name"]: run for run in found["runs"]}
    assert set(runs) == {"earlier", "numbers", "no text", "odd", "rated", "deep", "digits"}
    for run in found["runs"]:
        Json(backend.run(run["id"]))
    lines = {one["id"]: one["error"] for one in found["damaged"]}
    named = {"config", "bytes", "no text"}
    assert set(lines) == {f"tic_tac_toe/{name}" for name in named}
    assert all(error and "\n" not in error for error in lines.values())


def test_a_run_of_a_game_file_is_shown_but_its_file_is_not_run(tmp_path):
    folder = copy_run(tmp_path, "mine/run")
    config = folder / "config.yaml"
    config.write_text(config.read_text().replace("tic_tac_toe", "mine.py"))
    (tmp_path / "mine.py").write_text("raise SystemExit('was run')")
    backend = make_backend(tmp_path)
    (run,) = backend.live()["runs"]
    assert run["game"] == "mine.py" and not run["playable"]
    assert "mine.py" not in [game["name"] for game in backend.games()["games"]]


def test_a_run_is_in_training_while_its_lock_is_held(tmp_path):
    folder = RunFolder(copy_run(tmp_path))
    backend = make_backend(tmp_path)

    def is_training():
        return backend.live()["runs"][0]["training"]

    assert not is_training()
    with folder.locked():
        assert is_training()
    assert not is_training()
    (folder.path / ".lock").touch()  # of a process that was killed
    assert not is_training()


def test_a_run_that_stopped_early_is_told_from_one_that_ended_and_how_to_go_on(tmp_path):
    folder = copy_run(tmp_path)
    backend = make_backend(tmp_path)

    def is_unfinished():
        return backend.live()["runs"][0]["unfinished"]

    assert not is_unfinished()
    add_row(folder, last=False)
    assert is_unfinished()
    command = f"alphazero train resume={folder}"
    assert backend.run(EARLIER)["resume"] == command
    old = [{key: value for key, value in row.items() if key != "last"} for row in rows_of(folder)]
    write_rows(folder, old)
    assert not is_unfinished()  # it cannot be known
    write_rows(folder, [])
    assert is_unfinished()
    config = RunFolder(folder).read_config()
    config["game"]["name"] = "mine.py"
    RunFolder(folder).write_config(config)
    assert is_unfinished()
    assert backend.run(EARLIER)["resume"] == f"{command} game=mine.py"
    (folder / "state.safetensors").unlink()
    assert backend.run(EARLIER)["resume"] is None


def test_asking_whether_a_run_is_in_training_turns_no_trainer_away(tmp_path):
    """One who asks has the lock for a moment; here the moment is long."""
    fcntl = pytest.importorskip("fcntl", reason="Windows: nobody takes the lock to ask")
    path = copy_run(tmp_path)
    asking = os.open(path / ".lock", os.O_RDONLY | os.O_CREAT)
    fcntl.flock(asking, fcntl.LOCK_SH)
    threading.Timer(0.05, os.close, [asking]).start()
    with RunFolder(path).locked():
        assert RunFolder(path).is_training


def test_only_runs_that_changed_are_read_again_and_settings_are_not_parsed(tmp_path, monkeypatch):
    folders = [copy_run(tmp_path, f"tic_tac_toe/{number}") for number in range(4)]
    opened = []

    def note(path):
        if tmp_path in Path(path).parents:
            opened.append(Path(path).parent.name)
        return read_bytes(path)

    read_bytes = files.read_bytes
    for module in (files, run_folder):
        monkeypatch.setattr(module, "read_bytes", note)
    monkeypatch.setattr(run_folder, "parse_yaml", None)
    backend = make_backend(tmp_path)
    assert len(backend.live()["runs"]) == 4 and set(opened) == set("0123")
    first, opened[:] = len(opened), []
    for _ in range(2):
        backend.live()
        backend.games()
    assert not opened
    add_row(folders[2])
    assert {run["name"]: run["num_rows"] for run in backend.live()["runs"]}["2"] == 3
    assert set(opened) == {"2"} and len(opened) <= first / 4


def test_a_copy_of_an_older_run_is_listed_after_a_newer_one(tmp_path):
    for name, finished_at in (("newer", 2e9), ("older", 1e9)):
        add_row(copy_run(tmp_path, f"tic_tac_toe/{name}"), finished_at=finished_at)
    runs = make_backend(tmp_path).live()["runs"]
    assert [(run["name"], run["updated"]) for run in runs] == [("newer", 2e9), ("older", 1e9)]


def test_a_run_whose_name_is_not_utf8_is_shown(tmp_path):
    name = os.fsdecode(b"tic_tac_toe/b\xe9z")
    try:
        folder = RunFolder(copy_run(tmp_path, name))
    except OSError:
        pytest.skip("the file system has only names in UTF-8")
    config = folder.read_config()
    folder.write_config(config | {"run": config["run"] | {"root": name}})
    backend = make_backend(tmp_path)
    (run,) = json.loads(Json(backend.live()).body)["runs"]
    run["id"].encode()
    assert len(json.loads(Json(backend.run(run["id"])).body)["x"]["iterations"]) == 2


# --- rows -----------------------------------------------------------------------------------------


def test_every_row_is_a_point_of_each_curve(tmp_path):
    folder = copy_run(tmp_path)
    measured = {"exact.accuracy": 0.9, "exact.accuracy_low": 0.8, "exact.accuracy_high": 0.95}
    add_row(folder, **measured, **{"exact.raw_accuracy": 0.5})
    score = {"strength.score": 0.5, "strength.score_low": 0.25, "strength.score_high": 0.75}
    add_row(folder, **score, **{"strength.opponent": "uct:9"})
    answer = make_backend(tmp_path).run(EARLIER)
    rows = rows_of(folder)
    assert answer["x"]["iterations"] == [1, 2, 3, 4]
    assert answer["x"]["games"] == [12, 18, 30, 42]
    hours = answer["x"]["hours"]
    assert hours == pytest.approx([row["elapsed_s"] / 3600 for row in rows], abs=1e-6)
    curves = curves_of(answer)
    assert all(len(values) == 4 for curve in curves.values() for values in list(curve.values())[1:])
    error = curves["Moves that give away the exact result", "with search"]
    assert error["y"] == [None, None, pytest.approx(10), None]
    assert [error[key][2] for key in ("low", "high")] == pytest.approx([5, 20])
    match = curves["Score against uct:9", "score"]
    assert [match[key][3] for key in ("low", "y", "high")] == [25, 50, 75]
    assert curves["Losses", "total"]["y"][0] == pytest.approx(rows[0]["learner.loss"], abs=1e-6)
    assert "low" not in curves["Losses", "total"]
    assert answer["settings"]["learner.learning_rate"] == 0.002


def test_a_row_that_is_being_written_is_read_once_it_is_complete(tmp_path):
    folder = copy_run(tmp_path)
    backend = make_backend(tmp_path)
    with open(folder / "metrics.jsonl", "ab") as file:
        file.write(b'{"iteration": 3, "elapsed_')
    assert backend.run(EARLIER)["x"]["iterations"] == [1, 2]
    with open(folder / "metrics.jsonl", "ab") as file:
        file.write(b's": 360, "learner.loss": 1}\n')
    third = backend.run(EARLIER)
    assert (third["x"]["hours"][2:], third["x"]["games"][2:]) == ([0.1], [None])
    assert curves_of(third)["Losses", "total"]["y"][2:] == [1]


@pytest.mark.parametrize("is_resumed", [True, False])
def test_a_run_that_was_cut_starts_over(tmp_path, is_resumed):
    """Also if it has as many rows as before when it is looked at again."""
    folder = copy_run(tmp_path)
    add_row(folder)
    backend = make_backend(tmp_path)
    assert len(backend.run(EARLIER)["x"]["hours"]) == 3
    if is_resumed:
        RunFolder(folder).cut_metrics(1)
    else:
        write_rows(folder, rows_of(folder)[:1])
    assert len(backend.run(EARLIER)["x"]["hours"]) == 1
    for _ in range(2):
        add_row(folder, **{"learner.loss": 7.5})
    answer = backend.run(EARLIER)
    assert curves_of(answer)["Losses", "total"]["y"][1:] == [7.5, 7.5]


def test_only_new_lines_are_parsed(tmp_path, monkeypatch):
    folder = copy_run(tmp_path)
    backend, parsed = make_backend(tmp_path), []
    backend.run(EARLIER)
    original = run_rows.parse_row
    monkeypatch.setattr(run_rows, "parse_row", lambda line: parsed.append(line) or original(line))
    add_row(folder)
    for _ in range(3):
        backend.live()
        backend.run(EARLIER)
    assert len(parsed) == 1


def test_ratings_have_intervals_and_new_ones_replace_the_old(tmp_path):
    folder = copy_run(tmp_path)
    backend = make_backend(tmp_path)

    def rate(elo):
        networks = {"a": {"iteration": 2, "elapsed_s": 12.5}, "b": {"iteration": 9}}
        rows = [{"player": name, "elo": elo, "elo_stderr": 10.0} for name in ("b", "a", "uct")]
        plain = {"networks": networks, "ratings": rows}
        (folder / "ratings.json").write_text(json.dumps(plain))
        os.utime(folder / "ratings.json", (elo, elo))

    for elo in (1_100, 1_200):
        rate(elo)
        rating = curves_of(backend.run(EARLIER))["Rating", "Elo"]
        assert rating["y"] == [None, elo]
        assert rating["high"][1] - rating["low"][1] == pytest.approx(2 * 1.96 * 10, abs=0.01)
        assert backend.live()["runs"][0]["elo"] == elo


def test_alarms_are_told_when_they_begin_and_end(tmp_path):
    folder = copy_run(tmp_path)
    both = "games_repeat,gone_in_this_version"
    add_row(folder, alarms=both, alarm_texts="Only 10% differ.\nIt is gone.")
    add_row(folder, alarms="games_repeat", alarm_texts="Only 12% differ.")
    backend = make_backend(tmp_path)
    assert backend.live()["runs"][0]["alarms"] == ["games_repeat"]
    add_row(folder, alarms="")
    assert backend.live()["runs"][0]["alarms"] == []
    alarms = backend.run(EARLIER)["alarms"]
    assert [tuple(one.values()) for one in alarms] == [
        (3, True, "Only 10% differ."),
        (3, True, "It is gone."),
        (4, False, "gone in this version: over."),
        (5, False, "games repeat: over."),
    ]


# --- the stream -----------------------------------------------------------------------------------


@contextlib.contextmanager
def listening(client):
    """Yield what returns the next list of runs."""
    with client.stream("GET", "api/live") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.iter_lines()

        def next_list():
            line = next(line for line in lines if line.startswith("data: "))
            return json.loads(line.removeprefix("data: "))

        yield next_list


def test_runs_are_pushed_as_they_appear_grow_break_and_go(tmp_path):
    copy_run(tmp_path)
    with running(make_backend(tmp_path)) as client, listening(client) as next_list:
        assert [run["name"] for run in next_list()["runs"]] == ["earlier"]
        folder, began = copy_run(tmp_path, "tic_tac_toe/new"), time.monotonic()
        while len(runs := next_list()["runs"]) < 2:
            pass
        assert time.monotonic() - began < 2
        add_row(folder)
        while (runs := next_list()["runs"])[0]["num_rows"] != 3:
            pass
        assert runs[0]["name"] == "new"
        (folder / "config.yaml").write_text("game: [")
        while not (found := next_list())["damaged"]:
            pass
        assert found["damaged"][0]["id"] == "tic_tac_toe/new" and len(found["runs"]) == 1
        shutil.rmtree(folder)
        while (found := next_list())["damaged"]:
            pass
        assert [run["name"] for run in found["runs"]] == ["earlier"]
