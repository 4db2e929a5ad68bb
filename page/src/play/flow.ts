// The course of a game: who is asked for the next move, and what happens when the answer fails.
//
// A lost connection is tried again until it comes back; the game is in the page, so nothing is
// lost. A refusal is shown and waits for the person.

import { signal } from "@preact/signals";
import type { Asked, MoveMessage, ProgressMessage } from "../api";
import type { App } from "../app";
import { prefersRest } from "../board/motion";
import type { GameState, Shown } from "../game/game_state";
import { isTemporary, RequestError } from "../server_backend";
import { playerOf, type Seat, type Seats } from "./seats";

const PASS_MS = 900; // so that a pass is seen
const SHORTEST_MS = 350; // of a move, so that the one before is seen to move
const WATCHED_MS = 800; // the same, where two players are watched
const RETRY_S = [1, 2, 4, 8, 15];
const HINT_SIMULATIONS = 400;

interface Problem {
  text: string;
  /** When it is tried again, in seconds; null: it waits for the person. */
  seconds: number | null;
}

interface FlowState {
  isPaused: boolean;
  /** Somebody's move, or what the person asked for, is under way. */
  isPending: boolean;
  progress: ProgressMessage | null;
  problem: Problem | null;
  /** A move that was pointed out in the position shown. */
  hint: { action: number; text: string } | null;
}

const IDLE = { isPending: false, progress: null, problem: null, hint: null };

export class GameFlow {
  readonly now = signal<FlowState>({ ...IDLE, isPaused: false });
  private stopper: AbortController | null = null;
  private wakeUp: (() => void) | null = null;
  private unsubscribe: (() => void) | null = null;

  constructor(
    private readonly app: App,
    private readonly state: GameState,
    private seats: Seats,
  ) {}

  /** Whether the side to move is a person's. */
  get isPersonsTurn(): boolean {
    const { position } = this.state;
    return !position.over && this.seat().kind === "human";
  }

  /** Whether a person may move on the board now. */
  get mayPlay(): boolean {
    return this.isPersonsTurn && !this.state.position.forced_pass && !this.now.value.isPending;
  }

  get isWatched(): boolean {
    return this.seats.every(({ kind }) => kind !== "human");
  }

  open(): void {
    this.unsubscribe = this.state.shown.subscribe(() => this.follow());
  }

  close(): void {
    this.unsubscribe?.();
    this.stop();
  }

  /** Let others play from now on. */
  sit(seats: Seats): void {
    this.seats = seats;
    this.pause(false);
  }

  /** Hold a game between two players, or let it go on. */
  pause(isPaused: boolean): void {
    this.change({ isPaused });
    this.follow();
  }

  /** Play a person's move in the position shown. */
  play(action: number): void {
    this.persist((signal) => this.playMove(action, signal));
  }

  /** Go on from the position shown: what followed it is no longer played. */
  playOn(): void {
    this.state.cut(this.state.shown.value.ply);
  }

  /** Take back to the latest position in which a person had a choice. */
  takeBack(): void {
    const ply = this.plyToTakeBackTo();
    if (ply !== null) this.state.cut(ply);
  }

  /** Return that ply; null if there is none. */
  plyToTakeBackTo(): number | null {
    const { line, ply } = this.state.shown.value;
    for (let k = ply - 1; k >= 0; k -= 1) {
      const { to_move: side, forced_pass: isForced } = line[k].position;
      if (this.seats[side].kind === "human" && !isForced) return k;
    }
    return null;
  }

  /** Point out the best move that the analyst, or the solver, knows. */
  askHint(): void {
    this.persist(async (signal) => {
      const { game, setup } = this.state.shown.value;
      const request = this.state.request();
      const exact = await this.app.backend.exact(request, { signal });
      let hint;
      if (exact.known) {
        const most = Math.max(...exact.scores.filter((score) => score !== null));
        hint = { action: exact.scores.indexOf(most), by: "exact" };
      } else {
        const { id = undefined, num_simulations: num = 0 } = game.analyst ?? {};
        if (id === undefined) throw new RequestError("Nobody here knows this game well.", 422);
        const player = { id, num_simulations: Math.min(num, HINT_SIMULATIONS) };
        hint = { action: (await this.askMove(player, signal)).action, by: "the search's choice" };
      }
      const text = `Hint: ${setup.action_texts[hint.action]} (${hint.by}).`;
      this.app.announce(text);
      this.change({ hint: { action: hint.action, text } });
    });
  }

