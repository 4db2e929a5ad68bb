// A chart, with a legend that reads out the values under the cursor.
//
// The plot is a slider for the keyboard: its arrow keys step from point to point.

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { countText, shortText, UNKNOWN } from "../format";
import * as draw from "./chart_options";
import type { MergedChart } from "./run_rows";
import { isDark } from "../theme";
import { Table } from "../ui";
import { lineStyle, type Network } from "./parts";

const HEIGHT = 220;
const REACH_PX = 9; // of a point
const AWAY = { left: -10, top: -10 };

interface LineChartProps {
  /** Later charts have the same lines. */
  chart: MergedChart;
  /** The names of the runs. */
  runs: string[];
  /** Called with the kept network whose point is clicked, or stepped to and entered. */
  play: (network: Network) => void;
}

export function LineChart({ chart, runs, play }: LineChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = usePlot(box, chart, runs);
  const at = useRef(-Infinity); // the x that the keyboard has come to
  const isAlone = runs.length === 1;
  const onKeyDown = (event: KeyboardEvent) => {
    const { min, max } = plot.current?.scales.x ?? {};
    const stops = pointsOf(chart).filter((x) => x >= (min ?? x) && x <= (max ?? x));
    const from = stops.findLastIndex((x) => x <= at.current);
    const num = stops.length;
    const arrows = { ArrowLeft: from < 0 ? num : -1, ArrowRight: 1 };
    const step = new Map(Object.entries({ ...arrows, Home: -num, End: num })).get(event.key);
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const network = chart.networks[chart.xs.indexOf(at.current)];
    if (event.key === "Enter" && network) play(network);
    if (!step || !plot.current) return;
    event.preventDefault();
    at.current = stops[Math.min(Math.max(from + step, 0), num - 1)];
    // The third argument, which the types leave out, is about the cursors of the other charts.
    const setCursor: (to: typeof AWAY, fire: true, all: true) => void = plot.current.setCursor;
    setCursor({ left: plot.current.valToPos(at.current, "x"), top: 1 }, true, true);
  };
  const leave = () => {
    at.current = -Infinity;
    plot.current?.setCursor(AWAY);
  };
  const cells = (run: number) =>
    chart.curves.map((_, curve) => {
      const line = chart.lines.find((one) => one.run === run && one.curve === curve);
      return line ? <Key {...line} color={draw.colorOf(line, isAlone)} /> : UNKNOWN;
    });
  const columns = isAlone ? chart.curves : ["", ...chart.curves];
  const rows = runs.map((name, run) => [!isAlone && name, ...cells(run)]);
  return (
    <figure class="card chart">
      <figcaption>
        {chart.title} <span class="chart-place" />
      </figcaption>
      <Table class="chart-legend" caption={`Values: ${chart.title}`} {...{ columns, rows }} />
      <div
        ref={box}
        class="line-chart"
        role="slider"
        tabIndex={0}
        aria-label={`${chart.title}: ${chart.yLabel} by ${chart.xLabel}`}
        aria-valuemin={0}
        aria-valuemax={chart.xs.indexOf(pointsOf(chart).at(-1) ?? 0)}
        aria-valuenow={0}
        onKeyDown={onKeyDown}
        onClick={() => {
          const network = plot.current && networkAt(plot.current, chart);
          if (network) play(network);
        }}
        onBlur={leave}
      />
    </figure>
  );
}

/** How a line looks, and the place for its value. */
function Key({ curve, color }: { curve: number; color: number }) {
  return (
    <>
      <svg class="line-key" style={lineStyle(color)} viewBox="0 0 24 10" aria-hidden="true">
        <line x1="0" y1="5" x2="24" y2="5" stroke-dasharray={draw.dashOf(curve).join(" ")} />
      </svg>
      <span class="legend-value" />
    </>
  );
}

