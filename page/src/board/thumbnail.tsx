// A small board without moves.

import type { Game, Setup } from "../api";

export interface ThumbnailProps {
  game: Game;
  setup: Setup;
  cells: number[][];
  /** Moves to mark, each with the name of its look: "played" or "best". */
  marks?: { action: number; look: "played" | "best" }[];
  label: string;
}

export function Thumbnail(_props: ThumbnailProps) {
  return null;
}

/** A small picture of a side's piece. */
export function Piece(_props: { color: string; class: string }) {
  return null;
}
