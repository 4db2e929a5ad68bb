// The page of a run, or of several that are compared: their curves, settings, alarms and networks.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { RunRows, RunSummary } from "../api";
import type { App } from "../app";
import { countText, durationText, UNKNOWN } from "../format";
import { Choice, Table } from "../ui";
import { LineChart } from "./line_chart";
import { Networks } from "./networks";
import { ErrorLine, figuresOf, type Network, RunName, runsHash, RunTags, Section } from "./parts";
import { mergeCharts, useRunRows, X_KINDS, type XKind } from "./run_rows";
import { SelfPlay } from "./self_play";

const X_TEXTS = { iterations: "iterations", games: "games", hours: "the time of training" };
const X_OPTIONS = X_KINDS.map((kind) => [kind, `over ${X_TEXTS[kind]}`] as const);

const MOST_OPEN = 8; // settings

/** The runs whose rows have come. */
type Known = { name: string; game: string; rows: RunRows }[];

/** `x`: the axis that the address asks for. */
type RunPageProps = { app: App; chosen: RunSummary[]; x: string | undefined };

export function RunPage({ app, chosen, x }: RunPageProps) {
  const given = X_KINDS.find((one) => one === x) ?? "iterations";
  const [kind, setKind] = useState(given);
  useEffect(() => setKind(given), [x]);
  const { rows, error } = useRunRows(app.backend, chosen);
  const contenders = chosen.map((run, k) => ({ run, rows: rows[k] }));
  const known = contenders.flatMap(({ run, rows }) => (rows ? { ...run, rows } : []));
  const [id, ...others] = chosen.map((run) => run.id);
  const [run] = chosen;
  const game = app.catalogue.value.games.find(({ name }) => name === run.game) ?? null;
  const isAlone = !others.length;
  const change = (now: XKind) => {
    setKind(now);
    app.rewrite(runsHash(id, others, now));
  };
  const kept = isAlone && game && run.playable ? run.networks : [];
  const play = ({ player: id }: Network) =>
    void app.play({ game: run.game, moves: [], isNew: true, player: { id } });
  return (
    <article class="run-page">
      <a href="#runs">← All runs</a>
      <div class="button-row">
        <h1>{isAlone ? run.name : `${chosen.length} runs compared`}</h1>
        {isAlone && <RunTags run={run} />}
      </div>
      <ErrorLine text={error} />
      <Comparison contenders={contenders} game={game?.title ?? run.game} />
      {isAlone && rows[0] && <Stopped run={run} rows={rows[0]} />}
      {isAlone && <Networks key={id} {...{ app, game, run }} />}
      <div class="run-columns">
        <Curves {...{ known, kind, change, kept, play }} isLoading={known.length < chosen.length} />
        <div class="run-aside">
          {game && kept.length > 0 && <SelfPlay key={id} {...{ app, game, run }} />}
          <Alarms contenders={contenders} />
        </div>
      </div>
      <Settings known={known} isAlone={isAlone} />
    </article>
  );
}

type Contender = { run: RunSummary; rows: RunRows | null };

/** The newest figures, side by side where several runs are compared. */
function Comparison({ contenders, game }: { contenders: Contender[]; game: string }) {
  const figures = contenders.map(({ run, rows }) => {
    const games = rows?.x.games.findLast((one) => one !== null) ?? null;
    return { ...figuresOf(run), Games: games === null ? UNKNOWN : countText(games) };
  });
  if (figures.length === 1) {
    const facts = Object.entries(figures[0]).map(([name, text]) => `${name} ${text}`);
    return <p class="run-facts">{[game, ...facts].join(" · ")}</p>;
  }
  const names = contenders.map(({ run }, k) => <RunName run={run} color={k} />);
  const rows = figures.map((one, k) => [names[k], ...Object.values(one)]);
  const columns = ["Run", ...Object.keys(figures[0])];
  return (
    <Section title="Newest figures">
      <Table class="runs-table" caption="Newest figures" {...{ columns, rows }} />
    </Section>
  );
}

