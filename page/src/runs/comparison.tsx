// What the chosen runs have in common and what not: figures, settings, alarms.

import { accuracyText, countText, durationText, UNKNOWN } from "../format";
import { headline, type Contender } from "./better_run";
import { AlarmTags, RunName } from "./runs_table";

export function Comparison({ contenders }: { contenders: Contender[] }) {
  const columns = ["Exact accuracy", "Elo", "Iterations", "Games", "Training"];
  const texts = ({ run, rows }: Contender) => {
    const games = rows?.x.games.findLast((one) => one !== null);
    return [
      accuracyText(run.accuracy),
      run.elo === null ? UNKNOWN : String(Math.round(run.elo)),
      countText(run.iterations),
      games === undefined || games === null ? UNKNOWN : countText(games),
      durationText(run.hours),
    ];
  };
  return (
    <section class="card run-comparison" aria-label="Comparison">
      <h2>Which one plays better</h2>
      <p class="run-headline" role="status">
        {headline(contenders)}
      </p>
      <table class="runs-table">
        <caption class="visually-hidden">The newest figures of each run</caption>
        <thead>
          <tr>
            {["Run", ...columns].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {contenders.map((contender, k) => (
            <tr key={contender.run.id}>
              <th scope="row">
                <RunName run={contender.run} color={k} />
              </th>
              {texts(contender).map((text, column) => (
                <td key={column} data-label={columns[column]}>
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Every setting of one run, or those in which several differ. */
export function Settings({ contenders }: { contenders: Contender[] }) {
  const known = contenders.filter(({ rows }) => rows !== null);
  const isAlone = contenders.length === 1;
  const values = (name: string) => known.map(({ rows }) => settingText(rows?.settings[name]));
  const names = [...new Set(known.flatMap(({ rows }) => Object.keys(rows?.settings ?? {})))]
    .filter((name) => isAlone || new Set(values(name)).size > 1)
    .sort();
  const table = (
    <div class="settings-box" tabIndex={0} role="region" aria-label="Settings">
      <table class="settings-table">
        <thead>
          <tr>
            <th scope="col">Setting</th>
            {known.map(({ run }) => (
              <th key={run.id} scope="col">
                {isAlone ? "Value" : run.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {values(name).map((text, k) => (
                <td key={k}>{text}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
  if (isAlone) {
    return (
      <details class="run-settings">
        <summary>All settings ({names.length})</summary>
        {table}
      </details>
    );
  }
  return (
    <section class="run-settings">
      <h2>Settings that differ</h2>
      {names.length ? table : <p>They have the same settings.</p>}
    </section>
  );
}

export function Alarms({ contenders }: { contenders: Contender[] }) {
  const lists = contenders.map(({ run, rows }) => ({ run, alarms: rows?.alarms ?? [] }));
  const isQuiet = lists.every(({ alarms }) => !alarms.length);
  return (
    <section class="card run-alarms" aria-label="Alarms">
      <h2>Alarms</h2>
      {isQuiet && <p>None so far.</p>}
      {lists.map(
        ({ run, alarms }) =>
          alarms.length > 0 && (
            <div key={run.id}>
              {contenders.length > 1 && <h3>{run.name}</h3>}
              <AlarmTags run={run} />
              <ul>
                {alarms.toReversed().map(({ iteration, began, alarm, text }) => (
                  <li key={`${iteration} ${alarm} ${began}`} class={began ? "has-begun" : ""}>
                    <strong>
                      {began ? "Began" : "Ended"} in iteration {countText(iteration)}
                    </strong>
                    : {text}
                  </li>
                ))}
              </ul>
            </div>
          ),
      )}
    </section>
  );
}

function settingText(value: unknown): string {
  if (value === undefined) return UNKNOWN;
  return typeof value === "string" ? value : JSON.stringify(value);
}
