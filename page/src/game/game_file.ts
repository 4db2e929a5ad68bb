// A game with its variations as a text file: SGF for Othello, for other games a list of moves in
// which variations stand in parentheses, as chess writes them, and names in braces:
//
//     4, 4, 3 (5 {the other side}, 5), 3
//
// A variation begins with the move that replaces the one before it. Which moves a list holds is for
// the backend to say, so that a branch of the tree that is read here may be several of them.

import { parse, stringify } from "@sabaki/sgf";
import type { Game, Setup } from "../api";
import type { Branch, GameNode } from "./types";

const SGF_GAME = "2"; // Othello in the list of the format, https://www.red-bean.com/sgf
const USUAL_BOARD = /^\d+ [-\s]*O\*[-\s]*\*O[-\s]*\*$/; // in GGF; black moves
const PGN = /^(?:\s*\[\w+ ".*"\])+([^]*?)(?:\S+-\S+|\*)?\s*$/; // tags, moves, perhaps a result

export function usesSgf(game: Game): boolean {
  return game.name.startsWith("othello");
}

export function writeGame(root: GameNode, game: Game, setup: Setup): string {
  const [main, ...others] = root.children;
  return usesSgf(game) ? writeSgf(root, game, setup) : `${writeLine(main, others, setup)}\n`;
}

/** Return the moves of such a text, or of one in GGF or PGN, for the backend to read. */
export function readGame(text: string): Branch[] {
  return /^\s*\(\s*;/.test(text) ? readSgf(text) : readList(text);
}

/** Return a move, the variations in place of it, and what follows it. */
function writeLine(node: GameNode, others: GameNode[], setup: Setup): string {
  const move = setup.action_texts[node.action ?? 0].replace(/[(){}\\]/g, "\\$&");
  const name = node.name.replace(/[{}]/g, "");
  const variations = others.map((other) => ` (${writeLine(other, [], setup)})`).join("");
  const [next, ...instead] = node.children;
  const rest = next ? `${setup.separator} ${writeLine(next, instead, setup)}` : "";
  return move + (name && ` {${name}}`) + variations + rest;
}

function readList(text: string): Branch[] {
  const list = PGN.exec(text)?.[1] ?? text;
  const tokens = list.match(/[()]|\{[^}]*\}|(?:\\[^]|[^(){}])+/g) ?? [];
  const top = branchOf("");
  const open = [top]; // what the next move follows, one for each parenthesis
  for (const token of tokens) {
    const last = open[open.length - 1];
    if (token === "(") {
      if (!last.text) throw new Error("A variation needs a move before it.");
      open.push({ ...branchOf(""), children: last.instead });
    } else if (token === ")") {
      open.pop();
      if (!open.length) throw new Error("A parenthesis is closed that was not opened.");
    } else if (token.startsWith("{")) {
      last.name = token.slice(1, -1).trim();
    } else if (/[^\s,;]/.test(token)) {
      open[open.length - 1] = branchOf(token.replace(/\\([^])/g, "$1"));
      last.children.push(open[open.length - 1]);
    }
  }
  if (open.length > 1) throw new Error("A parenthesis is not closed.");
  return top.children;
}

function branchOf(text: string): Branch {
  return { text, name: "", children: [], instead: [] };
}

/** The part of a node of @sabaki/sgf that is read and written here. */
type SgfNode = { data: Record<string, string[]>; children: SgfNode[] };

function writeSgf(root: GameNode, game: Game, setup: Setup): string {
  const node = (one: GameNode): SgfNode => {
    const color = one.parent?.position.to_move === 0 ? setup.colors[0] : setup.colors[1];
    const property = color === "light" ? "W" : "B";
    const data: SgfNode["data"] = { [property]: [setup.action_texts[one.action ?? 0]] };
    if (one.name) data.N = [one.name];
    return { data, children: one.children.map(node) };
  };
  const size = [`${game.rows}`];
  const head = { FF: ["4"], GM: [SGF_GAME], CA: ["UTF-8"], AP: ["AlphaZero"], SZ: size };
  return stringify([{ data: head, children: root.children.map(node) }], { linebreak: "\n" });
}

function readSgf(text: string): Branch[] {
  const [root] = parse(text) as SgfNode[];
  const { GM: [game] = [SGF_GAME], BO: [board] = [] } = root.data;
  if (!/^(2|othello)$/i.test(game)) throw new Error("The file is not of Othello (GM[2]).");
  if (board && !USUAL_BOARD.test(board)) throw new Error("The game starts from another position.");
  const branches = (node: SgfNode): Branch[] => {
    const { B = [], W = [], C = [""], N: [name] = C } = node.data;
    const moves = B.length ? B.flatMap((move, k) => [move, ...W.slice(k, k + 1)]) : W; // all in GGF
    const children = node.children.flatMap(branches);
    return moves.length ? [{ ...branchOf(moves.map(squareOf).join()), name, children }] : children;
  };
  return branches(root);
}

/** Return a square as it is written here: files of Go programs have two letters, such as "fe". */
function squareOf(text: string): string {
  const [move] = text.toLowerCase().split("/"); // GGF adds values and times
  if (move === "" || move === "tt") return "pass";
  return /^[a-h]{2}$/.test(move) ? `${move[0]}${move.charCodeAt(1) - 96}` : move;
}
