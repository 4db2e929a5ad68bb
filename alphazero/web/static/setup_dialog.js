// The dialog that starts a game anywhere: from a list of moves, or from a board as text.

import { element } from "./dom.js";

export class SetupDialog {
  /** @param onStart async: takes the argument of `GameState.load`, may throw a refusal */
  constructor(state, onStart) {
    Object.assign(this, { state, onStart });
    this.setup = element("select", { id: "dialog-setup", onchange: () => this.#showExample() });
    this.moves = field("dialog-moves", 2);
    this.board = field("dialog-board", 8);
    this.toMove = element("select", { id: "dialog-to-move" });
    this.error = element("p", { class: "error-line", role: "alert", id: "dialog-error" });
    this.form = element("form", { method: "dialog", onsubmit: (event) => this.#submit(event) });
    this.element = element(
      "dialog",
      { class: "dialog", "aria-labelledby": "dialog-title" },
      this.form,
    );
  }

  open() {
    const { game, setup, list } = this.state;
    const options = game.setups.map(({ id, label }) => element("option", { value: id }, label));
    this.setup.replaceChildren(...options);
    this.setup.value = setup.id;
    this.moves.value = this.state.board === null ? list : "";
    this.board.value = "";
    this.error.textContent = "";
    this.form.replaceChildren(...this.#parts(game));
    this.#showExample();
    this.element.showModal();
    this.moves.focus();
  }

  #parts(game) {
    const cancel = element(
      "button",
      { type: "button", onclick: () => this.element.close() },
      "Cancel",
    );
    const start = element("button", { type: "submit", class: "primary" }, "Start here");
    const hasSetups = game.setups.length > 1;
    const show = () => this.#fillBoard();
    const shown = element("button", { type: "button", onclick: show }, "Fill in the board shown");
    this.hint = element("p", { class: "hint-text", id: "dialog-hint" });
    this.board.setAttribute("aria-describedby", "dialog-hint");
    return [
      element("h2", { id: "dialog-title" }, `Set up a game of ${game.title}`),
      hasSetups ? labelled("Who begins", this.setup) : null,
      labelled("Moves", this.moves),
      labelled("Board, instead of the start of the game", this.board),
      this.hint,
      element("div", { class: "button-row" }, shown),
      labelled("Side to move there", this.toMove),
      this.error,
      element("div", { class: "button-row" }, start, cancel),
    ].filter(Boolean);
  }

  /** Say how moves and boards of this set-up are written. */
  #showExample() {
    const { game } = this.state;
    const setup = game.setups.find(({ id }) => id === this.setup.value);
    const [empty, first, second] = setup.letters;
    const [legal] = this.state.positions[0].legal;
    const example = setup.action_texts[legal] ?? setup.action_texts[0];
    this.moves.placeholder = `as on the board, for example ${example}`;
    const [one, other] = setup.sides;
    const named = { [first]: one, [second]: other, [empty]: "empty" };
    const letters = Object.entries(named).map(([letter, name]) => `\u201c${letter}\u201d ${name}`);
    this.hint.textContent = `${game.rows} lines of ${game.columns} letters: ${letters.join(", ")}.`;
    const sides = setup.sides.map((side, k) => element("option", { value: k }, side));
    this.toMove.replaceChildren(...sides);
  }

  /** Write the position shown into the field, to be changed. */
  #fillBoard() {
    const { position, setup } = this.state;
    this.setup.value = setup.id;
    this.#showExample();
    this.moves.value = "";
    this.board.value = position.board;
    this.toMove.value = position.to_move;
  }

  async #submit(event) {
    event.preventDefault();
    const board = this.board.value.trim() ? this.board.value : null;
    this.error.textContent = "";
    try {
      await this.onStart({
        game: this.state.game.name,
        setup: this.setup.value,
        board,
        to_move: board === null ? null : Number(this.toMove.value),
        moves: this.moves.value,
      });
      this.element.close();
    } catch (error) {
      this.error.textContent = sentence(error.message);
    }
  }
}

function field(id, rows) {
  return element("textarea", { id, rows, spellcheck: "false", autocapitalize: "off" });
}

function labelled(text, control) {
  return element("div", { class: "field" }, element("label", { for: control.id }, text), control);
}

function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
