// The search of the position that is shown, and its exact result: what runs, what has been found.
//
// Another position aborts what runs and starts the next. Searches that have ended are kept, so that
// stepping back through a game shows them at once.

import { signal } from "@preact/signals";
import type { Analysis, AnalysisMessage, Asked, ExactAnswer, StreamMessage } from "../api";
import type { MoveMark } from "../board/types";
import { failureOf, messageOf } from "../format";
import type { GameState } from "../game/game_state";

const DELAY_MS = 120; // so that stepping quickly through a game asks for few positions

export interface Found {
  analysis: AnalysisMessage | null;
  exact: ExactAnswer | null;
  error: string;
  isRunning: boolean;
}

const NOTHING: Found = { analysis: null, exact: null, error: "", isRunning: false };

export class PositionSearch {
  readonly found = signal<Found>(NOTHING);
  private readonly kept = new Map<string, AnalysisMessage>();
  private isWanted = true; // the user wants a search of each position shown
  private timer = 0;
  private searching = new AbortController();
  private looking = new AbortController();

  constructor(
    private readonly backend: Analysis | undefined,
    private readonly game: GameState,
    private player: Asked | null,
  ) {}

  /** Choose the analyst; the position shown is searched again. */
  choose(player: Asked): void {
    this.player = player;
    this.show();
  }

  /** Begin with the position that is shown now. */
  show(): void {
    this.close();
    this.found.value = { ...NOTHING, analysis: this.kept.get(this.key()) ?? null };
    const begin = () => {
      this.lookUp();
      if (this.isWanted && this.player && !this.found.value.analysis) this.search(this.player);
    };
    if (!this.game.position.over) this.timer = window.setTimeout(begin, DELAY_MS);
  }

  /** Search the position shown, again if need be, and those shown later. */
  start(): void {
    this.isWanted = true;
    this.kept.delete(this.key());
    this.show();
  }

  /** Stop, and start no search for other positions until `start`. */
  stop(): void {
    this.isWanted = false;
    this.searching.abort();
    this.change({ isRunning: false });
  }

  /** Stop everything; `show` begins anew. */
  close(): void {
    clearTimeout(this.timer);
    this.searching.abort();
    this.looking.abort();
  }

  private async search(player: Asked): Promise<void> {
    this.searching = new AbortController();
    const { signal } = this.searching;
    const key = this.key();
    this.change({ isRunning: true });
    const onMessage = (message: StreamMessage) => {
      if (message.type !== "analysis" || signal.aborted) return;
      if (message.final) this.kept.set(key, message);
      this.change({ analysis: message });
    };
    const asked = { ...this.game.request(), player };
    const error = await failureOf(this.backend?.analyse(asked, { signal, onMessage }));
    if (!signal.aborted) this.change({ isRunning: false, error });
  }

  private async lookUp(): Promise<void> {
    this.looking = new AbortController();
    const { signal } = this.looking;
    const exact = await this.backend
      ?.exact(this.game.request(), { signal })
      .catch((error): ExactAnswer => ({ known: false, reason: messageOf(error) }));
    if (exact && !signal.aborted) this.change({ exact });
  }

  private key(): string {
    return JSON.stringify([this.game.request(), this.player]);
  }

  private change(some: Partial<Found>): void {
    this.found.value = { ...this.found.value, ...some };
  }
}

/** What is known of a move, by the search and by a solver. */
export interface MoveFacts extends MoveMark {
  /** Null before the first answer of a search; the share is then the network's prior. */
  visits: number | null;
  prior: number | null;
  /** The result is the search's own. */
  isProven: boolean;
}

export function moveFacts(legal: number[], found: Found): MoveFacts[] {
  const { analysis, exact } = found;
  const best = bestMove(found);
  const unknown = { visits: null, prior: null, value: null, proven: null };
  const actions = analysis?.actions ?? legal.map((action) => ({ ...unknown, action }));
  const total = actions.reduce((sum, { visits }) => sum + (visits ?? 0), 0);
  return actions.map(({ proven, ...one }) => {
    const solved = exact?.known ? (exact.values[one.action] ?? null) : null;
    return {
      ...one,
      share: total ? (one.visits ?? 0) / total : (one.prior ?? 0),
      score: exact?.known ? (exact.scores[one.action] ?? null) : null,
      result: solved ?? proven,
      isProven: solved === null,
      isBest: best === one.action,
    };
  });
}

/** Return the best move: of those that are best by exact scores, the search's own if possible. */
export function bestMove({ analysis, exact }: Found): number | undefined {
  const best = exact?.known ? bestActions(exact.scores) : [];
  const found = analysis?.best ?? best[0];
  return best.includes(found) || !best.length ? found : best[0];
}

/** Return the actions with the highest exact score. */
export function bestActions(scores: (number | null)[]): number[] {
  const most = Math.max(...scores.filter((score) => score !== null));
  return scores.flatMap((score, action) => (score === most ? [action] : []));
}

/** Return the result of the position, if it is exact or proven. */
export function resultOf({ analysis, exact }: Found): number | null {
  return (exact?.known ? exact.value : null) ?? analysis?.proven ?? null;
}
