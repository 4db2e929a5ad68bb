// The search of the position that is shown, and its exact result: what runs, what has been found.
//
// Another position aborts what runs and starts the next. Searches that have ended are kept, so that
// stepping back through a game shows them at once.

import { signal } from "@preact/signals";
import type { AnalysisMessage, Asked, Backend, ExactAnswer, PositionRequest } from "../api";

const DELAY_MS = 120; // so that stepping quickly through a game asks for few positions
const MAX_KEPT = 60;

interface Found {
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
  private request: PositionRequest | null = null;
  private hasMoves = false;
  private timer = 0;
  private searching: AbortController | null = null;
  private looking: AbortController | null = null;

  constructor(
    private readonly backend: Backend,
    private player: Asked | null,
  ) {}

  /** Choose the analyst; the position shown is searched again. */
  choose(player: Asked | null): void {
    this.player = player;
    if (this.request) this.show(this.request, this.hasMoves);
  }

  /** Show another position. `hasMoves`: the game is not over. */
  show(request: PositionRequest, hasMoves: boolean): void {
    this.close();
    this.request = request;
    this.hasMoves = hasMoves;
    this.found.value = { ...NOTHING, analysis: this.kept.get(this.key()) ?? null };
    if (hasMoves) this.timer = window.setTimeout(() => this.begin(), DELAY_MS);
  }

  /** Search the position shown, again if need be, and those shown later. */
  start(): void {
    if (!this.request) return;
    this.isWanted = true;
    this.kept.delete(this.key());
    this.show(this.request, this.hasMoves);
  }

  /** Stop, and start no search for other positions until `start`. */
  stop(): void {
    this.isWanted = false;
    this.searching?.abort();
    this.change({ isRunning: false });
  }

  /** Stop everything; `show` begins anew. */
  close(): void {
    clearTimeout(this.timer);
    this.searching?.abort();
    this.looking?.abort();
  }

  private begin(): void {
    if (!this.request) return;
    this.lookUp(this.request);
    if (this.isWanted && this.player && this.found.value.analysis === null) {
      this.search(this.request, this.player);
    }
  }

  private async search(request: PositionRequest, player: Asked): Promise<void> {
    const stopper = new AbortController();
    const { signal: stop } = stopper;
    const key = this.key();
    this.searching = stopper;
    this.change({ isRunning: true });
    const onMessage = (message: AnalysisMessage) => {
      if (message.type !== "analysis" || stop.aborted) return;
      if (message.final) this.keep(key, message);
      this.change({ analysis: message });
    };
    let error = "";
    try {
      await this.backend.analyse({ ...request, player }, { signal: stop, onMessage });
    } catch (problem) {
      error = problem instanceof Error ? problem.message : String(problem);
    }
    if (!stop.aborted) this.change({ isRunning: false, error });
  }

  private async lookUp(request: PositionRequest): Promise<void> {
    const stopper = new AbortController();
    this.looking = stopper;
    const refused = (error: unknown): ExactAnswer => {
      return { known: false, reason: error instanceof Error ? error.message : String(error) };
    };
    const exact = await this.backend.exact(request, { signal: stopper.signal }).catch(refused);
    if (!stopper.signal.aborted) this.change({ exact });
  }

  private keep(key: string, message: AnalysisMessage): void {
    this.kept.set(key, message);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MAX_KEPT) this.kept.delete(oldest);
  }

  private key(): string {
    return JSON.stringify([this.request, this.player]);
  }

  private change(some: Partial<Found>): void {
    this.found.value = { ...this.found.value, ...some };
  }
}
