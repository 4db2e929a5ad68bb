// A chart drawn by uPlot: its lines and bands, its cursor, and the part of x that all charts show.

import type { Signal } from "@preact/signals";
import uPlot from "uplot";
import { shortText } from "../format";
import type { MergedChart } from "./run_rows";

/** What the charts of a page have in common: the part of x that is shown, null for all. */
export type Zoom = Signal<[number, number] | null>;

export interface Drawing {
  update(chart: MergedChart): void;
  /** Answer a key; return whether it meant something. */
  onKey(key: string): boolean;
  leave(): void;
  close(): void;
}

/** Called with the index of x under the cursor (null: none), and the value of each line there. */
export type OnRead = (index: number | null, values: (number | null)[]) => void;

const HEIGHT = 220;
const FONT = "12px system-ui, sans-serif";
const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3], [5, 5], [12, 4], [3, 5], [1, 3]];
const NUM_COLORS = 8;
const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 };

export function dashOf(curve: number) {
  return DASHES[curve % DASHES.length];
}

/** Return the number of the colour of a line: that of its run, or of its curve for a run alone. */
export function colorOf(line: { run: number; curve: number }, isAlone: boolean) {
  return (isAlone ? line.curve : line.run) % NUM_COLORS;
}

/** Draw a chart into an element; later charts have the same lines. */
export function drawChart(
  box: HTMLElement,
  first: MergedChart,
  isAlone: boolean,
  zoom: Zoom,
  onRead: OnRead,
): Drawing {
  let chart = first;
  let at: number | null = null; // the x that the keyboard has come to
  let colors = readColors(box);
  // Bands lie under all lines: each is the space between two series without a stroke.
  const banded = first.lines.filter(({ low }) => low);
  const offset = 1 + 2 * banded.length;
  const color = (k: number) => colors.lines[colorOf(first.lines[k], isAlone)];
  const edge = { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true };
  const axis = { stroke: () => colors.text, font: FONT, labelFont: FONT, labelSize: 20 };
  const rules = { stroke: () => colors.rule, width: 1 };
  const values = (_: uPlot, splits: number[], _axis: number, _space: number, step: number) =>
    splits.map((tick) => tickText(tick, step));

  const plot = new uPlot(
    {
      width: Math.max(box.clientWidth, 100),
      height: HEIGHT,
      legend: { show: false },
      scales: {
        x: { time: false, range: (_, low, high) => zoom.peek() ?? roomy(low, high) },
        y: { range: (_, low, high) => upright(low, high, first.fromZero) },
      },
      axes: [
        {
          ...axis,
          label: () => chart.xLabel,
          size: 34,
          space: 70,
          values,
          grid: { show: false },
          ticks: rules,
        },
        { ...axis, label: first.yLabel, size: 50, space: 34, values, grid: rules, ticks: rules },
      ],
      series: [
        {},
        ...banded.flatMap(() => [edge, edge]),
        ...first.lines.map((line, k) => ({
          stroke: () => color(k),
          dash: dashOf(line.curve),
          width: 1.75,
          spanGaps: true,
          points: { show: isSparse, size: 5, fill: () => color(k) },
        })),
      ],
      bands: banded.map((line, k) => ({
        series: [2 * k + 1, 2 * k + 2] as [number, number],
        fill: () => faint(colors.lines[colorOf(line, isAlone)]),
      })),
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false, dist: 5 },
        points: {
          size: (_, k) => (k < offset ? 0 : 8),
          fill: (_, k) => (k < offset ? "transparent" : color(k - offset)),
          stroke: () => colors.surface,
        },
        dataIdx: (self, k, index) => (k < offset ? index : nearest(self.data[k], index)),
        bind: { dblclick: () => () => ((zoom.value = null), null) },
        sync: { key: "runs", setSeries: false, filters: { pub: (type) => type === "mousemove" } },
      },
      hooks: { setCursor: [read], setSelect: [select] },
    },
    columns(first),
    box,
  );

  function read() {
    const { idx, idxs = [] } = plot.cursor;
    const values = chart.lines.map(({ y }, k) => {
      const index = idx === null ? chart.xs.length - 1 : idxs[offset + k];
      return (idx === null ? y.findLast(isNumber) : y[index ?? -1]) ?? null;
    });
    onRead(idx ?? null, values);
  }

  function select() {
    const { left, width } = plot.select;
    if (width < 5) return;
    zoom.value = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  function showZoom() {
    // The range of the scale says what is shown, whatever is asked for here.
    plot.setScale("x", { min: chart.xs[0], max: chart.xs[chart.xs.length - 1] });
  }

  function moveTo(x: number) {
    at = x;
    const shown = zoom.peek();
    if (shown && (x < shown[0] || x > shown[1])) {
      const half = (shown[1] - shown[0]) / 2;
      zoom.value = [x - half, x + half];
    }
    // The third argument, which the types leave out, moves the cursors of the other charts too.
    const setCursor: (to: { left: number; top: number }, fire: boolean, publish: boolean) => void =
      plot.setCursor;
    setCursor({ left: plot.valToPos(x, "x"), top: 1 }, true, true);
  }

  function zoomBy(factor: number) {
    const { min = 0, max = 1 } = plot.scales.x;
    const middle = at ?? (min + max) / 2;
    const half = ((max - min) / 2) * factor;
    const isAll = middle - half <= chart.xs[0] && middle + half >= chart.xs[chart.xs.length - 1];
    zoom.value = isAll ? null : [middle - half, middle + half];
    if (at !== null) moveTo(at);
  }

  function onKey(key: string) {
    if (key === "+" || key === "=") zoomBy(0.5);
    else if (key === "-") zoomBy(2);
    else {
      const stops = stopsOf(chart);
      const index = at === null ? -1 : stops.findLastIndex((k) => chart.xs[k] <= (at ?? 0));
      const from = at === null && key === "ArrowLeft" ? stops.length : index;
      const to = { Home: 0, End: stops.length - 1 }[key] ?? from + STEPS[key];
      if (Number.isNaN(to)) return false;
      moveTo(chart.xs[stops[Math.min(Math.max(to, 0), stops.length - 1)]]);
    }
    return true;
  }

  const unzoom = zoom.subscribe(showZoom);
  const unwatch = watchTheme(() => {
    colors = readColors(box);
    plot.redraw(false);
  });
  const observer = new ResizeObserver(() => {
    const width = box.clientWidth;
    if (width && width !== plot.width) plot.setSize({ width, height: HEIGHT });
  });
  observer.observe(box);
  read();
  return {
    onKey,
    update(next) {
      chart = next;
      plot.setData(columns(next));
      read();
    },
    leave() {
      at = null;
      plot.setCursor({ left: -10, top: -10 });
    },
    close() {
      unzoom();
      unwatch();
      observer.disconnect();
      plot.destroy();
    },
  };
}

