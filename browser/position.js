// Positions of the page: from a request to the states of a game, and from those to an answer.

/** A request that is refused; the message is one plain sentence. */
export class Refused extends Error {
  status = 422;
}

/** A game from its start: the actions played and the states between them. */
export class Session {
  /** @param game its entry in games.json, @param rules see rules.js */
  constructor(game, rules, request) {
    if (request.board) throw new Refused("without a server, a game begins at its start.");
    Object.assign(this, { game, rules });
    this.setup = game.setups.find((one) => one.id === request.setup) ?? game.setups[0];
    this.states = [rules.start()];
    this.moves = [];
    for (const action of this.#actions(request.moves ?? [])) this.#play(action);
  }

  get state() {
    return this.states[this.states.length - 1];
  }

  /** Return the answer of `api/position`, as far as the page reads it. */
  answer(fromPly) {
    const positions = this.states.map((state, ply) => this.#describe(state, ply)).slice(fromPly);
    return { moves: this.moves, positions };
  }

  /** Return the actions of a request: numbers, or text as the page writes it into its address. */
  #actions(moves) {
    if (Array.isArray(moves)) return moves;
    const words = moves.match(/pass|[a-z]?\d+/g) ?? [];
    return words.map((word) => this.setup.action_texts.indexOf(word));
  }

  #play(action) {
    const pass = this.state.legal[0];
    if (isForcedPass(this.rules, this.state) && action !== pass) this.#push(pass);
    if (!this.state.legal.includes(action)) {
      throw new Refused(`move ${this.moves.length + 1} of the list is not legal there.`);
    }
    this.#push(action);
  }

  #push(action) {
    this.states.push(this.rules.step(this.state, action));
    this.moves.push(action);
  }

  #describe(state, ply) {
    const { rows, columns } = this.rules;
    const lines = [...Array(rows).keys()].map((row) =>
      Array.from(state.cells.subarray(row * columns, (row + 1) * columns)),
    );
    return {
      ply,
      cells: lines,
      to_move: state.toMove,
      legal: state.legal,
      forced_pass: isForcedPass(this.rules, state),
      over: state.over,
      winner: state.winner,
      marked: state.marked.map((cell) => [Math.floor(cell / columns), cell % columns]),
      counts: [1, 2].map((piece) => state.cells.filter((cell) => cell === piece).length),
      board: lines.map((line) => this.#boardLine(line)).join("\n"),
      drawn: null,
      legal_texts: null,
    };
  }

  /** Return a row as it is on the screen, with the letters of the set-up. */
  #boardLine(line) {
    const { letters, mirrored } = this.setup;
    const shown = mirrored ? [...line].reverse() : line;
    return shown.map((cell) => letters[cell]).join("");
  }
}

function isForcedPass(rules, state) {
  return !state.over && rules.pass !== undefined && state.legal[0] === rules.pass;
}
