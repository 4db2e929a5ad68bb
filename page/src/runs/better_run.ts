// Which of several runs plays better, in a sentence.

import type { Chart, RunRows, RunSummary } from "../api";
import { accuracyText, countText, durationText } from "../format";

export interface Contender {
  run: RunSummary;
  rows: RunRows | null;
}

interface Figure {
  value: number;
  /** The 95% interval, where it is known. */
  interval: [number, number] | null;
}

/** Something to compare runs by; the one with the greater value plays better. */
interface Measure {
  find(contender: Contender): Figure | null;
  text(value: number): string;
  /** What the better run does, and what the other. */
  claims(best: string, other: string): [string, string];
}

// The titles of charts, as alphazero/plots/curves.py has them.
const ERRORS = "Moves that give away the exact result";
const MISPLAYED = "Positions misplayed, of all in the game";
const RATING = "Rating";

const ACCURACY: Measure = {
  find({ run, rows }) {
    if (run.accuracy === null) return null;
    // The chart has the opposite, in percent.
    const errors = newest(rows, ERRORS)?.interval;
    const interval: [number, number] | null = errors
      ? [1 - errors[1] / 100, 1 - errors[0] / 100]
      : null;
    return { value: run.accuracy, interval };
  },
  text: accuracyText,
  claims: (best, other) => [`it keeps the exact result in ${best} of positions`, `in ${other}`],
};

const ELO: Measure = {
  find({ run, rows }) {
    const interval = newest(rows, RATING)?.interval ?? null;
    return run.elo === null ? null : { value: run.elo, interval };
  },
  text: (elo) => String(Math.round(elo)),
  claims: (best, other) => [`it has an Elo of ${best}`, `of ${other}`],
};

const PROOF: Measure = {
  find({ rows }) {
    const found = newest(rows, MISPLAYED);
    return found && { value: -found.value, interval: null };
  },
  text: (value) => countText(-value),
  claims: (best, other) => [`it misplays ${best} positions of the whole game`, other],
};

/** Say which of two or more runs plays better, by what, and after how much training. */
export function headline(contenders: Contender[]): string {
  if (new Set(contenders.map(({ run }) => run.game)).size > 1) {
    return "These runs play different games, so nothing says which one plays better.";
  }
  for (const measure of [ACCURACY, ELO, PROOF]) {
    const figures = contenders.flatMap((contender) => {
      const figure = measure.find(contender);
      return figure ? [{ ...contender, ...figure }] : [];
    });
    if (figures.length < contenders.length) continue;
    const [best, second] = figures.sort((a, b) => b.value - a.value);
    return verdict(measure, best, second, figures.length);
  }
  const without = contenders.filter((one) => !ACCURACY.find(one) && !ELO.find(one));
  const who = (without.length ? without : contenders).map(({ run }) => run.name).join(" and ");
  return (
    "Nothing says yet which one plays better: there is no exact accuracy, Elo or proof " +
    `that all of them have; ${who} ${without.length ? "lacks them" : "have different ones"}.`
  );
}

type Found = Contender & Figure;

function verdict(measure: Measure, best: Found, second: Found, num: number): string {
  const [one, other] = measure.claims(figureText(measure, best), figureText(measure, second));
  const names = [best.run.name, second.run.name];
  const trained = `${names[0]} trained for ${durationText(best.run.hours)}, ${names[1]} for ${durationText(second.run.hours)}.`;
  if (best.value === second.value) {
    return `${names[0]} and ${names[1]} play equally well: ${one.replace(/^it /, "each ")}. ${trained}`;
  }
  const [a, b] = [best.interval, second.interval];
  const overlap = a && b && a[0] <= b[1];
  const who = num > 2 ? `the next one, ${names[1]},` : names[1];
  const intervals = !a || !b ? "" : `; the intervals ${overlap ? "" : "do not "}overlap`;
  const figures = `${one}, ${who} ${other}${intervals}`;
  const place = num > 2 ? `best of the ${num}` : `better than ${names[1]}`;
  const claim = overlap
    ? `${names[0]} may play ${place}, but that is not certain`
    : `${names[0]} plays ${place}`;
  return `${claim}: ${figures}. ${trained}`;
}

function figureText(measure: Measure, { value, interval }: Figure): string {
  if (!interval) return measure.text(value);
  const [low, high] = interval.map(measure.text);
  return `${measure.text(value)} (95% interval ${low} to ${high})`;
}

/** Return the newest value of the first curve of a chart, null if there is none. */
function newest(rows: RunRows | null, title: string): Figure | null {
  const chart = rows?.charts.find((one: Chart) => one.title === title);
  const curve = chart?.curves[0];
  const row = curve?.y.findLastIndex((y) => y !== null) ?? -1;
  const value = curve?.y[row];
  if (!curve || value === undefined || value === null) return null;
  const [low, high] = [curve.low?.[row], curve.high?.[row]];
  const isKnown = typeof low === "number" && typeof high === "number";
  return { value, interval: isKnown ? [low, high] : null };
}
