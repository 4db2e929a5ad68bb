// Gomoku, free-style: whoever completes a line wins; a full board is a draw. Actions are the cells.
// States are those of connect_x.js.

import { completedLines } from "./lines.js";

export class Gomoku {
  constructor(rows, columns, length) {
    Object.assign(this, { rows, columns, length });
  }

  start() {
    return this.#state(new Int8Array(this.rows * this.columns), 0, null, []);
  }

  step(state, cell) {
    const cells = state.cells.slice();
    cells[cell] = state.toMove + 1;
    const line = completedLines(cells, this.rows, this.columns, this.length, cell);
    const winner = line.length ? state.toMove : null;
    return this.#state(cells, 1 - state.toMove, winner, line.length ? line : [cell]);
  }

  #state(cells, toMove, winner, marked) {
    const legal = [];
    if (winner === null) cells.forEach((piece, cell) => piece || legal.push(cell));
    return { cells, toMove, winner, legal, over: !legal.length, marked };
  }
}
