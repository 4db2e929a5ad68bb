// The squares of a board for mouse, keyboard and screen reader: a grid that lies over the drawing.
//
// It is one stop of the Tab key. Arrow keys move within it, Enter and Space play.

import { actionOfCell, cellOfAction } from "./board_layout.js";
import { element } from "./dom.js";

const STEPS = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};

export class BoardGrid {
  /**
   * @param label of the grid
   * @param onAction called with the action of a cell that was chosen
   * @param onHover called with the action under the pointer or the focus, null for none
   */
  constructor(game, setup, layout, { label, onAction, onHover }) {
    Object.assign(this, { game, setup, layout, onAction, onHover });
    this.columns = layout.drawnColumns();
    this.cells = [...Array(game.rows).keys()].map((row) =>
      this.columns.map((column) => this.#cell(row, column)),
    );
    const rows = this.cells.map((cells) =>
      element("div", { role: "row", class: "grid-row" }, cells),
    );
    const attributes = { role: "grid", class: "board-grid", "aria-label": label };
    this.element = element("div", attributes, rows);
    Object.entries(layout.percentages()).forEach(([name, value]) =>
      this.element.style.setProperty(name, value),
    );
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.element.addEventListener("pointerleave", () => onHover(null));
    this.element.addEventListener("focusout", () => onHover(null));
    const isFalling = game.action_kind === "column";
    this.#setStop(
      isFalling ? game.rows - 1 : Math.floor(game.rows / 2),
      Math.floor(game.columns / 2),
    );
  }

  /**
   * Label the cells.
   * @param legal the actions that may be played now
   */
  update(position, legal) {
    this.legal = new Set(legal);
    this.cells.forEach((cells, row) =>
      cells.forEach((cell, drawn) => {
        const column = this.columns[drawn];
        const action = actionOfCell(this.game, row, column);
        const isLegal = action !== null && this.legal.has(action);
        cell.classList.toggle("is-legal", isLegal);
        // In a column, all cells play, and the piece comes to lie in one of them.
        const landing = isLegal ? cellOfAction(this.game, position, action) : null;
        const isHere = landing !== null && landing[0] === row && landing[1] === column;
        cell.setAttribute("aria-label", this.#label(position, row, column, isHere));
      }),
    );
  }

  #cell(row, column) {
    const action = actionOfCell(this.game, row, column);
    const onclick = () => {
      this.#setStop(row, this.columns.indexOf(column));
      if (action !== null) this.onAction(action);
    };
    const onpointerenter = (event) => {
      if (event.pointerType !== "touch") this.onHover(action);
    };
    const onfocus = (event) => this.onHover(event.target.matches(":focus-visible") ? action : null);
    const attributes = { role: "gridcell", class: "grid-cell", tabindex: "-1" };
    return element("div", { ...attributes, onclick, onpointerenter, onfocus });
  }

  #onKey(event) {
    const [row, column] = this.stop;
    if (event.key === "Enter" || event.key === " ") {
      this.cells[row][column].click();
    } else if (event.key === "Home" || event.key === "End") {
      this.#focus(row, event.key === "Home" ? 0 : this.columns.length - 1);
    } else if (STEPS[event.key] && !event.altKey && !event.ctrlKey && !event.metaKey) {
      const [down, right] = STEPS[event.key];
      this.#focus(row + down, column + right);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #focus(row, column) {
    const inside = (value, length) => Math.min(Math.max(value, 0), length - 1);
    this.#setStop(inside(row, this.cells.length), inside(column, this.columns.length));
    this.cells[this.stop[0]][this.stop[1]].focus();
  }

  #setStop(row, column) {
    if (this.stop) this.cells[this.stop[0]][this.stop[1]].tabIndex = -1;
    this.stop = [row, column];
    this.cells[row][column].tabIndex = 0;
  }

  #label(position, row, column, isLegal) {
    const { game, setup } = this;
    const piece = position.cells[row][column];
    const place =
      game.action_kind === "square"
        ? setup.action_texts[row * game.columns + column]
        : `column ${setup.action_texts[column] ?? column + 1}, row ${game.rows - row}`;
    const isMarked = position.marked.some(([r, c]) => r === row && c === column);
    const content = piece ? setup.sides[piece - 1] : "empty";
    const lastMove = isMarked ? (position.over ? ", marked" : ", last move") : "";
    return `${place}: ${content}${lastMove}${isLegal ? ", legal move" : ""}`;
  }
}
