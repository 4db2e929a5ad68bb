// The pieces on a board: placed, dropped, turned over, taken away.

import { CELL } from "./board_layout.js";
import { svg } from "./dom.js";
import { prefersRest } from "./motion.js";

const DROP_MS = 90; // for a first square; the whole fall grows with its root
const TURN_MS = 320;
const SLIDE_MS = 220;

export class BoardPieces {
  constructor(layout) {
    this.layout = layout;
    this.element = svg("g", { class: "pieces" });
    this.shown = new Map(); // cell key -> {color, node}
  }

  /**
   * Show the pieces of a position.
   * @param colors of side 0 and side 1
   * @param moves whether the pieces move to where they belong
   * @param squares of the last move, from and to, if it has several
   */
  show(cells, colors, moves, squares = []) {
    const [from, to] = [squares[0], squares.at(-1)];
    cells.forEach((line, row) =>
      line.forEach((cell, column) => {
        const color = cell ? colors[cell - 1] : null;
        const slides = to !== undefined && to[0] === row && to[1] === column;
        this.#set(row, column, color, moves && !prefersRest(), slides ? from : null);
      }),
    );
  }

  #set(row, column, color, moves, from) {
    const key = `${row},${column}`;
    const before = this.shown.get(key);
    if ((before?.color ?? null) === color) return;
    before?.node.remove();
    this.shown.delete(key);
    if (color === null) return;
    const node = pieceAt(this.layout.box(row, column), color);
    this.element.append(node);
    this.shown.set(key, { color, node });
    if (moves && from) this.#slide(node, from, [row, column]);
    else if (moves) this.#move(node, row, before?.color ?? null);
  }

  /** Show a piece as taken up, or back in its place. */
  lift([row, column], isLifted) {
    this.shown.get(`${row},${column}`)?.node.classList.toggle("is-ghost", isLifted);
  }

  #slide(node, from, to) {
    const [start, end] = [from, to].map((cell) => this.layout.box(...cell));
    const before = { transform: `translate(${start.x - end.x}px, ${start.y - end.y}px)` };
    node.firstElementChild.animate([before, { transform: "none" }], {
      duration: SLIDE_MS,
      easing: "ease-in-out",
    });
  }

  #move(node, row, colorBefore) {
    const shape = node.firstElementChild;
    if (colorBefore !== null) {
      const turn = [
        { transform: "scaleX(-1)" },
        { transform: "scaleX(0)" },
        { transform: "scaleX(1)" },
      ];
      shape.animate(turn, { duration: TURN_MS, easing: "ease-in-out" });
    } else if (this.layout.style === "plate") {
      const height = (row + 1) * CELL;
      const fall = [
        { transform: `translateY(${-height}px)`, easing: "cubic-bezier(.55,0,.9,.6)" },
        { transform: "none", offset: 0.78, easing: "ease-out" },
        {
          transform: `translateY(${-Math.min(height * 0.06, 22)}px)`,
          offset: 0.88,
          easing: "ease-in",
        },
        { transform: "none" },
      ];
      shape.animate(fall, { duration: 160 + DROP_MS * Math.sqrt(row + 1) * 1.9 });
    } else {
      const appear = [
        { transform: "scale(.4)", opacity: 0 },
        { transform: "none", opacity: 1 },
      ];
      shape.animate(appear, { duration: 180, easing: "ease-out" });
    }
  }
}

/** Return a piece in the place of a cell. */
export function pieceAt({ x, y, size }, color) {
  const [cx, cy] = [x + size / 2, y + size / 2];
  const piece = svg("g", { class: "piece-shape" }, ...shapes(color));
  return svg("g", { class: `piece piece-${color}`, transform: `translate(${cx} ${cy})` }, piece);
}

function shapes(color) {
  if (color === "x") return [svg("path", { class: "stroke", d: "M-26 -26L26 26M26 -26L-26 26" })];
  if (color === "o") return [svg("circle", { class: "stroke", r: 29 })];
  return [svg("circle", { class: "disc", r: 42 }), svg("circle", { class: "disc-ring", r: 29 })];
}
