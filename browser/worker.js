// Runs the answers in a Web Worker.
//
// In: {id, method, request}, or {id, method: "stop"}. Out: {id, message} of a move, then
// {id, result} or {id, error, status}.

import { Answers } from "./answers.js";
import { makeNetwork } from "./network.js";

const running = new Set();
const answers = fetchOf("games.json")
  .then((response) => response.json())
  .then((games) => new Answers(games, loadNetwork));
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

async function loadNetwork(name, rules) {
  const response = await fetchOf(`networks/${name.replace(":", "_")}.safetensors`);
  return makeNetwork(await response.arrayBuffer(), rules);
}

async function fetchOf(path) {
  const response = await fetch(new URL(path, import.meta.url));
  if (!response.ok) throw new Error(`${path} cannot be loaded (status ${response.status}).`);
  return response;
}