/** Draw a chart into a box, and again with each change of it or of the theme. */
function usePlot(box: RefObject<HTMLElement | null>, chart: MergedChart, runs: string[]) {
  const plot = useRef<uPlot | null>(null);
  const newest = useRef(chart);
  newest.current = chart;
  const [state] = useState(() => ({ colors: {} as draw.Colors }));
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const onRead = (self: uPlot) => read(self, newest.current, runs, element);
    const hooks = { setCursor: [onRead] };
    const size = () => ({ width: Math.max(element.clientWidth, 100), height: HEIGHT });
    let isLeft = false;
    // A third of the page's size, which those who only play need not load.
    import("uplot").then(({ default: Plot }) => {
      if (isLeft) return;
      state.colors = draw.readColors(element);
      const options = draw.chartOptions(() => newest.current, runs.length === 1, state);
      const data = draw.columns(newest.current);
      plot.current = new Plot({ ...options, hooks, ...size() }, data, element);
      onRead(plot.current);
    });
    const resized = new ResizeObserver(() => plot.current?.setSize(size()));
    resized.observe(element);
    return () => {
      isLeft = true;
      resized.disconnect();
      plot.current?.destroy();
    };
  }, []);
  useEffect(() => {
    const self = plot.current;
    if (!self) return;
    const { min, max } = self.scales.x;
    const isWhole = min === self.data[0][0] && max === self.data[0].at(-1); // else zoomed
    self.setData(draw.columns(chart), isWhole);
    if ((self.cursor.idx ?? -1) < 0) self.setCursor(AWAY);
  }, [chart]);
  useEffect(() => {
    if (box.current) state.colors = draw.readColors(box.current);
    plot.current?.redraw(false);
  }, [isDark.value]);
  return plot;
}

/** Return the x at which a chart has a value. */
function pointsOf({ xs, lines }: MergedChart): number[] {
  return xs.filter((_, k) => lines.some(({ y }) => y[k] !== undefined));
}

/** Return the kept network whose point is at the cursor. */
function networkAt(plot: uPlot, { xs, networks, lines }: MergedChart): Network | undefined {
  const { left = 0, top = 0 } = plot.cursor;
  const distances = networks.map((network, k) => {
    if (!network) return Infinity;
    const heights = lines.map(({ y }) => Math.abs(plot.valToPos(y[k] ?? Infinity, "y") - top));
    return Math.max(Math.abs(plot.valToPos(xs[k], "x") - left), Math.min(...heights));
  });
  const least = Math.min(...distances);
  return least <= REACH_PX ? networks[distances.indexOf(least)] : undefined;
}

/** Write the values at the cursor, else the newest ones, into the legend and for screen readers. */
function read(plot: uPlot, chart: MergedChart, runs: string[], box: Element) {
  const { xs, xLabel, yLabel, curves, lines } = chart;
  const unit = yLabel.startsWith("%") ? "%" : "";
  const { idx, idxs = [] } = plot.cursor;
  const index = idx ?? -1;
  const first = plot.data.length - lines.length;
  const texts = lines.map(({ y, newest }, k) => {
    const value = index < 0 ? newest : y[idxs[first + k] ?? -1];
    return value === undefined ? UNKNOWN : shortText(value) + unit;
  });
  const x = Number.isInteger(xs[index]) ? countText(xs[index]) : shortText(xs[index] ?? 0);
  const where = index < 0 ? "newest" : `${xLabel} ${x}`;
  const figure = box.parentElement;
  figure?.classList.toggle("is-on-network", Boolean(networkAt(plot, chart)));
  figure?.querySelectorAll(".legend-value").forEach((cell, k) => (cell.textContent = texts[k]));
  figure?.querySelectorAll(".chart-place").forEach((place) => (place.textContent = where));
  const nameOf = (run: number) => (runs.length > 1 ? `${runs[run]} ` : "");
  const said = lines.map(({ run, curve }, k) => `${nameOf(run)}${curves[curve]} ${texts[k]}`);
  const text = `${where}: ${said.join(", ")}`;
  box.setAttribute("aria-valuenow", String(Math.max(index, 0)));
  box.setAttribute("aria-valuetext", index < 0 ? "press an arrow key to read it" : text);
}
