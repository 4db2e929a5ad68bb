// Lines of equal pieces, for games in which whoever completes a line wins.

const DIRECTIONS = [[0, 1], [1, 0], [1, 1], [1, -1]];

/**
 * Return the cells of the lines that a piece completes, in order; none if it completes none.
 *
 * @param cells Int8Array, rows from the top
 * @param length the number of pieces in a line, at least
 * @param cell where the piece is
 */
export function completedLines(cells, rows, columns, length, cell) {
  const found = new Set();
  for (const [down, right] of DIRECTIONS) {
    const line = [cell];
    for (const sign of [1, -1]) {
      let row = Math.floor(cell / columns) + sign * down;
      let column = (cell % columns) + sign * right;
      while (
        row >= 0 && row < rows && column >= 0 && column < columns &&
        cells[row * columns + column] === cells[cell]
      ) {
        line.push(row * columns + column);
        row += sign * down;
        column += sign * right;
      }
    }
    if (line.length >= length) line.forEach((one) => found.add(one));
  }
  return [...found].sort((a, b) => a - b);
}
