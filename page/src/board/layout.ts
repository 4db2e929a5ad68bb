// Where everything lies on a board: squares of 100 units, with room for the names around them.

import type { Game, Setup } from "../api";

export const CELL = 100;

/** [row, column] in the arrays of a position. */
export type Cell = [number, number];
export type Layout = ReturnType<typeof layoutOf>;

/** Left, right, top, bottom. */
const MARGINS: Record<string, number[] | undefined> = {
  plate: [14, 14, 14, 58],
  green: [52, 24, 52, 24],
};

/** Return the layout of a game's board; turned: as the player at its top sees it. */
export function layoutOf(game: Game, setup: Setup, isTurned = false) {
  const { rows, columns, style, action_kind: kind } = game;
  const edge = setup.column_names.length ? 52 : 12;
  const [left, right, top, bottom] = MARGINS[style] ?? [edge, 12, edge, 12];
  const drawn = [...Array(columns).keys()];
  const drawnRows = [...Array(rows).keys()];
  const names = { columns: [...setup.column_names], rows: [...setup.row_names] };
  if (setup.mirrored !== isTurned) drawn.reverse();
  if (isTurned) [drawnRows, names.columns, names.rows].forEach((list) => list.reverse());
  const places = drawnRows.flatMap((row) => drawn.map((one): Cell => [row, one]));
  const flat = ([row, column]: Cell) => row * columns + column;
  const cellAt = (square: number): Cell => [Math.floor(square / columns), square % columns];
  /** Return the cells that an action names, from and to; none where cells are actions. */
  const squares = (action: number) => (game.action_squares?.[action] ?? []).map(cellAt);
  const middle = ([row, column]: Cell) => {
    const x = left + (drawn.indexOf(column) + 0.5) * CELL;
    return { x, y: top + (drawnRows.indexOf(row) + 0.5) * CELL };
  };
  /** Return the colour of the piece in a cell, undefined for none. */
  const colorAt = (cells: number[][], [row, column]: Cell): string | undefined =>
    setup.colors[cells[row][column] - 1];
  /** Return the transform of what is drawn around the middle of a cell. */
  const at = (cell: Cell) => `translate(${middle(cell).x} ${middle(cell).y})`;
  /** Return the cell in which the piece of an action comes to lie, null for one without a place. */
  const landing = (cells: number[][], action: number): Cell | null => {
    if (kind === "move") return squares(action).at(-1) ?? null;
    if (kind === "square") return action < rows * columns ? cellAt(action) : null;
    const row = kind === "column" ? cells.findLastIndex((line) => line[action] === 0) : -1;
    return row < 0 ? null : [row, action];
  };
  /** Return the cells once the piece of a move lies where it goes; the rules know what follows. */
  const placed = (cells: number[][], action: number, side: number): number[][] => {
    const [cell, [from]] = [landing(cells, action), squares(action)];
    const after = cells.map((row) => [...row]);
    if (from) after[from[0]][from[1]] = 0;
    if (cell) after[cell[0]][cell[1]] = side + 1;
    return after;
  };
  /** Return the action of a click on a cell, null if cells are no actions. */
  const actionOf = (cell: Cell) =>
    kind === "column" ? cell[1] : kind === "square" ? flat(cell) : null;
  const name = (cell: Cell) => {
    const [row, column] = cell;
    if (kind === "square") return setup.action_texts[flat(cell)];
    if (setup.row_names.length) return setup.column_names[column] + setup.row_names[row];
    const name = kind === "column" ? setup.action_texts[column] : column + 1;
    return `column ${name}, row ${rows - row}`;
  };
  const [width, height] = [columns * CELL + left + right, rows * CELL + top + bottom];
  const size = { rows, columns, style, left, top, width, height, drawn, drawnRows, places };
  const parts = { flat, cellAt, squares, middle, colorAt, at, landing, placed, actionOf, name };
  return { game, setup, names, ...size, ...parts };
}

export function isSame(one: Cell | null | undefined, other: Cell | null | undefined): boolean {
  return Boolean(one && other && one[0] === other[0] && one[1] === other[1]);
}
