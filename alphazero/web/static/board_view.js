// A board: the drawing of the position that is shown, and the grid over it that takes moves.
//
// Knows the game's state and nothing of players. Dispatches "hoveraction" on its element, with the
// legal action under the pointer or the focus, or null.

import { BoardGrid } from "./board_grid.js";
import { boardGround } from "./board_ground.js";
import { BoardLayout, CELL, cellOfAction } from "./board_layout.js";
import { BoardPieces, pieceAt } from "./board_pieces.js";
import { element, svg } from "./dom.js";
import { prefersRest } from "./motion.js";

const LATE_MS = 600;

export class BoardView {
  /**
   * @param state a GameState
   * @param onAction called with a legal action that was chosen
   * @param label of the board for screen readers
   * @param mayPlay returns whether moves are taken now
   */
  constructor(state, { onAction, label, mayPlay = () => true }) {
    Object.assign(this, { state, onAction, mayPlay, game: state.game, setup: state.setup });
    this.layout = new BoardLayout(this.game, this.setup);
    this.pieces = new BoardPieces(this.layout);
    this.marks = svg("g", { class: "marks" });
    this.hints = svg("g", { class: "hints" });
    this.ghost = svg("g", { class: "hover-ghost" });
    this.overlay = svg("g", { class: "overlay", "pointer-events": "none" });
    this.svg = this.#drawing();
    const options = {
      label,
      onAction: (action) => this.#play(action),
      onHover: (action) => this.#hover(action),
    };
    this.grid = new BoardGrid(this.game, this.setup, this.layout, options);
    this.actions = element("div", { class: "action-list" });
    const parts = [this.svg, this.grid.element];
    const frame = element("div", { class: `board board-${this.layout.style}` }, parts);
    frame.style.setProperty("--board-ratio", this.layout.width / this.layout.height);
    this.element = element("div", { class: "board-view" }, frame, this.actions);
    this.listener = () => this.update();
    state.addEventListener("change", this.listener);
    this.update();
  }

  /** Return the place of a cell in the units of `svg`: {x, y, size}. */
  cellBox(row, column) {
    return this.layout.box(row, column);
  }

  /** Return [row, column] of the cell in which an action's piece comes to lie, else null. */
  cellOfAction(position, action) {
    return cellOfAction(this.game, position, action);
  }

  /** Draw the position shown; also when it is another person's turn than before. */
  update() {
    const { state } = this;
    if (state.game !== this.game || state.setup !== this.setup) return; // about to be replaced
    const { position } = state;
    const follows = this.drawn && position.ply === this.drawn.ply + 1;
    const moves = follows && isNext(this.drawn, position);
    this.pieces.show(position.cells, this.setup.colors, moves);
    this.drawn = position;
    this.#drawMarks(position, moves && !prefersRest());
    const legal = this.mayPlay() ? position.legal : [];
    this.#drawHints(position, legal);
    this.grid.update(position, legal);
    this.element.classList.toggle("is-active", legal.length > 0);
    this.#listActions(legal);
    this.#hover(null);
  }

  close() {
    this.state.removeEventListener("change", this.listener);
  }

  #drawing() {
    const { layout } = this;
    const { below, above, clip } = boardGround(this.game, this.setup, layout);
    if (clip) this.pieces.element.setAttribute("clip-path", clip);
    const viewBox = `0 0 ${layout.width} ${layout.height}`;
    const attributes = {
      viewBox,
      class: "board-drawing",
      "aria-hidden": "true",
      focusable: "false",
    };
    const isFalling = layout.style === "connect_x";
    // What falls passes behind the plate.
    const layers = [...below, isFalling ? this.ghost : null, this.pieces.element, ...above];
    const upper = [this.hints, isFalling ? null : this.ghost, this.marks, this.overlay];
    return svg("svg", attributes, layers, upper);
  }

  #play(action) {
    if (this.mayPlay() && this.state.position.legal.includes(action)) this.onAction(action);
  }

  /** Show where a piece would go. */
  #hover(action) {
    const { position } = this.state;
    const isLegal = action !== null && this.mayPlay() && position.legal.includes(action);
    const shown = isLegal ? action : null;
    if (shown === this.hovered && shown === null) return;
    this.hovered = shown;
    this.ghost.replaceChildren(...(isLegal ? this.#ghosts(position, action) : []));
    this.element.dispatchEvent(new CustomEvent("hoveraction", { detail: shown }));
  }

  #ghosts(position, action) {
    const cell = this.cellOfAction(position, action);
    if (!cell) return [];
    const color = this.setup.colors[position.to_move];
    const ghost = pieceAt(this.cellBox(...cell), color);
    ghost.classList.add("is-ghost");
    return [ghost];
  }

  /** Mark the last move, or the line that won; `isLate`: once the piece has come to rest. */
  #drawMarks(position, isLate) {
    const key = JSON.stringify([position.ply, position.marked, position.over]);
    if (key === this.marked) return;
    this.marked = key;
    const isWon = position.over && position.winner !== null && position.marked.length > 1;
    const drawn = position.marked.map(([row, column]) => {
      const { x, y } = this.cellBox(row, column);
      const r = isWon ? 36 : 11;
      const name = isWon ? "mark mark-won" : "mark mark-last";
      const color = this.setup.colors[position.cells[row][column] - 1] ?? "none";
      const place = { cx: x + CELL / 2, cy: y + CELL / 2, r };
      return svg("circle", { class: `${name} mark-on-${color}`, ...place });
    });
    this.marks.replaceChildren(...drawn);
    if (isLate) this.marks.animate([{ opacity: 0 }, { opacity: 0 }, { opacity: 1 }], LATE_MS);
  }

  /** Mark the legal squares, where they are not all the empty ones. */
  #drawHints(position, legal) {
    const isHelpful = this.game.action_kind === "square" && this.layout.style !== "tic_tac_toe";
    const cells = isHelpful ? legal.map((action) => this.cellOfAction(position, action)) : [];
    const dots = cells.filter(Boolean).map((cell) => {
      const { x, y } = this.cellBox(...cell);
      return svg("circle", { class: "hint", cx: x + CELL / 2, cy: y + CELL / 2, r: 12 });
    });
    this.hints.replaceChildren(...dots);
  }

  /** Offer the moves that have no place on the board as buttons. */
  #listActions(legal) {
    const placeless = legal.filter((action) => !this.cellOfAction(this.state.position, action));
    const buttons = placeless.map((action) => {
      const text = this.setup.action_texts[action];
      const onclick = () => this.#play(action);
      return element("button", { type: "button", class: "action-button", onclick }, capital(text));
    });
    this.actions.replaceChildren(...buttons);
  }
}

/** Return whether a position can be the one after another: then its pieces move. */
function isNext(before, after) {
  const added = after.cells.flat().filter((cell, k) => cell && !before.cells.flat()[k]).length;
  return added <= 1;
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
