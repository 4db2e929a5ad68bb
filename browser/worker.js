// Runs the answers in a Web Worker, with the networks in onnxruntime's WebAssembly.
//
// In: {id, method, request}, or {id, method: "stop"}. Out: {id, message} of a move, then
// {id, result} or {id, error, status}.

import { Answers } from "./answers.js";
import { Evaluator } from "./evaluator.js";

const running = new Set();
const answers = fetchOf("games.json")
  .then((response) => response.json())
  .then((games) => new Answers(games, loadEvaluator));
answers.catch(() => {}); // each request reports it

self.onmessage = async ({ data: { id, method, request } }) => {
  if (method === "stop") {
    running.delete(id);
    return;
  }
  running.add(id);
  try {
    const emit = (message) => self.postMessage({ id, message });
    const result = await (await answers)[method](request, emit, () => !running.has(id));
    self.postMessage({ id, result });
  } catch (error) {
    self.postMessage({ id, error: error.message, status: error.status ?? 500 });
  }
  running.delete(id);
};

async function loadEvaluator(name, rules) {
  // Only now: a reader who does not play loads neither the engine nor a network.
  const ort = await import("./onnxruntime/ort.wasm.bundle.min.mjs");
  ort.env.wasm.numThreads = 1; // more need headers that few static sites send
  const response = await fetchOf(`networks/${name.replace(":", "_")}.onnx`);
  const session = await ort.InferenceSession.create(new Uint8Array(await response.arrayBuffer()));
  const shape = [rules.numPlanes, rules.rows, rules.columns];
  let last = Promise.resolve(); // a session runs one batch at a time
  const run = (planes, num) => {
    const batch = new ort.Tensor("float32", planes, [num, ...shape]);
    const running = last.then(() => session.run({ planes: batch }));
    last = running.catch(() => {});
    return running.then((found) => ({
      logits: found.prior_logits.data,
      values: found.value.data,
    }));
  };
  return new Evaluator(rules, run);
}

async function fetchOf(path) {
  const response = await fetch(new URL(path, import.meta.url));
  if (!response.ok) throw new Error(`${path} cannot be loaded (status ${response.status}).`);
  return response;
}
