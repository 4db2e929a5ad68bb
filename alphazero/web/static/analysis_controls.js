// Who analyses, how long, start and stop, and how far the search is.

import { element } from "./dom.js";
import { countText, sentence } from "./number_text.js";

const SIMULATIONS = [0, 50, 200, 500, 1000, 2000, 5000, 10000, 50000];
const KINDS = ["network", "uct"]; // those that have a search to show

export class AnalysisControls {
  /**
   * @param onPlayer is called with {id, num_simulations}
   * @param onStart, onStop
   */
  constructor({ onPlayer, onStart, onStop }) {
    this.onPlayer = onPlayer;
    this.analyst = element("select", { onchange: () => this.#onAnalyst() });
    this.simulations = element("select", { onchange: () => this.onPlayer(this.player) });
    const onClick = () => (this.isRunning ? onStop() : onStart());
    this.button = element("button", { type: "button", class: "run-button", onclick: onClick });
    this.bar = element("progress", { max: 1, value: 0, "aria-label": "Progress of the search" });
    this.status = element("p", { class: "search-status" });
    this.error = element("p", { class: "error-line", role: "alert" });
    this.element = element(
      "div",
      { class: "analysis-controls" },
      element("label", { class: "field" }, element("span", {}, "Analyst"), this.analyst),
      element("label", { class: "field" }, element("span", {}, "Simulations"), this.simulations),
      this.button,
      this.bar,
      this.status,
      this.error,
    );
  }

  /** Offer the players of a game; `wanted`: the one to choose, as far as it is there. */
  offer(game, wanted = {}) {
    this.players = game.players.filter(({ kind }) => KINDS.includes(kind));
    if (!this.players.length) return;
    const { id, num_simulations: num } = { ...game.analyst, ...wanted };
    const chosen = this.players.some((player) => player.id === id) ? id : game.analyst.id;
    const options = this.players.map((player) => option(player.id, player.name, chosen));
    this.analyst.replaceChildren(...options);
    this.default = game.analyst.num_simulations;
    this.#offerSimulations(num);
  }

  /** The chosen player, as requests name it; null: there is nobody to choose. */
  get player() {
    if (!this.players.length) return null;
    return { id: this.analyst.value, num_simulations: Number(this.simulations.value) };
  }

  /** Show a PositionSearch. */
  update({ isRunning, analysis, error, hasMoves }) {
    this.isRunning = isRunning;
    this.button.textContent = isRunning ? "Stop" : "Start";
    const nobody = this.player === null;
    this.button.disabled = nobody || !hasMoves;
    if (nobody) {
      this.status.textContent = "Nobody here can analyse this game: train a network first.";
      return;
    }
    const done = analysis?.num_simulations ?? 0;
    const total = analysis?.total ?? this.player.num_simulations;
    this.bar.value = analysis?.final ? 1 : done / Math.max(total, 1);
    this.status.textContent = hasMoves ? statusText(done, total, analysis, isRunning) : "";
    const text = sentence(error ?? "");
    if (this.error.textContent !== text) this.error.textContent = text;
  }

  #onAnalyst() {
    this.#offerSimulations(Number(this.simulations.value));
    this.onPlayer(this.player);
  }

  #offerSimulations(wanted) {
    const { kind, max_simulations: most } = this.#chosen();
    const least = kind === "network" ? 0 : 1;
    const inRange = (num) => Math.min(Math.max(num, least), most);
    const numbers = new Set([...SIMULATIONS, this.default, wanted, most].map(inRange));
    const chosen = inRange(wanted);
    const options = [...numbers]
      .filter((num) => num >= least && (num === 0 || num === chosen || num >= 50))
      .sort((a, b) => a - b)
      .map((num) => option(num, num ? countText(num) : "0 (network alone)", chosen));
    this.simulations.replaceChildren(...options);
  }

  #chosen() {
    return this.players.find(({ id }) => id === this.analyst.value) ?? this.players[0];
  }
}

function option(value, text, chosen) {
  return element("option", { value, selected: value === chosen ? "" : null }, text);
}

function statusText(done, total, analysis, isRunning) {
  const text = `${countText(done)} of ${countText(total)} simulations`;
  if (isRunning) return analysis ? text : "The search begins \u2026";
  if (analysis === null) return "Stopped";
  if (!analysis.final) return `${text}, stopped`;
  return analysis.proven !== null && done < total ? `${text}, result proven` : text;
}
