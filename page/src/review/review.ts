// The review of a game: the value of every position, and what each move lost.
//
// When the game changes, the positions before the change keep their values.

import { signal } from "@preact/signals";
import type { App } from "../app";
import type { Asked, PlyMessage, Side, StreamMessage } from "../api";
import type { GameNode, GameState } from "../game/game_state";

/** How much a move loses at least, in results, to be called so. */
const MISTAKES = [
  { least: 0.8, sign: "??", name: "blunder" },
  { least: 0.4, sign: "?", name: "mistake" },
  { least: 0.15, sign: "?!", name: "inaccuracy" },
] as const;

export interface Reviewed {
  /** By ply; undefined where it is not known yet. */
  plies: (PlyMessage | undefined)[];
  isRunning: boolean;
  error: string;
}

export interface Mistake {
  ply: number;
  side: Side;
  sign: string;
  name: (typeof MISTAKES)[number]["name"];
  found: PlyMessage;
}

export class Review {
  readonly now = signal<Reviewed>({ plies: [], isRunning: false, error: "" });
  /** Who judges what no solver does; null: the usual analyst. */
  player: Asked | null = null;
  private line: GameNode[] = [];
  private stopper: AbortController | null = null;
  private unsubscribe: (() => void) | null = null;

  constructor(
    private readonly app: App,
    private readonly state: GameState,
  ) {}

  /** Follow the game, and review it by itself once it has ended. */
  open(): void {
    this.unsubscribe = this.state.shown.subscribe(() => this.follow());
  }

  close(): void {
    this.unsubscribe?.();
    this.stop();
    this.line = [];
  }

  async run(): Promise<void> {
    this.stop();
    const stopper = new AbortController();
    this.stopper = stopper;
    const { signal: stop } = stopper;
    this.change({ isRunning: true, error: "" });
    const onMessage = (message: StreamMessage) => {
      if (message.type !== "ply" || stop.aborted) return;
      const plies = [...this.now.value.plies];
      plies[message.ply] = message;
      this.change({ plies });
    };
    const request = { ...this.state.wholeGame(), ...(this.player ? { player: this.player } : {}) };
    try {
      await this.app.backend.review(request, { signal: stop, onMessage });
    } catch (error) {
      if (!stop.aborted) this.change({ error: error instanceof Error ? error.message : "" });
    }
    if (!stop.aborted) this.change({ isRunning: false });
  }

  stop(): void {
    this.stopper?.abort();
    this.stopper = null;
    if (this.now.value.isRunning) this.change({ isRunning: false });
  }

  private follow(): void {
    const { line } = this.state.shown.value;
    const same = commonLength(line, this.line);
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
    const { sign, name } = kind;
    return [{ ply: found.ply, side: line[found.ply].position.to_move, sign, name, found }];
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

function commonLength(a: GameNode[], b: GameNode[]): number {
  const different = a.findIndex((node, k) => node !== b[k]);
  return different < 0 ? a.length : different;
}
