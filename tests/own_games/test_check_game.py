"""The check of a game's rules: planted mistakes are found, correct games pass, and what it prints.

The file is also a program: it checks rules with mistakes in one process, without the compiler.
"""

import dataclasses
import functools
import json
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from game_samples import BREAKTHROUGH, BREAKTHROUGH_PYTHON, EXAMPLE, PUZZLE
from interpreted import printed_without_compiler
from mostly_slow import mostly_slow

from alphazero.cli import main
from alphazero.cli.check_game import starting_values
from alphazero.own_games import checked_game
from alphazero.own_games.checks.report import CheckOptions, RuleReport, examine
from alphazero.own_games.rule_check import check_rules, load_laws
from alphazero.training.run_config import compose


class Mistake(NamedTuple):
    """A mistake that is planted into rules, and where it shows."""

    replaced: dict[str, str]
    alone: str  #: what becomes of it without a twin: it is "broken" or "noted"; "" is nothing
    named: str = ""  #: in the text of that
    num_positions: int = 600  #: to look at


MISTAKES = {
    "a wrap around the edge, no symmetry declared": Mistake(
        {
            "row >= side or column < 0 or column >= side:": "row >= side:",
            "@rules.implement(Breakthrough)\ndef symmetries": "def symmetries",
        },
        "broken",
        "'player_to_move'",
    ),
    "a straight capture": Mistake(
        {"return direction % 3 != 1 or state[to] == 0": "return True"}, ""
    ),
    "a capture of one's own pieces": Mistake(
        {"if to < 0 or state[to] == 1 + player:": "if to < 0:"}, ""
    ),
    "an end that random games do not reach": Mistake(
        {"            return False\n    return True": "            return False\n    return False"},
        "broken",
        "'legal_actions' allows no action",
        1100,
    ),
    "moves in a finished game": Mistake(
        {"not over and is_legal": "is_legal"},
        "broken",
        "the game is over",
    ),
    "a result of the wrong sign": Mistake(
        {"    return -1  # the": "    return 1  # the"}, "noted", "'result'"
    ),
}
#: Games without mistakes, and their twins.
CORRECT = {
    EXAMPLE: "",
    PUZZLE: "",
    "othello:4": "",
    BREAKTHROUGH: BREAKTHROUGH_PYTHON,
    "breakthrough_python:Breakthrough": "breakthrough:GAME",
}


def planted(mistake: Mistake, folder: Path) -> str:
    """Write the rules with a mistake; return the file's path."""
    text = Path(BREAKTHROUGH).read_text()
    for old, new in mistake.replaced.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = folder / Path(BREAKTHROUGH).name
    path.write_text(text)
    return str(path)


#: What is checked: a mistake with its twin or alone, a correct game.
CASES = [
    f"{way}, {name}"
    for name, mistake in MISTAKES.items()
    for way in ("twin", "alone")
    if way == "twin" or mistake.alone
]
CASES += [f"correct, {name}" for name in CORRECT]
#: What `make test` tries.
QUICK_CASES = {
    "twin, a straight capture",
    "alone, moves in a finished game",
    f"correct, {PUZZLE}",
}


def print_reports(speed: str) -> None:
    """Print the reports on the quick or the slow cases, as JSON."""
    sys.path.append(str(Path(BREAKTHROUGH).parent))
    found = {}
    for case in CASES:
        if (case in QUICK_CASES) == (speed == "quick"):
            way, _, name = case.partition(", ")
            with tempfile.TemporaryDirectory() as folder:
                found[case] = examined(way, name, Path(folder))
    print(json.dumps(found))


def examined(way: str, name: str, folder: Path) -> dict:
    """Return the report on rules in this process, which has no compiler."""
    if way == "correct":
        game, twin, num_positions = name, CORRECT[name], 200
    else:
        mistake = MISTAKES[name]
        game, num_positions = planted(mistake, folder), mistake.num_positions
        twin = BREAKTHROUGH_PYTHON if way == "twin" else ""
    options = CheckOptions(game, twin, num_positions=num_positions, seconds=60.0)
    laws, other = load_laws(game), load_laws(twin) if twin else None
    return dataclasses.asdict(examine(laws, other, options))


@functools.cache
def found_reports(is_quick: bool) -> dict[str, RuleReport]:
    plain = printed_without_compiler(__file__, "quick" if is_quick else "slow")[-1]
    return {case: RuleReport(**report) for case, report in json.loads(plain).items()}


def report_of(case: str) -> RuleReport:
    return found_reports(case in QUICK_CASES)[case]


