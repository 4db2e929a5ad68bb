// A network of windows: the arithmetic of alphazero/network/windows.py.

import { BEYOND, RADIUS, STEPS, folded, lineMappings, windowOf } from "./line_mapping.js";
import { expected } from "./value_head.js";

const CHANNELS = 32; // features of a cell
const NUM_DISTANCES = 5; // from an edge: 0, 1, 2, 3, and 4 or more

// By the number of groups of directions: the group, whose weights are the same, of the upper,
// lower, left and right edge.
const EDGES = { 2: [0, 0, 0, 0], 3: [0, 1, 2, 2], 4: [0, 1, 2, 3] };

export class WindowNetwork {
  /**
   * @param arrays the network's weights by name, Float32Array
   * @param rules of its game, on a board of any size
   */
  constructor(arrays, { rows, columns }) {
    Object.assign(this, { rows, columns, numCells: rows * columns });
    this.weights = {}; // float64, in which JavaScript computes
    for (const name in arrays) this.weights[name] = Float64Array.from(arrays[name]);
    const { scale, offset } = folded(this.weights, "norm");
    this.lines = lineMappings(arrays, scale);
    this.start = this.#place(EDGES[new Set(this.lines).size]).map((sum, k) => {
      return sum * scale[k % CHANNELS] + offset[k % CHANNELS];
    });
    const middle = folded(this.weights, "middle_norm");
    this.pointwise = this.weights["pointwise.weight"].map((weight, k) => {
      return weight * middle.scale[Math.floor(k / CHANNELS)]; // [output, input]
    });
    this.pointwiseBias = middle.offset;
    this.regions = regionOfCells(rows, columns);
    this.pieces = new Int8Array((rows + 2 * RADIUS) * (columns + 2 * RADIUS)).fill(BEYOND);
    this.features = new Float64Array((rows + 2) * (columns + 2) * CHANNELS); // 0 at the border
    this.outputs = new Float64Array(this.numCells * CHANNELS);
  }

  /** Return {logits, value} of a state, for the player to move. */
  evaluate({ cells, toMove }) {
    this.#addWindows(cells, toMove);
    this.#convolve();
    const inputs = this.#pool();
    const { "value_hidden.weight": hidden, "value_hidden.bias": bias } = this.weights;
    const units = new Float64Array(bias.length);
    multiply(hidden, bias, inputs, 0, units, 0);
    const value = expected(linear(this.weights, "value", rectify(units)));
    return { logits: this.#policy(inputs.subarray(0, 2 * CHANNELS)), value };
  }

  /** Return what is added to the features of each cell: [cell, channel]. */
  #place(edges) {
    const sums = new Float64Array(this.numCells * CHANNELS);
    const add = (cell, array, index) => {
      const [to, from] = [cell * CHANNELS, index * CHANNELS];
      for (let c = 0; c < CHANNELS; c += 1) sums[to + c] += array[from + c];
    };
    for (let cell = 0; cell < this.numCells; cell += 1) {
      const row = Math.floor(cell / this.columns);
      const column = cell % this.columns;
      const below = this.rows - 1 - row;
      [row, below, column, this.columns - 1 - column].forEach((distance, edge) => {
        const near = Math.min(distance, NUM_DISTANCES - 1);
        add(cell, this.weights.edges, edges[edge] * NUM_DISTANCES + near);
      });
      if (this.weights.parity) add(cell, this.weights.parity, below % 2);
    }
    return sums;
  }

  /** Add up the features of each cell's windows. */
  #addWindows(cells, toMove) {
    const { rows, columns, pieces, features, start, lines } = this;
    const kinds = [0, 1 + toMove, 2 - toMove]; // by piece: empty, own or the opponent's
    const pitch = columns + 2 * RADIUS;
    const first = RADIUS * pitch + RADIUS;
    for (let cell = 0, row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1, cell += 1) {
        pieces[first + row * pitch + column] = kinds[cells[cell]];
      }
    }
    const steps = STEPS.map(([down, right]) => down * pitch + right);
    for (let cell = 0, row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1, cell += 1) {
        const seen = first + row * pitch + column;
        const a = lines[0].features(windowOf(pieces, seen, steps[0]));
        const b = lines[1].features(windowOf(pieces, seen, steps[1]));
        const c = lines[2].features(windowOf(pieces, seen, steps[2]));
        const d = lines[3].features(windowOf(pieces, seen, steps[3]));
        const from = cell * CHANNELS;
        const to = ((row + 1) * (columns + 2) + column + 1) * CHANNELS;
        for (let k = 0; k < CHANNELS; k += 1) {
          const sum = start[from + k] + a[k] + b[k] + c[k] + d[k];
          features[to + k] = sum > 0 ? sum : 0;
        }
      }
    }
  }

  /** Apply the depthwise and the pointwise convolution, and add their input. */
  #convolve() {
    const { rows, columns, features, outputs, pointwise, pointwiseBias } = this;
    const kernels = this.weights["depthwise.weight"]; // [channel, 1, 3, 3]
    const pitch = (columns + 2) * CHANNELS;
    const mixed = new Float64Array(CHANNELS);
    for (let row = 0, to = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1, to += CHANNELS) {
        const above = row * pitch + column * CHANNELS;
        for (let c = 0; c < CHANNELS; c += 1) {
          let sum = 0;
          for (let down = 0, at = above + c, k = 9 * c; down < 3; down += 1, at += pitch, k += 3) {
            sum += features[at] * kernels[k];
            sum += features[at + CHANNELS] * kernels[k + 1];
            sum += features[at + 2 * CHANNELS] * kernels[k + 2];
          }
          mixed[c] = sum;
        }
        multiply(pointwise, pointwiseBias, mixed, 0, outputs, to);
        const here = above + pitch + CHANNELS;
        for (let c = 0; c < CHANNELS; c += 1) {
          const sum = outputs[to + c] + features[here + c];
          outputs[to + c] = sum > 0 ? sum : 0;
        }
      }
    }
  }

  /** Return the means and the maxima over the board, and the means over each of its regions. */
  #pool() {
    const { numCells, outputs, regions } = this;
    const inputs = new Float64Array((2 + 9) * CHANNELS);
    const sizes = new Int32Array(9);
    for (let cell = 0; cell < numCells; cell += 1) {
      const from = cell * CHANNELS;
      const to = (2 + regions[cell]) * CHANNELS;
      sizes[regions[cell]] += 1;
      for (let c = 0; c < CHANNELS; c += 1) {
        const output = outputs[from + c];
        inputs[to + c] += output;
        if (output > inputs[CHANNELS + c]) inputs[CHANNELS + c] = output;
      }
    }
    for (let k = 0; k < 9 * CHANNELS; k += 1) {
      const sum = inputs[2 * CHANNELS + k];
      inputs[k % CHANNELS] += sum / numCells;
      inputs[2 * CHANNELS + k] = sum / Math.max(sizes[Math.floor(k / CHANNELS)], 1);
    }
    return inputs;
  }

  /** Return the logits of cells, or of cells and the pass, or of columns. */
  #policy(pooled) {
    const { numCells, columns, outputs, weights } = this;
    const { "policy.weight": policy, "policy.bias": bias } = weights;
    const logits = new Float64Array(weights.parity ? columns : numCells);
    const shared = weights["policy_hidden.bias"].slice();
    multiply(weights["policy_global.weight"], shared, pooled, 0, shared, 0);
    const hidden = new Float64Array(shared.length);
    for (let cell = 0; cell < numCells; cell += 1) {
      multiply(weights["policy_hidden.weight"], shared, outputs, cell * CHANNELS, hidden, 0);
      let sum = bias[0];
      for (let k = 0; k < hidden.length; k += 1) if (hidden[k] > 0) sum += hidden[k] * policy[k];
      logits[cell % logits.length] += sum;
    }
    if (!weights["pass_logit.weight"]) return logits;
    return Float64Array.of(...logits, ...linear(weights, "pass_logit", pooled));
  }
}

