// The backend with a server: requests by fetch, streams as lines of JSON or as events.
//
// While the server does not answer, requests wait; once it is back they are sent again, and streams
// begin anew. So every view goes on by itself.

import { signal as state } from "@preact/signals";
import type { Backend, RunList, StreamMessage, Watch } from "./api";
import { pause } from "./board/motion";

const RETRY_MS = 1000;
const AWAY = [502, 503, 504]; // what a proxy, or a server with too many connections, answers

/** Whether the server does not answer. */
export const isLost = state(false);
let back = Promise.resolve();

class ConnectionLost extends Error {}

/** Return when the server answers again. */
function whenBack(): Promise<void> {
  const ask = () => fetch("api/games").catch(() => ({ status: AWAY[0] }));
  const wait = async () => {
    do await pause(RETRY_MS);
    while (AWAY.includes((await ask()).status));
    isLost.value = false;
  };
  if (!isLost.value) back = wait();
  isLost.value = true;
  return back;
}

/** Do what asks the server, again whenever the connection is lost. */
async function persist<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error;
    await whenBack();
    signal?.throwIfAborted();
    return persist(work, signal);
  }
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
    events.onerror = () => {
      events?.close();
      void whenBack().then(follow);
    };
  };
  document.addEventListener("visibilitychange", follow, { signal });
  signal.addEventListener("abort", follow);
  follow();
}

function ask<T>(path: string, request?: unknown, signal?: AbortSignal): Promise<T> {
  return persist(async () => (await send(path, request, signal)).json(), signal);
}

function stream<M extends StreamMessage>(path: string, request: unknown, watch: Watch<M>) {
  const { signal, onMessage } = watch;
  return persist(async () => {
    const { body } = await send(path, request, signal);
    if (!body) throw new ConnectionLost();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read().catch((error) => lost(error, signal));
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const message = JSON.parse(line);
        if (message.type === "error") throw new Error(message.error); // it is the last one
        onMessage?.(message);
      }
    }
    if (rest) throw new ConnectionLost();
  }, signal);
}

/** Send a request as JSON, or ask for a path if there is none. */
async function send(path: string, request?: unknown, signal?: AbortSignal): Promise<Response> {
  const headers = { "Content-Type": "application/json" };
  const options = request ? { method: "POST", headers, body: JSON.stringify(request), signal } : {};
  const response = await fetch(path, options).catch((error) => lost(error, signal));
  if (response.ok) return response;
  if (AWAY.includes(response.status)) throw new ConnectionLost();
  const answer = await response.json().catch(() => ({}));
  throw new Error(answer.error ?? `The server answered with status ${response.status}.`);
}

function lost(error: unknown, signal?: AbortSignal): never {
  throw signal?.aborted ? error : new ConnectionLost();
}
