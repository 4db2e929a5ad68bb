// Scales of charts: from numbers to pixels, and the round numbers that get a tick.

/** Return {place(number), ticks} of an axis from low to high, drawn from pixel `from` to `to`. */
export function linearScale(low, high, from, to, maxTicks) {
  const [first, last] = low === high ? [low - 0.5, high + 0.5] : [low, high];
  const place = (number) => from + ((number - first) / (last - first)) * (to - from);
  return { place, ticks: linearTicks(first, last, maxTicks) };
}

/** Return at most about `maxTicks` multiples of 1, 2 or 5 times a power of ten. */
function linearTicks(low, high, maxTicks) {
  const rough = (high - low) / Math.max(maxTicks, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) {
    ticks.push(Number((k * step).toPrecision(12)));
  }
  return ticks;
}
