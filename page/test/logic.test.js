// The parts of the page that need no browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { formatHash, parseHash } from "../src/address.ts";
import { byVisits } from "../src/analyse/moves_table.tsx";
import { lineFrom, readTree } from "../src/analyse/search_tree.ts";
import { choiceAfter, chosenAction, pathWith } from "../src/board/move_choice.ts";
import { lettersOf } from "../src/board/pieces.tsx";
import { accuracyText, moveText, percentText, valueText } from "../src/format.ts";
import { readGame, writeGame } from "../src/game/game_file.ts";
import { GameState } from "../src/game/game_state.ts";
import { accuracyOf, turningPoint } from "../src/review/review.ts";

test("rows change places only if one is clearly ahead, until the search has ended", () => {
  const moves = [100, 105, 300].map((visits, action) => ({ action, visits }));
  const order = (isFinal) => byVisits(moves, isFinal).map(({ action }) => action);
  assert.deepEqual(order(false), [2, 0, 1]);
  assert.deepEqual(order(true), [2, 1, 0]);
});

test("a line follows the most visited moves of the tree", () => {
  const node = (id, parent, action, visits) => ({ id, parent, action, visits, to_move: 0 });
  const nodes = readTree([
    node(0, null, null, 10),
    node(1, 0, 4, 7),
    node(2, 0, 3, 2),
    node(3, 1, 5, 1),
    node(4, 1, 6, 5),
  ]);
  assert.deepEqual(lineFrom(nodes, [4], 10), [4, 6]);
  assert.deepEqual(lineFrom(nodes, [], 1), [4]);
  assert.deepEqual(lineFrom(nodes, [3], 10), [3]);
});

test("a move in a lost position is judged only by its score", () => {
  const ply = (side, value, score) => ({ side, value, loss: 0, score_loss: score, grade: null });
  const plies = [ply(1, 0.9, null), ply(1, 1, 0), ply(1, 0.5, null), ply(0, 0.9, null)];
  assert.deepEqual(accuracyOf(plies, [], 1), { num: 2, good: 2 });
  assert.deepEqual(accuracyOf(plies, [], 0), { num: 1, good: 1 });
});

test("the turning point is the last mistake that was never made good", () => {
  // Side 0 loses twice what it had; side 1 gives it back once.
  const values = [1, 1, -1, 1, -1, -1, -1];
  const isMistake = (ply) => [1, 2, 3].includes(ply) || ply === 5;
  const plies = values.map((value, ply) => ({
    ...{ ply, value, side: ply % 2 },
    grade: isMistake(ply) ? {} : null,
  }));
  plies[1].side = plies[3].side = 0;
  assert.equal(turningPoint(plies, 0).ply, 3);
  assert.equal(turningPoint(plies, 1), undefined); // it has won
  assert.equal(turningPoint(plies.slice(0, -1).concat(undefined), 0), undefined); // end not known
});

test("letters of a drawing are shown if they tell the kinds of pieces apart", () => {
  const cells = [
    [2, 2, 0],
    [0, 1, 1],
  ];
  const found = (drawn) => lettersOf({ drawn, cells });
  assert.deepEqual(found("2 r k .\n1 . K R\n  a b c"), [..."rk..KR"]);
  assert.equal(found("oo.\n.xx"), null); // a disc says as much
  assert.equal(found("rk.\nRr."), null); // not a board of these pieces
  assert.equal(found(null), null);
});

test("a legal move is called what it is called in its position", () => {
  const setup = { action_texts: ["0", "1", "2"] };
  assert.equal(moveText(setup, { legal: [1, 2], legal_texts: ["a3", "Nf3"] }, 2), "Nf3");
  assert.equal(moveText(setup, { legal: [1, 2], legal_texts: null }, 2), "2");
});

test("a move is chosen square by square", () => {
  const squares = [
    [0, 1],
    [0, 2],
    [3, 4],
    [0, 5],
    [0, 5],
  ];
  const legal = [0, 1, 2, 3, 4];
  const start = choiceAfter(squares, legal, []);
  const [from] = [pathWith(start, [], 0)];
  const half = choiceAfter(squares, legal, from);
  assert.equal(chosenAction(half), null);
  const whole = (square) => chosenAction(choiceAfter(squares, legal, pathWith(half, from, square)));
  assert.equal(whole(2), 1);
  assert.equal(whole(5), null); // two moves share their squares: a button decides
});

