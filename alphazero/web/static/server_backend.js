// The backend with a server: requests by fetch, streams as lines of JSON.
//
// An error has the server's sentence as its message, and `status`; a lost connection has none.

export function serverBackend() {
  return {
    games: () => getJson("api/games"),
    runs: () => getJson("api/runs"),
    run: (id) => getJson(`api/run?id=${encodeURIComponent(id)}`),
    position: (request, options) => postJson("api/position", request, options),
    exact: (request, options) => postJson("api/exact", request, options),
    move: (request, options) => stream("api/move", request, options),
    analyse: (request, options) => stream("api/analyse", request, options),
    review: (request, options) => stream("api/review", request, options),
    misplayed: (request, options) => stream("api/misplayed", request, options),
  };
}

/** Return whether a request may succeed if it is sent again. */
export function isTemporary(error) {
  return error.status === undefined || error.status === 503;
}

async function getJson(path) {
  return (await send(path, {})).json();
}

async function postJson(path, request, { signal } = {}) {
  return (await post(path, request, signal)).json();
}

/** Call `onMessage` with each line of the answer; an "error" line is an error. */
async function stream(path, request, { signal, onMessage } = {}) {
  const response = await post(path, request, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      lines.filter((line) => line.trim()).forEach((line) => take(JSON.parse(line), onMessage));
    }
  } finally {
    reader.cancel().catch(() => {});
  }
  if (rest.trim()) throw new Error("The connection to the server was lost.");
}

function take(message, onMessage) {
  if (message.type === "error") throw failure(message.error, message.status ?? 500);
  onMessage?.(message);
}

function post(path, request, signal) {
  const headers = { "Content-Type": "application/json" };
  return send(path, { method: "POST", headers, body: JSON.stringify(request), signal });
}

async function send(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Error("The connection to the server was lost.");
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  throw failure(
    answer.error ?? `The server answered with status ${response.status}.`,
    response.status,
  );
}

function failure(message, status) {
  return Object.assign(new Error(message), { status });
}