/** Return the region of each cell: a third of the rows, rounded, is first, a third last. */
function regionOfCells(rows, columns) {
  const part = (index, size) => {
    const third = Math.round(size / 3);
    return index < third ? 0 : index < size - third ? 1 : 2;
  };
  return Int32Array.from({ length: rows * columns }, (_, cell) => {
    return 3 * part(Math.floor(cell / columns), rows) + part(cell % columns, columns);
  });
}

/** Write a matrix, [output, input], times some inputs, plus a bias; outputs are a multiple of 4. */
function multiply(matrix, bias, inputs, from, outputs, to) {
  const numInputs = matrix.length / bias.length;
  for (let row = 0, at = 0; row < bias.length; row += 4, at += 4 * numInputs) {
    let a = bias[row];
    let b = bias[row + 1];
    let c = bias[row + 2];
    let d = bias[row + 3];
    for (let k = 0; k < numInputs; k += 1) {
      const input = inputs[from + k];
      a += input * matrix[at + k];
      b += input * matrix[at + numInputs + k];
      c += input * matrix[at + 2 * numInputs + k];
      d += input * matrix[at + 3 * numInputs + k];
    }
    outputs[to + row] = a;
    outputs[to + row + 1] = b;
    outputs[to + row + 2] = c;
    outputs[to + row + 3] = d;
  }
}

/** Return the outputs of a linear layer. */
function linear(weights, name, inputs) {
  const weight = weights[`${name}.weight`]; // [output, input]
  return weights[`${name}.bias`].map((bias, row) => {
    return inputs.reduce((sum, input, k) => sum + input * weight[row * inputs.length + k], bias);
  });
}

function rectify(units) {
  return units.map((unit) => Math.max(unit, 0));
}
