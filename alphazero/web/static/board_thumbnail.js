// A position as a small picture: the pieces, and marks on cells.

import { svg } from "./dom.js";

const MARKS = {
  played: { symbol: "\u2715", description: "the move it played" },
  best: { symbol: "\u2713", description: "the best move" },
};

/**
 * Return an <svg>.
 * @param game, setup entries of the catalogue
 * @param cells of the position
 * @param marks list of {cell: [row, column], kind: "played" | "best"}
 */
export function boardThumbnail(game, setup, cells, marks, label) {
  const { rows, columns, style } = game;
  const attributes = { viewBox: `0 0 ${columns} ${rows}`, role: "img", "aria-label": label };
  const column = (number) => (setup.mirrored ? columns - 1 - number : number);
  const pieces = cells.flatMap((line, row) =>
    line.map((cell, number) => cellPicture(setup, cell, row, column(number), style)),
  );
  const drawn = marks.map(({ cell, kind }) => markPicture(cell[0], column(cell[1]), kind));
  const ground = svg("rect", { class: "thumb-ground", width: columns, height: rows });
  const name = `board-thumbnail thumb-${style}`;
  return svg("svg", { ...attributes, class: name }, ground, ...pieces, ...drawn);
}

function cellPicture(setup, cell, row, column, style) {
  const [cx, cy] = [column + 0.5, row + 0.5];
  const color = cell ? setup.colors[cell - 1] : "empty";
  const hasHoles = style === "plate";
  const square = { class: "thumb-cell", x: column, y: row, width: 1, height: 1 };
  const under = hasHoles
    ? svg("circle", { class: "thumb-hole", cx, cy, r: 0.4 })
    : svg("rect", square);
  return svg("g", {}, under, ...(cell ? [pieceShape(color, cx, cy)] : []));
}

function pieceShape(color, cx, cy) {
  if (color === "x") {
    const d = `M${cx - 0.26} ${cy - 0.26}l.52 .52m0 -.52l-.52 .52`;
    return svg("path", { class: "thumb-stroke thumb-x", d });
  }
  if (color === "o") return svg("circle", { class: "thumb-stroke thumb-o", cx, cy, r: 0.28 });
  return svg("circle", { class: `thumb-piece thumb-${color}`, cx, cy, r: 0.38 });
}

function markPicture(row, column, kind) {
  const [x, y] = [column + 0.5, row + 0.5];
  const { symbol, description } = MARKS[kind];
  return svg(
    "g",
    { class: `thumb-mark is-${kind}` },
    svg("title", {}, description),
    svg("circle", { cx: x, cy: y, r: 0.36 }),
    svg("text", { x, y: y + 0.19, "font-size": 0.52, "text-anchor": "middle" }, symbol),
  );
}
