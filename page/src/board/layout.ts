// Where everything lies on a board: squares of 100 units, with room for the names around them.

import type { Game, Setup } from "../api";

export const CELL = 100;

/** [row, column], counted from the top left of the game's own array. */
export type Cell = [number, number];

export interface Point {
  x: number;
  y: number;
}

export interface Layout {
  rows: number;
  columns: number;
  style: string;
  left: number;
  top: number;
  width: number;
  height: number;
  /** The columns in the order in which they are drawn. */
  drawn: number[];
}

const MARGINS: Record<string, { left: number; right: number; top: number; bottom: number }> = {
  plate: { left: 14, right: 14, top: 14, bottom: 58 },
  green: { left: 52, right: 24, top: 52, bottom: 24 },
  lines: { left: 12, right: 12, top: 12, bottom: 12 },
};
const NO_MARGIN = { left: 0, right: 0, top: 0, bottom: 0 };

/** Return the layout of a game's board; a bare one has no room around the squares. */
export function layoutOf({ rows, columns, style }: Game, setup: Setup, isBare = false): Layout {
  const edge = setup.column_names.length ? 52 : 12;
  const plain = { left: edge, right: 12, top: edge, bottom: 12 };
  const { left, right, top, bottom } = isBare ? NO_MARGIN : (MARGINS[style] ?? plain);
  const [width, height] = [columns * CELL + left + right, rows * CELL + top + bottom];
  const drawn = [...Array(columns).keys()];
  if (setup.mirrored) drawn.reverse();
  return { rows, columns, style, left, top, width, height, drawn };
}

/** Return the middle of a cell in the units of the drawing. */
export function middleOf(layout: Layout, [row, column]: Cell): Point {
  const x = layout.left + (layout.drawn.indexOf(column) + 0.5) * CELL;
  return { x, y: layout.top + (row + 0.5) * CELL };
}

export function allCells({ rows, drawn }: Layout): Cell[] {
  return [...Array(rows).keys()].flatMap((row) => drawn.map((column): Cell => [row, column]));
}

export function flat(game: Game, [row, column]: Cell): number {
  return row * game.columns + column;
}

export function cellAt(game: Game, square: number): Cell {
  return [Math.floor(square / game.columns), square % game.columns];
}

export function isSame(one: Cell | null | undefined, other: Cell | null | undefined): boolean {
  return Boolean(one && other && one[0] === other[0] && one[1] === other[1]);
}

/** Return the cells that an action names, from and to; none where cells are actions. */
export function squaresOfAction(game: Game, action: number): Cell[] {
  return (game.action_squares?.[action] ?? []).map((square) => cellAt(game, square));
}

/** Return the cell in which the piece of an action comes to lie, null for an action without one. */
export function cellOfAction(game: Game, cells: number[][], action: number): Cell | null {
  const { action_kind: kind, rows, columns } = game;
  if (kind === "column") {
    const row = cells.findLastIndex((line) => !line[action]);
    return row < 0 || action >= columns ? null : [row, action];
  }
  if (kind === "move") return squaresOfAction(game, action).at(-1) ?? null;
  return kind === "square" && action < rows * columns ? cellAt(game, action) : null;
}

/** Return the action of a click on a cell, null if cells are no actions. */
export function actionOfCell(game: Game, cell: Cell): number | null {
  if (game.action_kind === "column") return cell[1];
  return game.action_kind === "square" ? flat(game, cell) : null;
}

/** Return the name of a cell. */
export function nameOfCell(game: Game, setup: Setup, cell: Cell): string {
  const [row, column] = cell;
  if (game.action_kind === "square") return setup.action_texts[flat(game, cell)];
  if (setup.row_names.length) return setup.column_names[column] + setup.row_names[row];
  const name = game.action_kind === "column" ? setup.action_texts[column] : column + 1;
  return `column ${name}, row ${game.rows - row}`;
}
