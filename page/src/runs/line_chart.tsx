// A chart, with a legend that reads out the values under the cursor.
//
// The plot is a slider for the keyboard: its arrow keys step from point to point.

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { countText, shortText, UNKNOWN } from "../format";
import * as draw from "./chart_options";
import type { MergedChart } from "./run_rows";
import { Table } from "./table";

interface LineChartProps {
  /** Later charts have the same lines. */
  chart: MergedChart;
  /** The names of the runs. */
  runs: string[];
  zoom: draw.Zoom;
}

export function LineChart({ chart, runs, zoom }: LineChartProps) {
  const figure = useRef<HTMLElement>(null);
  const plot = usePlot(figure, { chart, runs, zoom });
  const at = useRef<number | null>(null); // the x that the keyboard has come to
  const isAlone = runs.length === 1;
  const onKeyDown = (event: KeyboardEvent) => {
    const [low, high] = zoom.value ?? [-Infinity, Infinity];
    const stops = chart.xs.filter(
      (x, k) => x >= low && x <= high && chart.lines.some(({ y }) => y[k] !== undefined),
    );
    const last = stops.length - 1;
    const from = at.current === null ? -1 : stops.findLastIndex((x) => x <= (at.current ?? 0));
    const page = Math.ceil(last / 20);
    const steps: Record<string, number> = {
      ArrowLeft: from < 0 ? last + 1 : -1,
      ArrowRight: 1,
      PageDown: -page,
      PageUp: page,
      Home: -last,
      End: last + 1,
    };
    if (!(event.key in steps) || !plot.current || last < 0) return;
    event.preventDefault();
    at.current = stops[Math.min(Math.max(from + steps[event.key], 0), last)];
    moveTo(plot.current, at.current);
  };
  const leave = () => {
    at.current = null;
    plot.current?.setCursor({ left: -10, top: -10 });
  };
  const cells = (run: number) =>
    chart.curves.map((_, curve) => {
      const line = chart.lines.find((one) => one.run === run && one.curve === curve);
      return line ? <Key {...line} color={draw.colorOf(line, isAlone)} /> : UNKNOWN;
    });
  return (
    <figure class="chart" ref={figure}>
      <figcaption>
        {chart.title} <span class="chart-place" />
      </figcaption>
      <Table
        class="chart-legend"
        caption={`Values: ${chart.title}`}
        columns={["", ...chart.curves]}
        rows={runs.map((name, run) => [isAlone ? "" : name, ...cells(run)])}
      />
      <div
        class="line-chart"
        role="slider"
        tabIndex={0}
        aria-label={`${chart.title}: ${chart.yLabel} by ${chart.xLabel}`}
        aria-valuemin={0}
        aria-valuemax={lastOf(chart)}
        aria-valuenow={0}
        onKeyDown={onKeyDown}
        onBlur={leave}
      />
    </figure>
  );
}

/** Draw a chart into its figure: anew with each change of `chart`, but on the same canvas. */
function usePlot(figure: RefObject<HTMLElement | null>, { chart, runs, zoom }: LineChartProps) {
  const plot = useRef<uPlot | null>(null);
  const newest = useRef(chart);
  newest.current = chart;
  const [state] = useState(() => ({ xLabel: "", colors: {} as draw.Colors }));
  state.xLabel = chart.xLabel;
  useEffect(() => {
    const box = figure.current?.querySelector<HTMLElement>(".line-chart");
    if (!box) return undefined;
    const onRead = (self: uPlot) => read(self, newest.current, runs, box);
    const hooks = { setCursor: [onRead], setSelect: [(self: uPlot) => select(self, zoom)] };
    const size = () => ({ width: Math.max(box.clientWidth, 100), height: draw.HEIGHT });
    const recolor = () => {
      state.colors = draw.readColors(box);
      plot.current?.redraw(false);
    };
    inTurn(state, () => {
      recolor();
      const options = { ...draw.chartOptions(chart, runs.length === 1, state, zoom), ...size() };
      plot.current = new uPlot({ ...options, hooks }, draw.columns(newest.current), box);
      onRead(plot.current);
    });
    const resized = new ResizeObserver(() => plot.current?.setSize(size()));
    resized.observe(box);
    const themed = new MutationObserver(recolor);
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", recolor);
    return () => {
      waiting.delete(state);
      resized.disconnect();
      themed.disconnect();
      system.removeEventListener("change", recolor);
      plot.current?.destroy();
    };
  }, []);
  useEffect(() => {
    const self = plot.current;
    if (!self) return;
    inTurn(state, () => {
      self.setData(draw.columns(chart));
      if ((self.cursor.left ?? -1) < 0) self.setCursor({ left: -10, top: -10 });
    });
  }, [chart]);
  return plot;
}

