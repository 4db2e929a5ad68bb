// The addresses of the Runs view: #runs/ID?with=ID2,ID3&x=games, and #runs?with=... for the list.

import type { XKind } from "./run_rows";

/** Return the address of a run with others; without `id` it is the list, with some runs ticked. */
export function runsHash(id: string, others: string[] = [], x: XKind = "iterations"): string {
  // A comma within an id is encoded twice, which tells it from those between ids.
  const list = others.map((one) => encodeURIComponent(one.replace(/[%,]/g, encodeURIComponent)));
  const ids = list.join(",").replaceAll("%2F", "/");
  const query = [ids && `with=${ids}`, x !== "iterations" && `x=${x}`].filter(Boolean).join("&");
  return `#runs${id && `/${encodeURI(id)}`}${query && `?${query}`}`;
}

/** Return the ids in the parameter "with". */
export function idsOf(text = ""): string[] {
  const ids = text.split(",").filter(Boolean);
  return ids.map((id) => id.replaceAll("%2C", ",").replaceAll("%25", "%"));
}
