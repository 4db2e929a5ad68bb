// The moves of a position as a table: visits, share, prior, value, exact result.
//
// Sorted by visits; rows change places only if one is clearly ahead, and not while the pointer or
// the focus is on the table. Hovering or focusing a row tells the page, which shows its line.

import { element } from "./dom.js";
import { countText, marginText, percentText, resultText } from "./number_text.js";
import { UNKNOWN, valueText } from "./number_text.js";
import { stableOrder } from "./stable_order.js";

const COLUMNS = [
  ["move", "Move", "The moves that are legal here; choose one to play it"],
  ["share", "Share", "Of the visits of the search"],
  ["visits", "Visits", "Simulations that went through the move"],
  ["prior", "Prior", "What the network gives the move before any search"],
  ["value", "Value", "Expected result for the player to move, from \u22121 (loss) to +1 (win)"],
  ["exact", "Exact", "The result with perfect play, where a solver or the search knows it"],
];

export class AnalysisTable {
  /**
   * @param onHover is called with the action under the pointer or the focus, null: none
   * @param onPlay is called with the action to play
   */
  constructor({ onHover, onPlay }) {
    Object.assign(this, { onHover, onPlay, order: [], rows: new Map(), held: false });
    this.body = element("tbody", {});
    const titles = COLUMNS.map(([name, text, title]) =>
      element("th", { scope: "col", class: `col-${name}`, title }, text),
    );
    const caption = element("caption", { class: "visually-hidden" }, "Moves, most visited first");
    const head = element("thead", {}, element("tr", {}, ...titles));
    const table = element("table", { class: "analysis-table" }, caption, head, this.body);
    this.element = element("div", { class: "analysis-table-box" }, table);
    const hold = (held) => () => {
      this.held = held;
      if (!held) this.#sort();
    };
    this.element.addEventListener("pointerenter", hold(true));
    this.element.addEventListener("pointerleave", hold(false));
    this.element.addEventListener("focusout", () => requestAnimationFrame(() => this.#sort()));
  }

  /** Show another position: its legal moves without numbers. `textOf` maps actions to texts. */
  reset(legal, textOf) {
    this.analysis = null;
    this.order = [...legal];
    this.rows = new Map(legal.map((action) => [action, this.#makeRow(action, textOf(action))]));
    this.body.replaceChildren(...legal.map((action) => this.rows.get(action).element));
    this.onHover(null);
  }

  /** Show the numbers of an "analysis" message. */
  update(analysis) {
    const { actions, best } = analysis;
    this.analysis = analysis;
    const total = actions.reduce((sum, { visits }) => sum + visits, 0);
    for (const one of actions) {
      this.rows.get(one.action)?.update(one, total, one.action === best);
    }
    this.#sort();
  }

  /** Show the answer of `api/exact`. */
  updateExact(exact) {
    this.rows.forEach((row, action) => row.setExact(exact, action));
  }

  /** Mark the row of an action that is under the pointer on the board, null: none. */
  highlight(action) {
    this.rows.forEach((row, one) => row.element.classList.toggle("is-hovered", one === action));
  }

  #sort() {
    const isHeld = this.held || this.element.contains(document.activeElement);
    if (isHeld || !this.analysis) return;
    const { actions, final } = this.analysis;
    const visits = new Map(actions.map((one) => [one.action, one.visits]));
    const order = stableOrder(this.order, visits, final);
    if (order.every((action, k) => action === this.order[k])) return;
    this.order = order;
    this.body.append(...order.map((action) => this.rows.get(action).element));
  }

  #makeRow(action, text) {
    return new TableRow(text, {
      onHover: (isOn) => this.onHover(isOn ? action : null),
      onPlay: () => this.onPlay(action),
    });
  }
}

class TableRow {
  constructor(text, { onHover, onPlay }) {
    const attributes = { type: "button", class: "move-button", onclick: onPlay };
    const button = element("button", attributes, text);
    this.bar = element("span", { class: "share-bar" });
    this.share = element("span", { class: "share-text" });
    this.star = element("span", { class: "best-mark", title: "best move", hidden: "" });
    this.star.append("\u2605", element("span", { class: "visually-hidden" }, "best move"));
    this.cells = Object.fromEntries(
      COLUMNS.map(([name]) => [name, element("td", { class: `col-${name}` })]),
    );
    this.cells.move.append(button, this.star);
    this.cells.share.append(element("span", { class: "share-track" }, this.bar), this.share);
    this.element = element("tr", {}, ...Object.values(this.cells));
    this.element.addEventListener("pointerenter", () => onHover(true));
    this.element.addEventListener("pointerleave", () => onHover(false));
    button.addEventListener("focus", () => onHover(true));
    button.addEventListener("blur", () => onHover(false));
    for (const name of ["visits", "prior", "value", "exact"]) this.#write(name, UNKNOWN);
    this.share.textContent = UNKNOWN;
  }

  update({ visits, prior, value, proven }, total, isBest) {
    const share = total ? visits / total : 0;
    this.bar.style.setProperty("inline-size", `${100 * share}%`);
    this.share.textContent = percentText(share);
    this.#write("visits", countText(visits));
    this.#write("prior", percentText(prior));
    this.#write("value", valueText(value));
    this.element.classList.toggle("is-best", isBest);
    this.star.hidden = !isBest;
    this.proven = proven;
    this.#writeExact();
  }

  setExact(exact, action) {
    this.exact = exact?.known ? { value: exact.values[action], score: exact.scores[action] } : null;
    this.#writeExact();
  }

  /** Prefer the solver's result, which has a score, to what the search has proven. */
  #writeExact() {
    const cell = this.cells.exact;
    const result = this.exact?.value ?? this.proven ?? null;
    cell.dataset.result = result === null ? "" : resultText(result);
    if (result === null) {
      this.#write("exact", UNKNOWN);
    } else if (this.exact) {
      this.#write("exact", `${resultText(result)}${scoreText(this.exact)}`);
    } else {
      this.#write("exact", `${resultText(result)} \u2713`);
    }
  }

  #write(name, text) {
    if (this.cells[name].textContent !== text) this.cells[name].textContent = text;
  }
}

/** Return the margin in discs, or how early a win and how late a loss comes. */
function scoreText({ score, value }) {
  return score === null || value === 0 ? "" : ` ${marginText(score)}`;
}
