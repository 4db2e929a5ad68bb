// Runs the browser's rules, search and answers in node, for tests/test_browser_backend.py.
//
// In: a JSON list of [method, request]. Out: a JSON list of answers; of a stream, its messages. The
// network is replaced by one for which later actions are better, and a piece in the lower left corner.

import { readFileSync } from "node:fs";

import { Answers } from "../browser/answers.js";
import { Evaluator } from "../browser/evaluator.js";
import { makeRules } from "../browser/rules.js";
import { Search } from "../browser/search.js";

const { games, requests } = JSON.parse(readFileSync(0, "utf8"));
let numEvaluated = 0;

async function loadEvaluator(name, rules) {
  const size = rules.rows * rules.columns;
  const corner = size - rules.columns;
  return new Evaluator(rules, async (planes, num) => {
    numEvaluated += num;
    const rows = [...Array(num).keys()].map((k) => k * rules.numPlanes * size + corner);
    return {
      logits: Float32Array.from(rows.flatMap(() => [...Array(rules.numActions).keys()]), (a) => a / 8),
      values: Float32Array.from(rows, (cell) => (planes[cell] - planes[cell + size]) / 2),
    };
  });
}

/** Search a position; return the root's visits and value, and what is left of visits in flight. */
async function search({ game, moves, num_simulations: num, num_leaves: numLeaves }) {
  const rules = makeRules(game);
  const state = moves.reduce((before, action) => rules.step(before, action), rules.start());
  const evaluator = await loadEvaluator(game, rules);
  const found = new Search(rules, (states) => evaluator.evaluate(states), state, num);
  found.numLeaves = numLeaves ?? found.numLeaves;
  do await found.step();
  while (!found.finished);
  const nodes = [found.root];
  for (const node of nodes) nodes.push(...node.children.filter(Boolean));
  const inFlight = nodes.map((node) => node.numInFlight + node.inFlight.reduce((a, b) => a + b, 0));
  const { visits, value, proven } = found.root;
  return {
    visits: Object.fromEntries(state.legal.map((action, index) => [action, visits[index]])),
    value: proven ?? value,
    proven,
    num_leaves: found.numLeaves,
    in_flight: inFlight.reduce((a, b) => a + b, 0),
  };
}

function perft(rules, state, depth) {
  if (depth === 1) return state.legal.length;
  return state.legal.reduce((sum, a) => sum + perft(rules, rules.step(state, a), depth - 1), 0);
}

/** Return what the rules say about each position of a game. */
function play({ game, moves }) {
  const rules = makeRules(game);
  const states = [rules.start()];
  for (const action of moves) states.push(rules.step(states.at(-1), action));
  return states.map((state) => {
    const planes = new Float32Array(rules.numPlanes * rules.rows * rules.columns);
    rules.observe(state, planes, 0);
    const { cells, toMove, over, winner, legal } = state;
    return { cells: [...cells], toMove, over, winner, legal, planes: [...planes] };
  });
}

const answers = new Answers(games, loadEvaluator);
const own = {
  play,
  search,
  perft: ({ game, depth }) => perft(makeRules(game), makeRules(game).start(), depth),
  num_evaluated: () => numEvaluated,
};

const found = [];
for (const [method, request] of requests) {
  const messages = [];
  let asked = 0;
  const stopped = () => request?.stop_after !== undefined && (asked += 1) > request.stop_after;
  try {
    const emit = (message) => messages.push(message);
    const result = own[method]
      ? await own[method](request)
      : await answers[method](request, emit, stopped);
    found.push(result ?? messages);
  } catch (error) {
    found.push({ error: error.message, status: error.status ?? 500 });
  }
}
console.log(JSON.stringify(found));
