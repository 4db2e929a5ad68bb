// Features of cells from convolutions along lines: the arithmetic of
// alphazero/network/line_mapping.py.
//
// A window is the 9 cells of a line around a cell in one of four directions, written as a number in
// base 4: its first cell is the least significant digit, 0 for empty, 1 for an own piece, 2 for an
// opponent's and 3 beyond the border. What the convolutions along lines make of a window is
// computed when it is first met, and kept: most positions of a search add up what is there.

export const STEPS = [[0, 1], [1, 0], [1, 1], [1, -1]]; // row, column, diagonal, antidiagonal
export const RADIUS = 4; // cells of a window on either side of the one in the middle
export const BEYOND = 3;
const BATCH_NORM_EPSILON = 1e-5; // torch's

// By the number of groups of directions: the group, whose weights are the same, of each of `STEPS`.
const GROUPS = { 2: [0, 0, 1, 1], 3: [0, 1, 2, 2], 4: [0, 1, 2, 3] };

/**
 * Return the mapping of each of `STEPS`.
 *
 * @param arrays the network's weights by name
 * @param scale of each feature, from the normalization that follows
 */
export function lineMappings(arrays, scale) {
  const biases = Object.keys(arrays).filter((name) => /^lines\.layers\.0\..*bias$/.test(name));
  const mappings = biases.map((_, group) => new LineMapping(arrays, group, scale));
  return GROUPS[mappings.length].map((group) => mappings[group]);
}

/** The convolutions along lines of one group of directions. */
class LineMapping {
  constructor(arrays, group, scale) {
    this.biases = [0, 1, 2].map((layer) => arrays[`lines.layers.${layer}.${group}.bias`]);
    this.sizes = [...this.biases, scale].map(({ length }) => length); // outputs of the layers
    this.weights = this.sizes.map((size, layer) => {
      return byInput(arrays[`lines.layers.${layer}.${group}.weight`], size);
    });
    this.weights[RADIUS - 1].forEach((_, k, last) => (last[k] *= scale[k % scale.length]));
    // By radius and window; of a radius below 4, what it adds to three windows of the next radius.
    this.kept = Array.from({ length: RADIUS + 1 }, (_, radius) => Array(4 ** (2 * radius + 1)));
  }

  /** Return the features of a window of 9 cells. */
  features(window) {
    return (this.kept[RADIUS][window] ??= this.#sums(RADIUS, window));
  }

  /** Return the sums of what the three windows within a window add to it. */
  #sums(radius, window) {
    const inner = radius - 1;
    const size = this.sizes[inner];
    const sums = new Float32Array(size);
    for (let place = 0; place < 3; place += 1) {
      const part = (window >> (2 * place)) & (4 ** (2 * inner + 1) - 1);
      if (((part >> (2 * inner)) & 3) === BEYOND) continue;
      const contributions = (this.kept[inner][part] ??= this.#contributions(inner, part));
      for (let c = 0; c < size; c += 1) sums[c] += contributions[place * size + c];
    }
    return sums;
  }

  /** Return what a window adds to those around the cell after, its own cell and the one before. */
  #contributions(radius, window) {
    const weight = this.weights[radius];
    const size = 3 * this.sizes[radius];
    if (radius === 0) return weight.subarray(window * size, (window + 1) * size);
    const result = new Float32Array(size);
    this.#sums(radius, window).forEach((sum, input) => {
      const feature = sum + this.biases[radius - 1][input];
      if (feature <= 0) return;
      const row = input * size;
      for (let k = 0; k < size; k += 1) result[k] += feature * weight[row + k];
    });
    return result;
  }
}

/** Return the weights of a convolution, [output, input, place], as [input, place, output]. */
function byInput(weight, numOutputs) {
  const numRows = weight.length / numOutputs;
  return weight.map((_, k) => weight[(k % numOutputs) * numRows + Math.floor(k / numOutputs)]);
}

/** Return the window around a place on a board with a border. */
export function windowOf(pieces, place, step) {
  let window = 0;
  for (let at = place + RADIUS * step, k = 0; k <= 2 * RADIUS; k += 1, at -= step) {
    window = (window << 2) | pieces[at];
  }
  return window;
}

/** Return the factors and the offsets that a normalization amounts to. */
export function folded(weights, name) {
  const of = (part) => weights[`${name}.${part}`];
  const variance = of("running_var");
  const scale = of("weight").map((w, c) => w / Math.sqrt(variance[c] + BATCH_NORM_EPSILON));
  return { scale, offset: of("bias").map((b, c) => b - of("running_mean")[c] * scale[c]) };
}
