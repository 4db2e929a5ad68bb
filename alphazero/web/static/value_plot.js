// The value over a game: a line for side 0 over the plies, with the mistakes marked.
//
// In: the "ply" messages of `api/review`. A click, or the arrow keys, shows a ply. What a mistake
// lost is said by its colour and by the signs of chess: ?! ? ??. Exact values are squares.

import { element, svg } from "./dom.js";
import { valueText } from "./number_text.js";

const HEIGHT = 184;
const MARGIN = { top: 24, right: 12, bottom: 40, left: 34 };
/** How much a move loses at least, in results, to be called so. */
const MISTAKES = [
  { least: 0.8, sign: "??", name: "blunder" },
  { least: 0.4, sign: "?", name: "mistake" },
  { least: 0.15, sign: "?!", name: "inaccuracy" },
];

/** Return {sign, name} of what a move lost, null if it is not worth a word. */
export function mistakeOf(loss) {
  return MISTAKES.find(({ least }) => (loss ?? 0) >= least) ?? null;
}

export class ValuePlot {
  /** @param onShow is called with the ply to show */
  constructor({ onShow }) {
    this.onShow = onShow;
    this.given = null;
    this.svg = svg("svg", {
      class: "value-plot",
      role: "slider",
      tabindex: 0,
      height: HEIGHT,
      "aria-label": "Value over the game",
      "aria-valuemin": 0,
      onclick: (event) => this.#onClick(event),
      onkeydown: (event) => this.#onKey(event),
    });
    this.element = element("div", { class: "value-plot-box" }, this.svg);
    this.observer = new ResizeObserver(() => this.#draw());
    this.observer.observe(this.svg);
  }

  close() {
    this.observer.disconnect();
  }

  /**
   * @param given {numPlies, plies, ply, texts, sides}: number of moves; Map from ply to its
   *   message; the ply shown; texts of the moves; names of the sides
   */
  update(given) {
    this.given = given;
    this.svg.setAttribute("aria-valuemax", given.numPlies);
    this.svg.setAttribute("aria-valuenow", given.ply);
    this.svg.setAttribute("aria-valuetext", this.#describe(given));
    this.#draw();
  }

  #describe({ plies, ply, texts, sides }) {
    const name = ply ? `After move ${ply}, ${texts[ply - 1]}` : "Start";
    const found = plies.get(ply);
    if (!found || found.value === null) return name;
    const value = `${valueText(found.value)} for ${sides[0]}${found.exact ? ", exact" : ""}`;
    const mistake = mistakeOf(found.loss);
    return `${name}: ${value}${mistake ? `; the move played here is a ${mistake.name}` : ""}`;
  }

  #draw() {
    const width = Math.round(this.svg.getBoundingClientRect().width);
    if (!width || !this.given) return;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const [left, right] = [MARGIN.left, width - MARGIN.right];
    const [top, bottom] = [MARGIN.top, HEIGHT - MARGIN.bottom];
    this.x = (ply) => left + (ply / Math.max(this.given.numPlies, 1)) * (right - left);
    this.y = (value) => (top + bottom) / 2 - (value * (bottom - top)) / 2;
    const frame = this.#frame(left, right, top, bottom);
    this.svg.replaceChildren(...frame, ...this.#line(), ...this.#marks());
  }

  #frame(left, right, top, bottom) {
    const acrossAt = (y, name) => svg("line", { class: name, x1: left, x2: right, y1: y, y2: y });
    const ticks = [1, 0, -1].flatMap((value) => {
      const y = this.y(value);
      const text = value ? valueText(value).slice(0, 2) : "0";
      return [
        acrossAt(y, value ? "chart-grid" : "chart-axis"),
        svg("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, text),
      ];
    });
    const every = Math.max(Math.ceil(this.given.numPlies / ((right - left) / 36)), 1);
    const plies = Array.from({ length: this.given.numPlies + 1 }, (_, ply) => ply);
    const along = plies
      .filter((ply) => ply % every === 0)
      .map((ply) => svg("text", { x: this.x(ply), y: bottom + 34, "text-anchor": "middle" }, ply));
    const x = this.x(this.given.ply);
    const now = svg("line", { class: "plot-now", x1: x, x2: x, y1: top, y2: bottom });
    return [...ticks, ...along, now];
  }

  /** Return the line: an area for who is ahead, one piece for each move, coloured by its loss. */
  #line() {
    const known = [...this.given.plies.values()]
      .filter(({ value }) => value !== null)
      .sort((a, b) => a.ply - b.ply);
    if (!known.length) return [];
    const place = ({ ply, value }) => `${this.x(ply).toFixed(1)},${this.y(value).toFixed(1)}`;
    const [first, last] = [known[0], known[known.length - 1]].map(({ ply }) => this.x(ply));
    const zero = this.y(0);
    const points = [`${first},${zero}`, ...known.map(place), `${last},${zero}`];
    const pieces = known.slice(1).map((to, k) => {
      const from = known[k];
      const name = to.ply === from.ply + 1 ? mistakeOf(from.loss)?.name : null;
      const start = { x1: this.x(from.ply), y1: this.y(from.value) };
      const end = { x2: this.x(to.ply), y2: this.y(to.value) };
      const className = name ? `plot-piece is-${name}` : "plot-piece";
      return svg("line", { ...start, ...end, class: className });
    });
    return [svg("polygon", { class: "plot-area", points: points.join(" ") }), ...pieces];
  }

  #marks() {
    return [...this.given.plies.values()]
      .filter(({ value }) => value !== null)
      .flatMap((found) => {
        const [x, y] = [this.x(found.ply), this.y(found.value)];
        const mistake = mistakeOf(found.loss);
        const isNow = found.ply === this.given.ply;
        const r = mistake || isNow ? 4.5 : 2.5;
        const name = `plot-point${mistake ? ` is-${mistake.name}` : ""}${isNow ? " is-now" : ""}`;
        const shape = found.exact
          ? svg("rect", { class: name, x: x - r, y: y - r, width: 2 * r, height: 2 * r })
          : svg("circle", { class: name, cx: x, cy: y, r });
        if (!mistake) return [shape];
        const outside = found.value >= 0 ? y - 9 : y + 18; // the line goes the other way
        const sign = { class: `plot-sign is-${mistake.name}`, "text-anchor": "middle" };
        return [shape, svg("text", { ...sign, x, y: outside }, mistake.sign)];
      });
  }

  #onClick(event) {
    if (!this.given || !this.x) return;
    const { left } = this.svg.getBoundingClientRect();
    const perPly = this.x(1) - this.x(0);
    const ply = Math.round((event.clientX - left - this.x(0)) / perPly);
    this.onShow(Math.min(Math.max(ply, 0), this.given.numPlies));
  }

  #onKey(event) {
    if (!this.given) return;
    const { ply, numPlies } = this.given;
    const targets = {
      ArrowLeft: ply - 1,
      ArrowDown: ply - 1,
      ArrowRight: ply + 1,
      ArrowUp: ply + 1,
      PageDown: ply - 10,
      PageUp: ply + 10,
      Home: 0,
      End: numPlies,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    this.onShow(Math.min(Math.max(targets[event.key], 0), numPlies));
  }
}
