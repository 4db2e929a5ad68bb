// The address of the page: what is behind its "#" holds all that is shown, so that it can be sent.
//
//     #play/connect_four?moves=4,4,3&first=human&second=level.club
//     #analyse/othello?moves=f5d6c3&ply=2        #runs/connect_four/my_run?x=games

import type { GameToShow } from "./game/types";

export const VIEWS = ["play", "analyse", "runs"] as const;
export type View = (typeof VIEWS)[number];
export type Parameters = Record<string, string>;

export interface Address {
  view: View;
  /** A game, or the id of a run; "" for none. */
  name: string;
  parameters: Parameters;
}

export function parseHash(hash: string): Address {
  const [, view, name, query] = /^#?([^/?]*)\/?([^?]*)\??(.*)$/.exec(hash) ?? ["", "", "", ""];
  return {
    view: VIEWS.find((one) => one === view) ?? "play",
    name: decode(name),
    parameters: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** Return the hash of a view; parameters that are null, undefined or "" are left out. */
export function formatHash(
  view: View,
  name: string,
  parameters: Record<string, string | number | null | undefined> = {},
): string {
  const given = Object.entries(parameters).flatMap(([key, value]) =>
    value == null || value === "" ? [] : [[key, String(value)]],
  );
  const query = new URLSearchParams(given).toString();
  // These are legible in an address and mean nothing there.
  const readable = query.replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%2F", "/");
  const path = name ? `${view}/${encodeURI(name)}` : view;
  return `#${path}${readable ? `?${readable}` : ""}`;
}

export function gameOf({ name, parameters }: Address): GameToShow {
  const { setup, board, to_move: toMove, moves, ply, tree } = parameters;
  return {
    game: name || null,
    setup: setup ?? null,
    board: board === undefined ? null : board.split("/").join("\n"),
    to_move: toMove === undefined ? null : Number(toMove),
    moves: moves ?? [],
    tree,
    ply: /^\d+$/.test(ply ?? "") ? Number(ply) : null,
  };
}

function decode(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text; // a broken "%" in an address typed by hand
  }
}
