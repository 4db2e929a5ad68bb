// How the page writes values, counts, shares and results.

const MINUS = "\u2212";
const RESULTS = new Map([
  [1, "win"],
  [0, "draw"],
  [-1, "loss"],
]);

export const UNKNOWN = "\u2013";

/** Return a value in [-1, 1] with its sign and two decimals. */
export function valueText(value) {
  if (value === null || value === undefined) return UNKNOWN;
  return signed(value, Math.abs(value).toFixed(2));
}

/** Return an integer with its sign, as in a margin of discs. */
export function marginText(number) {
  return signed(number, String(Math.abs(number)));
}

/** Return a count with separators between the thousands. */
export function countText(count) {
  return count.toLocaleString("en");
}

/** Return a share in [0, 1] as whole percent; a small one is not called zero. */
export function percentText(share) {
  if (share === null || share === undefined) return UNKNOWN;
  if (share > 0 && share < 0.01) return "<1%";
  return `${Math.round(100 * share)}%`;
}

/** Return an accuracy in percent, which is 100% for a perfect one only. */
export function accuracyText(share) {
  if (share === null || share === undefined) return UNKNOWN;
  const digits = share > 0.9995 && share < 1 ? 2 : 1;
  const shown = Math.floor(share * 100 * 10 ** digits + 1e-6) / 10 ** digits;
  return share === 1 ? "100%" : `${shown.toFixed(digits)}%`;
}

/** Return a time of training, given in hours. */
export function durationText(hours) {
  const minutes = hours * 60;
  if (minutes < 1.5) return `${Math.round(minutes * 60)} s`;
  return minutes < 90 ? `${Math.round(minutes)} min` : `${hours.toFixed(1)} h`;
}

/** Return "win", "draw", "loss" or a number for the player whose view the result has. */
export function resultText(result) {
  return RESULTS.get(result) ?? valueText(result);
}

/** Return a number with about three significant digits, for the ticks and read-outs of a chart. */
export function shortText(number) {
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e4) {
    const options = { notation: "compact", maximumFractionDigits: 2 };
    return number.toLocaleString("en", options).replace("-", MINUS);
  }
  if (size < 1e-3) return number.toExponential(1).replace(".0e", "e").replaceAll("-", MINUS);
  return String(Number(number.toPrecision(3))).replace("-", MINUS);
}

/** Return a sentence of the server as it stands at the start of a line. */
export function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function signed(number, digits) {
  if (Number(digits) === 0) return digits;
  return `${number > 0 ? "+" : MINUS}${digits}`;
}
