// A chart of lines in SVG: axes, ticks, a legend that also reads out the numbers under the pointer.
//
// In: one entry of `charts` in the answer of `api/run`. Lines differ in colour and in their dashes.
// The plot is a slider for the keyboard: its arrow keys step from point to point.

import { linearScale } from "./chart_scale.js";
import { element, svg } from "./dom.js";
import { shortText, UNKNOWN } from "./number_text.js";

const HEIGHT = 220;
const MARGIN = { top: 20, right: 12, bottom: 38, left: 52 };
const NUM_COLORS = 8;

/** Return a <figure>; call its `close()` when it goes. */
export function lineChart(chart) {
  const drawing = new Drawing(chart);
  const figure = element(
    "figure",
    { class: "chart" },
    element("figcaption", {}, chart.title),
    drawing.legend,
    drawing.svg,
  );
  return { element: figure, close: () => drawing.close() };
}

class Drawing {
  constructor(chart) {
    this.chart = chart;
    this.curves = chart.curves.map(({ name, points }) => ({ name, points: shown(points) }));
    this.xs = [...new Set(this.curves.flatMap(({ points }) => points.map(([x]) => x)))];
    this.xs.sort((a, b) => a - b);
    this.index = null; // of the x that is read out
    this.svg = svg("svg", {
      class: "line-chart",
      role: "slider",
      tabindex: 0,
      "aria-label": `${chart.title}: ${chart.y_label} by ${chart.x_label}`,
      "aria-valuemin": 0,
      "aria-valuemax": Math.max(this.xs.length - 1, 0),
      height: HEIGHT,
      onkeydown: (event) => this.#onKey(event),
      onpointermove: (event) => this.x && this.#read(this.#nearest(event)),
      onpointerleave: () => this.#read(null),
      onblur: () => this.#read(null),
    });
    this.values = this.curves.map(() => element("span", { class: "legend-value" }));
    this.legend = this.#makeLegend();
    this.observer = new ResizeObserver(() => this.#draw());
    this.observer.observe(this.svg);
    this.#read(null);
  }

  close() {
    this.observer.disconnect();
  }

  #makeLegend() {
    const entries = this.curves.map(({ name }, k) => {
      const sample = svg("line", { x1: 0, y1: 5, x2: 24, y2: 5, class: curveClass(k) });
      const key = svg("svg", { width: 24, height: 10, "aria-hidden": "true" }, sample);
      return element("li", {}, key, name, this.values[k]);
    });
    return element("ul", { class: "chart-legend" }, ...entries);
  }

  #draw() {
    const width = Math.round(this.svg.getBoundingClientRect().width);
    if (!width || width === this.width || !this.xs.length) return;
    this.width = width;
    this.#makeScales();
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.readOut = svg("g", { class: "chart-read-out" });
    const lines = this.curves.map(({ points }, k) =>
      svg("polyline", { class: curveClass(k), points: this.#path(points) }),
    );
    const alone = this.curves.flatMap(({ points }, k) =>
      points.length === 1 ? [this.#dot(points[0], k)] : [],
    );
    this.svg.replaceChildren(...this.#axes(), ...lines, ...alone, this.readOut);
    this.#read(this.index);
  }

  #makeScales() {
    const ys = this.curves.flatMap(({ points }) => points.map(([, y]) => y));
    const bottom = HEIGHT - MARGIN.bottom;
    const { from_zero: fromZero } = this.chart;
    const high = Math.max(...ys);
    const low = fromZero ? Math.min(0, ...ys) : Math.min(...ys);
    const room = (high - low) * 0.05;
    this.y = linearScale(fromZero ? low : low - room, high + room, bottom, MARGIN.top, 5);
    const right = this.width - MARGIN.right;
    const maxTicks = Math.max(Math.floor(this.width / 80), 2);
    this.x = linearScale(0, this.xs[this.xs.length - 1], MARGIN.left, right, maxTicks);
  }

  #axes() {
    const [right, bottom] = [this.width - MARGIN.right, HEIGHT - MARGIN.bottom];
    const across = this.y.ticks.flatMap((tick) => {
      const y = this.y.place(tick);
      return [
        svg("line", { class: "chart-grid", x1: MARGIN.left, y1: y, x2: right, y2: y }),
        svg("text", { x: MARGIN.left - 6, y: y + 4, "text-anchor": "end" }, shortText(tick)),
      ];
    });
    const along = this.x.ticks.map((tick) => {
      const x = this.x.place(tick);
      return svg("text", { x, y: bottom + 16, "text-anchor": "middle" }, shortText(tick));
    });
    const middle = (MARGIN.left + right) / 2;
    const height = (MARGIN.top + bottom) / 2;
    const turned = { transform: `rotate(-90 12 ${height})`, "text-anchor": "middle" };
    return [
      ...across,
      ...along,
      svg("line", { class: "chart-axis", x1: MARGIN.left, y1: bottom, x2: right, y2: bottom }),
      svg("text", { x: middle, y: HEIGHT - 4, "text-anchor": "middle" }, this.chart.x_label),
      svg("text", { x: 12, y: height, ...turned }, this.chart.y_label),
    ];
  }

  #path(points) {
    const place = ([x, y]) => `${this.x.place(x).toFixed(1)},${this.y.place(y).toFixed(1)}`;
    return points.map(place).join(" ");
  }

