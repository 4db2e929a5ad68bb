// A game with its variations as a text file: SGF, https://www.red-bean.com/sgf, in which the property
// START is the address of the first position. Read are also the SGF and GGF of other programs, for
// Othello and Gomoku, and lists of moves. Which moves a list holds is for the backend to say, so
// that a branch of the tree that is read here may be several of them.

import { parse, stringify } from "@sabaki/sgf";
import { gameOf, parseHash } from "../address";
import type { Game } from "../api";
import { messageOf } from "../format";
import type { Branch, GameFile, GameNode, Properties, Shown, Start } from "./types";

const [OTHELLO, GOMOKU] = ["2", "4"]; // in the list of games of the format
const SGF = /\(\s*;/; // in an archive of GGF, after a number
const NEXT_PGN = /(?<![\]\s])\s*\n(?=\[\w+ ")/; // before the tags of another game
const USUAL_BOARD = /^\d+ [-\s]*O\*[-\s]*\*O[-\s]*\*$/; // in GGF; black moves
const NO_NOTE = /^(FF|GM|CA|AP|SZ|START|PL|BO|A?[BW])$/; // read or written here
const PGN = /^(?:\s*\[\w+ ".*"\])+([^]*?)(?:\S+-\S+|\*)?\s*$/; // tags, moves, perhaps a result
const isGomoku = (name?: string | null) => name?.startsWith("gomoku");

/** The part of a node of @sabaki/sgf that is read and written here. */
type SgfNode = { data: Properties; children: SgfNode[] };

/** Return a game's number in the list of the format, undefined if it has none. */
function numberOf({ name }: Game): string | undefined {
  return name.startsWith("othello") ? OTHELLO : isGomoku(name) ? GOMOKU : undefined;
}

/** Write a game; `start` is the address of its first position. */
export function writeGame({ game, setup, board, line: [root] }: Shown, start: string): string {
  // Where no side is black or white, the first one counts as black.
  const letter = (side: number) => ((side === 0) === (setup.colors[0] === "light") ? "W" : "B");
  const number = numberOf(game);
  const { rows, columns } = game;
  const text = (action: number) =>
    number === GOMOKU ? pointOf(action, columns) : setup.action_texts[action];
  const node = (one: GameNode): SgfNode => {
    const move = text(one.action ?? 0);
    const data: Properties = { [letter(one.parent?.position.to_move ?? 0)]: [move] };
    if (one.name) data.N = [one.name];
    return { data: { ...data, ...one.notes }, children: one.children.map(node) };
  };
  const head: Properties = { FF: ["4"], CA: ["UTF-8"], AP: ["AlphaZero"], START: [start] };
  if (number) {
    head.GM = [number];
    head.SZ = [rows === columns ? `${rows}` : `${columns}:${rows}`];
    head.PL = [letter(root.position.to_move)];
    const cells = board === null ? [] : root.position.cells.flat();
    cells.forEach((cell, k) => {
      if (cell) (head[`A${letter(cell - 1)}`] ??= []).push(text(k));
    });
  }
  const nodes = [{ data: { ...head, ...root.notes }, children: root.children.map(node) }];
  return stringify(nodes, { linebreak: "" }); // compact, since a link may hold it
}

/** Return a file's text in the encoding that it names, in UTF-8, or in Latin-1, SGF's default. */
export function decoded(file: ArrayBuffer): string {
  const latin = new TextDecoder("latin1").decode(file);
  const [, name] = /\bCA\[\s*([\w-]+)/.exec(latin) ?? [];
  for (const encoding of [name, "utf-8"]) {
    try {
      return new TextDecoder(encoding, { fatal: true }).decode(file);
    } catch {
      continue; // nobody knows the encoding, or the file is in another one
    }
  }
  return latin;
}

/** Return the first game of a text, for the backend to read its moves. */
export function readGame(text: string, shown: Start): GameFile {
  if (text.includes("\0")) throw new Error("The file is no text, such as SGF or a list of moves.");
  const at = text.search(SGF);
  if (at >= 0) return readSgf(text.slice(at), shown);
  const games = text.split(NEXT_PGN);
  const list = PGN.exec(games[0])?.[1] ?? games[0];
  const start = { game: shown.game.name, setup: shown.setup.id };
  return { start, branches: list.trim() ? [branchOf(list)] : [], num: games.length };
}

function branchOf(text: string, children: Branch[] = []): Branch {
  return { text, name: "", children };
}

function readSgf(text: string, shown: Start): GameFile {
  const games = nodesOf(text);
  const [root] = games;
  const [address] = root.data.START ?? [];
  const start = address ? gameOf(parseHash(address)) : foreignStart(root, shown);
  const rows = isGomoku(start.game) ? parseInt(start.game?.split(":")[1] ?? "15") : undefined;
  const branches = (node: SgfNode): Branch[] => {
    const { B = [], W = [], N: [name] = [""], AB, AW = AB, ...others } = node.data;
    if (AW && node !== root) throw new Error("The file sets up a board after its first node.");
    const moves = B.length ? B.flatMap((move, k) => [move, ...W.slice(k, k + 1)]) : W; // all in GGF
    const children = node.children.flatMap(branches);
    const texts = address && !rows ? moves : moves.map((move) => squareOf(move, rows));
    const notes = node === root ? {} : notesOf(others);
    return moves.length ? [{ ...branchOf(texts.join(), children), name, ...notes }] : children;
  };
  return { start, branches: branches(root), ...notesOf(root.data), num: games.length };
}

function nodesOf(text: string): SgfNode[] {
  try {
    return parse(text) as SgfNode[];
  } catch (error) {
    throw new Error(`The file is damaged or cut off: ${messageOf(error)}.`, { cause: error });
  }
}

function notesOf(data: Properties): { notes?: Properties } {
  const notes = Object.entries(data).filter(([key]) => !NO_NOTE.test(key));
  return notes.length ? { notes: Object.fromEntries(notes) } : {};
}

/** Return where a game of another program starts. */
function foreignStart(root: SgfNode, { game }: Start) {
  const shown = numberOf(game);
  const [number] = root.data.GM ?? [shown ?? OTHELLO];
  if (number === GOMOKU) return gomokuStart(root.data);
  if (!/^(2|othello)$/i.test(number))
    throw new Error("The file is not of Othello (GM[2]) or Gomoku (GM[4]).");
  return othelloStart(root, shown === OTHELLO ? game.rows : 8);
}

function gomokuStart({ AB, AW = AB, SZ: [size] = ["15"] }: Properties) {
  if (AW) throw new Error("The file sets up a board, which of Gomoku is read only if saved here.");
  const [columns, rows = columns] = size.split(":");
  return { game: size === "15" ? "gomoku" : `gomoku:${rows}x${columns}` };
}

function othelloStart({ data, children: [next] }: SgfNode, shownSize: number) {
  const { BO: [usual] = [], AB = [], AW = [], SZ = [] } = data;
  if (usual && !USUAL_BOARD.test(usual)) throw new Error("The game starts from another position.");
  const size = parseInt(SZ[0]) || shownSize;
  const game = size === 8 ? "othello" : `othello:${size}`;
  // Whoever begins is side 0 of one of the two set-ups; where it is not said, the first move tells.
  const { B, W = [] } = data.B || data.W ? data : (next?.data ?? {});
  const [first] = data.PL ?? (AB.length && W.length && !B ? ["W"] : ["B"]);
  const start = { game, setup: /^w/i.test(first) ? "white_first" : "standard" };
  if (!AB.length && !AW.length) return start;
  const [black, white] = [AB, AW].map((points) => points.map((point) => squareOf(point)));
  const wrong = [...black, ...white].find((name) => !/^[a-h][1-8]$/.test(name));
  if (wrong) throw new Error(`The board that the file sets up has no square ${wrong}.`);
  const letters = Array.from({ length: size * size }, (_, k) => {
    const name = `${"abcdefgh"[k % size]}${Math.floor(k / size) + 1}`;
    return black.includes(name) ? "B" : white.includes(name) ? "W" : "-";
  });
  const board = letters.join("").replace(RegExp(`.{${size}}(?=.)`, "g"), "$&\n");
  return { ...start, board, to_move: 0 };
}

/**
 * Return a square as it is written here: files of Go programs have two letters, such as "fe", the
 * second one counted from the top. Numbers here count from the top, too, or from the bottom of so
 * many `rows`.
 */
function squareOf(text: string, rows?: number): string {
  const [move] = text.toLowerCase().split("/"); // GGF adds values and times
  if (move === "" || move === "tt") return "pass";
  if (!(rows ? /^[a-s]{2}$/ : /^[a-h]{2}$/).test(move)) return move;
  const fromTop = move.charCodeAt(1) - 96;
  return `${move[0]}${rows ? rows + 1 - fromTop : fromTop}`;
}

/** Return a square as programs for Go write it. */
function pointOf(square: number, columns: number): string {
  return String.fromCharCode(97 + (square % columns), 97 + Math.floor(square / columns));
}
