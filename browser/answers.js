// The methods of the page's backend, without a server: requests in, answers out.
//
// Streams call emit(message) now and then. `stopped()` is asked between the batches of a search.

import { analysisOf } from "./analysis.js";
import { exactAnswer } from "./exact.js";
import { Refused, Session } from "./position.js";
import { makeRules } from "./rules.js";
import { Search } from "./search.js";

const EMIT_EVERY_MS = 200;
const REVIEW_SIMULATIONS = 100;

export class Answers {
  /**
   * @param games the contents of games.json
   * @param loadEvaluator async: maps a game's name and rules to an Evaluator
   */
  constructor(games, loadEvaluator) {
    this.description = games;
    this.loadEvaluator = loadEvaluator;
    this.evaluators = new Map();
    this.rules = new Map();
  }

  games() {
    return this.description;
  }

  position(request) {
    return this.#session(request).answer(request.from_ply ?? 0);
  }

  exact(request) {
    const { rules, state } = this.#session(request);
    if (!rules.isSmall) {
      return { known: false, reason: "without a server, only tic-tac-toe is solved." };
    }
    return exactAnswer(rules, state);
  }

  async move(request, emit, stopped) {
    const session = this.#unfinished(request);
    const { legal } = session.state;
    const player = this.#player(session.game, request.player);
    const text = (action) => session.setup.action_texts[action];
    if (player.kind === "random") {
      const action = legal[Math.floor(Math.random() * legal.length)];
      emit({ type: "move", action, text: text(action), value: null, num_simulations: 0 });
      return;
    }
    const { numSimulations } = player;
    if (!this.evaluators.has(session.game.name)) {
      emit({ type: "progress", done: 0, total: numSimulations, note: "Loading the network." });
    }
    const search = await this.#search(session, numSimulations, stopped, ({ numDone: done }) =>
      emit({ type: "progress", done, total: numSimulations }),
    );
    if (stopped()) return;
    const { root, numDone } = search;
    const action = legal[search.best()];
    const value = root.proven ?? root.value;
    emit({ type: "move", action, text: text(action), value, num_simulations: numDone });
  }

  async analyse(request, emit, stopped) {
    const session = this.#unfinished(request);
    const { numSimulations } = this.#player(session.game, request.player ?? session.game.analyst);
    const search = await this.#search(session, numSimulations, stopped, (running) =>
      emit(analysisOf(running, false)),
    );
    if (!stopped()) emit(analysisOf(search, true));
  }

  /** Judge every move of a game by searches of the positions before and after it. */
  async review(request, emit, stopped) {
    const session = this.#session(request);
    const { id } = session.game.analyst;
    const player = { id, num_simulations: REVIEW_SIMULATIONS, ...request.player };
    const { numSimulations } = this.#player(session.game, player);
    let before = null;
    for (let ply = 0; ply < session.states.length && !stopped(); ply += 1) {
      const found = await this.#verdict(session, ply, numSimulations, stopped);
      if (stopped()) return;
      if (before) emit(plyMessage(session, before, found));
      before = found;
    }
    if (stopped()) return;
    emit(plyMessage(session, before, null));
    emit({ type: "done" });
  }

  /** Return {ply, value for side 0, exact, best} of a position. */
  async #verdict(session, ply, numSimulations, stopped) {
    const state = session.states[ply];
    const forSide0 = (value) => (state.toMove === 0 ? value : -value) || 0;
    if (state.over) {
      const value = state.winner === null ? 0 : 1 - 2 * state.winner;
      return { ply, value, exact: true, best: null };
    }
    if (session.rules.isSmall) {
      const { value, scores } = exactAnswer(session.rules, state);
      const best = scores.indexOf(Math.max(...scores.filter((score) => score !== null)));
      return { ply, value: forSide0(value), exact: true, best };
    }
    const search = await this.#search({ ...session, state }, numSimulations, stopped, () => {});
    const { root } = search;
    const value = forSide0(root.proven ?? root.value);
    return { ply, value, exact: root.proven !== null, best: state.legal[search.best()] };
  }

  async #search({ game, rules, state }, numSimulations, stopped, onProgress) {
    const evaluator = await this.#evaluator(game.name, rules);
    const search = new Search(rules, (states) => evaluator.evaluate(states), state, numSimulations);
    let last = performance.now();
    await search.step();
    while (!search.finished && !stopped()) {
      await search.step();
      if (performance.now() - last >= EMIT_EVERY_MS) {
        onProgress(search);
        await nextTask(); // lets a request to stop come in
        last = performance.now();
      }
    }
    return search;
  }

  #evaluator(name, rules) {
    if (!this.evaluators.has(name)) {
      const loading = this.loadEvaluator(name, rules);
      loading.catch(() => this.evaluators.delete(name)); // the next request tries again
      this.evaluators.set(name, loading);
    }
    return this.evaluators.get(name);
  }

  #session(request) {
    const game = this.description.games.find((one) => one.name === request.game);
    if (!game) throw new Refused(`there is no game '${request.game}' here.`);
    if (!this.rules.has(game.name)) this.rules.set(game.name, makeRules(game.name));
    return new Session(game, this.rules.get(game.name), request);
  }

  #unfinished(request) {
    const session = this.#session(request);
    if (session.state.over) throw new Refused("the game is over: there is no move to find.");
    return session;
  }

  #player(game, { id, num_simulations: given }) {
    const player = game.players.find((one) => one.id === id);
    if (!player) throw new Refused(`there is no player '${id}' for ${game.title} here.`);
    const numSimulations = given ?? game.analyst.num_simulations;
    if (!(Number.isInteger(numSimulations) && numSimulations >= 0)) {
      throw new Refused(`num_simulations=${numSimulations} is not a whole number from 0 on.`, 400);
    }
    return { ...player, numSimulations: Math.min(numSimulations, player.max_simulations) };
  }
}

/** Return the message about one ply; `after` is the verdict on the next position, if any. */
function plyMessage(session, { ply, value, exact, best }, after) {
  const message = { type: "ply", ply, value, exact, best, played: null, loss: null };
  if (after === null) return message;
  const view = session.states[ply].toMove === 0 ? 1 : -1;
  const played = session.moves[ply];
  const lost = played === best ? 0 : Math.max(view * (value - after.value), 0);
  return { ...message, played, loss: lost, exact: exact && after.exact };
}

function nextTask() {
  return new Promise((resolve) => setTimeout(resolve));
}
