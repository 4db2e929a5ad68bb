"""Game files as other programs write them: opened, saved and opened again by the page's sources.

SGF: https://www.red-bean.com/sgf. GGF, of the Generic Game Server:
https://www.skatgame.net/mburo/ggsa/ggf. WTHOR, the database of the French Othello Federation:
https://www.ffothello.org/informatique/la-base-wthor. The others are lists of moves.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from web_samples import make_backend, running

PAGE = Path(__file__).parents[2] / "page"
NODE = shutil.which("node")

BEFORE_PASS = "e6 f6 g6 g7 c4 h6 h8 f8".split()  # then Black has no move
WITH_PASS = [*BEFORE_PASS, "pass", "c3", "b2"]
OPENING = "f5 d6 c3 d3 c4".split()
USUAL_ROWS = " ".join(["-" * 8] * 3 + ["---O*---", "---*O---"] + ["-" * 8] * 3)
GGF_HEAD = f"GM[Othello]PC[GGS/os]DT[2004]PB[one]PW[two]RE[+8.00]TY[8]BO[8 {USUAL_ROWS} *]"


def sgf(moves, head="", colors="BW"):
    nodes = "".join(f";{colors[k % 2]}[{move}]" for k, move in enumerate(moves))
    return f"(;FF[4]GM[2]SZ[8]{head}{nodes})"


VARIED = "(;GM[2];B[f5](;W[d6]N[diagonal]C[usual];B[c3])(;W[f6]C[a \\] sign])(;W[f4]))"
NESTED = "(;GM[2];B[f5](;W[d6](;B[c3];W[d3])(;B[c5](;W[f6])(;W[f4])))(;W[f6]))"
LINE = sgf(BEFORE_PASS).removesuffix(")")
GGF_LINE = "".join(f"{'BW'[k % 2]}[{move[:2]}]" for k, move in enumerate(WITH_PASS))
HEAD = "AP[Other:1.0]PB[Anna]PW[Bo]RE[B+12]KM[0]DT[2026-11-27]"

#: name -> (the file, its moves, what the saved file says too); Othello is shown before
OTHELLO = {
    "names and result": (sgf(OPENING, HEAD), OPENING, ["PB[Anna]PW[Bo]RE[B+12]KM[0]"]),
    "set-up": (
        "(;GM[2]AB[d4][e5][f5]AW[d5][e4]PL[W];W[g5];B[f6])",
        ["g5", "f6"],
        ["PL[W]", "AB["],
    ),
    "set-up, and the first move says who begins": (
        "(;GM[2]AB[d4][e5][f5]AW[de][ed];W[g5])",
        ["g5"],
        ["PL[W]"],
    ),
    "passes left out": (f"{LINE};W[c3];B[b2])", WITH_PASS, ["B[pass]"]),
    "passes": (sgf(WITH_PASS).replace("[pass]", "[]"), WITH_PASS, []),
    "squares as in Go": (sgf(["fe", "df", "cc"]), ["f5", "d6", "c3"], []),
    "a move in the root": ("(;FF[4]GM[2]B[f5]C[first];W[d6])", ["f5", "d6"], ["C[first]"]),
    "two games": (sgf(OPENING, "PB[Anna]") + sgf(["f5", "f6"], "PB[Bo]"), OPENING, ["PB[Anna]"]),
    "Latin-1": (
        sgf(OPENING, "CA[ISO-8859-1]PB[J\u00fcrgen]").encode("latin-1"),
        OPENING,
        ["CA[UTF-8]", "PB[J\u00fcrgen]"],
    ),
    "Shift_JIS": (
        sgf(["f5"], "CA[Shift_JIS]PB[\u8868]").encode("shift_jis"),
        ["f5"],
        ["PB[\u8868]"],
    ),
    "Latin-1, which is not said": (
        sgf(OPENING, "PB[J\u00fcrgen]").encode("latin-1"),
        OPENING,
        ["CA[UTF-8]", "PB[J\u00fcrgen]"],
    ),
    "Latin-1 that is said to be UTF-8": (
        sgf(["f5"], "CA[UTF-8]PB[J\u00fcrgen]").encode("latin-1"),
        ["f5"],
        ["PB[J\u00fcrgen]"],
    ),
    "UTF-8, which is not said": (sgf(["f5"], "PB[J\u00fcrgen]"), ["f5"], ["PB[J\u00fcrgen]"]),
    "an encoding that nobody knows": (
        sgf(["f5"], "CA[x-unknown]PB[Anna]"),
        ["f5"],
        ["CA[UTF-8]", "PB[Anna]"],
    ),
    "GGF in Latin-1": (
        f"(;{GGF_HEAD}B[F5];)".replace("one", "J\u00fcrgen").encode("latin-1"),
        ["f5"],
        ["PB[J\u00fcrgen]"],
    ),
    "variations": (
        VARIED,
        ["f5", "d6", "c3"],
        ["W[d6]N[diagonal]C[usual]", "W[f6]C[a \\] sign]", "W[f4]"],
    ),
    "nested variations": (NESTED, ["f5", "d6", "c3", "d3"], ["B[c5]", "W[f4]", "W[f6]"]),
    "a variation after a pass that is left out": (
        f"{LINE}(;W[c3];B[b2])(;W[d6]N[other]))",
        WITH_PASS,
        ["W[d6]N[other]"],
    ),
    "GGF": (
        f"(;{GGF_HEAD}B[F5//0.01]W[d6/1.00/2]B[C3]W[d3]B[c4];)",
        OPENING,
        ["PB[one]PW[two]RE[+8.00]"],
    ),
    "GGF of an archive, with a pass": (f"1 (;{GGF_HEAD}{GGF_LINE};)\n", WITH_PASS, ["B[pass]"]),
    "capitals": ("F5D6C3D3C4", OPENING, []),
    "small letters": ("f5d6c3d3c4\r\n", OPENING, []),
    "spaces": ("f5 d6 c3 d3 c4\n", OPENING, []),
    "numbers": ("1. f5 d6 2. c3 d3 3. c4", OPENING, []),
    "a number for each move": ("1. F5\n2. D6\n3. C3\n4. D3\n5. C4\n", OPENING, []),
}
BOARD = "/".join(["......."] * 5 + ["..XO..."])
#: The same for Connect Four.
CONNECT_FOUR = {
    "columns": ("4453", ["4", "4", "5", "3"], []),
    "columns and spaces": ("4 4 5 3\n", ["4", "4", "5", "3"], []),
    "columns and commas": ("4, 4, 5, 3", ["4", "4", "5", "3"], []),
    "columns from a board": (
        f"(;START[#analyse/connect_four?board={BOARD}&to_move=0];B[4];W[4])",
        ["4", "4"],
        [BOARD],
    ),
    "GGF while Connect Four is shown": (f"(;{GGF_HEAD}B[F5]W[d6];)", ["f5", "d6"], []),
}
SMALL_BOARD = "/".join(["X........", "........O"] + ["........."] * 7)
#: The same for Gomoku, 15 x 15.
GOMOKU = {
    "points of Gomoku": (
        "(;GM[4]SZ[15];B[hh];W[ig](;B[aa])(;B[oo]))",
        ["h8", "i9", "a15"],
        ["B[oo]"],
    ),
    "squares of Gomoku": ("(;GM[4];B[h8];W[i9])", ["h8", "i9"], ["GM[4]SZ[15]PL[B]", "W[ig]"]),
    "a list of squares": ("h8i9a15", ["h8", "i9", "a15"], ["W[ig]"]),
    "a smaller board": ("(;GM[4]SZ[9];B[ee])", ["e5"], ["GM[4]SZ[9]", "B[ee]"]),
    "a set-up board of Gomoku": (
        f"(;START[#analyse/gomoku:9x9?board={SMALL_BOARD}&to_move=0];B[ca])",
        ["c9"],
        [SMALL_BOARD, "AB[aa]AW[ib]"],
    ),
}
READ = OTHELLO | CONNECT_FOUR | GOMOKU
#: name -> (the file, words of the sentence that refuses it)
REFUSED = {
    "WTHOR": (bytes([20, 26, 11, 27, 1, 0, 0, 0, 0, 0, 230, 7, 8, 0, 24, 0, 56, 64]), "no text"),
    "empty": ("", "no moves"),
    "blank": ("\n", "no moves"),
    "no moves": ("(;GM[2]PB[Anna])", "no moves"),
    "Go": ("(;GM[1]FF[4]SZ[19];B[pd];W[dd])", "not of Othello"),
    "another format": ('{"a": 1}', "Othello.*1 of the list"),
    "chess": ('[Event "x"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n', "Othello.*'e4' is not legal"),
    "Connect Four": ("4453", "Othello.*4453"),
    "truncated": (sgf(OPENING)[:-4], "cut off"),
    "truncated GGF": (f"(;{GGF_HEAD}B[F5//0.01]W[d6/1.0", "cut off"),
    "an illegal move": (sgf(["f5", "d6", "f5"]), "move 3.*'f5'"),
    "no squares": ("(;GM[2]AB[dd:ee];B[f5])", "no square dd:ee"),
    "a size that is not here": ("(;SZ[19];B[pd];W[dd])", "othello:19"),
    "a board later": ("(;GM[2];B[f5];AB[a1];W[d6])", "after its first node"),
    "a start that is not the usual": (f"(;{GGF_HEAD.replace('O*', '**')}B[f5];)", "position"),
}


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Open, save and open again all files; return what became of each."""
    if NODE is None or not (PAGE / "node_modules").exists():
        pytest.skip("needs node and page/node_modules: make page/node_modules")
    folder = tmp_path_factory.mktemp("files")
    script = folder / "open_game_files.js"
    build = ["--bundle", "--platform=node", "--log-level=error", f"--outfile={script}"]
    esbuild = PAGE / "node_modules" / ".bin" / "esbuild"
    subprocess.run([esbuild, "../tests/open_game_files.mjs", *build], cwd=PAGE, check=True)
    found = {}
    with running(make_backend()) as client:
        files_of = {"othello": OTHELLO | REFUSED, "connect_four": CONNECT_FOUR, "gomoku": GOMOKU}
        for game, files in files_of.items():
            paths = [folder / name for name in files]
            for path, (content, *_) in zip(paths, files.values(), strict=True):
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
            command = [NODE, script, str(client.base_url), game, *paths]
            answer = subprocess.run(command, check=True, stdout=subprocess.PIPE)
            found |= zip(files, json.loads(answer.stdout), strict=True)
    return found


@pytest.mark.parametrize("name", READ)
def test_a_file_of_another_program_is_read_and_saved(records, name):
    record = records[name]
    _, moves, said = READ[name]
    assert record.get("moves") == moves, record
    for text in said:
        assert text in record["file"]
    assert record["again"] == {key: record[key] for key in record["again"]}
    assert record["num"] == (2 if name == "two games" else 1)


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_no_game_is_refused_in_a_sentence(records, name):
    error = records[name].get("error", "")
    assert re.search(REFUSED[name][1], error)
    assert error.isprintable() and len(error) < 200