def cases(way: str) -> list:
    """Return the cases of one kind as parameters; the slow ones are marked."""
    return [
        case if case in QUICK_CASES else pytest.param(case, marks=pytest.mark.slow)
        for case in CASES
        if case.startswith(way)
    ]


@pytest.mark.parametrize("case", cases("twin"))
def test_a_twin_finds_each_mistake_and_the_moves_that_lead_to_it(case):
    report = report_of(case)
    assert report.fault and len(report.moves.split()) == len(report.actions)


@pytest.mark.parametrize("case", cases("alone"))
def test_without_a_twin_the_laws_find_or_note_what_they_can(case):
    report, mistake = report_of(case), MISTAKES[case.partition(", ")[2]]
    assert (report.fault is None) == (mistake.alone == "noted")
    texts = [report.fault] if report.fault else report.notes
    assert any(mistake.named in text for text in texts)


@pytest.mark.parametrize("case", cases("correct"))
def test_correct_games_pass(case):
    report = report_of(case)
    assert report.fault is None and not report.notes
    assert report.num_positions >= 200


# --- the command ----------------------------------------------------------------------------------

QUICK = ("num_positions=200",)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a planted mistake, and the modules of the examples."""
    monkeypatch.setenv("ALPHAZERO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(checked_game, "_compile", lambda game, path: None)
    monkeypatch.chdir(tmp_path)
    planted(MISTAKES["a straight capture"], tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_difference_is_printed_with_its_moves_and_ends_with_1(folder, capsys):
    words = ["check_game", "breakthrough.py", f"twin={BREAKTHROUGH_PYTHON}", *QUICK]
    assert main(words) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "a4a3 (action 34)" in lines[0] and "a2a3" in lines[1] and "91" in lines[2]


@pytest.mark.slow
def test_a_class_passes_and_the_proposed_settings_are_those_of_a_run(folder, capsys, monkeypatch):
    name = "breakthrough_python:Breakthrough"
    assert main(["check_game", name, *QUICK]) == 0
    lines = capsys.readouterr().out.splitlines()
    settings = compose(shlex.split(lines[-1])[2:])
    assert settings.game.name == name and settings.network.kind == "resnet"
    (mean_legal,) = re.findall(r"Legal moves of a position: ([0-9.]+)", "\n".join(lines))
    assert settings.search.dirichlet_alpha == pytest.approx(10 / float(mean_legal), rel=0.05)


@pytest.mark.parametrize(
    "words, status, named",
    [
        (["nowhere.py"], 2, "nowhere.py"),
        (["nowhere:Game"], 2, "nowhere"),
        (["chess_of_mine"], 2, "chess_of_mine"),
        ([], 2, "game"),
        (["tic_tac_toe", "twin=nowhere.py"], 2, "nowhere.py"),
        (["unfinished.py"], 1, "line 1"),
        (["tic_tac_toe", "twin=othello:4"], 1, "board"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(folder, capsys, words, status, named):
    (folder / "unfinished.py").write_text("GAME = Game(5\n")
    assert main(["check_game", *QUICK, *words]) == status
    captured = capsys.readouterr()
    text = (captured.err if status == 2 else captured.out).strip()
    assert named in text and "Traceback" not in captured.err + captured.out
    assert status == 2 or "\n" not in text


@pytest.mark.slow
@pytest.mark.parametrize("names", [("endless.py",), (EXAMPLE, "endless.py")])
def test_an_endless_loop_is_named_with_its_line(folder, monkeypatch, names):
    monkeypatch.setattr(checked_game, "TIME_LIMIT_S", 1.5)
    text = Path(EXAMPLE).read_text().replace("    return True\n", "    while True:\n        pass\n")
    (folder / "endless.py").write_text(text)
    fault = check_rules(CheckOptions(*names)).fault
    assert "endless.py, line " in fault and "'is_over'" in fault


# --- settings to start with -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "plies, legal, is_whole",
    [([5, 8, 9], 5.5, True), ([1, 1, 1], 0.0, True), ([7, 60, 300], 218.0, False)],
)
@pytest.mark.parametrize("name", mostly_slow([BREAKTHROUGH, PUZZLE]))
def test_every_proposed_value_is_a_setting(name, plies, legal, is_whole):
    report = RuleReport(plies=plies, mean_legal=legal, is_whole=is_whole)
    settings = compose(starting_values(name, report))
    assert settings.evaluation.prove == is_whole
    assert settings.network.blocks == 2 and 32 <= settings.selfplay.num_simulations <= 128
    assert 0 < settings.run.time_limit_s <= 600
    assert bool(settings.selfplay.random_opening_fraction) == (name != PUZZLE and plies[1] > 3)


if __name__ == "__main__":
    print_reports(sys.argv[1])
