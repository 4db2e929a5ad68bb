// What the parts of the Runs view are made of, how a run is named, and the addresses of the view:
// #runs/ID?with=ID2,ID3&x=games, and #runs?with=... for the list.

import type { ComponentChildren, Ref } from "preact";
import type { RunSummary } from "../api";
import { formatHash } from "../address";
import { accuracyText, capital, countText, durationText, UNKNOWN } from "../format";
import type { XKind } from "./run_rows";

export type Network = RunSummary["networks"][number];

type SectionProps = { title: string; box?: Ref<HTMLElement>; children: ComponentChildren };

export function Section({ title, box, children }: SectionProps) {
  return (
    <section class="card" aria-label={title} ref={box}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export function ErrorLine({ text }: { text?: string }) {
  return text ? <p class="error-line" role="alert" children={capital(text)} /> : null;
}

export function lineStyle(color: number) {
  return { color: `var(--line-${color})` };
}

/** A run's name as a link, with its state; `color`: that of its curves. */
export function RunName({ run, color }: { run: RunSummary; color?: number }) {
  return (
    <span class="run-name">
      {color !== undefined && <span class="run-color" style={lineStyle(color)} />}
      <a href={runsHash(run.id)}>{run.name}</a>
      <RunTags run={run} />
    </span>
  );
}

/** Whether a run trains now or stopped before its end, and its active alarms. */
export function RunTags({ run: { training, unfinished, alarms } }: { run: RunSummary }) {
  const texts = alarms.map((alarm) => `alarm: ${alarm.replaceAll("_", " ")}`);
  const tags = texts.map((text) => <span class="run-tag is-alarm">{text}</span>);
  if (training) return [<span class="run-tag">training</span>, ...tags];
  return unfinished ? [<span class="run-tag is-stopped">stopped early</span>, ...tags] : tags;
}

/** Return the newest figures of a run by their names. */
export function figuresOf({ iterations, hours, accuracy, elo }: RunSummary) {
  return {
    Iterations: countText(iterations),
    Training: durationText(hours),
    "Exact accuracy": accuracyText(accuracy),
    Elo: elo === null ? UNKNOWN : String(Math.round(elo)),
  };
}

/** Return the address of a run with others; without `id` it is the list, with some runs ticked. */
export function runsHash(id: string, others: string[] = [], x: XKind = "iterations"): string {
  // A comma within an id is encoded twice, which tells it from those between ids.
  const list = others.map((one) => one.replace(/[%,]/g, encodeURIComponent));
  return formatHash("runs", id, { with: list.join(), x: x === "iterations" ? "" : x });
}

/** Return the ids in the parameter "with". */
export function idsOf(text = ""): string[] {
  const ids = text.split(",").filter(Boolean);
  return ids.map((id) => id.replaceAll("%2C", ",").replaceAll("%25", "%"));
}
