// What every view is given.

import type { Signal } from "@preact/signals";
import type { Parameters } from "./address";
import type { Asked, Backend, Catalogue } from "./api";
import type { GameState } from "./game/game_state";
import type { GameToShow } from "./game/types";
import type { Seats } from "./play/seats";
import type { Review } from "./review/review";

export type GameToPlay = GameToShow & { player?: Asked | null; seats?: Seats };
export type GameToAnalyse = GameToShow & { player?: Asked | null };

export interface App {
  backend: Backend;
  catalogue: Signal<Catalogue>;
  game: GameState;
  review: Review;
  /** Who plays, by game, as it was chosen last. */
  seats: Map<string, Seats>;
  /** Say something to those who use a screen reader. */
  announce(text: string): void;
  notify(text: string, isError?: boolean): void;
  /** Do something, and say what went wrong. */
  attempt(work: () => Promise<void>): Promise<void>;
  /** Copy the address of the game, with its variations. */
  copyLink(): Promise<void>;
  /** Go to an address, of a game with its id if it was left there; the way back leads here. */
  go(hash: string, id?: number): void;
  /** Write an address for what is shown already; the way back skips it. */
  rewrite(hash: string): void;
  /** Show a game in the Play view; `player` plays against the person who is to move. */
  play(game: GameToPlay): Promise<void>;
  /** Show moves from a ply on as a variation in the Analyse view, and one of their positions. */
  explore(from: number, moves: number[], ply: number): Promise<void>;
  /** Show a game in the Analyse view; `player` analyses it. */
  analyse(game: GameToAnalyse): Promise<void>;
}

/** What a view of the game is given; it keeps parameters of its own in the address. */
export interface ViewProps {
  app: App;
  parameters: Parameters;
  rewrite: (parameters: Parameters) => void;
}
