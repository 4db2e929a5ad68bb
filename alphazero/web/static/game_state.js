// The game that the page shows: its moves, its positions, and which of them is shown.
//
// The rules are the backend's; here are only its answers. Dispatches "change" after every change.

export class GameState extends EventTarget {
  constructor(backend, catalogue) {
    super();
    Object.assign(this, { backend, catalogue, game: null, setup: null, board: null, toMove: null });
    Object.assign(this, { moves: [], texts: [], list: "", positions: [], ply: 0, busy: false });
    this.numAsked = 0;
  }

  /** The position shown. */
  get position() {
    return this.positions[this.ply];
  }

  /** Whether the last position of the game is shown. */
  get isAtEnd() {
    return this.ply === this.moves.length;
  }

  /** Return the position after `ply` moves, as requests have it. */
  request(ply = this.ply) {
    return { ...this.#start(), moves: this.moves.slice(0, ply) };
  }

  /** Return the position after all moves, as requests have it. */
  wholeGame() {
    return this.request(this.moves.length);
  }

  /** Show the position after `ply` moves. */
  show(ply) {
    this.ply = Math.min(Math.max(ply, 0), this.moves.length);
    this.#changed();
  }

  /** Play a move in the position shown; the moves that followed it are gone. */
  async play(action) {
    const kept = this.ply;
    const moves = [...this.moves.slice(0, kept), action];
    const answer = await this.#ask({ ...this.#start(), moves, from_ply: kept + 1 });
    if (!answer) return;
    const positions = [...this.positions.slice(0, kept + 1), ...answer.positions];
    this.#take({ ...answer, positions }, moves.length);
  }

  /** Forget the moves after the first `ply`. */
  async cut(ply) {
    const answer = await this.#ask({ ...this.request(ply), from_ply: ply });
    if (!answer) return;
    this.#take({ ...answer, positions: this.positions.slice(0, ply + 1) }, ply);
  }

  /**
   * Show another game; nothing changes if the backend refuses it.
   * @param setup null: the usual one; @param board null: the start of the game
   * @param moves actions, or text as a person writes it; @param ply null: after all moves
   */
  async load({ game, setup = null, board = null, to_move: toMove = null, moves = [], ply = null }) {
    const { games, default_game: defaultGame } = this.catalogue;
    const entry = games.find((one) => one.name === (game ?? defaultGame));
    if (!entry) throw new Error(`There is no game ${game} here.`);
    const chosen = entry.setups.find((one) => one.id === setup) ?? entry.setups[0];
    const answer = await this.#ask({ ...startOf(entry, chosen, board, toMove), moves });
    if (!answer) return;
    Object.assign(this, { game: entry, setup: chosen, board, toMove });
    this.#take(answer, Math.min(ply ?? answer.moves.length, answer.moves.length));
  }

  /** Take over another catalogue, for example with networks trained since. */
  renew(catalogue) {
    this.catalogue = catalogue;
    const found = catalogue.games.find((one) => one.name === this.game.name);
    if (!found) return;
    this.game = found;
    this.setup = found.setups.find((one) => one.id === this.setup.id) ?? found.setups[0];
  }

  #start() {
    return startOf(this.game, this.setup, this.board, this.toMove);
  }

  /** Return the backend's answer; null if another question came after this one. */
  async #ask(request) {
    this.numAsked += 1;
    const number = this.numAsked;
    this.busy = true;
    try {
      const answer = await this.backend.position(request);
      return number === this.numAsked ? answer : null;
    } finally {
      if (number === this.numAsked) this.busy = false;
    }
  }

  #take({ moves, texts, list, positions }, ply) {
    Object.assign(this, { moves, texts, list, positions, ply });
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

function startOf(game, setup, board, toMove) {
  const start = { game: game.name, setup: setup.id };
  return board === null ? start : { ...start, board, to_move: toMove ?? 0 };
}
