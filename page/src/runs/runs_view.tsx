// The Runs view: the runs on this machine, as they train; several of them compared.

import { useEffect, useState } from "preact/hooks";
import type { RunList } from "../api";
import type { App } from "../app";
import { idsOf, listHash } from "./address";
import { RunPage } from "./run_page";
import { MOST_RUNS, RunsTable } from "./runs_table";

interface RunsViewProps {
  app: App;
  /** Of the run to show, "" for the list. */
  id: string;
  parameters: Record<string, string>;
}

export function RunsView({ app, id, parameters }: RunsViewProps) {
  const [list, setList] = useState<RunList | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    app.backend.runs?.live(stop.signal, setList);
    return () => stop.abort();
  }, []);
  const others = idsOf(parameters.with);
  const [ticked, setTicked] = useState(others);
  useEffect(() => setTicked(others), [id, parameters.with]);

  if (list === null) {
    return (
      <div class="runs-view">
        <h1 class="visually-hidden">Runs</h1>
        <p role="status">Loading …</p>
      </div>
    );
  }
  const ids = id ? [...new Set([id, ...others])].slice(0, MOST_RUNS) : [];
  const chosen = ids.flatMap((one) => list.runs.find((run) => run.id === one) ?? []);
  const missing = ids.filter((one) => !chosen.some((run) => run.id === one));
  const onTick = (now: string[]) => {
    setTicked(now);
    app.rewrite(listHash(now));
  };
  return (
    <div class="runs-view">
      {missing.map((one) => (
        <p key={one} class="error-line" role="alert">
          There is no run {one} here.
        </p>
      ))}
      {chosen.length ? (
        <RunPage app={app} list={list} chosen={chosen} x={parameters.x} />
      ) : (
        <>
          <h1>Runs</h1>
          {list.runs.length ? (
            <RunsTable app={app} list={list} ticked={ticked} onTick={onTick} />
          ) : (
            <EmptyState />
          )}
        </>
      )}
      {!chosen.length &&
        list.damaged.map((one) => (
          <p key={one.id} class="error-line">
            {one.id}: {one.error}
          </p>
        ))}
    </div>
  );
}

function EmptyState() {
  return (
    <div class="empty-state">
      <p>There are no runs here yet. This trains a network in a few minutes:</p>
      <pre>
        <code>alphazero train game=tic_tac_toe</code>
      </pre>
      <p>Its curves and networks appear here while it runs.</p>
    </div>
  );
}
