// A network of line patterns: the arithmetic of alphazero/network/patterns.py.
//
// What a line of cells adds to the shared units depends on its own pieces only. It is computed when
// a line is first met in some state, and kept: most positions of a search add up what is there.

import { expected } from "./value_head.js";

const STEPS = [[0, 1], [1, 0], [1, 1], [1, -1]]; // row, column, diagonal, antidiagonal
const NUM_LAYERS = 3;
const WIDTH = 3; // of a convolution
const BATCH_NORM_EPSILON = 1e-5; // torch's
const MAX_KEPT = 20_000; // contributions: 40 MB with 512 units

export class PatternNetwork {
  /**
   * @param arrays the network's weights by name, Float32Array
   * @param rules of its game
   */
  constructor(arrays, { rows, columns }) {
    this.arrays = arrays;
    const { "norm.weight": gain, "norm.running_var": variance } = this.arrays;
    this.scale = gain.map((g, c) => g / Math.sqrt(variance[c] + BATCH_NORM_EPSILON));
    this.constant = this.#constant();
    this.lines = STEPS.flatMap(([down, right], direction) =>
      linesOf(rows, columns, down, right).map((line) => ({
        direction,
        cells: line.map(([row, column]) => row * columns + column),
        places: line.map(([row, column]) => row * (columns + 1) + column), // of position_bias
        kept: new Map(), // contribution by state
      })),
    );
    this.numKept = 0;
  }

  /** Return {logits, value} of a state, for the player to move. */
  evaluate({ cells, toMove }) {
    const units = this.constant.slice();
    const kinds = [0, 1 + toMove, 2 - toMove]; // by piece: empty, own or the opponent's
    for (const line of this.lines) {
      let number = 0;
      for (const cell of line.cells) number = 3 * number + kinds[cells[cell]];
      const contribution = line.kept.get(number) ?? this.#keep(line, number);
      for (let u = 0; u < units.length; u += 1) units[u] += contribution[u];
    }
    const logits = this.#rectifiedLinear("policy", units);
    const hidden = this.#rectifiedLinear("value_hidden", units);
    return { logits, value: expected(this.#rectifiedLinear("value", hidden)) };
  }

  /** Return the shared units of a board without lines: the biases. */
  #constant() {
    const { "norm.bias": bias, "norm.running_mean": mean, "shared.weight": weight } = this.arrays;
    const constant = this.arrays["shared.bias"].slice();
    const numChannels = bias.length;
    const offset = bias.map((b, c) => b - mean[c] * this.scale[c]);
    const numInputs = weight.length / constant.length;
    for (let u = 0; u < constant.length; u += 1) {
      for (let i = 0; i < numInputs; i += 1) {
        constant[u] += weight[u * numInputs + i] * offset[i % numChannels];
      }
    }
    return constant;
  }

  #keep(line, number) {
    if (this.numKept >= MAX_KEPT) {
      this.lines.forEach(({ kept }) => kept.clear());
      this.numKept = 0;
    }
    const contribution = this.#contribution(line, number);
    line.kept.set(number, contribution);
    this.numKept += 1;
    return contribution;
  }

  /** Return what a line adds to the shared units; its last cell is the number's last digit. */
  #contribution(line, number) {
    const length = line.cells.length;
    let features = new Float32Array(2 * length); // [cell, own or the opponent's]
    for (let cell = length - 1, rest = number; rest > 0; cell -= 1, rest = Math.floor(rest / 3)) {
      if (rest % 3) features[2 * cell + (rest % 3) - 1] = 1;
    }
    for (let layer = 0; layer < NUM_LAYERS; layer += 1) {
      features = this.#convolve(features, line, layer);
      if (layer < NUM_LAYERS - 1) rectify(features);
    }
    const numChannels = this.scale.length;
    for (let i = 0; i < features.length; i += 1) features[i] *= this.scale[i % numChannels];
    const weight = this.arrays["shared.weight"]; // [unit, cell of the board, channel]
    const contribution = new Float32Array(this.constant.length);
    const numInputs = weight.length / contribution.length;
    for (let k = 0; k < length; k += 1) {
      const inputs = features.subarray(k * numChannels, (k + 1) * numChannels);
      addProducts(contribution, weight, inputs, line.cells[k] * numChannels, numInputs);
    }
    return contribution;
  }

  /** Map features [cell, input channel] of a line to [cell, channel]. */
  #convolve(features, { direction, places }, layer) {
    const prefix = `directions.${direction}.`;
    const weight = this.arrays[`${prefix}layers.${layer}.weight`]; // [channel, input, 1, WIDTH]
    const bias = this.arrays[`${prefix}layers.${layer}.bias`];
    const atPlaces = layer ? null : this.arrays[`${prefix}position_bias`]; // [channel, 1, place]
    const numChannels = bias.length;
    const numInputs = features.length / places.length;
    const result = new Float32Array(places.length * numChannels);
    places.forEach((place, k) => {
      for (let c = 0; c < numChannels; c += 1) {
        let sum = bias[c];
        if (atPlaces) sum += atPlaces[(c * atPlaces.length) / numChannels + place];
        for (let offset = 0; offset < WIDTH; offset += 1) {
          const from = k + offset - 1;
          if (from < 0 || from >= places.length) continue;
          for (let i = 0; i < numInputs; i += 1) {
            sum += weight[(c * numInputs + i) * WIDTH + offset] * features[from * numInputs + i];
          }
        }
        result[k * numChannels + c] = sum;
      }
    });
    return result;
  }

  /** Return a linear layer's outputs for the ReLU of the inputs, most of which are negative. */
  #rectifiedLinear(name, inputs) {
    const active = [];
    for (let i = 0; i < inputs.length; i += 1) if (inputs[i] > 0) active.push(i);
    const weight = this.arrays[`${name}.weight`]; // [output, input]
    const outputs = this.arrays[`${name}.bias`].slice();
    for (let row = 0; row < outputs.length; row += 1) {
      let sum = outputs[row];
      for (const i of active) sum += weight[row * inputs.length + i] * inputs[i];
      outputs[row] = sum;
    }
    return outputs;
  }
}

/** Add a matrix's columns from `start` on, times the inputs; `stride` is the length of a row. */
function addProducts(outputs, matrix, inputs, start, stride) {
  for (let row = 0; row < outputs.length; row += 1) {
    const first = row * stride + start;
    let sum = outputs[row];
    for (let i = 0; i < inputs.length; i += 1) sum += matrix[first + i] * inputs[i];
    outputs[row] = sum;
  }
}

/** Return all lines of a board in one direction, each as [row, column] of its cells in order. */
function linesOf(rows, columns, down, right) {
  const isCell = (row, column) => row >= 0 && row < rows && column >= 0 && column < columns;
  const lines = [];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      if (isCell(row - down, column - right)) continue;
      const line = [];
      for (let k = 0; isCell(row + k * down, column + k * right); k += 1) {
        line.push([row + k * down, column + k * right]);
      }
      lines.push(line);
    }
  }
  return lines;
}

function rectify(features) {
  for (let i = 0; i < features.length; i += 1) if (features[i] < 0) features[i] = 0;
  return features;
}
