// The course of a game: who is asked for the next move, and what happens when the answer fails.
//
// A lost connection is tried again until it comes back; the game is in the page, so nothing is
// lost. A refusal is shown and waits for the person. Dispatches "change" whenever what is said of
// the game has changed.

import { prefersRest } from "./motion.js";
import { playerOf } from "./seats.js";
import { isTemporary } from "./server_backend.js";

const PASS_MS = 900; // so that a pass is seen
const SHORTEST_MS = 350; // of a move, so that the one before is seen to move
const WATCHED_MS = 800; // the same, where two players are watched
const RETRY_S = [1, 2, 4, 8, 15];

export class GameFlow extends EventTarget {
  /** @param seats who plays each side, see seats.js */
  constructor(backend, state, announce) {
    super();
    Object.assign(this, { backend, state, announce, seats: null, isOpen: false, isPaused: false });
    this.#clear();
    this.onState = () => this.#onState();
  }

  /** Whether the side to move is a person's. */
  get isPersonsTurn() {
    const { position } = this.state;
    return !position.over && this.#seat().kind === "human";
  }

  /** Whether a person may move on the board now. */
  get mayPlay() {
    return this.isPersonsTurn && !this.state.position.forced_pass && !this.pending;
  }

  get isWatched() {
    return this.seats.every((seat) => seat.kind !== "human");
  }

  open(seats) {
    Object.assign(this, { seats, isOpen: true, isPaused: false });
    this.state.addEventListener("change", this.onState);
    this.#onState();
  }

  close() {
    this.isOpen = false;
    this.state.removeEventListener("change", this.onState);
    this.#stop();
  }

  /** Let others play from now on. */
  sit(seats) {
    this.seats = seats;
    this.isPaused = false;
    this.#onState();
  }

  /** Hold a game between two players, or let it go on. */
  pause(isPaused) {
    this.isPaused = isPaused;
    this.#onState();
  }

  /** Play a person's move in the position shown. */
  play(action) {
    return this.#persist((signal) => this.#play(action, signal));
  }

  /** Go on from the position shown: what followed it is forgotten. */
  playOn() {
    return this.#persist(() => this.state.cut(this.state.ply));
  }

  /** Take back to the latest position in which a person had a choice. */
  takeBack() {
    const ply = this.plyToTakeBackTo();
    return ply === null ? null : this.#persist(() => this.state.cut(ply));
  }

  /** Return that ply; null if there is none. */
  plyToTakeBackTo() {
    const { positions, ply } = this.state;
    for (let k = ply - 1; k >= 0; k -= 1) {
      const { to_move: side, forced_pass: isForced } = positions[k];
      if (this.seats[side].kind === "human" && !isForced) return k;
    }
    return null;
  }

  /** Try at once what failed. */
  retry() {
    this.wakeUp?.();
  }

  #seat() {
    return this.seats[this.state.position.to_move];
  }

  #onState() {
    this.#stop();
    if (!this.isOpen) return;
    const { position, isAtEnd } = this.state;
    if (!position.over && isAtEnd && !this.isPaused) {
      if (position.forced_pass) this.#pass();
      else if (this.#seat().kind !== "human") this.#think();
    }
    this.#changed();
  }

  #pass() {
    const { position, setup } = this.state;
    this.announce(`${setup.sides[position.to_move]} has no legal move and passes.`);
    this.#persist(async (signal) => {
      await pause(PASS_MS, signal);
      await this.#play(position.legal[0], signal);
    });
  }

  #think() {
    const player = playerOf(this.#seat(), this.state.game);
    this.#persist(async (signal) => {
      const started = performance.now();
      this.progress = { done: 0, total: player.num_simulations ?? null };
      const answer = await this.#ask(player, signal);
      const usual = prefersRest() ? 0 : SHORTEST_MS;
      const least = this.isWatched ? WATCHED_MS : usual;
      await pause(least - (performance.now() - started), signal);
      await this.#play(answer.action, signal);
    });
  }

  async #ask(player, signal) {
    let answer = null;
    const onMessage = (message) => {
      if (message.type === "progress") this.#showProgress(message);
      if (message.type === "move") answer = message;
    };
    const request = { ...this.state.request(), player };
    await this.backend.move(request, { signal, onMessage });
    if (answer === null) throw new Error("The connection to the server was lost.");
    return answer;
  }

  async #play(action, signal) {
    signal.throwIfAborted();
    const { setup, position } = this.state;
    const side = setup.sides[position.to_move];
    await this.state.play(action);
    const text = setup.action_texts[action];
    if (!position.forced_pass) this.announce(`${side} plays ${text}.`);
    if (this.state.position.over) this.announce(resultText(this.state));
  }

  /** Do something until it succeeds, is refused, or the game goes elsewhere. */
  async #persist(work) {
    this.#stop();
    const stop = new AbortController();
    this.pending = stop;
    this.#changed();
    for (let attempt = 0; !stop.signal.aborted; attempt += 1) {
      try {
        this.problem = null;
        await work(stop.signal);
        if (this.pending === stop) this.#stop();
        break;
      } catch (error) {
        if (stop.signal.aborted) return;
        await this.#waitAfter(error, attempt, stop.signal);
      }
    }
    this.#changed();
  }

  /** Show what failed; return when it is to be tried again. */
  async #waitAfter(error, attempt, signal) {
    const isTried = isTemporary(error);
    const seconds = isTried ? RETRY_S[Math.min(attempt, RETRY_S.length - 1)] : null;
    this.progress = null;
    this.problem = { text: error.message, seconds };
    this.announce(error.message);
    this.#changed();
    await new Promise((resolve) => {
      this.wakeUp = resolve;
      signal.addEventListener("abort", resolve);
      if (isTried) setTimeout(resolve, 1000 * seconds);
    });
    this.wakeUp = null;
  }

  #showProgress({ done, total }) {
    this.progress = { done, total };
    this.#changed();
  }

  #stop() {
    this.pending?.abort();
    this.#clear();
  }

  #clear() {
    Object.assign(this, { pending: null, progress: null, problem: null, wakeUp: null });
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

/** Return how a finished game ended. */
export function resultText({ position, setup, game }) {
  const counts = game.counts_pieces
    ? `, ${Math.max(...position.counts)} to ${Math.min(...position.counts)}`
    : "";
  if (position.winner === null) return `A draw${counts}.`;
  return `${setup.sides[position.winner]} wins${counts}.`;
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, Math.max(milliseconds, 0));
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
