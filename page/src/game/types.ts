// A game: how it is asked for, and the tree of its moves.

import type { Game, Position, Setup } from "../api";

/** A game to show; what is left out is the usual. */
export interface GameToShow {
  game?: string | null;
  setup?: string | null;
  board?: string | null;
  to_move?: number | null;
  /** Actions, or text as a person writes it. */
  moves?: number[] | string;
  /** The position to show; null: after all moves. */
  ply?: number | null;
  /** That of the game if it was shown before: what was tried in it then is shown again. */
  id?: number;
  /** Its variations, as a file or a list: from a link, or if the browser keeps no games. */
  tree?: string;
  /** A game of its own: nothing was tried in it yet. */
  isNew?: boolean;
}

/** A position of the game, and the move that leads to it. */
export interface GameNode {
  action: number | null;
  position: Position;
  parent: GameNode | null;
  /** The main continuation first, then what else was tried. */
  children: GameNode[];
  /** What the person calls it, "" for nothing. */
  name: string;
  /** What a file says beside: of the move, as C: ["bold"], or at the root of the game. */
  notes?: Properties;
}

/** Where a game starts. */
export interface Start {
  game: Game;
  setup: Setup;
  /** The board that the game starts from; null: the usual one. */
  board: string | null;
  toMove: number | null;
}

/** Replaced as a whole with every change. */
export interface Shown extends Start {
  /** What tells its variations from those of other games. */
  id: number;
  /** From the root to the end of the line. */
  line: GameNode[];
  ply: number;
}

/** Properties of SGF. */
export type Properties = Record<string, string[]>;

/** The first of `num` games that a file holds. */
export type GameFile = { start: GameToShow; branches: Branch[]; notes?: Properties; num: number };

/** Moves as text, what is said of the last one, what follows it. */
export type Branch = Pick<GameNode, "name" | "notes"> & { text: string; children: Branch[] };
