// Positions that a network misplays without search: each as a small board, to try or to analyse.

import { cellOfAction } from "./board_layout.js";
import { boardThumbnail } from "./board_thumbnail.js";
import { element } from "./dom.js";
import { countText, resultText, sentence } from "./number_text.js";

const PAGE = 20; // boards that are shown at once

export class MisplayedList {
  /** @param context of the view, see page.js */
  constructor(context) {
    Object.assign(this, { context, running: null });
    this.status = element("p", { class: "misplayed-status", role: "status" });
    this.bar = element("progress", { "aria-label": "Progress of the check" });
    this.error = element("p", { class: "error-line", role: "alert" });
    this.list = element("ul", { class: "misplayed-list" });
    this.bar.hidden = true;
    this.more = element("button", { type: "button", onclick: () => this.#showMore() });
    this.waiting = []; // functions that add one board each
    const parts = [this.bar, this.status, this.error, this.list, this.more];
    this.element = element("div", { class: "misplayed-box" }, ...parts);
    this.#countMore();
  }

  get isRunning() {
    return this.running !== null;
  }

  close() {
    this.running?.abort();
    this.running = null;
    this.bar.hidden = true;
  }

  /** Check a network, {id, num_simulations}, and list what it misplays. */
  async check(game, player) {
    this.close();
    const stop = new AbortController();
    this.running = stop;
    this.list.replaceChildren();
    Object.assign(this, { waiting: [], room: PAGE });
    this.#countMore();
    this.error.textContent = "";
    this.status.textContent = "Comparing the network\u2019s moves with exact results \u2026";
    this.bar.removeAttribute("value");
    this.bar.hidden = false;
    const onMessage = (message) => {
      if (stop.signal.aborted) return;
      if (message.type === "progress") this.#progress(message);
      if (message.type === "done") this.#done(message);
      if (message.type === "misplayed") this.#take(() => this.#add(game, player, message));
    };
    try {
      const request = { game: game.name, player };
      await this.context.backend.misplayed(request, { signal: stop.signal, onMessage });
    } catch (error) {
      if (stop.signal.aborted) return;
      this.status.textContent = "";
      this.error.textContent = sentence(error.message);
    }
    if (this.running === stop) this.close();
  }

  /** Add a board now if there is room, else when the user asks for more. */
  #take(add) {
    if (this.list.children.length < this.room) add();
    else this.waiting.push(add);
    this.#countMore();
  }

  #showMore() {
    this.room += PAGE;
    this.waiting.splice(0, PAGE).forEach((add) => add());
    this.#countMore();
  }

  #countMore() {
    this.more.hidden = this.waiting.length === 0;
    this.more.textContent = `Show more (${countText(this.waiting.length)} left)`;
  }

  #progress({ done, total }) {
    this.bar.max = total;
    this.bar.value = done;
    this.status.textContent = `${countText(done)} of ${countText(total)} positions checked`;
  }

  #done({ num_positions: num, num_misplayed: wrong }) {
    this.status.textContent =
      wrong === 0
        ? `Alone, without search, it keeps the result in all ${countText(num)} positions.`
        : `Alone, without search, it misplays ${countText(wrong)} of ${countText(num)} positions.`;
  }

  async #add(game, player, found) {
    const place = element("li", { class: "misplayed" });
    this.list.append(place);
    const request = { game: game.name, moves: found.moves, from_ply: found.moves.length };
    try {
      const { positions, moves } = await this.context.backend.position(request);
      const position = positions[positions.length - 1];
      place.append(...this.#card(game, player, { ...found, moves }, position));
    } catch (error) {
      place.append(element("p", { class: "error-line" }, sentence(error.message)));
    }
  }

  #card(game, player, { moves, played, best, value, best_value: bestValue }, position) {
    const [setup] = game.setups;
    const text = (action) => setup.action_texts[action];
    const side = setup.sides[position.to_move];
    const mark = (kind) => (action) => {
      const cell = cellOfAction(game, position, action);
      return cell ? [{ cell, kind }] : [];
    };
    const marks = [...best.flatMap(mark("best")), ...mark("played")(played)];
    const bestTexts = best.map(text).join(", ");
    const place = `${side} to move after ${moves.length} moves`;
    const said = `${place}: played ${text(played)}, best ${bestTexts}`;
    const line = (name, sign, move, result) =>
      element(
        "p",
        { class: `misplayed-${name}` },
        element("span", { class: "misplayed-sign", "aria-hidden": "true" }, sign),
        `${name} ${move}: `,
        element("strong", {}, resultText(result)),
      );
    const { play, analyse } = this.context;
    const at = { game: game.name, setup: setup.id, moves };
    return [
      boardThumbnail(game, setup, position.cells, marks, said),
      element("p", { class: "misplayed-side" }, `${side} to move, ply ${moves.length}`),
      line("played", "\u2715", text(played), value),
      line("best", "\u2713", bestTexts, bestValue),
      element(
        "div",
        { class: "button-row" },
        button("Try it", () => play({ ...at, player })),
        button("Analyse", () => analyse({ ...at, player })),
      ),
    ];
  }
}

function button(text, onclick) {
  return element("button", { type: "button", onclick }, text);
}
