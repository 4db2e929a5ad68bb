// The review of a whole game: the plot of its value and the list of its mistakes.
//
// Runs when asked to, and by itself for a game that has ended. When the game changes, the plies
// before the change keep their values.

import { element } from "./dom.js";
import { resultText, sentence } from "./number_text.js";
import { mistakeOf, ValuePlot } from "./value_plot.js";

export class GameReview {
  constructor(backend, state) {
    Object.assign(this, { backend, state, plies: new Map(), moves: [], start: null });
    this.running = null;
    this.player = null;
    const onClick = () => (this.running ? this.#stop() : this.run());
    this.button = element("button", { type: "button", onclick: onClick });
    this.status = element("p", { class: "review-status" });
    this.error = element("p", { class: "error-line", role: "alert" });
    this.plot = new ValuePlot({ onShow: (ply) => state.show(ply) });
    this.list = element("ol", { class: "mistake-list" });
    const title = element("h2", {}, "Value over the game");
    this.element = element(
      "section",
      { class: "game-review", "aria-label": "Value over the game" },
      element("div", { class: "section-head" }, title, this.status, this.button),
      this.error,
      this.plot.element,
      this.list,
    );
  }

  close() {
    this.#stop();
  }

  /** Show the game of the state; forget the plies that are no longer those of the game. */
  update() {
    const start = JSON.stringify({ ...this.state.wholeGame(), moves: [] });
    const { moves } = this.state;
    const same = start === this.start ? commonLength(moves, this.moves) : -1;
    const hasChanged = same < moves.length || same < this.moves.length;
    if (hasChanged) this.#forgetFrom(same);
    Object.assign(this, { start, moves: [...moves] });
    const isOver = this.state.positions[moves.length].over;
    if (hasChanged && isOver && moves.length) this.run();
    this.#draw();
  }

  async run() {
    this.#stop();
    const stop = new AbortController();
    this.running = stop;
    this.error.textContent = "";
    this.#draw();
    const onMessage = (message) => {
      if (message.type !== "ply" || stop.signal.aborted) return;
      this.plies.set(message.ply, message);
      this.#drawSoon();
    };
    const request = { ...this.state.wholeGame(), ...(this.player ? { player: this.player } : {}) };
    try {
      await this.backend.review(request, { signal: stop.signal, onMessage });
    } catch (error) {
      if (!stop.signal.aborted) this.error.textContent = sentence(error.message);
    }
    if (this.running === stop) this.running = null;
    this.#draw();
  }

  #stop() {
    this.running?.abort();
    this.running = null;
  }

  #forgetFrom(ply) {
    this.#stop();
    this.error.textContent = "";
    for (const one of [...this.plies.keys()]) if (one > ply) this.plies.delete(one);
    const last = this.plies.get(ply);
    if (last) this.plies.set(ply, { ...last, played: null, loss: null });
  }

  #drawSoon() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      this.#draw();
    });
  }

  #draw() {
    const { state, plies } = this;
    const numPlies = state.moves.length;
    const { sides } = state.setup;
    this.plot.update({ numPlies, plies, ply: state.ply, texts: state.texts, sides });
    this.button.textContent = this.running ? "Stop" : "Review the game";
    this.button.disabled = numPlies === 0;
    const isDone = plies.size > numPlies;
    if (this.running) this.status.textContent = `${plies.size} of ${numPlies + 1} positions`;
    else if (numPlies === 0) this.status.textContent = "Play some moves first.";
    else this.status.textContent = isDone ? `${this.#numMistakes()}, +1: ${sides[0]} wins` : "";
    this.#listMistakes();
  }

  #numMistakes() {
    const num = [...this.plies.values()].filter(({ loss }) => mistakeOf(loss)).length;
    return num === 1 ? "1 mistake" : `${num || "no"} mistakes`;
  }

  #listMistakes() {
    const wrong = [...this.plies.values()].filter(({ loss }) => mistakeOf(loss));
    const key = JSON.stringify([wrong, this.state.ply, this.state.texts]);
    if (key === this.listed) return;
    this.listed = key;
    const hadFocus = this.list.contains(document.activeElement);
    const ply = document.activeElement?.dataset.ply;
    wrong.sort((a, b) => a.ply - b.ply);
    this.list.replaceChildren(...wrong.map((one) => this.#entry(one)));
    if (hadFocus) this.list.querySelector(`[data-ply="${ply}"]`)?.focus();
  }

  #entry(found) {
    const { ply, played, best, loss } = found;
    const { to_move: toMove } = this.state.positions[ply];
    const text = (action) => this.state.setup.action_texts[action];
    const { sign, name } = mistakeOf(loss);
    const isBest = best !== null && best !== played;
    const button = element(
      "button",
      { type: "button", class: "mistake", "data-ply": ply, onclick: () => this.state.show(ply) },
      element("span", { class: "mistake-move" }, `${ply + 1}. ${text(played)}`),
      element("span", { class: `mistake-sign is-${name}` }, `${sign} ${name}`),
      element("span", { class: "mistake-best" }, isBest ? `best was ${text(best)}` : ""),
      element("span", { class: "mistake-loss" }, lossText(found, toMove)),
    );
    if (ply === this.state.ply) button.setAttribute("aria-current", "step");
    return element("li", {}, button);
  }
}

/** Return what a move lost: from which result to which if that is exact, else an estimate. */
function lossText({ value, loss, exact }, toMove) {
  if (!exact) return `lost about ${loss.toFixed(2)}`;
  const before = toMove === 0 ? value : -value;
  return `exact: ${resultText(before)} to ${resultText(before - loss)}`;
}

function commonLength(a, b) {
  let k = 0;
  while (k < a.length && k < b.length && a[k] === b[k]) k += 1;
  return k;
}
