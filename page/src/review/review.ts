// The review of a game: the value of every position, and what each move lost.
//
// When the game changes, the positions before the change keep their values.

import { signal } from "@preact/signals";
import type { App } from "../app";
import type { Asked, PlyMessage, Side, StreamMessage } from "../api";
import { failureOf } from "../format";
import type { GameNode } from "../game/types";

/** How much a move loses at least, in results, to be called so. */
const MISTAKES = [
  { least: 0.8, sign: "??", name: "blunder", text: "a blunder" },
  { least: 0.4, sign: "?", name: "mistake", text: "a mistake" },
  { least: 0.15, sign: "?!", name: "inaccuracy", text: "an inaccuracy" },
] as const;

export interface Reviewed {
  /** By ply; undefined where it is not known yet. */
  plies: (PlyMessage | undefined)[];
  isRunning: boolean;
  error: string;
}

export type Mistake = PlyMessage & (typeof MISTAKES)[number] & { side: Side };

export class Review {
  readonly now = signal<Reviewed>({ plies: [], isRunning: false, error: "" });
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
    const onMessage = (message: StreamMessage) => {
      if (message.type !== "ply" || signal.aborted) return;
      this.change({ plies: Object.assign([...this.now.value.plies], { [message.ply]: message }) });
    };
    const game = this.app.game.request(this.line.length);
    const request = this.player ? { ...game, player: this.player } : game;
    const error = await failureOf(
      this.app.backend.analysis?.review(request, { signal, onMessage }),
    );
    if (!signal.aborted) this.change({ isRunning: false, error });
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
    if (last) plies[same - 1] = { ...last, played: null, loss: null };
    this.change({ plies, error: "" });
    if (line.length > 1 && line[line.length - 1].position.over) this.run();
  }

  private change(some: Partial<Reviewed>): void {
    this.now.value = { ...this.now.value, ...some };
  }
}

/** Return what is worth a word about a move that lost so much. */
export function mistakeOf(loss: number | null | undefined) {
  return MISTAKES.find(({ least }) => (loss ?? 0) >= least) ?? null;
}

/** Return the mistakes of a line that was reviewed, the earliest first. */
export function mistakesOf(plies: Reviewed["plies"], line: GameNode[]): Mistake[] {
  return plies.flatMap((found) => {
    const kind = mistakeOf(found?.loss);
    if (!found || !kind || !line[found.ply]) return [];
    return [{ ...found, ...kind, side: line[found.ply].position.to_move }];
  });
}

/** Return how many of a side's moves were judged, and how many of them lost nothing of note. */
export function accuracyOf(plies: Reviewed["plies"], line: GameNode[], side: Side) {
  const judged = plies.filter((found) => {
    const position = found && line[found.ply]?.position;
    return position?.to_move === side && !position.forced_pass && found?.loss !== null;
  });
  return { num: judged.length, good: judged.filter((found) => !mistakeOf(found?.loss)).length };
}
