// What the search thinks, drawn on the board: a disc for each legal move, or a line of moves.
//
// The larger and the more solid a disc, the larger its share of the visits. A ring marks the
// best move. W, D and L in a corner are exact results. A line is numbered ghost pieces. Moves from
// square to square are arrows instead.

import { squaresOfAction } from "./board_layout.js";
import { svg } from "./dom.js";
import { moveArrow } from "./move_arrow.js";
import { percentText, resultText, valueText } from "./number_text.js";

const SMALLEST_SHARE = 0.005; // of the visits; a move with less is a dot without numbers
const SMALLEST_SHARE_WITH_VALUE = 0.03;
const SMALLEST_SHARE_ON_ARROW = 0.15; // arrows cross, so that most numbers would hide each other

export class MovesOverlay {
  /**
   * @param board a BoardView
   * @param colors the colours of side 0 and side 1, as in a game's setup
   */
  constructor(board, colors) {
    Object.assign(this, { board, colors });
    this.moves = svg("g", { class: "overlay-moves" });
    this.line = svg("g", { class: "overlay-line" });
    board.overlay.replaceChildren(this.moves, this.line);
  }

  clear() {
    this.moves.replaceChildren();
    this.showLine(null, []);
  }

  /**
   * Draw a disc for each legal move.
   * @param analysis an "analysis" message, null: none yet
   * @param exact the answer of `api/exact`, null: none yet
   */
  showMoves(position, analysis, exact) {
    const actions = analysis?.actions ?? position.legal.map((action) => ({ action, visits: 0 }));
    const total = actions.reduce((sum, { visits }) => sum + visits, 0);
    const drawn = actions.map((one) => {
      const share = total ? one.visits / total : (one.prior ?? 0);
      const result = (exact?.known ? exact.values[one.action] : null) ?? one.proven ?? null;
      const isBest = analysis !== null && one.action === analysis.best;
      return this.#move(position, { ...one, share, result, isBest });
    });
    this.moves.replaceChildren(...drawn.filter(Boolean));
  }

  /** Draw a line of actions from a position as ghost pieces; an empty one brings the moves back. */
  showLine(position, line) {
    const pieces = [];
    let at = position;
    for (const [k, action] of line.entries()) {
      const cell = this.board.cellOfAction(at, action);
      const side = (position.to_move + k) % 2; // a pass is an action too
      if (cell) {
        pieces.push(this.#ghost(cell, side, k + 1));
        at = withPiece(at, cell, side);
        const [from] = squaresOfAction(this.board.game, action);
        if (from) at.cells[from[0]][from[1]] = 0;
      }
    }
    this.line.replaceChildren(...pieces);
    this.moves.classList.toggle("is-behind", pieces.length > 0);
  }

  #move(position, move) {
    const cell = this.board.cellOfAction(position, move.action);
    if (!cell) return null;
    if (this.board.game.action_kind === "move") return this.#arrow(move);
    const { x, y, size } = this.board.cellBox(...cell);
    const [cx, cy] = [x + size / 2, y + size / 2];
    const parts = [...this.#disc(cx, cy, size, move), ...badge(x, y, size, move.result)];
    const group = svg("g", { class: move.isBest ? "move-mark is-best" : "move-mark" }, ...parts);
    group.dataset.action = move.action;
    return group;
  }

  /** Return the arrow of a move with its share; moves that were hardly looked at have none. */
  #arrow({ action, share, isBest }) {
    const squares = squaresOfAction(this.board.game, action);
    if (squares.length < 2 || (share < SMALLEST_SHARE && !isBest)) return null;
    const [from, to] = [squares[0], squares.at(-1)].map((cell) => this.board.cellBox(...cell));
    const arrow = moveArrow(from, to, 0.06 + 0.1 * Math.sqrt(share), { class: "move-arrow" });
    arrow.style.setProperty("fill-opacity", 0.35 + 0.6 * Math.sqrt(share));
    const place = { x: (from.x + to.x + from.size) / 2, y: (from.y + to.y + 1.14 * from.size) / 2 };
    const look = { class: "arrow-share", "font-size": 24 };
    const text = svg("text", { ...place, ...look }, percentText(share));
    const parts = share >= SMALLEST_SHARE_ON_ARROW || isBest ? [arrow, text] : [arrow];
    const group = svg("g", { class: isBest ? "move-mark is-best" : "move-mark" }, ...parts);
    group.dataset.action = action;
    return group;
  }

  #disc(cx, cy, size, { share, value, isBest }) {
    const isDot = share < SMALLEST_SHARE && !isBest;
    const r = size * (isDot ? 0.08 : 0.3 + 0.12 * Math.sqrt(share));
    const disc = svg("circle", { class: "move-disc", cx, cy, r });
    disc.style.setProperty("fill-opacity", 0.5 + 0.45 * Math.sqrt(share));
    if (isDot) return [disc];
    const rings = ["move-ring-ground", "move-ring"].map((name) =>
      svg("circle", { class: name, cx, cy, r: size * 0.46 }),
    );
    const text = (name, lower, height, content) => {
      const place = { x: cx, y: cy + lower * r, "font-size": height * r };
      return svg("text", { ...place, class: name }, content);
    };
    const hasValue = share >= SMALLEST_SHARE_WITH_VALUE || isBest;
    const shareText = percentText(share);
    const height = shareText.length > 3 ? 0.56 : 0.68;
    const texts = [text("move-share", hasValue ? 0.05 : 0.24, height, shareText)];
    if (hasValue) texts.push(text("move-value", 0.58, 0.48, valueText(value)));
    return [disc, ...(isBest ? rings : []), ...texts];
  }

  #ghost(cell, side, number) {
    const { x, y, size } = this.board.cellBox(...cell);
    const [cx, cy] = [x + size / 2, y + size / 2];
    const name = `ghost ghost-${this.colors[side]}`;
    const piece = svg("circle", { class: name, cx, cy, r: size * 0.4 });
    const place = { x: cx, y: cy + size * 0.15, "font-size": size * 0.42 };
    const text = svg("text", { ...place, class: `ghost-number on-${this.colors[side]}` }, number);
    return svg("g", {}, piece, text);
  }
}

/** Return the letter of an exact result in the upper right corner of a cell. */
function badge(x, y, size, result) {
  if (result === null) return [];
  const name = resultText(result);
  const [cx, cy] = [x + size * 0.84, y + size * 0.16];
  const place = { x: cx, y: cy + size * 0.08, "font-size": size * 0.22 };
  return [
    svg("circle", { class: `badge badge-${name}`, cx, cy, r: size * 0.15 }),
    svg("text", { ...place, class: "badge-letter" }, name[0].toUpperCase()),
  ];
}

/** Return a position with one more piece, for what lands on top of it. */
function withPiece(position, [row, column], side) {
  const cells = position.cells.map((line) => [...line]);
  cells[row][column] = side + 1;
  return { ...position, cells };
}
