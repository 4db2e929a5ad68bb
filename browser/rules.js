// The rules of a game by its name, as Python's `make_game` takes it.

import { ConnectX } from "./connect_x.js";
import { Gomoku } from "./gomoku.js";
import { Othello } from "./othello.js";

export function makeRules(name) {
  if (name === "connect_four") return new ConnectX(6, 7, 4);
  const sizes = name.match(/^connect_x:(\d+)x(\d+)x(\d+)$/);
  if (sizes) return new ConnectX(...sizes.slice(1).map(Number));
  const lines = name.match(/^gomoku(?::(\d+)x(\d+)(?:x(\d+))?)?$/);
  if (lines) {
    const [rows, columns, length] = lines.slice(1);
    return new Gomoku(Number(rows ?? 15), Number(columns ?? 15), Number(length ?? 5));
  }
  const size = name.match(/^othello(?::([468]|1[0246]))?$/);
  if (size) return new Othello(Number(size[1] ?? 8));
  throw new Error(`there is no game '${name}' here.`);
}
