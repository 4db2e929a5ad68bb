// The backend with a server: requests by fetch, streams as lines of JSON or as events.

import type { Backend, RunList, StreamMessage, Watch } from "./api";

const RETRY_MS = 1000;

/** A request that failed; `status` as in HTTP, undefined after a lost connection. */
export class RequestError extends Error {
  constructor(
    message = "The connection to the server was lost.",
    readonly status?: number,
  ) {
    super(message);
  }
}

/** Return whether a request may succeed if it is sent again. */
export function isTemporary(error: unknown): boolean {
  return error instanceof RequestError && (error.status === undefined || error.status === 503);
}

export function serverBackend(): Backend {
  return {
    games: () => ask("api/games"),
    position: (request) => ask("api/position", request),
    positions: (requests) => ask("api/positions", { requests }),
    move: (request, watch) => stream("api/move", request, watch),
    analysis: {
      exact: (request, watch) => ask("api/exact", request, watch?.signal),
      analyse: (request, watch) => stream("api/analyse", request, watch),
      review: (request, watch) => stream("api/review", request, watch),
    },
    runs: {
      live,
      rows: (id) => ask(`api/run?${new URLSearchParams({ id })}`),
    },
  };
}

/** A hidden page does not listen: browsers allow six connections to a server. */
function live(signal: AbortSignal, onList: (list: RunList) => void): void {
  let events: EventSource | null = null;
  const follow = () => {
    events?.close();
    events = document.hidden || signal.aborted ? null : new EventSource("api/live");
    if (!events) return;
    events.onmessage = (event) => onList(JSON.parse(event.data));
    // A browser connects again by itself, unless it was refused.
    events.onerror = () => {
      if (events?.readyState === EventSource.CLOSED) setTimeout(follow, RETRY_MS);
    };
  };
  document.addEventListener("visibilitychange", follow, { signal });
  signal.addEventListener("abort", follow);
  follow();
}

async function ask<T>(path: string, request?: unknown, signal?: AbortSignal): Promise<T> {
  return (await send(path, request, signal)).json();
}

async function stream<M extends StreamMessage>(
  path: string,
  request: unknown,
  { signal, onMessage }: Watch<M>,
): Promise<void> {
  const { body } = await send(path, request, signal);
  if (!body) throw new RequestError();
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => lost(error, signal));
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines.filter((one) => one.trim())) {
        const message = JSON.parse(line);
        if (message.type === "error") throw new RequestError(message.error, message.status ?? 500);
        onMessage?.(message);
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
  if (rest.trim()) throw new RequestError();
}

/** Send a request as JSON, or ask for a path if there is none. */
async function send(path: string, request?: unknown, signal?: AbortSignal): Promise<Response> {
  const headers = { "Content-Type": "application/json" };
  const options = request ? { method: "POST", headers, body: JSON.stringify(request), signal } : {};
  const response = await fetch(path, options).catch((error) => lost(error, signal));
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  const message = answer.error ?? `The server answered with status ${response.status}.`;
  throw new RequestError(message, response.status);
}

function lost(error: unknown, signal?: AbortSignal): never {
  throw signal?.aborted ? error : new RequestError();
}
