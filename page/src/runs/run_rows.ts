// The rows of the chosen runs, fetched as the runs grow, and laid out for charts.

import { useEffect, useState } from "preact/hooks";
import type { Backend, RunRows, RunSummary } from "../api";
import { pause } from "../board/motion";
import { shortText } from "../format";
import type { Network } from "./parts";

export const X_KINDS = ["iterations", "games", "hours"] as const;
export type XKind = (typeof X_KINDS)[number];

/** `asked` is what the list said of the run when rows were asked for last. */
type Held = { rows: RunRows | null; asked: string; isBusy: boolean; error: string };
const RETRY_MS = 2000;

/** Return the rows of the chosen runs as far as they have come, null before the first answer. */
export function useRunRows({ runs }: Backend, chosen: RunSummary[]) {
  const [held] = useState(() => new Map<string, Held>());
  const [, setVersion] = useState(0);
  const finish = (one: Held, found: Partial<Held>) => {
    Object.assign(one, found, { isBusy: false });
    setVersion((version) => version + 1);
  };
  // One request at a time; after each answer, look whether the run has grown meanwhile.
  useEffect(() => {
    for (const { id, num_rows, elo } of chosen) {
      const one = held.get(id) ?? { rows: null, asked: "", isBusy: false, error: "" };
      held.set(id, one);
      const asked = `${num_rows} ${elo}`;
      if (one.isBusy || one.asked === asked || !runs) continue;
      one.isBusy = true;
      runs.rows(id).then(
        (rows) => finish(one, { rows, asked, error: "" }),
        async ({ message: error }: Error) => {
          await pause(RETRY_MS);
          finish(one, { error });
        },
      );
    }
  });
  const all = chosen.map(({ id }) => held.get(id));
  return { rows: all.map((one) => one?.rows ?? null), error: all.find((one) => one?.error)?.error };
}

// --- charts --------------------------------------------------------------------------------------

/** More points than pixels cost time, and their noise would hide other lines. */
const MOST_POINTS = 500;

type Column = (number | undefined)[];

interface Line {
  /** The numbers of both. */
  run: number;
  curve: number;
  newest: number;
  y: Column;
  /** The upper and the lower edge of the interval. */
  band: [Column, Column] | null;
}

/** The charts of one title of all runs: every column has a place for each x. */
export interface MergedChart {
  title: string;
  yLabel: string;
  xLabel: string;
  fromZero: boolean;
  /** Where the axis ends though a few values are far higher. */
  top: number;
  xs: number[];
  /** By x: the kept network of the first run, if it is asked for. */
  networks: (Network | undefined)[];
  curves: string[];
  /** By run, then by curve. */
  lines: Line[];
}

/** Lay the charts of several runs over each other; `kept`: networks of the first one. */
export function mergeCharts(runs: RunRows[], kind: XKind, kept: Network[]): MergedChart[] {
  const { xs, places, xLabel } = align(runs, kind);
  const networks: MergedChart["networks"] = xs.map(() => undefined);
  for (const network of kept) {
    const row = runs[0]?.x.iterations.indexOf(network.iteration) ?? -1;
    if (row >= 0) networks[places[0][row]] = network;
  }
  const charts = new Map<string, MergedChart>();
  const column = (run: number, y: (number | null)[]): Column => {
    const [sums, nums] = [new Float64Array(xs.length), new Float64Array(xs.length)];
    places[run].forEach((place, row) => {
      const value = y[row];
      if (place < 0 || value === null) return;
      sums[place] += value;
      nums[place] += 1;
    });
    return xs.map((_, k) => (nums[k] ? sums[k] / nums[k] : undefined));
  };
  runs.forEach((rows, run) => {
    for (const { title, y_label: yLabel, from_zero: fromZero, curves } of rows.charts) {
      const axes = { yLabel, xLabel, fromZero, top: Infinity };
      const empty = { title, ...axes, xs, networks, curves: [], lines: [] };
      const chart: MergedChart = charts.get(title) ?? empty;
      for (const { name, y, low, high } of curves) {
        const newest = y.findLast((value) => value !== null) ?? null;
        if (newest === null) continue;
        if (!chart.curves.includes(name)) chart.curves.push(name);
        const curve = chart.curves.indexOf(name);
        const band: Line["band"] = low && high ? [column(run, high), column(run, low)] : null;
        chart.lines.push({ run, curve, newest, y: column(run, y), band });
        charts.set(title, chart);
      }
    }
  });
  const merged = [...charts.values()];
  for (const { lines } of merged) lines.sort((a, b) => a.run - b.run || a.curve - b.curve);
  // Other figures may fall a hundredfold while all goes well.
  for (const chart of merged) if (chart.yLabel === "loss") cutAxis(chart);
  return merged;
}

/** End the axis below values of over ten times the median, which would flatten all others. */
function cutAxis(chart: MergedChart): void {
  const values = chart.lines.flatMap(({ y }) => y.flatMap((value) => value ?? []));
  const highest = 10 * values.sort((a, b) => a - b)[values.length >> 1];
  const [most] = values.slice(-1);
  if (most <= highest) return;
  chart.top = Math.max(...values.filter((value) => value <= highest));
  chart.yLabel = `loss (cut: up to ${shortText(most)})`;
}

/** Return the x of all points in order, and the place of each row among them, -1 for none. */
function align(runs: RunRows[], kind: XKind) {
  const longest = Math.max(0, ...runs.map(({ x }) => x.hours.findLast((one) => one !== null) ?? 0));
  const [unit, factor] =
    longest < 0.05 ? ["seconds", 3600] : longest < 4 ? ["minutes", 60] : ["hours", 1];
  const scale = kind === "hours" ? factor : 1;
  const given = runs.map(({ x }) => x[kind].map((one) => (one === null ? NaN : one * scale)));
  const known = given.map((list) => list.filter((x) => !Number.isNaN(x)));
  const ends = known.flatMap((list) => [...list.slice(0, 1), ...list.slice(-1)]);
  const isMean = known.some((list) => list.length > MOST_POINTS);
  const [first, width] = [Math.min(...ends), (Math.max(...ends) - Math.min(...ends)) / MOST_POINTS];
  const xs = isMean
    ? Array.from({ length: MOST_POINTS }, (_, k) => first + k * width)
    : [...new Set(known.flat())].sort((a, b) => a - b);
  const index = new Map(isMean ? [] : xs.map((x, k) => [x, k]));
  const places = given.map((list) =>
    list.map((x) => {
      if (Number.isNaN(x)) return -1;
      if (!isMean) return index.get(x) ?? -1;
      const place = Math.min(Math.max(Math.floor((x - first) / width), 0), MOST_POINTS - 1);
      xs[place] = Math.max(xs[place], x);
      return place;
    }),
  );
  return { xs, places, xLabel: kind === "hours" ? `${unit} of training` : kind };
}
