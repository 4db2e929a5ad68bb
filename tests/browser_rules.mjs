// Runs the browser's rules, networks, search and answers in node, for the tests in
// interop/test_browser_backend.py.
//
// In: a JSON list of [method, request]. Out: a JSON list of answers; of a stream, its messages. For
// searches, the network is replaced by one for which later actions are better, and a piece in the
// lower left corner.

import { readFileSync } from "node:fs";

import { Answers } from "../browser/answers.js";
import { makeNetwork } from "../browser/network.js";
import { makeRules } from "../browser/rules.js";
import { Search } from "../browser/search.js";

const { games, requests } = JSON.parse(readFileSync(0, "utf8"));
let numEvaluated = 0;

function networkOf(rules) {
  const lowerLeft = (rules.rows - 1) * rules.columns;
  const logits = Float32Array.from({ length: rules.rows * rules.columns + 1 }, (_, a) => a / 8);
  return {
    evaluate({ cells, toMove }) {
      numEvaluated += 1;
      const piece = cells[lowerLeft];
      return { logits, value: piece ? (piece - 1 === toMove ? 0.5 : -0.5) : 0 };
    },
  };
}

/** Search a position; return the root's visits and value. */
function search({ game, moves, num_simulations: num }) {
  const rules = makeRules(game);
  const state = after(rules, moves).at(-1);
  const found = new Search(rules, networkOf(rules), state, num);
  while (!found.finished) found.step();
  const { visits, value, proven } = found.root;
  return {
    visits: Object.fromEntries(state.legal.map((action, index) => [action, visits[index]])),
    value: proven ?? value,
    proven,
  };
}

/** Return what a network file says of each position of a game. */
function evaluate({ game, moves, path }) {
  const rules = makeRules(game);
  const { buffer, byteOffset, length } = readFileSync(path);
  const stored = makeNetwork(buffer.slice(byteOffset, byteOffset + length), rules);
  return after(rules, moves).map((state) => {
    const { logits, value } = stored.evaluate(state);
    return { logits: [...logits], value };
  });
}

/** Return the states of a game, the first one included. */
function after(rules, moves) {
  const states = [rules.start()];
  for (const action of moves) states.push(rules.step(states.at(-1), action));
  return states;
}

function perft(rules, state, depth) {
  if (depth === 1) return state.legal.length;
  return state.legal.reduce((sum, a) => sum + perft(rules, rules.step(state, a), depth - 1), 0);
}

/** Return what the rules say about each position of a game. */
function play({ game, moves }) {
  return after(makeRules(game), moves).map(({ cells, toMove, over, winner, legal }) => {
    return { cells: [...cells], toMove, over, winner, legal };
  });
}

const answers = new Answers(games, async (_, rules) => networkOf(rules));
const own = {
  evaluate,
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