/** How a line looks, and the place for its value. */
function Key({ curve, color }: { curve: number; color: number }) {
  return (
    <>
      <svg class={`line-key line-${color}`} viewBox="0 0 24 10" aria-hidden="true">
        <line x1="0" y1="5" x2="24" y2="5" stroke-dasharray={draw.dashOf(curve).join(" ")} />
      </svg>
      <span class="legend-value" />
    </>
  );
}

/** Write the values at the cursor into the legend, and for a screen reader; else the newest ones. */
function read(plot: uPlot, chart: MergedChart, runs: string[], box: HTMLElement) {
  const { idx, idxs = [] } = plot.cursor;
  const isAt = idx !== null && idx !== undefined;
  const offset = draw.offsetOf(chart);
  const texts = chart.lines.map(({ y, newest }, k) => {
    const value = isAt ? y[idxs[offset + k] ?? -1] : newest;
    return value === undefined || value === null ? UNKNOWN : shortText(value);
  });
  const figure = box.parentElement;
  figure?.querySelectorAll(".legend-value").forEach((cell, k) => (cell.textContent = texts[k]));
  const where = isAt ? `${chart.xLabel} ${xText(chart.xs[idx])}` : "newest";
  figure?.querySelectorAll(".chart-place").forEach((place) => (place.textContent = where));
  const names = chart.lines.map(({ run, curve }) =>
    runs.length === 1 ? chart.curves[curve] : `${runs[run]}, ${chart.curves[curve]}`,
  );
  const said = `${where}: ${names.map((name, k) => `${name} ${texts[k]}`).join("; ")}`;
  box.setAttribute("aria-valuenow", String(idx ?? 0));
  box.setAttribute("aria-valuetext", isAt ? said : "press an arrow key to read it");
}

function xText(x: number): string {
  return Number.isInteger(x) ? countText(x) : shortText(x);
}

function select(plot: uPlot, zoom: draw.Zoom) {
  const { left, width } = plot.select;
  if (width < 5) return;
  zoom.value = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

/** Put the cursors of all charts to an x. */
function moveTo(plot: uPlot, x: number) {
  // The third argument, which the types leave out, is about the cursors of the other charts.
  type SetCursor = (to: { left: number; top: number }, fire: boolean, publish: boolean) => void;
  const setCursor: SetCursor = plot.setCursor;
  setCursor({ left: plot.valToPos(x, "x"), top: 1 }, true, true);
}

/** Return the index of the last point of a chart. */
function lastOf({ lines }: MergedChart): number {
  return Math.max(...lines.map(({ y }) => y.findLastIndex((one) => one !== undefined)));
}

// One chart is drawn in a frame, so that the page answers while many have new rows.
const waiting = new Map<object, () => void>();

function inTurn(who: object, paint: () => void) {
  if (!waiting.size) requestAnimationFrame(paintNext);
  waiting.set(who, paint);
}

function paintNext() {
  for (const [who, paint] of waiting) {
    waiting.delete(who);
    paint();
    break;
  }
  if (waiting.size) requestAnimationFrame(paintNext);
}
