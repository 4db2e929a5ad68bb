// PUCT search of one position, with proven results.
//
// The formulas are those of alphazero/search: puct.py chooses, tree.py backs values up and proves
// results. Values of a node are for the player to move in it; values of its actions as well.

const EXPLORATION = { pbCInit: 1.25, pbCBase: 19652, urgency: 0.25, rootUrgency: 0 };

class Node {
  constructor(state, parent, index) {
    const num = state.legal.length;
    const won = state.winner === state.toMove ? 1 : -1;
    Object.assign(this, { state, parent, index });
    this.proven = state.over ? (state.winner === null ? 0 : won) : null;
    this.value = this.proven ?? 0;
    this.numVisits = 1;
    this.children = Array(num).fill(null);
    this.visits = new Int32Array(num);
    this.values = new Float64Array(num);
    this.priors = null; // until it is evaluated
  }

  /** Take a network's answer: logits of all actions, and the value. */
  expand({ logits, value }) {
    const legal = this.state.legal.map((action) => logits[action]);
    const largest = Math.max(...legal);
    const weights = legal.map((logit) => Math.exp(logit - largest));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    this.priors = Float64Array.from(weights, (weight) => weight / total); // 0 for a proven loss
    this.value = value;
  }

  /** Return the index of the legal action with the largest PUCT score. */
  select() {
    const { pbCInit, pbCBase, urgency, rootUrgency } = EXPLORATION;
    const num = this.numVisits;
    const scale = (pbCInit + Math.log((num + pbCBase + 1) / pbCBase)) * Math.sqrt(num);
    let visited = 0;
    this.priors.forEach((prior, index) => (visited += this.visits[index] ? prior : 0));
    const reduction = (this.parent ? urgency : rootUrgency) * Math.sqrt(visited);
    const unvisitedValue = Math.max(this.value - reduction, -1);
    let best = -1;
    let bestScore = -Infinity;
    for (let index = 0; index < this.priors.length; index += 1) {
      const visits = this.visits[index];
      const value = visits ? this.values[index] : unvisitedValue;
      const score = value + (scale * this.priors[index]) / (1 + visits);
      if (score > bestScore) [best, bestScore] = [index, score];
    }
    return best;
  }

  /** Return the proven result of an action for the player to move here, else null. */
  provenResult(index) {
    const child = this.children[index];
    return child === null || child.proven === null ? null : sign(this, child) * child.proven;
  }

  /** Prove this node if its children allow it; return whether they do. */
  prove() {
    const results = this.children.map((_, index) => this.provenResult(index));
    if (results.includes(1)) this.proven = 1;
    else if (!results.includes(null)) this.proven = Math.max(...results);
    return this.proven !== null;
  }
}

/** Return 1 if the same player moves at both nodes, else -1; values change their view by it. */
function sign(parent, child) {
  return parent.state.toMove === child.state.toMove ? 1 : -1;
}

export class Search {
  /**
   * @param rules of the game, see rules.js
   * @param network whose `evaluate` maps a state to {logits, value}
   * @param state to search; not finished
   * @param numSimulations after which the search ends; it ends earlier if the result is proven
   */
  constructor(rules, network, state, numSimulations) {
    Object.assign(this, { rules, network, numSimulations });
    this.root = new Node(state, null, null);
    this.root.expand(network.evaluate(state));
  }

  get numDone() {
    return this.root.numVisits - 1;
  }

  get finished() {
    return this.root.proven !== null || this.numDone >= this.numSimulations;
  }

  /** Do one simulation. */
  step() {
    const leaf = this.#walk();
    if (leaf.proven === null) leaf.expand(this.network.evaluate(leaf.state));
    backUp(leaf);
  }

  /** Return the index of the root's action to play: the most visited that keeps its result. */
  best() {
    const { root } = this;
    const rank = (index) => {
      const result = root.provenResult(index);
      const keeps = root.proven === null ? result !== -1 : result === root.proven;
      return [Number(keeps), root.visits[index], root.priors[index]];
    };
    return indices(root).reduce((best, index) => (isLess(rank(best), rank(index)) ? index : best));
  }

  /** Return a new node, or a proven one. */
  #walk() {
    let node = this.root;
    while (node.proven === null && node.priors !== null) {
      const index = node.select();
      if (node.children[index] === null) {
        const state = this.rules.step(node.state, node.state.legal[index]);
        node.children[index] = new Node(state, node, index);
      }
      node = node.children[index];
    }
    return node;
  }
}

/** Add one visit with the leaf's value to everything above it, and carry proofs up. */
function backUp(leaf) {
  let value = leaf.proven ?? leaf.value;
  let proving = leaf.proven !== null;
  for (let node = leaf; node.parent; node = node.parent) {
    const { parent, index } = node;
    value *= sign(parent, node);
    parent.visits[index] += 1;
    if (node.proven === null) {
      parent.values[index] += (value - parent.values[index]) / parent.visits[index];
    } else {
      value = parent.values[index] = sign(parent, node) * node.proven;
      if (value === -1) parent.priors[index] = 0;
    }
    if (proving) {
      proving = parent.prove();
      if (proving) value = parent.proven;
    }
    parent.numVisits += 1;
    parent.value += (value - parent.value) / parent.numVisits;
  }
}

function indices(node) {
  return node.state.legal.map((_, index) => index);
}

function isLess(a, b) {
  const place = a.findIndex((number, k) => number !== b[k]);
  return place >= 0 && a[place] < b[place];
}
