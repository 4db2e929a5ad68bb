// A network of line patterns: the arithmetic of alphazero/network/patterns.py.
//
// What a line of cells adds to the shared units depends on its own pieces only. It is computed when
// a line is first met in some state, and kept: most positions of a search add up what is there.

import { BEYOND, RADIUS, STEPS, folded, lineMappings, windowOf } from "./line_mapping.js";
import { expected } from "./value_head.js";

const MAX_KEPT = 20_000; // contributions: 40 MB with 512 units

export class PatternNetwork {
  /**
   * @param arrays the network's weights by name, Float32Array
   * @param rules of its game
   */
  constructor(arrays, { rows, columns }) {
    this.arrays = arrays;
    const { scale, offset } = folded(arrays, "norm");
    this.constant = this.#constant(offset);
    const mappings = lineMappings(arrays, scale);
    this.lines = STEPS.flatMap(([down, right], direction) =>
      linesOf(rows, columns, down, right).map((cells) => ({
        cells,
        mapping: mappings[direction],
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
  #constant(offset) {
    const { "shared.weight": weight, "shared.bias": bias } = this.arrays;
    const numInputs = weight.length / bias.length;
    return bias.map((sum, u) => {
      for (let i = 0; i < numInputs; i += 1) {
        sum += weight[u * numInputs + i] * offset[i % offset.length];
      }
      return sum;
    });
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
  #contribution({ cells, mapping }, number) {
    const beyond = Array(RADIUS).fill(BEYOND);
    const digits = number.toString(3).padStart(cells.length, "0");
    const pieces = [...beyond, ...Array.from(digits, Number), ...beyond];
    const weight = this.arrays["shared.weight"]; // [unit, cell of the board, feature]
    const contribution = new Float32Array(this.constant.length);
    const numInputs = weight.length / contribution.length;
    cells.forEach((cell, k) => {
      const features = mapping.features(windowOf(pieces, RADIUS + k, 1));
      addProducts(contribution, weight, features, cell * features.length, numInputs);
    });
    return contribution;
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

/** Return all lines of a board in one direction, each as its cells in order. */
function linesOf(rows, columns, down, right) {
  const isCell = (row, column) => row >= 0 && row < rows && column >= 0 && column < columns;
  const lines = [];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      if (isCell(row - down, column - right)) continue;
      const line = [];
      for (let k = 0; isCell(row + k * down, column + k * right); k += 1) {
        line.push((row + k * down) * columns + column + k * right);
      }
      lines.push(line);
    }
  }
  return lines;
}