test("an address is read as it is written", () => {
  const parameters = { moves: "4,4", ply: 1, board: null, first: "" };
  const hash = formatHash("play", "open_spiel:chess(a=1)", parameters);
  assert.deepEqual(parseHash(hash), {
    view: "play",
    name: "open_spiel:chess(a=1)",
    parameters: { moves: "4,4", ply: "1" },
  });
  assert.equal(parseHash("#nowhere/%").view, "play");
});

test("only a perfect accuracy is 100%, and a small share is not zero", () => {
  assert.equal(accuracyText(0.99999), "99.99%");
  assert.equal(accuracyText(1), "100%");
  assert.equal(percentText(0.001), "<1%");
  assert.equal(valueText(-0.001), "0.00");
});

const OTHELLO = { name: "othello", rows: 8, columns: 8 };
const GOMOKU = { name: "gomoku:9x10", rows: 9, columns: 10 };
const SETUP = {
  id: "standard",
  action_texts: ["f5", "d6", "take (2)", "f4"],
  colors: ["dark", "light"],
  separator: ",",
};

/** Return a root with these moves below it: [action, name, ...moves after it]. */
function grown(...branches) {
  const root = { action: null, name: "", parent: null, position: { to_move: 0 } };
  const grow = (parent, side, [action, name, ...below]) => {
    const node = { action, name, parent, position: { to_move: side } };
    node.children = below.map((one) => grow(node, 1 - side, one));
    return node;
  };
  root.children = branches.map((one) => grow(root, 1, one));
  return root;
}

const GAME = grown([0, "", [1, "", [2, ""]], [3, "a trap ]"]]);

/** Return moves as text, and what follows them. */
const branch = (text, children = [], name = "") => ({ text, name, children });

const START = "#analyse/a_game";
const fileOf = (game, root = GAME) =>
  writeGame({ game, setup: SETUP, board: null, line: [root] }, START);
const read = (text) => readGame(text, { game: OTHELLO, setup: SETUP });

test("a file is read as it is written", () => {
  const sgf = fileOf(OTHELLO);
  assert.match(sgf, /^\(\s*;FF\[4\].*GM\[2\]SZ\[8\]PL\[B\]/);
  assert.match(sgf, /;B\[f5\][^]*;W\[d6\][^]*;B\[take \(2\)\][^]*;W\[f4\]N\[a trap \\\]\]/);
  const after = [branch("d6", [branch("take (2)")]), branch("f4", [], "a trap ]")];
  for (const game of [OTHELLO, { name: "a_game" }]) {
    const { start, branches } = read(fileOf(game));
    assert.equal(start.game, "a_game");
    assert.deepEqual(branches, [branch("f5", after)]);
  }
});

test("the board of a file is read, and who moves first tells the set-up", () => {
  const start = (text) => read(`(;GM[2]${text})`).start;
  assert.deepEqual(start("SZ[6];B[d3]"), { game: "othello:6", setup: "standard" });
  assert.equal(start("PL[W];W[e3];B[f3]").setup, "white_first");
  const { board, setup } = start("SZ[4]PL[W]AB[b2][c3][d4]AW[cb][b3]");
  assert.deepEqual([board.trim(), setup], ["----\n-BW-\n-WB-\n---B", "white_first"]);
});

test("squares as programs for Go write them are understood, and other games are not", () => {
  const text = (sgf) => read(sgf).branches[0].text;
  assert.equal(text("(;GM[2];B[fe])"), "f5");
  assert.equal(text("(;GM[2];C[begins];B[])"), "pass");
  assert.throws(() => read("(;GM[1];B[fe])"));
  const { start, branches } = read("(;GM[4];B[ho];W[h2](;B[oa])(;B[aa]))");
  assert.equal(start.game, "gomoku");
  assert.deepEqual(branches, [branch("h1", [branch("h2", [branch("o15"), branch("a15")])])]);
  assert.equal(read("(;GM[4]SZ[10:9];B[ji])").start.game, "gomoku:9x10");
  assert.throws(() => read("(;GM[4]AB[hh];W[ji])"));
});

