// The page of a run, or of several that are compared: their curves, settings, alarms and networks.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { RunRows, RunSummary } from "../api";
import type { App } from "../app";
import { accuracyText, capital, countText, durationText, UNKNOWN } from "../format";
import { Button, Choice } from "../ui";
import { runsHash } from "./address";
import { type Contender, headline } from "./better_run";
import { LineChart } from "./line_chart";
import { Networks } from "./networks";
import { mergeCharts, useRunRows, type Range, type XKind } from "./run_rows";
import { SelfPlay } from "./self_play";
import { RunName, RunTags, Table } from "./table";

const X_KINDS: [XKind, string][] = [
  ["iterations", "over iterations"],
  ["games", "over games"],
  ["hours", "over the time of training"],
];
const FIGURES = ["Exact accuracy", "Elo", "Iterations", "Games", "Training"];

interface RunPageProps {
  app: App;
  /** The networks of the first one play. */
  chosen: RunSummary[];
  /** The x-axis that the address asks for. */
  x: string | undefined;
}

export function RunPage({ app, chosen, x }: RunPageProps) {
  const given = X_KINDS.find(([kind]) => kind === x)?.[0] ?? "iterations";
  const [kind, setKind] = useState(given);
  useEffect(() => setKind(given), [x]);
  const { rows, error } = useRunRows(app.backend, chosen);
  const contenders = chosen.map((run, k) => ({ run, rows: rows[k] }));
  const [id, ...others] = chosen.map((run) => run.id);
  const [first] = chosen;
  const game = app.catalogue.value.games.find(({ name }) => name === first.game) ?? null;
  const isAlone = chosen.length === 1;
  const onKind = (now: XKind) => {
    setKind(now);
    app.rewrite(runsHash(id, others, now));
  };
  return (
    <article class="run-page">
      <p class="run-links">
        <a href="#runs">← All runs</a>
        <a href={runsHash("", [id, ...others])}>Compare with other runs</a>
      </p>
      <h1>
        {isAlone ? first.name : `${chosen.length} runs compared`}{" "}
        {isAlone && <RunTags run={first} />}
      </h1>
      {error && (
        <p class="error-line" role="alert">
          {capital(error)}
        </p>
      )}
      <Comparison contenders={contenders} game={game?.title ?? first.game} />
      <div class="run-columns">
        <Curves chosen={chosen} rows={rows} kind={kind} onKind={onKind} />
        <div class="run-aside">
          {game && first.playable && <SelfPlay key={id} app={app} game={game} run={first} />}
          <Alarms contenders={contenders} />
        </div>
      </div>
      <Networks key={id} app={app} game={game} run={first} isAlone={isAlone} />
      <Settings contenders={contenders} />
    </article>
  );
}

/** The newest figures; of several runs, which one plays better. */
function Comparison({ contenders, game }: { contenders: Contender[]; game: string }) {
  const texts = contenders.map(({ run, rows }) => {
    const games = rows?.x.games.findLast((one) => one !== null) ?? null;
    return [
      accuracyText(run.accuracy),
      run.elo === null ? UNKNOWN : String(Math.round(run.elo)),
      countText(run.iterations),
      games === null ? UNKNOWN : countText(games),
      durationText(run.hours),
    ];
  });
  if (contenders.length === 1) {
    const facts = FIGURES.map((name, k) => `${name.toLowerCase()} ${texts[0][k]}`);
    return <p class="run-facts">{[game, ...facts].join(" · ")}</p>;
  }
  const names = contenders.map(({ run }, k) => <RunName run={run} color={k} />);
  return (
    <section class="card" aria-label="Comparison">
      <h2>Which one plays better</h2>
      <p class="run-headline">{headline(contenders)}</p>
      <Table
        class="runs-table"
        caption="Newest figures"
        columns={["Run", ...FIGURES]}
        rows={texts.map((cells, k) => [names[k], ...cells])}
      />
    </section>
  );
}

interface CurvesProps {
  chosen: RunSummary[];
  rows: (RunRows | null)[];
  kind: XKind;
  onKind: (kind: XKind) => void;
}

function Curves({ chosen, rows, kind, onKind }: CurvesProps) {
  const zoom = useSignal<Range | null>(null);
  const known = rows.filter((one) => one !== null);
  const names = chosen.filter((_, k) => rows[k]).map(({ name }) => name);
  const charts = useMemo(
    () => mergeCharts(known, kind, zoom.value),
    [...known, known.length, kind, zoom.value],
  );
  const change = (now: string) => {
    zoom.value = null;
    onKind(now as XKind);
  };
  return (
    <section class="run-curves">
      <div class="button-row">
        <h2>Curves</h2>
        <Choice bare label="Horizontal axis" value={kind} options={X_KINDS} onChange={change} />
        <Button off={!zoom.value} onClick={() => (zoom.value = null)}>
          Show all
        </Button>
        <p class="hint-text">
          Drag over a chart to zoom; arrow keys read its values.{" "}
          {charts.some(({ isMean }) => isMean) && "Each point is a mean of some iterations."}
        </p>
      </div>
      {known.length < chosen.length && <p role="status">Loading …</p>}
      {!charts.length && <p>No curves yet: they appear with the first iteration.</p>}
      <div class="chart-grid-box">
        {charts.map((chart) => {
          const lines = chart.lines.map(({ run, curve, low }) => [run, curve, low !== null]);
          const look = JSON.stringify([
            chart.title,
            chart.curves,
            known.map(({ id }) => id),
            lines,
          ]);
          return <LineChart key={look} chart={chart} runs={names} zoom={zoom} />;
        })}
      </div>
    </section>
  );
}

function Alarms({ contenders }: { contenders: Contender[] }) {
  const alarms = contenders.flatMap(({ run, rows }) =>
    (rows?.alarms ?? []).map((alarm) => ({ name: run.name, ...alarm })).reverse(),
  );
  return (
    <section class="card run-alarms" aria-label="Alarms">
      <h2>Alarms</h2>
      {!alarms.length && <p>None so far.</p>}
      <ul>
        {alarms.map(({ name, iteration, began, text }) => (
          <li class={began ? "has-begun" : ""}>
            <strong>
              {contenders.length > 1 && `${name}: `}
              {began ? "began" : "ended"} in iteration {countText(iteration)}
            </strong>
            . {capital(text)}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Every setting of one run, or those in which several differ. */
function Settings({ contenders }: { contenders: Contender[] }) {
  const isAlone = contenders.length === 1;
  const known = contenders.flatMap(({ run, rows }) => (rows ? { name: run.name, rows } : []));
  const names = new Set(known.flatMap(({ rows }) => Object.keys(rows.settings)));
  const table = [...names]
    .sort()
    .map((name) => [name, ...known.map(({ rows }) => settingText(rows.settings[name]))])
    .filter(([, ...values]) => isAlone || new Set(values).size > 1);
  const title = isAlone ? "All settings" : "Settings that differ";
  return (
    <details class="card run-settings" open={!isAlone}>
      <summary>
        <h2>
          {title} ({table.length})
        </h2>
      </summary>
      <Table
        class="settings-table"
        caption={title}
        columns={["Setting", ...known.map(({ name }) => (isAlone ? "Value" : name))]}
        rows={table}
      />
    </details>
  );
}

function settingText(value: unknown): string {
  if (value === undefined) return UNKNOWN;
  return typeof value === "string" ? value : JSON.stringify(value);
}
