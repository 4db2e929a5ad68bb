// Where the piece of an action comes to lie.

/** Return [row, column], null for an action without a place, such as a pass. */
export function landingCell(game, cells, action) {
  const { action_kind: kind, rows, columns } = game;
  if (kind === "column") {
    for (let row = rows - 1; row >= 0; row -= 1) if (!cells[row][action]) return [row, action];
    return null;
  }
  if (kind !== "square" || action >= rows * columns) return null;
  return [Math.floor(action / columns), action % columns];
}
