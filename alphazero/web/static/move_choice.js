// A move from square to square, chosen one square after the other.
//
// Knows the squares of the legal actions, as flat indices, and nothing of pointers or drawings.

export class MoveChoice {
  /** @param squares of every action, as in the catalogue; empty where actions are no moves */
  constructor(squares) {
    Object.assign(this, { squares, legal: [], path: [] });
  }

  /** Offer these actions; no square is chosen yet. */
  offer(legal) {
    this.legal = legal.filter((action) => this.squares[action]?.length);
    this.path = [];
  }

  clear() {
    this.path = [];
  }

  /** Choose a square; return the action that is meant, null if another square or choice follows. */
  choose(square) {
    const { path } = this;
    if (this.next.has(square)) this.path = [...path, square];
    else if (path.length === 1 && path[0] === square) this.path = [];
    else this.path = this.starts.has(square) ? [square] : [];
    return this.meant.length === 1 && this.next.size === 0 ? this.meant[0] : null;
  }

  /** The actions whose squares are all chosen: several where pieces are promoted. */
  get meant() {
    return this.#begun().filter((action) => this.squares[action].length === this.path.length);
  }

  /** The squares that may be chosen after those chosen so far. */
  get next() {
    const { length } = this.path;
    const longer = this.#begun().filter((action) => this.squares[action].length > length);
    return new Set(longer.map((action) => this.squares[action][length]));
  }

  /** The squares with which a move may begin. */
  get starts() {
    return new Set(this.legal.map((action) => this.squares[action][0]));
  }

  #begun() {
    return this.legal.filter((action) =>
      this.path.every((square, k) => this.squares[action][k] === square),
    );
  }
}
