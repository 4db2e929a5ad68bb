// Positions of the contract: from a request to the states of a game, and from those to answers.

/** A request that is refused; the message is one plain sentence. */
export class Refused extends Error {
  constructor(message, status = 422) {
    super(message);
    this.status = status;
  }
}

/** A game from its start, or from a board: the actions played and the states between them. */
export class Session {
  /** @param game its entry in games.json, @param rules see rules.js */
  constructor(game, rules, request) {
    Object.assign(this, { game, rules });
    this.setup = game.setups.find((one) => one.id === request.setup) ?? game.setups[0];
    this.states = [this.#start(request)];
    this.moves = [];
    for (const action of this.#actions(request.moves ?? [])) this.#play(action);
  }

  get state() {
    return this.states[this.states.length - 1];
  }

  /** Return the answer of `api/position`. */
  answer(fromPly = 0) {
    const texts = this.moves.map((action) => this.setup.action_texts[action]);
    // A transcript such as "f5d6c3", in which passes are left out, as is usual.
    const isTranscript = this.setup.action_texts.includes("pass");
    const shown = isTranscript ? texts.filter((text) => text !== "pass") : texts;
    const positions = this.states.map((state, ply) => this.#describe(state, ply)).slice(fromPly);
    return {
      moves: this.moves,
      texts,
      list: shown.join(isTranscript ? "" : ","),
      from_ply: fromPly,
      positions,
    };
  }

  #start({ board, to_move: toMove = 0 }) {
    if (board === undefined || board === null) return this.rules.start();
    const rows = board.replace(/^\n+|\n+$/g, "").split(/\r?\n/);
    const { rows: height, columns } = this.rules;
    if (rows.length !== height || rows.some((row) => row.length !== columns)) {
      throw new Refused(`a board of ${this.game.title} has ${height} rows of ${columns} letters.`);
    }
    const { letters, mirrored } = this.setup;
    const drawn = rows.map((row) => (mirrored ? [...row].reverse() : [...row]));
    const cells = drawn.flat().map((letter) => letters.indexOf(letter));
    if (cells.includes(-1)) {
      const allowed = [...letters].join(" ");
      throw new Refused(`the board holds another letter than ${allowed}.`);
    }
    try {
      return this.rules.fromCells(cells, toMove);
    } catch (error) {
      throw new Refused(`this board is not possible: ${error.message}`);
    }
  }

  /** Return the actions of a request, which are numbers or a text such as "f5d6c3". */
  #actions(moves) {
    if (Array.isArray(moves)) return moves;
    const numbered = moves.trim().toLowerCase();
    const text = numbered.replace(/\d+\.+(?=\D|$)/g, " ").replace(/--|p[as](?!s)/g, "pass");
    if (text.startsWith("[")) return text.match(/-?\d+/g)?.map(Number) ?? [];
    const words = this.#words(text);
    return words.map((word, k) => {
      const action = this.setup.action_texts.indexOf(word);
      if (action < 0) throw new Refused(`move ${k + 1} of the list, '${word}', is not a move.`);
      return action;
    });
  }

  #words(text) {
    if (this.game.action_kind === "square" && /[a-z]/.test(text)) {
      return text.match(/pass|[a-z]\d+|[^\s,;-]+/g) ?? [];
    }
    const words = text.split(/[\s,;-]+/).filter(Boolean);
    const isOneKey = this.setup.action_texts.every((name) => name.length === 1);
    return isOneKey ? words.flatMap((word) => [...word]) : words;
  }

  #play(action) {
    const pass = this.state.legal[0];
    if (isForcedPass(this.rules, this.state) && action !== pass) this.#push(pass);
    if (!this.state.legal.includes(action)) {
      const text = this.setup.action_texts[action] ?? action;
      const place = `move ${this.moves.length + 1} of the list`;
      throw new Refused(
        this.state.over
          ? `${place}, '${text}', follows the end of the game.`
          : `${place}, '${text}', is not legal there.`,
      );
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
      marked: this.rules.marked(state).map((cell) => [Math.floor(cell / columns), cell % columns]),
      counts: [1, 2].map((piece) => state.cells.filter((cell) => cell === piece).length),
      board: lines.map((line) => this.#boardLine(line)).join("\n"),
      drawn: null,
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
