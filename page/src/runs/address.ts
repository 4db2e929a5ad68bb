// The addresses of the Runs view: #runs/ID?with=ID2,ID3&x=games, and #runs?with=... for the list.

import type { XKind } from "./run_rows";

/** Return the address of runs laid over each other; the curves are over iterations by default. */
export function runHash([first, ...others]: string[], x: XKind = "iterations"): string {
  return `#runs/${encodeURI(first)}${query(others, x)}`;
}

/** Return the address of the list with some runs ticked. */
export function listHash(ticked: string[]): string {
  return `#runs${query(ticked, "iterations")}`;
}

/** Return the ids in the parameter "with". */
export function idsOf(text = ""): string[] {
  return text.split(",").filter(Boolean).map(decoded);
}

function query(others: string[], x: XKind): string {
  // A comma within an id is encoded twice: once to tell it from those between ids.
  const list = others.map((id) => encodeURI(id.replace(/[%,&#+]/g, encodeURIComponent))).join(",");
  const parts = [list && `with=${list}`, x !== "iterations" && `x=${x}`].filter(Boolean);
  return parts.length ? `?${parts.join("&")}` : "";
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a broken "%" in an address typed by hand
  }
}
