// The review of games: the value of every position, and what each move lost.
//
// What was found stays with the positions and moves, also of lines that are not shown.

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
/** More than the value of a position may err by. */
const HALF_A_RESULT = 0.5;
/** How much of the exact score, in discs or else in moves, makes an inaccuracy. */
const LEAST_SCORE = { discs: 4, moves: 1 };

type Grade = (typeof GRADES)[number];
/** A position, and what is wrong with the move that `side` played there; null: nothing of note. */
export type Ply = PlyMessage & { grade: Grade | null; side: Side };
export type Mistake = Ply & { grade: Grade; played: number };

/** What is known of each position of a line; undefined where nothing is. */
export type Plies = (Ply | undefined)[];

interface Reviewed {
  /** What was found of positions; nothing of moves. */
  positions: Map<GameNode, Ply>;
  /** What was found of the moves that lead to positions. */
  moves: Map<GameNode, Ply>;
  isRunning: boolean;
  error: string;
}

const NO_MOVE = { played: null, loss: null, grade: null };

export class Review {
  readonly now = signal<Reviewed>({
    positions: new Map(),
    moves: new Map(),
    isRunning: false,
    error: "",
  });
  /** Whose mistakes are looked at, as the person chose; null: they have not. */
  readonly side = signal<Side | null>(null);
  /** Who judges what no solver does; null: the usual analyst. */
  player: Asked | null = null;
  private line: GameNode[] = [];
  private stopper = new AbortController();

  /** Follows the game, and reviews it by itself once it has ended. */
  constructor(private readonly app: App) {
    app.game.shown.subscribe(() => this.follow());
  }

  /** What is known of the line that is shown, by ply. */
  get plies(): Plies {
    const { positions, moves } = this.now.value;
    const { line } = this.app.game.shown.value;
    return line.map((node, ply) => moves.get(line[ply + 1]) ?? positions.get(node));
  }

  /** The mistake that the variation on the board corrects or answers. */
  get explored(): Mistake | undefined {
    const { line, ply } = this.app.game.shown.value;
    const at = line.findIndex((node, k) => k < ply && node.children[0] !== line[k + 1]);
    const found = [line[at]?.children[0], line[at]].map(
      (node) => node && this.now.value.moves.get(node),
    );
    return found.find((one): one is Mistake => Boolean(one?.grade));
  }

  async run(): Promise<void> {
    this.stop();
    const { signal } = this.stopper;
    this.change({ isRunning: true });
    const { line } = this;
    const { moves } = this.app.game.request(line.length);
    const onPly = (found: Ply) => this.record(line[found.ply], found);
    const error = await failureOf(this.ask(moves, signal, onPly));
    if (!signal.aborted) this.change({ isRunning: false, error });
  }

  /** Return what is to be said of a move at a ply. */
  async judge(ply: number, action: number, signal: AbortSignal): Promise<Ply> {
    const enough = new AbortController(); // the plies before need no second review
    const found: Ply[] = [];
    const onPly = (one: Ply) => {
      if (one.ply === ply) enough.abort(found.push(one));
    };
    const { line } = this.app.game.shown.value;
    const { moves } = this.app.game.request(ply);
    const stop = AbortSignal.any([signal, enough.signal]);
    const error = await failureOf(this.ask([...moves, action], stop, onPly));
    if (!found.length) throw new Error(error);
    this.record(line[ply], found[0]);
    return found[0];
  }

  private async ask(moves: number[], signal: AbortSignal, onPly: (found: Ply) => void) {
    const { game } = this.app.game.shown.value;
    const least = LEAST_SCORE[game.counts_pieces ? "discs" : "moves"];
    const onMessage = (message: StreamMessage) => {
      if (message.type !== "ply" || signal.aborted) return;
      const { loss, value } = message;
      const side = this.line[message.ply].position.to_move;
      // How soon a lost game ends is no mistake.
      const isLost = !game.counts_pieces && (side === 0 ? 1 : -1) * (value ?? 0) < 0;
      const score = isLost ? null : message.score_loss;
      const found = GRADES.find((grade) => (loss ?? 0) >= grade.least);
      const grade = found ?? ((score ?? 0) >= least ? GRADES[2] : null);
      onPly({ ...message, score_loss: score, grade, side });
    };
    const request = { ...this.app.game.request(), moves, player: this.player ?? undefined };
    await this.app.backend.analysis?.review(request, { signal, onMessage });
  }

  stop(): void {
    this.stopper.abort();
    this.stopper = new AbortController();
    this.change({ isRunning: false, error: "" });
  }

  private follow(): void {
    const { line } = this.app.game.shown.value;
    if (line.length === this.line.length && line.every((node, k) => node === this.line[k])) return;
    if (line[0] !== this.line[0]) this.side.value = null;
    this.line = line;
    this.stop();
    this.complete();
  }

  /** Review the game that is shown if it has ended and was not reviewed. */
  complete(): void {
    const { line } = this;
    const isOver = line.length > 1 && line[line.length - 1].position.over;
    if (isOver && this.plies.includes(undefined)) this.run();
  }

  private record(node: GameNode, found: Ply): void {
    const { positions, moves } = this.now.value;
    const next = node.children.find(({ action }) => action === found.played);
    positions.set(node, { ...found, ...NO_MOVE });
    if (next) moves.set(next, found);
    this.change({});
  }

  private change(some: Partial<Reviewed>): void {
    this.now.value = { ...this.now.value, ...some };
  }
}

/** Return the mistakes of a game that was reviewed, the earliest first. */
export function mistakesOf(plies: Plies): Mistake[] {
  return plies.filter((found): found is Mistake => Boolean(found?.grade));
}

/** Return a side's last mistake before which it had a better result than the final one in hand. */
export function turningPoint(plies: Plies, side: Side): Mistake | undefined {
  const end = plies[plies.length - 1]?.value ?? null;
  const sign = side === 0 ? 1 : -1;
  const isAbove = ({ value }: Mistake) => sign * ((value ?? 0) - (end ?? 0)) > HALF_A_RESULT;
  const lost = (one: Mistake) => end !== null && one.side === side && isAbove(one);
  return mistakesOf(plies).findLast(lost);
}

/**
 * Return how many of a side's moves were judged, and how many of them lost nothing of note. Where
 * the game is lost already and no score is known, no move can lose, so that none is judged.
 */
export function accuracyOf(plies: Plies, line: GameNode[], side: Side) {
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
