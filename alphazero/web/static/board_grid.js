// The squares of a board for mouse, keyboard and screen reader: a grid that lies over the drawing.
//
// It is one stop of the Tab key. Arrow keys move within it, Enter and Space play.

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
   * @param onCell called with the cell, [row, column], that was chosen
   * @param onHover called with the cell under the pointer or the focus, null for none
   * @param onPress called with the cell and the event where a pointer is pressed
   * @param onEscape called when the key is pressed
   */
  constructor(game, setup, layout, { label, onCell, onHover, onPress, onEscape }) {
    Object.assign(this, { game, setup, layout, onCell, onHover, onPress, onEscape });
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
   * @param roleOf maps a cell to {isLegal: whether choosing it does something, isHeld: whether a
   *   piece may be taken up there, word: what is said of it}
   */
  update(position, roleOf) {
    this.cells.forEach((cells, row) =>
      cells.forEach((cell, drawn) => {
        const column = this.columns[drawn];
        const { isLegal, isHeld = false, word } = roleOf([row, column]);
        cell.classList.toggle("is-legal", isLegal);
        cell.classList.toggle("is-held", isHeld);
        cell.setAttribute("aria-label", this.#label(position, row, column, word));
      }),
    );
  }

  /** Return the cell at a place on the screen, null for none. */
  cellAt(x, y) {
    const node = document.elementFromPoint(x, y);
    const row = this.cells.findIndex((cells) => cells.includes(node));
    return row < 0 ? null : [row, this.columns[this.cells[row].indexOf(node)]];
  }

  #cell(row, column) {
    const cell = [row, column];
    const onclick = () => {
      this.#setStop(row, this.columns.indexOf(column));
      this.onCell(cell);
    };
    const onpointerenter = (event) => {
      if (event.pointerType !== "touch") this.onHover(cell);
    };
    const onpointerdown = (event) => {
      if (event.button === 0) this.onPress(cell, event);
    };
    const onfocus = (event) => this.onHover(event.target.matches(":focus-visible") ? cell : null);
    const attributes = { role: "gridcell", class: "grid-cell", tabindex: "-1" };
    return element("div", { ...attributes, onclick, onpointerenter, onpointerdown, onfocus });
  }

  #onKey(event) {
    const [row, column] = this.stop;
    if (event.key === "Enter" || event.key === " ") {
      this.cells[row][column].click();
    } else if (event.key === "Escape") {
      this.onEscape();
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

  #label(position, row, column, word) {
    const piece = position.cells[row][column];
    const { setup } = this;
    const place = this.#place(row, column);
    const isMarked = position.marked.some(([r, c]) => r === row && c === column);
    const content = piece ? setup.sides[piece - 1] : "empty";
    const lastMove = isMarked ? (position.over ? ", marked" : ", last move") : "";
    return `${place}: ${content}${lastMove}${word ? `, ${word}` : ""}`;
  }

  /** Return the name of a cell. */
  #place(row, column) {
    const { game, setup } = this;
    if (game.action_kind === "square") return setup.action_texts[row * game.columns + column];
    if (setup.row_names.length) return setup.column_names[column] + setup.row_names[row];
    const name = game.action_kind === "column" ? setup.action_texts[column] : column + 1;
    return `column ${name}, row ${game.rows - row}`;
  }
}
