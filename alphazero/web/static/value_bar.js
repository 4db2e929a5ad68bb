// The bar beside the board: how the expected result is shared between the sides.

import { element } from "./dom.js";

export class ValueBar {
  constructor() {
    this.share = element("div", { class: "value-bar-share" });
    this.element = element("div", { class: "value-bar", "aria-hidden": "true" }, this.share);
  }

  /** The part from below belongs to side 0: all of it if side 0 wins, half of it in a draw. */
  update({ over, winner, to_move: toMove }, analysis, exact, colors) {
    const view = toMove === 0 ? 1 : -1;
    const result = (exact?.known ? exact.value : null) ?? analysis?.proven ?? analysis?.value;
    const value = over ? ([1, -1][winner] ?? 0) : view * (result ?? 0);
    this.share.style.setProperty("block-size", `${50 + 50 * value}%`);
    this.element.className = `value-bar ground-${colors[1]}`;
    this.share.className = `value-bar-share ground-${colors[0]}`;
  }
}
