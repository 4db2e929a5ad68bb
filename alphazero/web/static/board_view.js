// A board: the drawing of the position that is shown, and the grid over it that takes moves.
//
// Knows the game's state and nothing of players. Dispatches "hoveraction" on its element, with the
// legal action under the pointer or the focus, or null.

import { BoardGrid } from "./board_grid.js";
import { boardGround } from "./board_ground.js";
import { actionOfCell, BoardLayout, CELL, cellOfAction, squaresOfAction } from "./board_layout.js";
import { BoardPieces, pieceAt } from "./board_pieces.js";
import { element, svg } from "./dom.js";
import { prefersRest } from "./motion.js";
import { MoveChoice } from "./move_choice.js";
import { PieceDrag } from "./piece_drag.js";

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
    this.choice = new MoveChoice(this.game.action_squares ?? []);
    const options = {
      label,
      onCell: (cell) => this.#onCell(cell),
      onHover: (cell) => this.#hover(cell === null ? null : this.#actionAt(cell)),
      onPress: (cell, event) => this.#onPress(cell, event),
      onEscape: () => this.#choose(null),
    };
    this.grid = new BoardGrid(this.game, this.setup, this.layout, options);
    this.drag = new PieceDrag({
      drawing: this.svg,
      layer: this.overlay,
      size: CELL,
      cellAt: (x, y) => this.grid.cellAt(x, y),
      onDrop: (cell) => this.#drop(cell),
    });
    this.actions = element("div", { class: "action-list" });
    const parts = [this.svg, this.grid.element];
    this.frame = element("div", { class: `board board-${this.layout.style}` }, parts);
    this.frame.style.setProperty("--board-ratio", this.layout.width / this.layout.height);
    this.text = element("pre", { class: "board-text" });
    this.element = element("div", { class: "board-view" }, this.frame, this.text, this.actions);
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
    const last = state.moves[position.ply - 1];
    const squares = last === undefined ? [] : squaresOfAction(this.game, last);
    this.pieces.show(position.cells, this.setup.colors, moves, squares);
    this.drawn = position;
    this.#showText(position);
    this.#drawMarks(position, moves && !prefersRest());
    const legal = this.mayPlay() ? position.legal : [];
    const offered = JSON.stringify([position.ply, position.board, legal]);
    if (offered !== this.offered) this.choice.offer(legal);
    this.offered = offered;
    this.element.classList.toggle("is-active", legal.length > 0);
    this.#showChoice(position, legal);
    this.#hover(null);
  }

  /** Show how the rules draw the position, where they do; a board without a piece is hidden. */
  #showText({ cells, drawn }) {
    this.text.hidden = !drawn;
    this.text.textContent = drawn ?? "";
    this.frame.hidden = Boolean(drawn) && cells.flat().every((cell) => cell === 0);
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
    const isFalling = layout.style === "plate";
    // What falls passes behind the plate.
    const layers = [...below, isFalling ? this.ghost : null, this.pieces.element, ...above];
    const upper = [this.hints, isFalling ? null : this.ghost, this.marks, this.overlay];
    return svg("svg", attributes, layers, upper);
  }

  #onCell(cell) {
    if (this.game.action_kind === "move") this.#choose(cell);
    else this.#play(actionOfCell(this.game, ...cell));
  }

  /** Choose the next square of a move, and play it with its last one; null: begin anew. */
  #choose(cell) {
    const action = cell === null ? this.choice.clear() : this.choice.choose(this.#flat(cell));
    if (typeof action === "number") this.#play(action);
    const { position } = this.state;
    this.#showChoice(position, this.mayPlay() ? position.legal : []);
  }

  #onPress(cell, event) {
    const square = this.#flat(cell);
    const piece = this.state.position.cells[cell[0]][cell[1]];
    if (!piece || !this.choice.starts.has(square)) return;
    this.drag.press(event, this.setup.colors[piece - 1], (isLifted) => {
      if (isLifted && this.choice.path.at(-1) !== square) this.#choose(cell);
      this.pieces.lift(cell, isLifted);
    });
  }

  /** Let a dragged piece go: where it may not go, it returns. */
  #drop(cell) {
    const isPossible = cell !== null && this.choice.next.has(this.#flat(cell));
    this.#choose(isPossible ? cell : null);
  }

  #flat([row, column]) {
    return row * this.game.columns + column;
  }

  /** Return the legal action that choosing a cell would play, null for none. */
  #actionAt(cell) {
    if (this.game.action_kind !== "move") return actionOfCell(this.game, ...cell);
    const path = [...this.choice.path, this.#flat(cell)];
    const found = this.choice.legal.filter(
      (action) => JSON.stringify(this.game.action_squares[action]) === JSON.stringify(path),
    );
    return found.length === 1 ? found[0] : null;
  }

  /** Draw what has been chosen of a move and what may follow. */
  #showChoice(position, legal) {
    this.#drawHints(position, legal);
    this.grid.update(position, (cell) => this.#roleOf(position, legal, cell));
    this.#listActions(legal);
  }

  #roleOf(position, legal, cell) {
    if (this.game.action_kind === "move") {
      const { choice } = this;
      const square = this.#flat(cell);
      const isNext = choice.path.length > 0 && choice.next.has(square);
      const isStart = choice.starts.has(square);
      const startWord = isStart ? "can move" : null;
      const word = choice.path.includes(square) ? "chosen" : startWord;
      return { isLegal: isNext || isStart, isHeld: isStart, word: isNext ? "legal move" : word };
    }
    const action = actionOfCell(this.game, ...cell);
    const isLegal = action !== null && legal.includes(action);
    // In a column, all cells play, and the piece comes to lie in one of them.
    const landing = isLegal ? this.cellOfAction(position, action) : null;
    const isHere = landing !== null && landing[0] === cell[0] && landing[1] === cell[1];
    return { isLegal, word: isHere ? "legal move" : null };
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
    const isWon = position.over && this.game.has_lines && position.marked.length > 1;
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

  /** Mark the legal squares, or those to which a chosen piece may go. */
  #drawHints(position, legal) {
    const { choice, game } = this;
    const { columns } = game;
    const cellOf = (square) => [Math.floor(square / columns), square % columns];
    const isHelpful = game.action_kind === "square" && this.layout.style !== "lines";
    const squares = isHelpful ? legal.map((action) => this.cellOfAction(position, action)) : [];
    const targets = choice.path.length ? [...choice.next].map(cellOf) : [];
    const dots = [...squares.filter(Boolean), ...targets].map((cell) => {
      const { x, y } = this.cellBox(...cell);
      const isTaken = position.cells[cell[0]][cell[1]] > 0;
      const shape = isTaken ? { class: "hint-ring", r: 40 } : { class: "hint", r: 12 };
      return svg("circle", { ...shape, cx: x + CELL / 2, cy: y + CELL / 2 });
    });
    const chosen = choice.path.map((square) => {
      const { x, y, size } = this.cellBox(...cellOf(square));
      const length = size - 8;
      return svg("rect", { class: "chosen", x: x + 4, y: y + 4, width: length, height: length });
    });
    this.hints.replaceChildren(...chosen, ...dots);
  }

  /** Offer as buttons the moves without a place on the board, and those that share squares. */
  #listActions(legal) {
    const placeless = legal.filter((action) => !this.cellOfAction(this.state.position, action));
    const { path, meant } = this.choice;
    const listed = [...placeless, ...(path.length ? meant : [])];
    const key = JSON.stringify(listed);
    if (key === this.listed) return; // a button keeps the focus
    this.listed = key;
    const buttons = listed.map((action) => {
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

/** Return a word with a capital; other texts, such as a2a3, stay as they are typed. */
function capital(text) {
  if (!/^[a-z]+$/.test(text)) return text;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
