// The order of rows that are sorted by a number of visits which changes several times a second.
//
// Rows change places only when one is clearly ahead of the row above it, so that a row can be read
// and hit while the search runs. Once the search has ended, the order is exact.

const CLEARLY = 1.15;

/** Return the keys of `visits`, most visits first; neighbours may stay as before if not `exact`. */
export function stableOrder<K>(previous: K[], visits: Map<K, number>, exact: boolean): K[] {
  const of = (key: K) => visits.get(key) ?? 0;
  const known = new Set(previous);
  const added = [...visits.keys()].filter((key) => !known.has(key));
  const order = previous.filter((key) => visits.has(key));
  order.push(...added.sort((a, b) => of(b) - of(a)));
  const ahead = exact ? 1 : CLEARLY;
  for (let end = 1; end < order.length; end += 1) {
    for (let k = end; k > 0 && of(order[k]) > of(order[k - 1]) * ahead; k -= 1) {
      [order[k - 1], order[k]] = [order[k], order[k - 1]];
    }
  }
  return order;
}
