// Connect-X and tic-tac-toe: whoever completes a line wins; a full board is a draw.
//
// A state is never changed:
//   cells   Int8Array, rows from the top: 0 empty, 1 a piece of side 0, 2 of side 1
//   toMove  0 or 1; side 0 moves first in the game
//   over    whether the game is finished; then winner is 0, 1, or null for a draw
//   legal   actions, in order; none if the game is over
//   last    the cell of the last piece, null at the start

import { allLineCells, lineCells } from "./lines.js";

class LineGame {
  constructor(rows, columns, length) {
    Object.assign(this, { rows, columns, length, numPlanes: 2 });
  }

  start() {
    return this.#state(new Int8Array(this.rows * this.columns), 0, null);
  }

  step(state, action) {
    const cells = state.cells.slice();
    const cell = this.cellOf(cells, action);
    cells[cell] = state.toMove + 1;
    const wins = lineCells(cells, this.rows, this.columns, cell, this.length).length > 0;
    return this.#state(cells, 1 - state.toMove, wins ? state.toMove : null, cell);
  }

  /** Return the state of a board; an error says why it is impossible. */
  fromCells(cells, toMove) {
    const counts = [1, 2].map((piece) => cells.filter((cell) => cell === piece).length);
    if (counts[0] - counts[1] !== toMove) {
      throw new Error(
        `with ${counts[0]} and ${counts[1]} pieces it is not the turn of side ${toMove}.`,
      );
    }
    this.checkCells(cells);
    const line = allLineCells(cells, this.rows, this.columns, this.length);
    const owners = new Set(line.map((cell) => cells[cell] - 1));
    if (owners.has(toMove)) {
      throw new Error("the side to move already has a line: the game ended one move earlier.");
    }
    return this.#state(Int8Array.from(cells), toMove, line.length ? 1 - toMove : null);
  }

  checkCells() {}

  observe(state, planes, offset) {
    const size = state.cells.length;
    state.cells.forEach((piece, cell) => {
      if (piece) planes[offset + (piece - 1 === state.toMove ? 0 : size) + cell] = 1;
    });
  }

  /** Return the cells to mark: the winning lines, or the last piece. */
  marked(state) {
    const size = [this.rows, this.columns];
    if (state.winner !== null) return allLineCells(state.cells, ...size, this.length);
    return state.last === null ? [] : [state.last];
  }

  #state(cells, toMove, winner, last = null) {
    const legal = winner === null ? this.freeActions(cells) : [];
    return { cells, toMove, winner, legal, over: !legal.length, last };
  }
}

/** Actions are columns; a disc falls to the lowest free cell. */
export class ConnectX extends LineGame {
  constructor(rows, columns, length) {
    super(rows, columns, length);
    this.numActions = columns;
  }

  freeActions(cells) {
    return [...Array(this.columns).keys()].filter((column) => !cells[column]);
  }

  cellOf(cells, column) {
    let row = this.rows - 1;
    while (cells[row * this.columns + column]) row -= 1;
    return row * this.columns + column;
  }

  checkCells(cells) {
    cells.forEach((piece, cell) => {
      const below = cell + this.columns;
      if (piece && below < cells.length && !cells[below]) {
        throw new Error("a disc has an empty cell below it.");
      }
    });
  }
}

/** Actions are squares. */
export class TicTacToe extends LineGame {
  constructor() {
    super(3, 3, 3);
    this.numActions = 9;
    this.isSmall = true; // enough to be solved while a person waits
  }

  freeActions(cells) {
    return [...cells.keys()].filter((square) => !cells[square]);
  }

  cellOf(cells, square) {
    return square;
  }
}
