// How the page writes values, counts, shares, results and moves.

import type { Position, Setup } from "./api";

const MINUS = "\u2212";
export const UNKNOWN = "\u2013";

type Known = number | null | undefined;

/** Return a value in [-1, 1] with its sign and two decimals. */
export function valueText(value: Known): string {
  return value == null ? UNKNOWN : signed(value, Math.abs(value).toFixed(2));
}

/** Return an integer with its sign, as in a margin of discs. */
export function marginText(number: number): string {
  return signed(number, String(Math.abs(number)));
}

/** Return a count with separators between the thousands. */
export function countText(count: number): string {
  return count.toLocaleString("en");
}

/** Return a fraction in [0, 1] as whole percent; a small one is not called zero. */
export function percentText(fraction: Known): string {
  if (fraction == null) return UNKNOWN;
  return fraction > 0 && fraction < 0.01 ? "<1%" : `${Math.round(100 * fraction)}%`;
}

/** Return an accuracy in percent, which is 100% for a perfect one only. */
export function accuracyText(fraction: Known): string {
  if (fraction == null) return UNKNOWN;
  const digits = fraction > 0.9995 && fraction < 1 ? 2 : 1;
  const shown = Math.floor(fraction * 100 * 10 ** digits + 1e-6) / 10 ** digits;
  return fraction === 1 ? "100%" : `${shown.toFixed(digits)}%`;
}

/** Return a time of training, given in hours. */
export function durationText(hours: number): string {
  const minutes = hours * 60;
  if (minutes < 1.5) return `${Math.round(minutes * 60)} s`;
  return minutes < 90 ? `${Math.round(minutes)} min` : `${hours.toFixed(1)} h`;
}

/** Return a time, given in milliseconds since 1970. */
export function dateText(time: number): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** Return "win", "draw", "loss" or a number for the player whose view the result has. */
export function resultText(result: number): string {
  return ["loss", "draw", "win"][result + 1] ?? valueText(result);
}

/** Return a number with about three significant digits, for the ticks and read-outs of a chart. */
export function shortText(number: number): string {
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e4) {
    const options = { notation: "compact", maximumFractionDigits: 2 } as const;
    return number.toLocaleString("en", options).replace("-", MINUS);
  }
  if (size < 1e-3) return number.toExponential(1).replace(".0e", "e").replaceAll("-", MINUS);
  return String(Number(number.toPrecision(3))).replace("-", MINUS);
}

/** Return what a legal move is called in a position. */
export function moveText({ action_texts: texts }: Setup, position: Position, action: number) {
  const { legal, legal_texts: own } = position;
  return own?.[legal.indexOf(action)] ?? texts[action];
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Return what went wrong, "" for nothing. */
export function failureOf(work?: Promise<unknown>): Promise<string> {
  return Promise.resolve(work).then(() => "", messageOf);
}

function signed(number: number, digits: string): string {
  if (Number(digits) === 0) return digits;
  return `${number > 0 ? "+" : MINUS}${digits}`;
}
