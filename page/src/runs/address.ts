// The addresses of the Runs view: #runs/ID?with=ID2,ID3&x=games, and #runs?with=... for the list.

import { formatHash } from "../address";
import type { XKind } from "./run_rows";

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
