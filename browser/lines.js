// Lines of pieces on a board: what wins in Connect-X and in tic-tac-toe.

const DIRECTIONS = [[0, 1], [1, 0], [1, 1], [1, -1]];

/** Return the cells of every line of `length` or more through `cell`, of the piece that lies there. */
export function lineCells(cells, rows, columns, cell, length) {
  const piece = cells[cell];
  const row = Math.floor(cell / columns);
  const column = cell % columns;
  const found = new Set();
  for (const [down, right] of DIRECTIONS) {
    const line = [cell];
    for (const sign of [1, -1]) {
      let r = row + sign * down;
      let c = column + sign * right;
      while (r >= 0 && r < rows && c >= 0 && c < columns && cells[r * columns + c] === piece) {
        line.push(r * columns + c);
        r += sign * down;
        c += sign * right;
      }
    }
    if (line.length >= length) line.forEach((one) => found.add(one));
  }
  return [...found].sort((a, b) => a - b);
}

/** Return the cells of all lines on the board. */
export function allLineCells(cells, rows, columns, length) {
  const found = new Set();
  cells.forEach((piece, cell) => {
    if (piece) lineCells(cells, rows, columns, cell, length).forEach((one) => found.add(one));
  });
  return [...found].sort((a, b) => a - b);
}
