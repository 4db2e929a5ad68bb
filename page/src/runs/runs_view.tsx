// The Runs view: the runs on this machine, as they train; several of them compared.

import { useEffect, useState } from "preact/hooks";
import type { RunList } from "../api";
import type { App, ViewProps } from "../app";
import { dateText } from "../format";
import { Button, Table } from "../ui";
import { ErrorLine, figuresOf, idsOf, RunName, runsHash } from "./parts";
import { RunPage } from "./run_page";

const MOST_RUNS = 6;
const COLUMNS = ["Run", "Game", "Iterations", "Training", "Exact accuracy", "Elo", "Updated"];

/** `id`: of the run to show, "" for the list. */
type RunsViewProps = ViewProps & { id: string };

export function RunsView({ app, id, parameters }: RunsViewProps) {
  const [list, setList] = useState<RunList | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    app.backend.runs?.live(stop.signal, setList);
    return () => stop.abort();
  }, []);
  const others = idsOf(parameters.with);
  const ids = id ? [...new Set([id, ...others])].slice(0, MOST_RUNS) : [];
  const chosen = ids.flatMap((one) => list?.runs.find((run) => run.id === one) ?? []);
  const missing = ids.filter((one) => list && !chosen.some((run) => run.id === one));
  return (
    <div class="runs-view">
      <ErrorLine text={missing.map((one) => `There is no run ${one} here.`).join(" ")} />
      {chosen.length > 0 && <RunPage app={app} chosen={chosen} x={parameters.x} />}
      {chosen.length === 0 && <h1>Runs</h1>}
      {!list && <p role="status">Loading …</p>}
      {list && !chosen.length && <Runs key={parameters.with} {...{ app, list }} given={others} />}
    </div>
  );
}

/** `given`: the ids of the runs that are ticked at first. */
type RunsProps = { app: App; list: RunList; given: string[] };

function Runs({ app, list: { runs, damaged }, given }: RunsProps) {
  const [ticked, setTicked] = useState(given);
  const chosen = ticked.filter((id) => runs.some((run) => run.id === id));
  const [first, ...rest] = chosen;
  const tick = (id: string) => {
    const others = chosen.filter((one) => one !== id);
    const now = others.length < chosen.length ? others : [...chosen, id];
    setTicked(now);
    app.rewrite(runsHash("", now));
  };
  const rows = runs.map((run) => [
    <>
      <input
        type="checkbox"
        checked={chosen.includes(run.id)}
        disabled={chosen.length >= MOST_RUNS && !chosen.includes(run.id)}
        aria-label={`Compare ${run.name}`}
        onChange={() => tick(run.id)}
      />
      <RunName run={run} />
    </>,
    app.catalogue.value.games.find(({ name }) => name === run.game)?.title ?? run.game,
    ...Object.values(figuresOf(run)),
    dateText(1000 * run.updated),
  ]);
  const caption = "Training runs, newest first";
  const problems = damaged.map(({ id, error }) => <p class="error-line">{`${id}: ${error}`}</p>);
  return (
    <>
      {runs.length ? <Table class="runs-table" {...{ caption, rows }} columns={COLUMNS} /> : EMPTY}
      {runs.length > 1 && (
        <div class="compare-bar">
          <Button class="primary" off={!rest.length} onClick={() => app.go(runsHash(first, rest))}>
            Compare {rest.length ? `${chosen.length} runs` : "runs"}
          </Button>
          <p class="hint-text">Tick 2 to {MOST_RUNS} runs to lay their curves over each other.</p>
        </div>
      )}
      {problems}
    </>
  );
}

const EMPTY = (
  <div class="empty-state">
    <p>There are no runs here yet. This trains a network in a few minutes:</p>
    <pre>
      <code>alphazero train game=tic_tac_toe</code>
    </pre>
    <p>Its curves and networks appear here while it runs.</p>
  </div>
);
