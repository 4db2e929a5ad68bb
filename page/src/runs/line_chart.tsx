// A chart with its legend, which reads out the values under the cursor. The plot is a slider for
// the keyboard: arrow keys step from point to point, + and - zoom.

import { useEffect, useRef, useState } from "preact/hooks";
import { shortText, UNKNOWN } from "../format";
import { colorOf, dashOf, drawChart, type Drawing, type Zoom } from "./chart_drawing";
import type { MergedChart } from "./run_rows";

interface LineChartProps {
  chart: MergedChart;
  /** The names of the runs. */
  runs: string[];
  zoom: Zoom;
}

export function LineChart({ chart, runs, zoom }: LineChartProps) {
  const figure = useRef<HTMLElement>(null);
  const drawing = useRef<Drawing | null>(null);
  const newest = useRef(chart);
  newest.current = chart;
  const [turn] = useState(() => ({}));

  useEffect(() => {
    const find = (selector: string) => [
      ...(figure.current?.querySelectorAll<HTMLElement>(selector) ?? []),
    ];
    const [[plot], [where], cells] = [".line-chart", ".chart-place", ".legend-value"].map(find);
    const onRead = (index: number | null, values: (number | null)[]) =>
      read(newest.current, runs, { plot, where, cells }, index, values);
    inTurn(turn, () => {
      drawing.current = drawChart(plot, newest.current, runs.length === 1, zoom, onRead);
    });
    return () => {
      waiting.delete(turn);
      drawing.current?.close();
    };
  }, []);
  useEffect(() => {
    if (drawing.current) inTurn(turn, () => drawing.current?.update(chart));
  }, [chart]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (drawing.current?.onKey(event.key)) event.preventDefault();
  };
  return (
    <figure class="chart" ref={figure}>
      <figcaption>
        {chart.title} <span class="chart-place" />
      </figcaption>
      <Legend chart={chart} runs={runs} />
      <div
        class="line-chart"
        role="slider"
        tabIndex={0}
        aria-label={`${chart.title}: ${chart.yLabel} by ${chart.xLabel}`}
        aria-valuemin={0}
        aria-valuemax={chart.last}
        aria-valuenow={0}
        onKeyDown={onKeyDown}
        onBlur={() => drawing.current?.leave()}
      />
    </figure>
  );
}

/** A row for each run, a column for each curve. */
function Legend({ chart, runs }: { chart: MergedChart; runs: string[] }) {
  const isAlone = runs.length === 1;
  const cell = (run: number, curve: number) => {
    const line = chart.lines.find((one) => one.run === run && one.curve === curve);
    if (!line) return <td key={curve}>{UNKNOWN}</td>;
    return (
      <td key={curve}>
        <svg
          class={`line-key line-${colorOf(line, isAlone)}`}
          viewBox="0 0 24 10"
          aria-hidden="true"
        >
          <line x1="0" y1="5" x2="24" y2="5" stroke-dasharray={dashOf(curve).join(" ")} />
        </svg>
        <span class="legend-value" />
      </td>
    );
  };
  return (
    <table class="chart-legend">
      <thead>
        <tr>
          {!isAlone && <td />}
          {chart.curves.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {runs.map((name, run) => (
          <tr key={run}>
            {!isAlone && <th scope="row">{name}</th>}
            {chart.curves.map((_, curve) => cell(run, curve))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface Places {
  plot: HTMLElement;
  where: HTMLElement;
  cells: HTMLElement[];
}

/** Write the values at an x into the legend, and for a screen reader; null: the newest values. */
function read(
  chart: MergedChart,
  runs: string[],
  { plot, where, cells }: Places,
  index: number | null,
  values: (number | null)[],
) {
  const texts = values.map((value) => (value === null ? UNKNOWN : shortText(value)));
  texts.forEach((text, k) => (cells[k].textContent = text));
  const x = index === null ? "" : `${chart.xLabel} ${shortText(chart.xs[index])}`;
  where.textContent = x || "newest";
  const name = ({ run, curve }: { run: number; curve: number }) =>
    runs.length === 1 ? chart.curves[curve] : `${runs[run]} ${chart.curves[curve]}`;
  const said = chart.lines.map((line, k) => `${name(line)} ${texts[k]}`).join(", ");
  plot.setAttribute("aria-valuetext", x ? `${x}: ${said}` : "press an arrow key to read it");
  plot.setAttribute("aria-valuenow", String(index ?? 0));
}

// --- turns ----------------------------------------------------------------------------------------

// One chart is drawn in a frame, so that the page answers while many have new rows.
const waiting = new Map<object, () => void>();

function inTurn(who: object, draw: () => void) {
  if (!waiting.size) requestAnimationFrame(drawNext);
  waiting.set(who, draw);
}

function drawNext() {
  const [next] = waiting;
  if (!next) return;
  waiting.delete(next[0]);
  next[1]();
  if (waiting.size) requestAnimationFrame(drawNext);
}
