// The search of the position that is shown, and its exact result: what runs, what has been found.
//
// Another position aborts what runs and starts the next. Searches that have ended are kept, so that
// stepping back through a game shows them at once. Knows the backend, not the page.

const DELAY_MS = 120; // so that stepping quickly through a game asks for few positions
const MAX_KEPT = 60;

export class PositionSearch extends EventTarget {
  /** Dispatches "change" whenever one of the fields below has changed. */
  constructor(backend) {
    super();
    this.backend = backend;
    this.kept = new Map();
    this.isWanted = true; // the user wants a search of each position shown
    this.player = null;
    this.#forget();
  }

  /** Choose the analyst, {id, num_simulations}. */
  choose(player) {
    this.player = player;
    if (this.request) this.show(this.request, this.hasMoves);
  }

  /** Show another position. `hasMoves`: the game is not over. */
  show(request, hasMoves) {
    this.#stopAll();
    this.#forget();
    Object.assign(this, { request, hasMoves });
    this.analysis = this.kept.get(this.#key()) ?? null;
    if (hasMoves) this.timer = setTimeout(() => this.#begin(), DELAY_MS);
    this.#changed();
  }

  /** Search the position shown, again if need be, and those shown later. */
  start() {
    this.isWanted = true;
    this.kept.delete(this.#key());
    this.show(this.request, this.hasMoves);
  }

  /** Stop, and start no search for other positions until `start`. */
  stop() {
    this.isWanted = false;
    this.searching?.abort();
    this.#changed();
  }

  /** Stop everything; `show` begins anew. */
  close() {
    this.#stopAll();
    this.request = null;
  }

  get isRunning() {
    return this.searching !== null && !this.searching.signal.aborted;
  }

  #forget() {
    this.request = null;
    this.hasMoves = false;
    this.analysis = null; // the newest "analysis" message
    this.exact = null; // the answer of api/exact
    this.error = null; // the sentence of what failed
    this.searching = null;
  }

  #stopAll() {
    clearTimeout(this.timer);
    this.searching?.abort();
    this.looking?.abort();
  }

  #begin() {
    this.#lookUp();
    if (this.isWanted && this.player && this.analysis === null) this.#search();
  }

  async #search() {
    const stop = new AbortController();
    const key = this.#key();
    this.searching = stop;
    this.#changed();
    const onMessage = (message) => {
      if (message.type !== "analysis" || stop.signal.aborted) return;
      this.analysis = message;
      if (message.final) this.#keep(key, message);
      this.#changed();
    };
    const request = { ...this.request, player: this.player };
    try {
      await this.backend.analyse(request, { signal: stop.signal, onMessage });
    } catch (error) {
      if (!stop.signal.aborted) this.error = error.message;
    }
    if (this.searching !== stop) return;
    this.searching = null;
    this.#changed();
  }

  async #lookUp() {
    const stop = new AbortController();
    this.looking = stop;
    try {
      const exact = await this.backend.exact(this.request, { signal: stop.signal });
      if (stop.signal.aborted) return;
      this.exact = exact;
      this.#changed();
    } catch (error) {
      if (stop.signal.aborted) return;
      this.exact = { known: false, reason: error.message };
      this.#changed();
    }
  }

  #keep(key, message) {
    this.kept.set(key, message);
    if (this.kept.size > MAX_KEPT) this.kept.delete(this.kept.keys().next().value);
  }

  #key() {
    return JSON.stringify([this.request, this.player]);
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