/** How far a run came that ended before it reached its limits, and how to go on. */
function Stopped({ run, rows: { settings, resume } }: { run: RunSummary; rows: RunRows }) {
  if (run.training || !run.unfinished) return null;
  const [num, limit] = [settings["run.num_iterations"], settings["run.time_limit_s"]].map(Number);
  const of = num ? ` of ${countText(num)}` : "";
  const time = limit ? ` and ${durationText(run.hours)} of ${durationText(limit / 3600)}` : "";
  const how = resume ? "This command goes on from there:" : "Nothing is stored: start it again.";
  return (
    <Section title="Stopped early">
      <p>{`After ${countText(run.iterations)}${of} iterations${time}, it was stopped. ${how}`}</p>
      {resume && <pre children={<code>{resume}</code>} />}
    </Section>
  );
}

interface CurvesProps {
  known: Known;
  isLoading: boolean;
  kind: XKind;
  change: (kind: XKind) => void;
  /** The networks whose points can be clicked, and what that does. */
  kept: Network[];
  play: (network: Network) => void;
}

function Curves({ known, isLoading, kind, change, kept, play }: CurvesProps) {
  const all = known.map(({ rows }) => rows);
  const charts = useMemo(() => mergeCharts(all, kind, kept), [...all, kind, kept.length]);
  const onChange = (now: string) => change(now as XKind);
  return (
    <section class="run-curves">
      <div class="button-row">
        <h2>Curves</h2>
        <Choice bare label="Horizontal axis" value={kind} options={X_OPTIONS} onChange={onChange} />
      </div>
      <p class="hint-text">
        {kept.length > 0 && "Click a dot to play against the network of that iteration. "}
        Drag to zoom, double-click to see all; arrow keys read values.
      </p>
      {isLoading && <p role="status">Loading …</p>}
      {!charts.length && <p>No curves yet: they appear with the first iteration.</p>}
      <div class="chart-grid-box">
        {charts.map((chart) => {
          const lines = chart.lines.map(({ run, curve, band }) => [run, curve, band !== null]);
          const look = [kind, chart.title, chart.curves, all.map(({ id }) => id), lines];
          const runs = known.map(({ name }) => name);
          return <LineChart key={JSON.stringify(look)} {...{ chart, runs, play }} />;
        })}
      </div>
    </section>
  );
}

function Alarms({ contenders }: { contenders: Contender[] }) {
  const alarms = contenders.flatMap(({ run: { name }, rows }) =>
    (rows?.alarms ?? []).map((alarm) => ({ name, ...alarm })).reverse(),
  );
  const items = alarms.map(({ name, iteration, began, text }) => (
    <li class={began ? "has-begun" : ""}>
      {contenders.length > 1 && `${name}, `}
      iteration {countText(iteration)}: {text}
    </li>
  ));
  return <Section title="Alarms">{items.length ? <ul>{items}</ul> : <p>None so far.</p>}</Section>;
}

/** Every setting of one run, or those in which several of the same game differ. */
function Settings({ known, isAlone }: { known: Known; isAlone: boolean }) {
  const names = new Set(known.flatMap(({ rows }) => Object.keys(rows.settings)));
  const firsts = known.map(({ game }) => known.findIndex((one) => one.game === game));
  const differs = (values: string[]) => values.some((value, k) => value !== values[firsts[k]]);
  const rows = [...names]
    .sort()
    .map((name) => [name, ...known.map((one) => settingText(one.rows.settings[name]))])
    .filter(([name, ...values]) => isAlone || (name !== "run.name" && differs(values)));
  const caption = isAlone ? "All settings" : "Settings that differ";
  const columns = ["Setting", ...known.map(({ name }) => (isAlone ? "Value" : name))];
  return (
    <details class="card" open={!isAlone && rows.length <= MOST_OPEN}>
      <summary>
        <h2>{`${caption} (${rows.length})`}</h2>
      </summary>
      <Table class="runs-table settings-table" {...{ caption, columns, rows }} />
    </details>
  );
}

function settingText(value: unknown): string {
  if (value === undefined) return UNKNOWN;
  return typeof value === "string" ? value : JSON.stringify(value);
}
