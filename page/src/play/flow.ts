// The course of a game: who is asked for the next move, and what happens when the answer fails.
//
// A refusal is shown and waits for the person.

import { signal } from "@preact/signals";
import { bestActions } from "../analyse/position_search";
import type { Asked, MoveMessage, ProgressMessage } from "../api";
import type { App } from "../app";
import { pause, prefersRest } from "../board/motion";
import { failureOf, moveText, resultText } from "../format";
import type { Shown } from "../game/types";
import { countGame } from "./results";
import { playerOf, type Seat, type Seats } from "./seats";

const PASS_MS = 900; // so that a pass is seen
const SHORTEST_MS = 350; // of a move, so that the one before is seen to move
const WATCHED_MS = 800; // the same, where two players are watched
const HINT_SIMULATIONS = 200;

interface FlowState {
  isPaused: boolean;
  /** A move is under way. */
  isPending: boolean;
  progress: ProgressMessage | null;
  /** What failed, "" for nothing. */
  problem: string;
  /** A move that was pointed out in the position shown. */
  hint: { action: number; text: string } | null;
}

const IDLE = { isPending: false, progress: null, problem: "", hint: null };

export class GameFlow {
  readonly now = signal<FlowState>({ ...IDLE, isPaused: false });
  /** The games that ended here, unlike those that a link shows. */
  readonly ended = new Set<number>();
  private stopper = new AbortController();
  /** Tries again what failed. */
  retry = () => {};

  constructor(
    private readonly app: App,
    private seats: Seats,
  ) {}

  get isPersonsTurn(): boolean {
    return !this.app.game.position.over && this.seat().kind === "human";
  }

  /** Whether a person may move on the board now. */
  get mayPlay(): boolean {
    return this.isPersonsTurn && !this.app.game.position.forced_pass && !this.now.value.isPending;
  }

  get isWatched(): boolean {
    return this.seats.every(({ kind }) => kind !== "human");
  }

  /** Follow the game; return what ends that. */
  open(): () => void {
    const unsubscribe = this.app.game.shown.subscribe(() => this.follow());
    return () => {
      unsubscribe();
      this.stop();
    };
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

  play(action: number): void {
    this.persist((signal) => this.playMove(action, signal));
  }

  /** Go on from the position shown: what followed it is no longer played. */
  playOn(): void {
    this.app.game.cut(this.app.game.shown.value.ply);
  }

  /** Return the latest ply before, in which a person had a choice; null if there is none. */
  plyToTakeBackTo(): number | null {
    const { line, ply } = this.app.game.shown.value;
    const found = line.slice(0, ply).findLastIndex(({ position }) => {
      return this.seats[position.to_move].kind === "human" && !position.forced_pass;
    });
    return found < 0 ? null : found;
  }

  /** Point out the best move that the analyst, or the solver, knows. */
  askHint(): void {
    const seek = async (signal: AbortSignal) => {
      const { game, setup } = this.app.game.shown.value;
      const note = "looking for a hint";
      this.change({ progress: { type: "progress", done: 0, total: 0, note } });
      const exact = await this.app.backend.analysis?.exact(this.app.game.request(), { signal });
      let action;
      if (exact?.known) {
        [action] = bestActions(exact.scores);
      } else {
        if (!game.analyst) throw new Error("Nobody here knows this game well.");
        const { id, num_simulations: num } = game.analyst;
        const player = { id, num_simulations: Math.min(num, HINT_SIMULATIONS) };
        action = await this.askMove(player, signal);
      }
      const by = exact?.known ? `a ${resultText(exact.value)} with best play` : "probably best";
      const text = `Hint: ${moveText(setup, this.app.game.position, action)}, ${by}.`;
      this.app.announce(text);
      this.change({ hint: { action, text } });
    };
    // The person may move meanwhile.
    this.persist(seek, false);
  }

  private seat(): Seat {
    return this.seats[this.app.game.position.to_move];
  }

  private follow(): void {
    this.stop();
    const { position, isAtEnd } = this.app.game;
    if (position.over || !isAtEnd || this.now.value.isPaused) return;
    const player = playerOf(this.seat(), this.app.game.shown.value.game);
    const usual = this.isWatched ? WATCHED_MS : prefersRest() ? 0 : SHORTEST_MS;
    if (position.forced_pass) this.goOn(PASS_MS, () => position.legal[0]);
    else if (player) this.goOn(usual, (signal) => this.askMove(player, signal));
  }

  /** Make a move once it is found, and no earlier than after a time. */
  private goOn(time: number, find: (signal: AbortSignal) => number | Promise<number>): void {
    this.persist(async (signal) => {
      const [action] = await Promise.all([find(signal), pause(time)]);
      await this.playMove(action, signal);
    });
  }

  private async askMove(player: Asked, signal: AbortSignal): Promise<number> {
    const total = player.num_simulations ?? 0;
    this.change({ progress: { type: "progress", done: 0, total } });
    const found: number[] = [];
    const onMessage = (message: MoveMessage | ProgressMessage) => {
      if (message.type === "move") found.push(message.action);
      else if (!signal.aborted) this.change({ progress: message });
    };
    await this.app.backend.move({ ...this.app.game.request(), player }, { signal, onMessage });
    return found[0];
  }

  private async playMove(action: number, signal: AbortSignal): Promise<void> {
    while (this.app.game.numLoads.value) await pause(20); // the person goes to another game
    signal.throwIfAborted();
    const { position: before } = this.app.game;
    const { to_move: side, forced_pass: isPass } = before;
    const { setup } = this.app.game.shown.value;
    await this.app.game.play(action);
    const did = isPass
      ? "has no legal move and passes"
      : `plays ${moveText(setup, before, action)}`;
    this.app.announce(`${setup.sides[side]} ${did}.`);
    const { over, winner } = this.app.game.position;
    if (!over) return;
    this.ended.add(this.app.game.shown.value.id);
    countGame(this.app.game.shown.value.id, this.seats, winner);
    this.app.announce(endText(this.app.game.shown.value));
  }

  /** Do something, unless the game goes elsewhere; what fails is shown, and can be tried again. */
  private async persist(work: (signal: AbortSignal) => Promise<void>, isPending = true) {
    this.stop();
    const { signal } = this.stopper;
    this.retry = () => void this.persist(work, isPending);
    this.change({ isPending });
    const problem = await failureOf(work(signal));
    if (signal.aborted) return;
    this.change({ isPending: isPending && problem !== "", progress: null, problem });
    if (problem) this.app.announce(problem);
  }

  private stop(): void {
    this.stopper.abort();
    this.stopper = new AbortController();
    this.change(IDLE);
  }

  private change(some: Partial<FlowState>): void {
    this.now.value = { ...this.now.value, ...some };
  }
}

/** Return how a finished game ended. */
export function endText({ line, ply, setup, game }: Shown): string {
  const { counts, winner } = line[ply].position;
  const score = game.counts_pieces ? `, ${Math.max(...counts)} to ${Math.min(...counts)}` : "";
  return winner === null ? `A draw${score}.` : `${setup.sides[winner]} wins${score}.`;
}
