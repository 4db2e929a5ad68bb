// How the person's games against each player ended, as this browser keeps it.

import { signal } from "@preact/signals";
import { keep, kept } from "../kept";
import type { Seats } from "./seats";

export type Tally = { won: number; drawn: number; lost: number };

const KEY = "results";
const NONE: Tally = { won: 0, drawn: 0, lost: 0 };
/** The games that were counted: one that goes on from before its end counts once. */
const counted = new Set<number>();
const tallies = signal(stored());

export function tallyOf(player: string): Tally {
  return tallies.value[player] ?? NONE;
}

/** Count a game that has ended, if a person played it against a player that is no level. */
export function countGame(id: number, seats: Seats, winner: number | null): void {
  const other = seats.find((seat) => seat.kind === "player");
  const person = seats.findIndex(({ kind }) => kind === "human");
  if (!other || person < 0 || counted.has(id)) return;
  counted.add(id);
  const end = winner === null ? "drawn" : winner === person ? "won" : "lost";
  tallies.value = { ...tallies.value, ...stored() }; // another tab may have counted
  const tally = tallyOf(other.id);
  tallies.value = { ...tallies.value, [other.id]: { ...tally, [end]: tally[end] + 1 } };
  keep(KEY, [tallies.value]);
}

/** Return a tally as text, such as "2 won, 1 lost"; "" without games. */
export function tallyText(tally: Tally): string {
  const ends = Object.entries(tally).filter(([, num]) => num > 0);
  return ends.map(([end, num]) => `${num} ${end}`).join(", ");
}

function stored(): Record<string, Tally> {
  return kept<Record<string, Tally>>(KEY).at(0) ?? {};
}
