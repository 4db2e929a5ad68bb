// Connect-X: whoever completes a line wins; a full board is a draw. Actions are columns; a disc
// falls to the lowest free cell.
//
// A state is never changed:
//   cells   Int8Array, rows from the top: 0 empty, 1 a piece of side 0, 2 of side 1
//   toMove  0 or 1; side 0 moves first in the game
//   over    whether the game is finished; then winner is 0, 1, or null for a draw
//   legal   actions, in order; none if the game is over
//   marked  the cells to mark: the winning lines, or the last piece

import { completedLines } from "./lines.js";

export class ConnectX {
  constructor(rows, columns, length) {
    Object.assign(this, { rows, columns, length });
  }

  start() {
    return this.#state(new Int8Array(this.rows * this.columns), 0, null, []);
  }

  step(state, column) {
    const cells = state.cells.slice();
    let row = this.rows - 1;
    while (cells[row * this.columns + column]) row -= 1;
    cells[row * this.columns + column] = state.toMove + 1;
    const cell = row * this.columns + column;
    const line = completedLines(cells, this.rows, this.columns, this.length, cell);
    const winner = line.length ? state.toMove : null;
    return this.#state(cells, 1 - state.toMove, winner, line.length ? line : [cell]);
  }

  #state(cells, toMove, winner, marked) {
    const columns = [...Array(this.columns).keys()];
    const legal = winner === null ? columns.filter((column) => !cells[column]) : [];
    return { cells, toMove, winner, legal, over: !legal.length, marked };
  }
}
