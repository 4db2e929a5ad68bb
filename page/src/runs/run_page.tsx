// The page of a run, or of several that are compared: their curves, settings, alarms and networks.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { RunList, RunRows, RunSummary } from "../api";
import type { App } from "../app";
import { accuracyText, capital, countText, durationText } from "../format";
import { Button, Choice } from "../ui";
import { runHash } from "./address";
import { Alarms, Comparison, Settings } from "./comparison";
import { LineChart } from "./line_chart";
import { Networks } from "./networks";
import { mergeCharts, useRunRows, type XKind } from "./run_rows";
import { AlarmTags, MOST_RUNS, RunName } from "./runs_table";
import { SelfPlay } from "./self_play";

const X_KINDS: [XKind, string][] = [
  ["iterations", "iterations"],
  ["games", "games"],
  ["hours", "time of training"],
];

interface RunPageProps {
  app: App;
  list: RunList;
  /** The first one is the one whose networks play. */
  chosen: RunSummary[];
  /** The x-axis that the address asks for. */
  x: string | undefined;
}

export function RunPage({ app, list, chosen, x }: RunPageProps) {
  const given = X_KINDS.find(([kind]) => kind === x)?.[0] ?? "iterations";
  const [kind, setKind] = useState(given);
  useEffect(() => setKind(given), [x]);
  const { rows, error } = useRunRows(app.backend, chosen);
  const ids = chosen.map(({ id }) => id);
  const contenders = chosen.map((run, k) => ({ run, rows: rows[k] }));
  const [first] = chosen;
  const game = app.catalogue.value.games.find(({ name }) => name === first.game);
  const isAlone = chosen.length === 1;
  const go = (now: string[]) => app.go(runHash(now, kind));
  const onKind = (now: XKind) => {
    setKind(now);
    app.rewrite(runHash(ids, now));
  };
  return (
    <article class="run-page">
      <p>
        <a href="#runs">← All runs</a>
      </p>
      <h1>{isAlone ? first.name : `${chosen.length} runs compared`}</h1>
      {isAlone && <p class="run-facts">{facts(first, game?.title ?? first.game)}</p>}
      <Chosen list={list} chosen={chosen} go={go} />
      {error && (
        <p class="error-line" role="alert">
          {capital(error)}
        </p>
      )}
      {!isAlone && <Comparison contenders={contenders} />}
      <div class="run-columns">
        <Curves chosen={chosen} rows={rows} kind={kind} onKind={onKind} />
        <div class="run-aside">
          {game && first.playable && first.networks.length > 0 && (
            <SelfPlay key={first.id} app={app} game={game} run={first} />
          )}
          <Alarms contenders={contenders} />
        </div>
      </div>
      {!isAlone && <Settings contenders={contenders} />}
      <Networks key={first.id} app={app} game={game ?? null} run={first} isAlone={isAlone} />
      {isAlone && <Settings contenders={contenders} />}
    </article>
  );
}

function facts({ iterations, hours, accuracy, elo }: RunSummary, game: string) {
  return [
    game,
    `${countText(iterations)} iterations`,
    `${durationText(hours)} of training`,
    accuracy === null ? null : `exact accuracy ${accuracyText(accuracy)}`,
    elo === null ? null : `Elo ${Math.round(elo)}`,
  ]
    .filter(Boolean)
    .join(" · ");
}

interface ChosenProps {
  list: RunList;
  chosen: RunSummary[];
  go: (ids: string[]) => void;
}

/** The runs that are laid over each other; others can be added, and these left out. */
function Chosen({ list, chosen, go }: ChosenProps) {
  const ids = chosen.map(({ id }) => id);
  const others = list.runs.filter(({ id }) => !ids.includes(id));
  // Runs of the same game first: those can be compared.
  others.sort((a, b) => Number(b.game === chosen[0].game) - Number(a.game === chosen[0].game));
  const options = others.map((run) => [run.id, `${run.name} (${run.game})`] as const);
  return (
    <div class="chosen-runs">
      {(chosen.length > 1 || chosen[0].training || chosen[0].alarms.length > 0) && (
        <ul aria-label="Runs shown">
          {chosen.map((run, k) => (
            <li key={run.id}>
              <RunName run={run} color={chosen.length > 1 ? k : undefined} />
              <AlarmTags run={run} />
              {chosen.length > 1 && (
                <Button
                  class="quiet"
                  aria-label={`Leave out ${run.name}`}
                  onClick={() => go(ids.filter((id) => id !== run.id))}
                >
                  ✕
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {options.length > 0 && chosen.length < MOST_RUNS && (
        <Choice
          bare
          label="Compare with another run"
          value=""
          options={[["", "Compare with …"], ...options]}
          onChange={(id) => id && go([...ids, id])}
        />
      )}
    </div>
  );
}

interface CurvesProps {
  chosen: RunSummary[];
  rows: (RunRows | null)[];
  kind: XKind;
  onKind: (kind: XKind) => void;
}

function Curves({ chosen, rows, kind, onKind }: CurvesProps) {
  const zoom = useSignal<[number, number] | null>(null);
  const known = chosen.filter((_, k) => rows[k] !== null);
  const charts = useMemo(
    () =>
      mergeCharts(
        rows.filter((one) => one !== null),
        kind,
      ),
    [...rows, kind, rows.length],
  );
  const change = (now: string) => {
    zoom.value = null;
    onKind(now as XKind);
  };
  const isLoading = known.length < chosen.length;
  return (
    <section class="run-curves">
      <div class="curves-head">
        <h2>Curves</h2>
        <Choice label="Over" value={kind} options={X_KINDS} onChange={change} />
        <Button off={!zoom.value} onClick={() => (zoom.value = null)}>
          Show all
        </Button>
        <p class="hint-text">Drag to zoom; arrow keys read a chart, + and − zoom it.</p>
      </div>
      {isLoading && <p role="status">Loading …</p>}
      {!isLoading && !charts.length && <p>No curves yet: they appear with the first iteration.</p>}
      <div class="chart-grid-box">
        {charts.map((chart) => {
          const lines = chart.lines.map(({ run, curve, low }) => [run, curve, low !== null]);
          const look = [chart.title, known.map(({ id }) => id), chart.curves, lines];
          const names = known.map(({ name }) => name);
          return <LineChart key={JSON.stringify(look)} chart={chart} runs={names} zoom={zoom} />;
        })}
      </div>
    </section>
  );
}