test("a game of Gomoku is written in letters and read as squares", () => {
  const start = "#analyse/gomoku:9x10";
  const setup = { ...SETUP, action_texts: [] };
  const sgf = writeGame({ game: GOMOKU, setup, board: null, line: [GAME] }, start);
  assert.match(sgf, /GM\[4\]SZ\[10:9\]PL\[B\]\s*;B\[aa\]/);
  const { branches } = read(sgf);
  const after = [branch("b9", [branch("c9")]), branch("d9", [], "a trap ]")];
  assert.deepEqual(branches, [branch("a9", after)]);
});

const GGF = (rows) =>
  `(;GM[Othello]PC[GGS/os]PB[one]PW[two]RE[+8]TY[8]BO[8 ${rows} *]` +
  "B[F5//0.01]W[d6/1.00/2]B[C3]W[pa]B[g5];)";

test("games of other programs are read: GGF, tags, a move in the first node", () => {
  const empty = "--------";
  const middle = ["---O*---", "---*O---"];
  const rows = [empty, empty, empty, ...middle, empty, empty, empty];
  assert.equal(read(GGF(rows.join(" "))).branches[0].text, "f5,d6,c3,pa,g5");
  assert.throws(() => read(GGF(rows.join(" ").replace("-", "*"))));
  assert.deepEqual(read("(;GM[2]B[f5];W[d6])").branches, [branch("f5", [branch("d6")])]);
  const tags = '[Event "?"]\n[Site "PlayOK"]\n[Result "28-36"]\n\n';
  assert.equal(read(`${tags}1. f5 f4 2. e3 28-36\n`).branches[0].text.trim(), "1. f5 f4 2. e3");
  assert.deepEqual(read(" \n").branches, []);
});

test("the first game of several is read, and what its file says of it", () => {
  const two = read("(;GM[2]PB[Anna]RE[B+4];B[f5])(;GM[2];B[f5];W[f6])");
  assert.deepEqual([two.num, two.notes], [2, { PB: ["Anna"], RE: ["B+4"] }]);
  assert.deepEqual(two.branches, [branch("f5")]);
  const pgn = '[Event "a"]\n[Site "b"]\n\n1. f5\nf6 20-44\n\n[Event "c"]\n\n1. f5 *\n';
  assert.equal(read(pgn).num, 2);
  assert.equal(read(pgn).branches[0].text.trim(), "1. f5\nf6");
});

test("what is said of a move is kept when a game is read and written", () => {
  const notes = { C: ["bold ]"], TE: ["1"] };
  const sgf = "(;GM[2]C[a game];B[f5]C[bold \\]]TE[1];W[d6])";
  const { branches, notes: ofGame } = read(sgf);
  assert.deepEqual(branches, [{ ...branch("f5", [branch("d6")]), notes }]);
  assert.deepEqual(ofGame, { C: ["a game"] });
  const root = grown([0, "", [1, ""]]);
  root.children[0].notes = notes;
  assert.deepEqual(read(fileOf(OTHELLO, root)).branches[0].notes, notes);
});

test("a board that is set up later is refused", () => {
  assert.throws(() => read("(;GM[2];B[f5];AW[a1];W[d6])"));
});

/** Return a game at its start, and a function that answers its next request, or refuses it. */
async function begun() {
  const asked = [];
  const position = () => new Promise((answer, refuse) => asked.push({ answer, refuse }));
  const game = { ...OTHELLO, setups: [SETUP] };
  const state = new GameState({ position }, { value: { games: [game], default_game: "othello" } });
  const answer = (moves) => asked.pop().answer({ moves, positions: [{ to_move: moves.length }] });
  const loading = state.load({});
  answer([]);
  await loading;
  return { state, answer, refuse: () => asked.pop().refuse(new Error("not legal")) };
}

test("a move is known before it is answered, in the position in which it was made", async () => {
  const { state, answer } = await begun();
  const playing = state.play(1);
  assert.equal(state.awaited, 1);
  assert.deepEqual(state.moves, []);
  answer([1]);
  await playing;
  assert.equal(state.awaited, null);
  assert.deepEqual(state.moves, [1]);
  const next = state.play(0);
  state.show(0);
  assert.equal(state.awaited, null);
  state.show(1);
  assert.equal(state.awaited, 0);
  answer([1, 0]);
  await next;
});

test("a move that is refused is taken back", async () => {
  const { state, refuse } = await begun();
  const playing = state.play(1);
  refuse();
  await assert.rejects(playing);
  assert.equal(state.awaited, null);
  assert.deepEqual(state.moves, []);
});