  #dot([x, y], k) {
    const where = { cx: this.x.place(x), cy: this.y.place(y), r: 3.5 };
    return svg("circle", { ...where, class: `chart-dot ${colorClass(k)}` });
  }

  #nearest(event) {
    const left = this.svg.getBoundingClientRect().left;
    return nearestIndex(this.xs, (x) => Math.abs(this.x.place(x) - (event.clientX - left)));
  }

  #onKey(event) {
    const last = this.xs.length - 1;
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 };
    const ends = { Home: 0, End: last };
    const from = this.index ?? (event.key === "ArrowLeft" ? last + 1 : -1);
    const to = event.key in ends ? ends[event.key] : from + steps[event.key];
    if (Number.isNaN(to)) return;
    event.preventDefault();
    this.#read(Math.min(Math.max(to, 0), last));
  }

  /** Write the numbers at one x into the legend, null: none. */
  #read(index) {
    this.index = index;
    const x = index === null ? null : this.xs[index];
    const points = this.curves.map((curve) => (x === null ? null : pointAt(curve.points, x)));
    points.forEach((point, k) => {
      this.values[k].textContent = point ? shortText(point[1]) : "";
    });
    const where = x === null ? "" : `${this.chart.x_label} ${shortText(x)}`;
    const value = (k) => this.values[k].textContent || UNKNOWN;
    const said = this.curves.map(({ name }, k) => `${name} ${value(k)}`);
    this.svg.setAttribute("aria-valuenow", index ?? 0);
    const text = x === null ? "press an arrow key to read it" : `${where}: ${said.join(", ")}`;
    this.svg.setAttribute("aria-valuetext", text);
    if (this.readOut) this.#drawReadOut(x, points);
  }

  #drawReadOut(x, points) {
    const dots = points.flatMap((point, k) => (point ? [this.#dot(point, k)] : []));
    if (x === null) {
      this.readOut.replaceChildren();
      return;
    }
    const at = this.x.place(x);
    const line = svg("line", { x1: at, x2: at, y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom });
    const text = svg("text", { x: at, y: MARGIN.top - 6, "text-anchor": "middle" }, shortText(x));
    this.readOut.replaceChildren(line, text, ...dots);
  }
}

/** Return the point of a curve at x, or its nearest one if x is within the curve. */
function pointAt(points, x) {
  if (!points.length || x < points[0][0] || x > points[points.length - 1][0]) return null;
  return points[nearestIndex(points, (point) => Math.abs(point[0] - x))];
}

function nearestIndex(list, distance) {
  let best = 0;
  list.forEach((one, k) => {
    if (distance(one) < distance(list[best])) best = k;
  });
  return list.length ? best : null;
}

/** Leave out what has no place on the axes. */
function shown(points) {
  return points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
}

function colorClass(k) {
  return `curve-${k % NUM_COLORS}`;
}

function curveClass(k) {
  return `curve ${colorClass(k)}`;
}