/** Return the indices of x at which a chart has a value. */
function stopsOf({ xs, lines }: MergedChart): number[] {
  const stops: number[] = [];
  for (let k = 0; k < xs.length; k += 1) {
    if (lines.some(({ y }) => y[k] !== undefined)) stops.push(k);
  }
  return stops;
}

function columns({ xs, lines }: MergedChart): uPlot.AlignedData {
  const bands = lines.flatMap(({ low, high }) => (low && high ? [high, low] : []));
  return [xs, ...bands, ...lines.map(({ y }) => y)] as uPlot.AlignedData;
}

/** Return the index nearest to one that has a value, null where a line has not begun or is over. */
function nearest(column: ArrayLike<number | null | undefined>, index: number): number | null {
  let [left, right] = [index, index];
  while (left >= 0 && !isNumber(column[left])) left -= 1;
  while (right < column.length && !isNumber(column[right])) right += 1;
  if (left < 0 || right >= column.length) return null;
  return index - left <= right - index ? left : right;
}

function isNumber(value: number | null | undefined): value is number {
  return value !== null && value !== undefined;
}

/** Return whether a line has so few points in view that each is drawn. */
function isSparse(plot: uPlot, series: number, first: number, last: number): boolean {
  let room = plot.width / 12;
  for (let k = first; k <= last && room >= 0; k += 1) if (isNumber(plot.data[series][k])) room -= 1;
  return room >= 0;
}

/** Return the ends of an axis; one point alone lies in its middle. */
function roomy(low: number, high: number): [number, number] {
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

function upright(low: number | null, high: number | null, fromZero: boolean): [number, number] {
  if (low === null || high === null) return [0, 1];
  const bottom = fromZero ? Math.min(0, low) : low;
  if (bottom === high) return [bottom - 0.5, high + 0.5];
  const room = (high - bottom) * 0.05;
  return [bottom < 0 || !fromZero ? bottom - room : bottom, high + room];
}

/** Return a tick with as many digits as tell it from the next one. */
function tickText(tick: number, step: number): string {
  const size = Math.abs(tick);
  if ((size >= 1e4 && step >= 1000) || step < 1e-4) return shortText(tick);
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  return tick.toLocaleString("en", { maximumFractionDigits: digits }).replace("-", "\u2212");
}

// --- colours --------------------------------------------------------------------------------------

/** Return the colours of the theme; a canvas knows no CSS variables. */
function readColors(box: HTMLElement) {
  const probe = box.appendChild(document.createElement("i"));
  const read = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const lines = Array.from({ length: NUM_COLORS }, (_, k) => read(`line-${k}`));
  const colors = { lines, text: read("muted"), rule: read("border"), surface: read("surface") };
  probe.remove();
  return colors;
}

function faint(color: string) {
  return color.replace("rgb(", "rgba(").replace(")", ", 0.16)");
}

/** Call back whenever the colours of the page change; return what ends that. */
function watchTheme(changed: () => void) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", changed);
  };
}
