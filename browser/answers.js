// The methods of the page's backend, without a server: requests in, answers out.
//
// `move` calls emit(message) now and then, and asks `stopped()` between the batches of its search.

import { Refused, Session } from "./position.js";
import { makeRules } from "./rules.js";
import { Search } from "./search.js";

const EMIT_EVERY_MS = 200;

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

  async move(request, emit, stopped) {
    const session = this.#session(request);
    const { legal, over } = session.state;
    if (over) throw new Refused("the game is over: there is no move to find.");
    const player = this.#player(session.game, request.player);
    if (player.kind === "random") {
      emit({ type: "move", action: legal[Math.floor(Math.random() * legal.length)] });
      return;
    }
    const progress = { type: "progress", done: 0, total: player.numSimulations };
    if (!this.evaluators.has(session.game.name)) {
      emit({ ...progress, note: "Loading the network." });
    }
    const search = await this.#search(session, player.numSimulations, stopped, (done) =>
      emit({ ...progress, done }),
    );
    if (!stopped()) emit({ type: "move", action: legal[search.best()] });
  }

  async #search({ game, rules, state }, numSimulations, stopped, onProgress) {
    const evaluator = await this.#evaluator(game.name, rules);
    const search = new Search(rules, (states) => evaluator.evaluate(states), state, numSimulations);
    let last = performance.now();
    await search.step();
    while (!search.finished && !stopped()) {
      await search.step();
      if (performance.now() - last >= EMIT_EVERY_MS) {
        onProgress(search.numDone);
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

  #player(game, { id, num_simulations: given }) {
    const player = game.players.find((one) => one.id === id);
    if (!player) throw new Refused(`there is no player '${id}' for ${game.title} here.`);
    const numSimulations = given ?? game.analyst.num_simulations;
    return { ...player, numSimulations: Math.min(numSimulations, player.max_simulations) };
  }
}

function nextTask() {
  return new Promise((resolve) => setTimeout(resolve));
}
