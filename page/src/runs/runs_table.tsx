// The list of runs, and how a run is named.

import type { RunList, RunSummary } from "../api";
import type { App } from "../app";
import { accuracyText, countText, durationText, UNKNOWN } from "../format";
import { Button } from "../ui";
import { runHash } from "./address";

export const MOST_RUNS = 6;
const COLUMNS = ["Run", "Game", "Iterations", "Training", "Exact accuracy", "Elo", "Updated"];

interface RunsTableProps {
  app: App;
  list: RunList;
  ticked: string[];
  onTick: (ids: string[]) => void;
}

export function RunsTable({ app, list, ticked, onTick }: RunsTableProps) {
  const { runs } = list;
  const chosen = ticked.filter((id) => runs.some((run) => run.id === id));
  const change = (id: string, isOn: boolean) =>
    onTick(isOn ? [...chosen, id] : chosen.filter((one) => one !== id));
  const compare = () => app.go(runHash(chosen));
  const texts = (run: RunSummary) => [
    app.catalogue.value.games.find(({ name }) => name === run.game)?.title ?? run.game,
    countText(run.iterations),
    durationText(run.hours),
    accuracyText(run.accuracy),
    run.elo === null ? UNKNOWN : String(Math.round(run.elo)),
    dateText(run.updated),
  ];
  return (
    <>
      <table class="runs-table">
        <caption class="visually-hidden">Training runs, newest first</caption>
        <thead>
          <tr>
            {COLUMNS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id}>
              <th scope="row">
                <label class="run-tick">
                  <input
                    type="checkbox"
                    checked={chosen.includes(run.id)}
                    disabled={chosen.length >= MOST_RUNS && !chosen.includes(run.id)}
                    aria-label={`Compare ${run.name}`}
                    onChange={(event) => change(run.id, event.currentTarget.checked)}
                  />
                </label>
                <RunName run={run} />
                <AlarmTags run={run} />
              </th>
              {texts(run).map((text, k) => (
                <td key={k} data-label={COLUMNS[k + 1]}>
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <div class="compare-bar">
        <Button class="primary" off={chosen.length < 2} onClick={compare}>
          Compare {chosen.length > 1 ? `${chosen.length} runs` : "runs"}
        </Button>
        <p class="hint-text" role="status">
          {chosen.length < 2
            ? `Tick 2 to ${MOST_RUNS} runs to lay their curves over each other.`
            : `${chosen.length} runs chosen${chosen.length === MOST_RUNS ? ", the most there can be" : ""}.`}
        </p>
      </div>
    </>
  );
}

/** The name of a run as a link to it; `color`: that of its curves. */
export function RunName({ run, color }: { run: RunSummary; color?: number }) {
  return (
    <span class="run-name">
      {color !== undefined && <span class={`run-color line-${color}`} aria-hidden="true" />}
      <a href={runHash([run.id])}>{run.name}</a>
      {run.training && <span class="run-tag is-training">training</span>}
    </span>
  );
}

export function AlarmTags({ run }: { run: RunSummary }) {
  return run.alarms.map((alarm) => (
    <span key={alarm} class="run-tag is-alarm">
      alarm: {alarm.replaceAll("_", " ")}
    </span>
  ));
}

function dateText(seconds: number) {
  const options = { dateStyle: "medium", timeStyle: "short" } as const;
  return new Date(1000 * seconds).toLocaleString(undefined, options);
}