  /** Try at once what failed. */
  retry(): void {
    this.wakeUp?.();
  }

  private seat(): Seat {
    return this.seats[this.state.position.to_move];
  }

  /** Go on with the game as it is now. */
  private follow(): void {
    this.stop();
    const { position, isAtEnd } = this.state;
    if (position.over || !isAtEnd || this.now.value.isPaused) return;
    if (position.forced_pass) this.pass();
    else if (this.seat().kind !== "human") this.think();
  }

  private pass(): void {
    const { position } = this.state;
    const { setup } = this.state.shown.value;
    this.app.announce(`${setup.sides[position.to_move]} has no legal move and passes.`);
    this.persist(async (signal) => {
      await pause(PASS_MS, signal);
      await this.playMove(position.legal[0], signal);
    });
  }

  private think(): void {
    const player = playerOf(this.seat(), this.state.shown.value.game);
    if (!player) return;
    this.persist(async (signal) => {
      const started = performance.now();
      const answer = await this.askMove(player, signal);
      const usual = prefersRest() ? 0 : SHORTEST_MS;
      const least = this.isWatched ? WATCHED_MS : usual;
      await pause(least - (performance.now() - started), signal);
      await this.playMove(answer.action, signal);
    });
  }

  private async askMove(player: Asked, signal: AbortSignal): Promise<MoveMessage> {
    const total = player.num_simulations ?? 0;
    this.change({ progress: { type: "progress", done: 0, total } });
    const found: MoveMessage[] = [];
    const onMessage = (message: MoveMessage | ProgressMessage) => {
      if (message.type === "move") found.push(message);
      else if (!signal.aborted) this.change({ progress: message });
    };
    await this.app.backend.move({ ...this.state.request(), player }, { signal, onMessage });
    if (!found.length) throw new RequestError("The connection to the server was lost.");
    return found[0];
  }

  private async playMove(action: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { position } = this.state;
    const { setup } = this.state.shown.value;
    const side = setup.sides[position.to_move];
    await this.state.play(action);
    if (!position.forced_pass) this.app.announce(`${side} plays ${setup.action_texts[action]}.`);
    if (this.state.position.over) this.app.announce(resultText(this.state.shown.value));
  }

  /** Do something until it succeeds, is refused, or the game goes elsewhere. */
  private async persist(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.stop();
    const stopper = new AbortController();
    this.stopper = stopper;
    this.change({ isPending: true });
    for (let attempt = 0; !stopper.signal.aborted; attempt += 1) {
      try {
        this.change({ problem: null });
        await work(stopper.signal);
        if (!stopper.signal.aborted) {
          this.stopper = null;
          this.change({ isPending: false, progress: null });
        }
        return;
      } catch (error) {
        if (stopper.signal.aborted) return;
        await this.waitAfter(error, attempt, stopper.signal);
      }
    }
  }

  /** Show what failed; return when it is to be tried again. */
  private async waitAfter(error: unknown, attempt: number, signal: AbortSignal): Promise<void> {
    const isTried = isTemporary(error);
    const seconds = isTried ? RETRY_S[Math.min(attempt, RETRY_S.length - 1)] : null;
    const text = error instanceof Error ? error.message : String(error);
    this.change({ progress: null, problem: { text, seconds } });
    this.app.announce(text);
    await new Promise<void>((resolve) => {
      this.wakeUp = resolve;
      signal.addEventListener("abort", () => resolve());
      if (seconds !== null) setTimeout(resolve, 1000 * seconds);
    });
    this.wakeUp = null;
  }

  private stop(): void {
    this.stopper?.abort();
    this.stopper = null;
    this.change(IDLE);
  }

  private change(some: Partial<FlowState>): void {
    this.now.value = { ...this.now.value, ...some };
  }
}

/** Return how a finished game ended. */
export function resultText({ line, ply, setup, game }: Shown): string {
  const { counts, winner } = line[ply].position;
  const score = game.counts_pieces ? `, ${Math.max(...counts)} to ${Math.min(...counts)}` : "";
  return winner === null ? `A draw${score}.` : `${setup.sides[winner]} wins${score}.`;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, Math.max(milliseconds, 0));
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
