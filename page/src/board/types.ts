// What a board is given.

import type { Game, Position, Setup } from "../api";

/** What an analysis shows of a move on the board. */
export interface MoveMark {
  action: number;
  /** Of the visits, from 0 to 1; sizes its disc or arrow. */
  share: number;
  value: number | null;
  /** The exact score where a solver knows it, such as a margin of discs; else null. */
  score: number | null;
  /** The exact or proven result, -1, 0 or 1: the colour of the score, a letter without one. */
  result: number | null;
  isBest: boolean;
}

/** A move that was played or tried, with a sign such as "??" and the same in words. */
export type MoveNote = { action: number; sign: string; text: string; isGood: boolean };

export interface BoardProps {
  game: Game;
  setup: Setup;
  position: Position;
  /** The action that led to the position, null at the start. */
  last: number | null;
  /** A move whose piece is shown before the backend has answered; null for none. */
  awaited?: number | null;
  /** The actions that may be chosen now; none: the board is only looked at. */
  legal: number[];
  /** What a screen reader calls the board. */
  label: string;
  onAction: (action: number) => void;
  /** Called with the legal action under the pointer or the focus, null for none. */
  onHover?: (action: number | null) => void;
  marks?: MoveMark[];
  /** Moves from the position on that are drawn as numbered ghost pieces, over the marks. */
  line?: number[];
  /** A move to point out. */
  hint?: number | null;
  notes?: MoveNote[];
  /** The board is being set up, and nothing is legal: called with [row, column] of a choice. */
  onCell?: (cell: [number, number]) => void;
}
