// The backend of the page that needs no server: a Web Worker answers.
//
// It is a `Backend` of page/src/api.ts that only plays.

export function browserBackend() {
  const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  const waiting = new Map();
  let lastId = 0;

  worker.onmessage = ({ data: { id, message, result, error, status } }) => {
    const request = waiting.get(id);
    if (!request) return; // it was stopped
    if (message) {
      request.onMessage?.(message);
      return;
    }
    waiting.delete(id);
    if (error === undefined) request.resolve(result);
    else request.reject(Object.assign(new Error(error), { status }));
  };
  worker.onerror = (event) => {
    const message = event.message || "The engine cannot be loaded in this browser.";
    waiting.forEach(({ reject }) => reject(new Error(message)));
    waiting.clear();
  };

  function ask(method, request, { signal, onMessage } = {}) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      lastId += 1;
      const id = lastId;
      waiting.set(id, { resolve, reject, onMessage });
      signal?.addEventListener("abort", () => {
        if (!waiting.delete(id)) return;
        worker.postMessage({ id, method: "stop" });
        reject(signal.reason);
      });
      worker.postMessage({ id, method, request });
    });
  }

  return {
    games: () => ask("games"),
    position: (request) => ask("position", request),
    positions: (requests) => Promise.all(requests.map((one) => ask("position", one))),
    move: (request, options) => ask("move", request, options),
  };
}
