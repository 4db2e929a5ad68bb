// The review of a game: the value of every position, and what each move lost.
//
// When the game changes, the positions before the change keep their values.

import { signal } from "@preact/signals";
import type { App } from "../app";
import type { Asked, PlyMessage, Side, StreamMessage } from "../api";
import type { MoveNote } from "../board/types";
import { failureOf } from "../format";
import type { GameNode } from "../game/types";
import type { Seats } from "../play/seats";

/** How much a move loses at least, in results, to be called so. */
const GRADES = [
  { least: 0.8, sign: "??", name: "blunder", text: "a blunder" },
  { least: 0.4, sign: "?", name: "mistake", text: "a mistake" },
  { least: 0.15, sign: "?!", name: "inaccuracy", text: "an inaccuracy" },
] as const;
/** A move that loses less, in results, is a good one. */
export const NOTABLE = GRADES[2].least;
/** How much of the exact score, in discs or else in moves, makes an inaccuracy. */
const LEAST_SCORE = { discs: 4, moves: 1 };

type Grade = (typeof GRADES)[number];
/** A position, and what is wrong with the move that `side` played there; null: nothing of note. */
export type Ply = PlyMessage & { grade: Grade | null; side: Side };
export type Mistake = Ply & { grade: Grade; played: number };

export interface Reviewed {
  /** By ply; undefined where it is not known yet. */
  plies: (Ply | undefined)[];
  isRunning: boolean;
  error: string;
}

export class Review {
  readonly now = signal<Reviewed>({ plies: [], isRunning: false, error: "" });
  /** Whose mistakes are looked at, as the person chose; null: they have not. */
  readonly side = signal<Side | null>(null);
  /** Who judges what no solver does; null: the usual analyst. */
  player: Asked | null = null;
  private line: GameNode[] = [];
  private stopper = new AbortController();

  constructor(private readonly app: App) {}

  /** Follow the game, and review it by itself once it has ended; return what ends that. */
  open(): () => void {
    const unsubscribe = this.app.game.shown.subscribe(() => this.follow());
    return () => {
      unsubscribe();
      this.stop();
    };
  }

  async run(): Promise<void> {
    this.stop();
    const { signal } = this.stopper;
    this.change({ isRunning: true, error: "" });
    const { moves } = this.app.game.request(this.line.length);
    const onPly = (found: Ply) =>
      this.change({ plies: Object.assign([...this.now.value.plies], { [found.ply]: found }) });
    const error = await failureOf(this.ask(moves, signal, onPly));
    if (!signal.aborted) this.change({ isRunning: false, error });
  }

  /** Return what is to be said of another move at a ply. */
  async judge(ply: number, action: number, signal: AbortSignal): Promise<Ply> {
    const enough = new AbortController(); // the plies before need no second review
    const found: Ply[] = [];
    const onPly = (one: Ply) => {
      if (one.ply === ply) enough.abort(found.push(one));
    };
    const { moves } = this.app.game.request(ply);
    const stop = AbortSignal.any([signal, enough.signal]);
    const error = await failureOf(this.ask([...moves, action], stop, onPly));
    if (!found.length) throw new Error(error);
    return found[0];
  }

  private async ask(moves: number[], signal: AbortSignal, onPly: (found: Ply) => void) {
    const { game } = this.app.game.shown.value;
    const least = LEAST_SCORE[game.counts_pieces ? "discs" : "moves"];
    const onMessage = (message: StreamMessage) => {
      if (message.type !== "ply" || signal.aborted) return;
      const { loss, score_loss: score, ply } = message;
      const found = GRADES.find((grade) => (loss ?? 0) >= grade.least);
      const grade = found ?? ((score ?? 0) >= least ? GRADES[2] : null);
      onPly({ ...message, grade, side: this.line[ply].position.to_move });
    };
    const request = { ...this.app.game.request(), moves, player: this.player ?? undefined };
    await this.app.backend.analysis?.review(request, { signal, onMessage });
  }

  stop(): void {
    this.stopper.abort();
    this.stopper = new AbortController();
    if (this.now.value.isRunning) this.change({ isRunning: false });
  }

  private follow(): void {
    const { line } = this.app.game.shown.value;
    const different = line.findIndex((node, k) => node !== this.line[k]);
    const same = different < 0 ? line.length : different;
    if (same === line.length && same === this.line.length) return;
    this.line = line;
    this.stop();
    const plies = this.now.value.plies.slice(0, same);
    const last = plies[same - 1];
    if (last) plies[same - 1] = { ...last, played: null, loss: null, grade: null };
    this.change({ plies, error: "" });
    if (line.length > 1 && line[line.length - 1].position.over) this.run();
  }

  private change(some: Partial<Reviewed>): void {
    this.now.value = { ...this.now.value, ...some };
  }
}

/** Return the mistakes of a game that was reviewed, the earliest first. */
export function mistakesOf(plies: Reviewed["plies"]): Mistake[] {
  return plies.filter((found): found is Mistake => Boolean(found?.grade));
}

/**
 * Return how many of a side's moves were judged, and how many of them lost nothing of note. Where
 * the game is lost already and no score is known, no move can lose, so that none is judged.
 */
export function accuracyOf(plies: Reviewed["plies"], line: GameNode[], side: Side) {
  const judged = plies.filter((found) => {
    if (found?.side !== side || found.loss === null) return false;
    const toLose = 1 + (side === 0 ? 1 : -1) * (found.value ?? 0);
    if (found.score_loss === null && !found.grade && toLose < NOTABLE) return false;
    return !line[found.ply]?.position.forced_pass;
  });
  return { num: judged.length, good: judged.filter((found) => !found?.grade).length };
}

/** Return whose game is looked at: the only person's, else the loser's. */
export function usualSide(seats: Seats | undefined, winner: Side | null): Side {
  const people = ([0, 1] as const).filter((side) => seats?.[side].kind === "human");
  if (people.length === 1) return people[0];
  return winner === 0 ? 1 : 0;
}

/** Return how a move is marked on the board where it was played, if something is wrong with it. */
export function notesOf(found: Ply | undefined): MoveNote[] {
  if (!found?.grade || found.played === null) return [];
  const { sign, text } = found.grade;
  return [{ action: found.played, sign, text: `played, ${text}`, isGood: false }];
}
