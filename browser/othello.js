// Othello: a disc flips the opponent's discs that it encloses; more discs at the end win.
//
// Side 0 has the diagonal from top left to bottom right of the four middle squares. Actions are the
// squares and, last, the pass, which is legal only without another move. States are those of
// connect_x.js.

const DIRECTIONS = [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 0], [1, 1]];

export class Othello {
  constructor(size) {
    Object.assign(this, { size, rows: size, columns: size });
    this.pass = size * size;
    this.rays = [...Array(this.pass).keys()].map((square) => this.#rays(square));
  }

  start() {
    const cells = new Int8Array(this.pass);
    const middle = (this.size / 2 - 1) * (this.size + 1);
    cells[middle] = cells[middle + this.size + 1] = 1;
    cells[middle + 1] = cells[middle + this.size] = 2;
    return this.#state(cells, 0, []);
  }

  step(state, action) {
    const cells = state.cells.slice();
    if (action !== this.pass) {
      this.#flips(cells, action, state.toMove + 1).forEach((square) => {
        cells[square] = state.toMove + 1;
      });
      cells[action] = state.toMove + 1;
    }
    return this.#state(cells, 1 - state.toMove, action === this.pass ? [] : [action]);
  }

  #state(cells, toMove, marked) {
    let legal = this.#moves(cells, toMove + 1);
    let over = false;
    if (!legal.length) {
      over = !this.#moves(cells, 2 - toMove).length;
      if (!over) legal = [this.pass];
    }
    return { cells, toMove, legal, over, winner: over ? winner(cells) : null, marked };
  }

  #moves(cells, piece) {
    const isMove = (square) => !cells[square] && this.#flips(cells, square, piece, true).length > 0;
    return this.rays.map((_, square) => square).filter(isMove);
  }

  /** Return the squares that a disc flips; with `any`, those of one direction at most. */
  #flips(cells, square, piece, any = false) {
    const flipped = [];
    for (const ray of this.rays[square]) {
      let length = 0;
      while (length < ray.length && cells[ray[length]] === 3 - piece) length += 1;
      if (length && length < ray.length && cells[ray[length]] === piece) {
        flipped.push(...ray.slice(0, length));
        if (any) break;
      }
    }
    return flipped;
  }

  /** Return the squares in each direction from a square. */
  #rays(square) {
    return DIRECTIONS.map(([down, right]) => {
      const ray = [];
      let row = Math.floor(square / this.size) + down;
      let column = (square % this.size) + right;
      while (row >= 0 && row < this.size && column >= 0 && column < this.size) {
        ray.push(row * this.size + column);
        row += down;
        column += right;
      }
      return ray;
    }).filter((ray) => ray.length > 1);
  }
}

function winner(cells) {
  const margin = cells.reduce((sum, piece) => sum + [0, 1, -1][piece], 0);
  return margin === 0 ? null : Number(margin < 0);
}
