// Scales of charts: from numbers to pixels, and the round numbers that get a tick.

/** Return {place(number), ticks} of an axis from low to high, drawn from pixel `from` to `to`. */
export function linearScale(low, high, from, to, maxTicks) {
  const [first, last] = low === high ? [low - 0.5, high + 0.5] : [low, high];
  const place = (number) => from + ((number - first) / (last - first)) * (to - from);
  return { place, ticks: linearTicks(first, last, maxTicks) };
}

/** The same with logarithms; all numbers are positive. */
export function logScale(low, high, from, to) {
  const [first, last] = low === high ? [low / 2, high * 2] : [low, high];
  const { place } = linearScale(Math.log(first), Math.log(last), from, to, 2);
  return { place: (number) => place(Math.log(number)), ticks: logTicks(first, last) };
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

/** Return powers of ten, and their multiples by 2 and 5 where there is room. */
function logTicks(low, high) {
  const decades = Math.log10(high / low);
  if (decades < 0.7) return linearTicks(low, high, 4).filter((tick) => tick > 0);
  const factors = decades > 3 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    ticks.push(...factors.map((factor) => Number((factor * 10 ** power).toPrecision(3))));
  }
  const every = Math.ceil(decades / 6);
  const shown = ticks.filter((tick) => tick >= low && tick <= high);
  return decades > 3 ? shown.filter((_, k) => k % every === 0) : shown;
}
