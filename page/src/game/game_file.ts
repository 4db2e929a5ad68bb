// A game with its variations as a text file: SGF for Othello, for other games a list of moves in
// which variations stand in parentheses, as chess writes them, and names in braces:
//
//     4 4 3 (5 {the other side} 5) 3
//
// A variation begins with the move that replaces the one before it.

import { parse, stringify } from "@sabaki/sgf";
import type { Game, Setup } from "../api";
import type { Branch, GameNode } from "./game_state";

const SGF_GAME = "2"; // Othello in the list of the format, https://www.red-bean.com/sgf

export function usesSgf(game: Game): boolean {
  return game.name.startsWith("othello");
}

export function writeGame(root: GameNode, game: Game, setup: Setup): string {
  return usesSgf(game) ? writeSgf(root, game, setup) : `${writeList(root, setup)}\n`;
}

/**
 * Return the moves of such a text, as a person writes them.
 * @throws Error if the text is neither.
 */
export function readGame(text: string): Branch[] {
  return /^\s*\(\s*;/.test(text) ? readSgf(text) : readList(text);
}

function writeList(node: GameNode, setup: Setup): string {
  const [main, ...others] = node.children;
  if (!main) return "";
  const move = (one: GameNode) => {
    const name = one.name.replace(/[{}]/g, "");
    return setup.action_texts[one.action ?? 0] + (name ? ` {${name}}` : "");
  };
  const variations = others.map((one) => `(${`${move(one)} ${writeList(one, setup)}`.trim()})`);
  return [move(main), ...variations, writeList(main, setup)].join(" ").trim();
}

function readList(text: string): Branch[] {
  const tokens = text.match(/[()]|\{[^}]*\}|[^\s(){},]+/g) ?? [];
  const top: Branch = { text: "", name: "", children: [] };
  // Where the next move goes, and where the last one went: [above, last], one for each parenthesis.
  const open: [Branch, Branch][] = [[top, top]];
  for (const token of tokens) {
    const [above, last] = open[open.length - 1];
    if (token === "(") {
      if (last === top) throw new Error("A variation needs a move before it.");
      open.push([above, above]);
    } else if (token === ")") {
      open.pop();
      if (!open.length) throw new Error("A parenthesis is closed that was not opened.");
    } else if (token.startsWith("{")) {
      last.name = token.slice(1, -1).trim();
    } else {
      const move = { text: token, name: "", children: [] };
      last.children.push(move);
      open[open.length - 1] = [last, move];
    }
  }
  if (open.length > 1) throw new Error("A parenthesis is not closed.");
  return top.children;
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
  if (!root) throw new Error("The file holds no game.");
  const game = root.data.GM?.[0];
  if (game && game !== SGF_GAME) throw new Error(`The file is not of Othello (GM[${SGF_GAME}]).`);
  const branches = (node: SgfNode): Branch[] =>
    node.children.flatMap((one) => {
      const move = one.data.B?.[0] ?? one.data.W?.[0];
      if (move === undefined) return branches(one); // a comment or the like
      const name = one.data.N?.[0] ?? one.data.C?.[0] ?? "";
      return [{ text: squareOf(move), name, children: branches(one) }];
    });
  return branches(root);
}

/** Return a square as it is written here: files of Go programs have two letters, such as "fe". */
function squareOf(move: string): string {
  if (move === "" || move === "tt") return "pass";
  const isLetters = /^[a-z]{2}$/.test(move);
  return isLetters ? `${move[0]}${move.charCodeAt(1) - 96}` : move.toLowerCase();
}
