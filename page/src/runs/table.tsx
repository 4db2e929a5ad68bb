// Tables of runs, and how a run is named.

import type { ComponentChildren } from "preact";
import type { RunSummary } from "../api";
import { runsHash } from "./address";

interface TableProps {
  class: string;
  caption: string;
  /** The first one is that of the names of the rows. */
  columns: string[];
  /** The name of each row, then its cells. */
  rows: ComponentChildren[][];
}

export function Table({ columns, rows, caption, ...others }: TableProps) {
  return (
    <table class={others.class}>
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>{columns.map((name) => (name ? <th scope="col">{name}</th> : <td />))}</tr>
      </thead>
      <tbody>
        {rows.map(([name, ...cells]) => (
          <tr>
            <th scope="row">{name}</th>
            {cells.map((cell, k) => (
              <td data-label={columns[k + 1]}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A run's name as a link, with its state; `color`: that of its curves. */
export function RunName({ run, color }: { run: RunSummary; color?: number }) {
  return (
    <span class="run-name">
      {color !== undefined && <span class={`run-color line-${color}`} aria-hidden="true" />}
      <a href={runsHash(run.id)}>{run.name}</a>
      <RunTags run={run} />
    </span>
  );
}

/** Whether a run trains now, and its active alarms. */
export function RunTags({ run: { training, alarms } }: { run: RunSummary }) {
  return (
    <>
      {training && <span class="run-tag is-training">training</span>}
      {alarms.map((alarm) => (
        <span class="run-tag is-alarm">alarm: {alarm.replaceAll("_", " ")}</span>
      ))}
    </>
  );
}
