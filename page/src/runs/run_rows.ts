// The rows of the chosen runs, fetched as the runs grow, and laid out for charts.

import { useEffect, useState } from "preact/hooks";
import type { Backend, Chart, Curve, RunRows, RunSummary } from "../api";

export type XKind = keyof RunRows["x"];

interface Held {
  rows: RunRows | null;
  /** What the list of runs said when rows were last fetched. */
  seen: { num_rows: number; elo: number | null };
  wanted: RunSummary;
  isBusy: boolean;
}

/** Return the rows of the chosen runs by id, as far as they have come, and what failed. */
export function useRunRows(backend: Backend, chosen: RunSummary[]) {
  const [held] = useState(() => new Map<string, Held>());
  const [, setVersion] = useState(0);
  const [error, setError] = useState("");
  const state = chosen.map((run) => [run.id, run.num_rows, run.elo].join()).join(";");
  useEffect(() => {
    const changed = () => setVersion((version) => version + 1);
    for (const run of chosen) {
      const seen = { num_rows: 0, elo: null };
      const one = held.get(run.id) ?? { rows: null, seen, wanted: run, isBusy: false };
      one.wanted = run;
      held.set(run.id, one);
      grow(backend, one, changed).then(
        () => setError(""),
        (reason: Error) => setError(reason.message),
      );
    }
  }, [state]);
  return { rows: chosen.map(({ id }) => held.get(id)?.rows ?? null), error };
}

/** Fetch what a run has gained; one request at a time. */
async function grow(backend: Backend, one: Held, changed: () => void) {
  if (one.isBusy) return;
  one.isBusy = true;
  try {
    for (;;) {
      const { id, num_rows, elo } = one.wanted;
      const has = one.rows?.x.iterations.length ?? 0;
      // A run that was begun anew has fewer rows; ratings belong to rows that are here already.
      const isOther = !one.rows || num_rows < one.seen.num_rows || elo !== one.seen.elo;
      if (!isOther && num_rows <= has) return;
      const rows = await backend.runs?.rows(id, isOther ? 0 : has);
      if (!rows) return;
      one.rows = one.rows && !isOther ? joined(one.rows, rows) : rows;
      if (one.rows) one.seen = { num_rows, elo };
      changed();
      if (one.wanted.num_rows === num_rows && one.rows) return;
    }
  } finally {
    one.isBusy = false;
  }
}

/** Return rows and those that follow them, null if these have other charts. */
function joined(rows: RunRows, next: RunRows): RunRows | null {
  const names = (charts: Chart[]) => JSON.stringify(charts.map(({ title }) => title));
  if (names(rows.charts) !== names(next.charts)) return null;
  const both = <T>(some: T[] | undefined, others: T[] | undefined) =>
    some && others && some.concat(others);
  const curve = (one: Curve, k: number, other: Chart): Curve => ({
    name: one.name,
    y: one.y.concat(other.curves[k].y),
    low: both(one.low, other.curves[k].low),
    high: both(one.high, other.curves[k].high),
  });
  const charts = rows.charts.map((chart, k) => ({
    ...chart,
    curves: chart.curves.map((one, j) => curve(one, j, next.charts[k])),
  }));
  const { iterations, games, hours } = rows.x;
  const x = {
    iterations: iterations.concat(next.x.iterations),
    games: games.concat(next.x.games),
    hours: hours.concat(next.x.hours),
  };
  return { ...rows, num_rows: next.num_rows, x, charts, alarms: rows.alarms.concat(next.alarms) };
}

// --- charts ---------------------------------------------------------------------------------------

type Column = (number | undefined)[];

export interface Line {
  run: number;
  curve: number;
  y: Column;
  low: Column | null;
  high: Column | null;
}

/** The charts of one title of all runs: every column has a place for each x. */
export interface MergedChart {
  title: string;
  yLabel: string;
  xLabel: string;
  fromZero: boolean;
  xs: Float64Array;
  curves: string[];
  /** By run, then by curve. */
  lines: Line[];
  /** The index of the last x at which there is a value. */
  last: number;
}

/** Lay the charts of several runs over each other; all have the same list of x. */
export function mergeCharts(runs: RunRows[], kind: XKind): MergedChart[] {
  const { xs, places, xLabel } = align(runs, kind);
  const charts = new Map<string, MergedChart>();
  const column = (run: number, y: (number | null)[]) => {
    const placed: Column = new Array<undefined>(xs.length).fill(undefined);
    y.forEach((value, row) => {
      if (value !== null && places[run][row] >= 0) placed[places[run][row]] = value;
    });
    return placed;
  };
  runs.forEach((rows, run) => {
    for (const { title, y_label: yLabel, from_zero: fromZero, curves } of rows.charts) {
      const parts = { title, yLabel, xLabel, fromZero, xs, curves: [], lines: [], last: 0 };
      const chart: MergedChart = charts.get(title) ?? parts;
      for (const { name, y, low, high } of curves) {
        if (y.every((value) => value === null)) continue;
        if (!chart.curves.includes(name)) chart.curves.push(name);
        const curve = chart.curves.indexOf(name);
        const [lower, upper] = low && high ? [column(run, low), column(run, high)] : [null, null];
        chart.lines.push({ run, curve, y: column(run, y), low: lower, high: upper });
      }
      if (chart.lines.length) charts.set(title, chart);
    }
  });
  for (const chart of charts.values()) {
    chart.lines.sort((a, b) => a.run - b.run || a.curve - b.curve);
    chart.last = Math.max(
      ...chart.lines.map(({ y }) => y.findLastIndex((one) => one !== undefined)),
    );
  }
  return [...charts.values()];
}

/** Return all x of the runs in order, and the place of each row among them, -1 for none. */
function align(runs: RunRows[], kind: XKind) {
  const [unit, factor] = kind === "hours" ? timeUnit(runs) : [kind, 1];
  const given = runs.map((rows) => rows.x[kind].map((x) => (x === null ? null : x * factor)));
  const all = Float64Array.from(given.flatMap((list) => list.filter((x) => x !== null))).sort();
  const xs = all.filter((x, k) => k === 0 || x !== all[k - 1]);
  const places = given.map((list) => {
    let place = 0; // x seldom falls: the search goes on where the last row was
    return list.map((x) => {
      if (x === null) return -1;
      while (xs[place] > x) place -= 1;
      while (xs[place] < x) place += 1;
      return place;
    });
  });
  return { xs, places, xLabel: kind === "hours" ? `${unit} of training` : unit };
}

/** Return the unit of time that suits the runs, and how many an hour has. */
function timeUnit(runs: RunRows[]): [string, number] {
  const longest = Math.max(0, ...runs.map((rows) => rows.x.hours.findLast((x) => x !== null) ?? 0));
  if (longest < 0.05) return ["seconds", 3600];
  return longest < 4 ? ["minutes", 60] : ["hours", 1];
}
