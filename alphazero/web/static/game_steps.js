// Steps through a game: to its ends, back and forth, or to any move of the list.

import { element, svg } from "./dom.js";

/** Outlines on a square of 16 units. */
const ICONS = {
  start: "M3 3v10M13 3L6 8l7 5z",
  back: "M11 3L4 8l7 5z",
  forth: "M5 3l7 5-7 5z",
  end: "M3 3l7 5-7 5zM13 3v10",
};

export class GameSteps {
  constructor(state) {
    this.state = state;
    const step = (name, icon, ply) => {
      const attributes = { type: "button", class: "step", "aria-label": name, title: name };
      const onclick = () => state.show(Math.min(Math.max(ply(), 0), state.moves.length));
      return element("button", { ...attributes, onclick }, picture(icon));
    };
    this.back = [
      step("To the start", "start", () => 0),
      step("One move back", "back", () => state.ply - 1),
    ];
    this.forth = [
      step("One move on", "forth", () => state.ply + 1),
      step("To the end", "end", () => state.moves.length),
    ];
    this.place = element("span", { class: "step-place" });
    this.list = element("ol", { class: "move-list", "aria-label": "Moves" });
    const buttons = [...this.back, this.place, ...this.forth];
    const row = element("div", { class: "step-row" }, ...buttons);
    this.element = element("div", { class: "game-steps" }, row, this.list);
  }

  update() {
    const { ply, moves, texts } = this.state;
    this.back.forEach((button) => setDisabled(button, ply === 0));
    this.forth.forEach((button) => setDisabled(button, ply === moves.length));
    this.place.textContent = `${ply} / ${moves.length}`;
    const key = texts.join(" ");
    if (key !== this.listed) {
      this.listed = key;
      this.list.replaceChildren(...texts.map((text, k) => this.#entry(text, k + 1)));
    }
    [...this.list.children].forEach((item, k) => {
      const button = item.firstElementChild;
      if (k + 1 === ply) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    this.#scroll(ply);
  }

  /** Bring the move of the position shown into sight; the page itself stays where it is. */
  #scroll(ply) {
    const { list } = this;
    const item = list.children[ply - 1];
    if (!item) {
      list.scrollTop = 0;
      return;
    }
    const [inner, outer] = [item.getBoundingClientRect(), list.getBoundingClientRect()];
    if (inner.top >= outer.top && inner.bottom <= outer.bottom) return;
    list.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
  }

  #entry(text, ply) {
    const label = `Move ${ply}, ${text}`;
    const attributes = { type: "button", class: "move-step", "aria-label": label };
    const onclick = () => this.state.show(ply);
    const number = element("span", { class: "move-number" }, `${ply}.`);
    return element("li", {}, element("button", { ...attributes, onclick }, number, text));
  }
}

function picture(icon) {
  const attributes = { viewBox: "0 0 16 16", class: "step-icon", "aria-hidden": "true" };
  return svg("svg", attributes, svg("path", { d: ICONS[icon] }));
}

/** A disabled button loses the focus: it stays, and does nothing. */
function setDisabled(button, isDisabled) {
  button.setAttribute("aria-disabled", isDisabled);
}
