// The methods of the page's backend, without a server: requests in, answers out.
//
// `move` calls emit(message) now and then, and asks `stopped()` each time.

import { Refused, Session } from "./position.js";
import { makeRules } from "./rules.js";
import { Search } from "./search.js";

const EMIT_EVERY_MS = 100;

export class Answers {
  /**
   * @param games the contents of games.json
   * @param loadNetwork async: maps a game's name and rules to a network, see search.js
   */
  constructor(games, loadNetwork) {
    this.description = games;
    this.loadNetwork = loadNetwork;
    this.networks = new Map();
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
    if (!this.networks.has(session.game.name)) {
      emit({ ...progress, note: "Loading the network." });
    }
    const search = await this.#search(session, player.numSimulations, stopped, (done) =>
      emit({ ...progress, done }),
    );
    if (!stopped()) emit({ type: "move", action: legal[search.best()] });
  }

  async #search({ game, rules, state }, numSimulations, stopped, onProgress) {
    const search = new Search(rules, await this.#network(game.name, rules), state, numSimulations);
    let last = performance.now();
    while (!search.finished && !stopped()) {
      search.step();
      if (performance.now() - last >= EMIT_EVERY_MS) {
        onProgress(search.numDone);
        await nextTask(); // lets a request to stop come in
        last = performance.now();
      }
    }
    return search;
  }

  #network(name, rules) {
    if (!this.networks.has(name)) {
      const loading = this.loadNetwork(name, rules);
      loading.catch(() => this.networks.delete(name)); // the next request tries again
      this.networks.set(name, loading);
    }
    return this.networks.get(name);
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
