// Where everything lies on a board: squares of 100 units, with room for the names around them.

export const CELL = 100;

const MARGINS = {
  plate: { left: 14, right: 14, top: 14, bottom: 58 },
  green: { left: 52, right: 24, top: 52, bottom: 24 },
  lines: { left: 12, right: 12, top: 12, bottom: 12 },
};

export class BoardLayout {
  constructor(game, setup) {
    const { rows, columns, style } = game;
    const hasNames = setup.column_names.length > 0;
    const edge = hasNames ? 52 : 12;
    const plain = { left: edge, right: 12, top: edge, bottom: 12 };
    Object.assign(this, { rows, columns, style, mirrored: setup.mirrored });
    this.margin = MARGINS[style] ?? plain;
    this.width = columns * CELL + this.margin.left + this.margin.right;
    this.height = rows * CELL + this.margin.top + this.margin.bottom;
  }

  /** Return the place of a cell in the units of the drawing. */
  box(row, column) {
    return { x: this.x(column), y: this.margin.top + row * CELL, size: CELL };
  }

  /** Return the left side of a column as it is drawn. */
  x(column) {
    const drawn = this.mirrored ? this.columns - 1 - column : column;
    return this.margin.left + drawn * CELL;
  }

  /** Return the columns in the order in which they are drawn. */
  drawnColumns() {
    const columns = [...Array(this.columns).keys()];
    return this.mirrored ? columns.reverse() : columns;
  }

  /** Return the part of the drawing that the squares take, in percent. */
  percentages() {
    const { left, right, top, bottom } = this.margin;
    const part = (length, whole) => `${(100 * length) / whole}%`;
    return {
      left: part(left, this.width),
      right: part(right, this.width),
      top: part(top, this.height),
      bottom: part(bottom, this.height),
    };
  }
}

/** Return the cell in which the piece of an action comes to lie, null for an action without one. */
export function cellOfAction(game, position, action) {
  const { action_kind: kind, rows, columns } = game;
  if (kind === "column") {
    for (let row = rows - 1; row >= 0; row -= 1) {
      if (!position.cells[row][action]) return [row, action];
    }
    return null;
  }
  if (kind === "move") return squaresOfAction(game, action).at(-1) ?? null;
  if (kind !== "square" || action >= rows * columns) return null;
  return [Math.floor(action / columns), action % columns];
}

/** Return the cells that an action names, from and to; none where cells are actions. */
export function squaresOfAction(game, action) {
  const squares = game.action_squares?.[action] ?? [];
  return squares.map((square) => [Math.floor(square / game.columns), square % game.columns]);
}

/** Return the action of a click on a cell, null if cells are no actions. */
export function actionOfCell(game, row, column) {
  if (game.action_kind === "column") return column;
  return game.action_kind === "square" ? row * game.columns + column : null;
}
