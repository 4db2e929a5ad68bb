// How uPlot draws a chart: lines over their bands, with the colours of the theme.

import type uPlot from "uplot";
import { shortText } from "../format";
import type { MergedChart } from "./run_rows";

export type Colors = ReturnType<typeof readColors>;

const FONT = "12px system-ui, sans-serif";
const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3], [5, 5], [12, 4], [3, 5], [1, 3]];
const NUM_COLORS = 8;

export function dashOf(curve: number): number[] {
  return DASHES[curve % DASHES.length];
}

/** Return the number of a line's colour: that of its run, or of its curve where a run is alone. */
export function colorOf({ run, curve }: { run: number; curve: number }, isAlone: boolean): number {
  return (isAlone ? curve : run) % NUM_COLORS;
}

/** Return the colours of the theme; a canvas knows no CSS variables. */
export function readColors(box: HTMLElement) {
  const probe = box.appendChild(document.createElement("i"));
  const read = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const lines = Array.from({ length: NUM_COLORS }, (_, k) => read(`line-${k}`));
  const colors = { lines, text: read("muted"), rule: read("border") };
  probe.remove();
  return colors;
}

/** Return the series of a chart: x, then the edges of the bands (under the lines), the lines. */
export function columns({ xs, lines, top }: MergedChart): uPlot.AlignedData {
  const edges = lines.flatMap(({ band }) => band ?? []);
  // A browser draws no dashes on the way to a point that is too far away.
  const near = (y: number | undefined) => y && Math.min(y, 2 * top);
  return [xs, ...edges, ...lines.map(({ y }) => y.map(near))] as uPlot.AlignedData;
}

/** Return the options of a chart, of which lines stay the same; `state`: the colours now. */
export function chartOptions(
  newest: () => MergedChart,
  isAlone: boolean,
  state: { colors: Colors },
): Omit<uPlot.Options, "width" | "height"> {
  const { lines, fromZero } = newest();
  const banded = lines.filter(({ band }) => band);
  const color = (line: (typeof lines)[number]) => state.colors.lines[colorOf(line, isAlone)];
  const rules = { stroke: () => state.colors.rule, width: 1 };
  const axis = {
    stroke: () => state.colors.text,
    font: FONT,
    labelFont: FONT,
    labelSize: 18,
    ticks: rules,
    values: (_: uPlot, ticks: number[]) => ticks.map((tick) => shortText(Number(tick.toFixed(9)))),
  };
  const edge = { stroke: "transparent", width: 0, spanGaps: true, points: { show: false } };
  const upright = (low: number | null, high: number | null): uPlot.Range.MinMax => {
    if (low === null || high === null) return [0, 1];
    const end = Math.min(high, newest().top);
    return fromZero && low >= 0 ? [0, 1.05 * end || 1] : withRoom(low, end, 0.05);
  };
  return {
    padding: [8, 12, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, range: (_, low, high) => withRoom(low, high, 0) },
      y: { range: (_, low, high) => upright(low, high) },
    },
    axes: [
      { ...axis, label: () => newest().xLabel, size: 30, space: 70, grid: { show: false } },
      { ...axis, label: () => newest().yLabel, size: 56, space: 34, grid: rules },
    ],
    series: [
      {},
      ...banded.flatMap(() => [edge, edge]),
      ...lines.map((line) => ({
        stroke: () => color(line),
        dash: dashOf(line.curve),
        width: 1.75,
        spanGaps: true,
        points: {
          show: isSparse,
          size: 7,
          fill: () => color(line),
          filter: (plot: uPlot, series: number, isAll: boolean) =>
            pointsOf(plot.data[series], newest().networks, isAll),
        },
      })),
    ],
    bands: banded.map((line, k) => ({
      series: [2 * k + 1, 2 * k + 2],
      fill: () => color(line).replace("rgb(", "rgba(").replace(")", ", 0.16)"),
    })),
    cursor: {
      y: false,
      drag: { dist: 5 },
      points: { size: 8 },
      dataIdx: (plot, series, index) => nearest(plot.data[series], index),
      sync: { key: "runs" },
    },
  };
}

/** Return the index nearest to one that has a value, null where a line has not begun or is over. */
function nearest(column: ArrayLike<number | null | undefined>, index: number): number | null {
  let [left, right] = [index, index];
  while (left >= 0 && column[left] === undefined) left -= 1;
  while (right < column.length && column[right] === undefined) right += 1;
  if (left < 0 || right >= column.length) return null;
  return index - left <= right - index ? left : right;
}

/** Return the points of a line that are drawn, null for all: those whose networks are kept. */
function pointsOf(column: ArrayLike<unknown>, networks: MergedChart["networks"], isAll: boolean) {
  const kept = [...networks.keys()].filter((k) => networks[k] && column[k] !== undefined);
  return kept.length || !isAll ? kept : null;
}

/** Return whether a line has so few points that each is drawn. */
function isSparse(plot: uPlot, series: number): boolean {
  return Array.from(plot.data[series]).filter((y) => y !== undefined).length < plot.width / 12;
}

/** Return the ends of an axis, with a fraction of room on either side. */
function withRoom(low: number, high: number, fraction: number): [number, number] {
  const room = low === high ? 0.5 : (high - low) * fraction;
  return [low - room, high + room];
}
