// Answers of the network for positions, kept so that a later search need not ask again.

const MAX_KEPT = 20_000;

export class Evaluator {
  /**
   * @param rules of the game
   * @param run async: maps planes (Float32Array) and the number of positions to {logits, values}
   */
  constructor(rules, run) {
    Object.assign(this, { rules, run, kept: new Map() });
  }

  /** Return {logits, value} of each state. */
  async evaluate(states) {
    const keys = states.map(keyOf);
    const unknown = new Map();
    keys.forEach((key, k) => {
      if (!this.kept.has(key)) unknown.set(key, states[k]);
    });
    const found = new Map(keys.map((key) => [key, this.kept.get(key)]));
    if (unknown.size) {
      const answers = await this.#ask([...unknown.values()]);
      if (this.kept.size > MAX_KEPT) this.kept.clear();
      [...unknown.keys()].forEach((key, k) => {
        found.set(key, answers[k]);
        this.kept.set(key, answers[k]);
      });
    }
    return keys.map((key) => found.get(key));
  }

  async #ask(states) {
    const { numPlanes, rows, columns, numActions } = this.rules;
    const size = numPlanes * rows * columns;
    const planes = new Float32Array(states.length * size);
    states.forEach((state, k) => this.rules.observe(state, planes, k * size));
    const { logits, values } = await this.run(planes, states.length);
    return states.map((_, k) => ({
      logits: logits.slice(k * numActions, (k + 1) * numActions),
      value: values[k],
    }));
  }
}

function keyOf(state) {
  return String.fromCharCode(state.toMove, ...state.cells);
}
