// Which of several runs plays better, in a sentence.

import type { RunRows, RunSummary } from "../api";
import { accuracyText, countText } from "../format";

export type Contender = { run: RunSummary; rows: RunRows | null };

/** A figure, the greater the better, and its 95% interval where that is known. */
type Figure = { value: number; interval: [number, number] | null };
type Found = Figure & { run: RunSummary };

interface Measure {
  name: string;
  find(contender: Contender): Figure | null;
  text(value: number): string;
}

// By the titles of charts in alphazero/training/curves.py.
const MEASURES: Measure[] = [
  {
    name: "exact accuracy",
    find({ run: { accuracy }, rows }) {
      // The chart has the opposite, in percent.
      const lost = newest(rows, "Moves that give away the exact result")?.interval;
      if (accuracy === null) return null;
      return { value: accuracy, interval: lost ? [1 - lost[1] / 100, 1 - lost[0] / 100] : null };
    },
    text: accuracyText,
  },
  {
    name: "Elo",
    find: ({ run: { elo }, rows }) =>
      elo === null ? null : { value: elo, interval: newest(rows, "Rating")?.interval ?? null },
    text: (elo) => String(Math.round(elo)),
  },
  {
    name: "misplayed positions of the whole game",
    find({ rows }) {
      const misplayed = newest(rows, "Positions misplayed, of all in the game");
      return misplayed && { value: -misplayed.value, interval: null };
    },
    text: (value) => countText(-value),
  },
];

/** Say which of two or more runs plays better, and by what. */
export function headline(contenders: Contender[]): string {
  if (new Set(contenders.map(({ run }) => run.game)).size > 1) {
    return "These runs play different games, so nothing says which one plays better.";
  }
  for (const measure of MEASURES) {
    const found = contenders.flatMap((contender): Found[] => {
      const figure = measure.find(contender);
      return figure ? [{ ...figure, run: contender.run }] : [];
    });
    found.sort((a, b) => b.value - a.value);
    if (found.length === contenders.length) return verdict(measure, found);
  }
  const names = MEASURES.map(({ name }) => name).join(", ");
  return `Nothing says yet which one plays better: no figure (${names}) is known of all of them.`;
}

/** Say it by one measure; `found`: the figures of all runs, the best one first. */
function verdict({ name, text }: Measure, found: Found[]): string {
  const [best, second] = found;
  const figure = ({ value, interval }: Figure) =>
    `${text(value)}${interval ? ` (95% interval ${interval.map(text).join(" to ")})` : ""}`;
  const [one, other] = [best, second].map(({ run }) => run.name);
  const figures = `${name} ${figure(best)} against ${figure(second)}`;
  if (best.value === second.value) return `${one} and ${other} play equally well: ${figures}.`;
  const overlap = best.interval && second.interval && best.interval[0] <= second.interval[1];
  const claim = found.length > 2 ? `best of the ${found.length}, before` : "better than";
  return `${one} ${overlap ? "seems to play" : "plays"} ${claim} ${other}: ${figures}.`;
}

/** Return the newest value of the first curve of a chart, null if there is none. */
function newest(rows: RunRows | null, title: string): Figure | null {
  const curve = rows?.charts.find((chart) => chart.title === title)?.curves[0];
  const row = curve?.y.findLastIndex((y) => y !== null) ?? -1;
  const [value, low, high] = [curve?.y, curve?.low, curve?.high].map((list) => list?.[row] ?? null);
  if (value === null) return null;
  return { value, interval: low === null || high === null ? null : [low, high] };
}
