// What does not change on a board: its ground, its lines and holes, and the names along its edges.

import { CELL } from "./board_layout.js";
import { svg } from "./dom.js";

let numPlates = 0;

/** Return {below, above, clip}: what is drawn below and above the pieces; where they show. */
export function boardGround(game, setup, layout) {
  const labels = edgeLabels(game, setup, layout);
  if (layout.style === "plate") {
    const front = plate(layout);
    return { below: [back(layout)], above: [front, ...labels], clip: `url(#inside-${numPlates})` };
  }
  if (layout.style === "lines") {
    return { below: [...lines(layout, 1, false), ...cellNames(game, setup, layout)], above: [] };
  }
  const below = [frame(layout), ground(layout), ...lines(layout, 0, true)];
  const dots = layout.style === "green" ? starPoints(layout) : [];
  const names = setup.column_names.length ? [] : cellNames(game, setup, layout);
  return { below: [...below, ...dots, ...labels, ...names], above: [] };
}

function area(layout, grow, attributes) {
  const { left, top } = layout.margin;
  const [width, height] = [layout.columns * CELL + 2 * grow, layout.rows * CELL + 2 * grow];
  return svg("rect", { x: left - grow, y: top - grow, width, height, ...attributes });
}

/** Return what is seen through the holes. */
function back(layout) {
  return area(layout, 10, { class: "plate-back", rx: 22 });
}

/** Return the front plate of a board into which discs fall, with its holes. */
function plate(layout) {
  numPlates += 1;
  const id = `holes-${numPlates}`;
  const holes = allCells(layout).map(([row, column]) => {
    const { x, y } = layout.box(row, column);
    return svg("circle", { cx: x + CELL / 2, cy: y + CELL / 2, r: 41 });
  });
  // What falls comes out from behind the upper edge.
  const clip = svg("clipPath", { id: `inside-${numPlates}` }, area(layout, 0, {}));
  const mask = svg(
    "mask",
    { id },
    area(layout, 12, { fill: "white" }),
    svg("g", { fill: "black" }, holes),
  );
  const rims = allCells(layout).map(([row, column]) => {
    const { x, y } = layout.box(row, column);
    return svg("circle", { class: "plate-rim", cx: x + CELL / 2, cy: y + CELL / 2, r: 41 });
  });
  const front = area(layout, 12, { class: "plate", rx: 24, mask: `url(#${id})` });
  return svg("g", {}, clip, mask, front, rims);
}

function frame(layout) {
  const { width, height } = layout;
  return svg("rect", { class: `frame frame-${layout.style}`, width, height, rx: 18 });
}

function ground(layout) {
  return area(layout, 0, { class: `ground ground-${layout.style}` });
}

/** Return the lines between the squares; with `isFramed` also those around them. */
function lines(layout, grow, isFramed) {
  const { left, top } = layout.margin;
  const [right, bottom] = [left + layout.columns * CELL, top + layout.rows * CELL];
  const skip = isFramed ? 0 : 1;
  const name = `line line-${layout.style}`;
  const found = [];
  for (let k = skip; k <= layout.columns - skip; k += 1) {
    const x = left + k * CELL;
    found.push(svg("line", { class: name, x1: x, x2: x, y1: top + grow, y2: bottom - grow }));
  }
  for (let k = skip; k <= layout.rows - skip; k += 1) {
    const y = top + k * CELL;
    found.push(svg("line", { class: name, x1: left + grow, x2: right - grow, y1: y, y2: y }));
  }
  return found;
}

/** Return the four dots two squares from the corners, where the board is large enough. */
function starPoints(layout) {
  if (layout.rows < 8) return [];
  const { left, top } = layout.margin;
  const places = [2, layout.rows - 2];
  return places.flatMap((row) =>
    places.map((column) =>
      svg("circle", { class: "star", cx: left + column * CELL, cy: top + row * CELL, r: 7 }),
    ),
  );
}

function edgeLabels(game, setup, layout) {
  if (layout.style === "plate") {
    return layout.drawnColumns().map((column) => {
      const place = { x: layout.x(column) + CELL / 2, y: layout.height - 12 };
      return svg("text", { class: "edge-label edge-below", ...place }, setup.action_texts[column]);
    });
  }
  const above = setup.column_names.map((name, drawn) => {
    const x = layout.margin.left + (drawn + 0.5) * CELL;
    return svg("text", { class: "edge-label", x, y: layout.margin.top - 16 }, name);
  });
  const beside = setup.row_names.map((name, row) => {
    const y = layout.margin.top + (row + 0.5) * CELL + 10;
    return svg("text", { class: "edge-label", x: layout.margin.left / 2, y }, name);
  });
  return [...above, ...beside];
}

/** Return what a person types for each square, where no names stand along the edges. */
function cellNames(game, setup, layout) {
  if (game.action_kind !== "square") return [];
  return allCells(layout).map(([row, column]) => {
    const { x, y } = layout.box(row, column);
    const name = setup.action_texts[row * layout.columns + column];
    return svg("text", { class: "cell-name", x: x + 9, y: y + 25 }, name);
  });
}

function allCells(layout) {
  const rows = [...Array(layout.rows).keys()];
  return rows.flatMap((row) => layout.drawnColumns().map((column) => [row, column]));
}
