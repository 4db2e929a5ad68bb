// One run: its curves, its networks, and the positions that a network of it misplays.

import { element } from "./dom.js";
import { lineChart } from "./line_chart.js";
import { MisplayedList } from "./misplayed_list.js";
import { accuracyText, countText, durationText } from "./number_text.js";

export class RunPage {
  /** @param run its entry in the answer of `api/runs` */
  constructor(context, run) {
    Object.assign(this, { context, run, charts: [] });
    this.game = context.state.catalogue.games.find(({ name }) => name === run.game) ?? null;
    this.misplayed = new MisplayedList(context);
    this.grid = element("div", { class: "chart-grid-box" });
    this.element = element(
      "article",
      { class: "run-page" },
      element("p", {}, element("a", { href: "#runs" }, "\u2190 All runs")),
      element("h1", {}, run.name),
      element("p", { class: "run-facts" }, this.#facts()),
      this.#networks(),
      element("h2", {}, "Curves"),
      this.grid,
    );
  }

  close() {
    this.charts.forEach((chart) => chart.close());
    this.misplayed.close();
  }

  async load() {
    this.grid.replaceChildren(element("p", { role: "status" }, "Loading \u2026"));
    const { charts } = await this.context.backend.run(this.run.id);
    this.charts = charts.map(lineChart);
    const empty = element("p", {}, "No curves yet: they appear with the first iteration.");
    const shown = this.charts.length ? this.charts.map((chart) => chart.element) : [empty];
    this.grid.replaceChildren(...shown);
  }

  #facts() {
    const { iterations, hours, accuracy, elo } = this.run;
    const facts = [
      this.game?.title ?? this.run.game,
      `${countText(iterations)} iterations`,
      `${durationText(hours)} of training`,
      accuracy === null ? null : `exact accuracy ${accuracyText(accuracy)}`,
      elo === null ? null : `Elo ${Math.round(elo)}`,
    ];
    return facts.filter(Boolean).join(" \u00b7 ");
  }

  #networks() {
    const { networks, playable } = this.run;
    const section = element("section", { class: "run-networks" }, element("h2", {}, "Networks"));
    if (!networks.length || !playable || !this.game) {
      const reason = networks.length
        ? "The networks of this run cannot be played here."
        : "No network of this run is stored here.";
      section.append(element("p", {}, reason));
      return section;
    }
    const newestFirst = [...networks].sort((a, b) => b.iteration - a.iteration);
    const options = newestFirst.map(({ player, iteration }) =>
      element("option", { value: player }, `iteration ${countText(iteration)}`),
    );
    this.select = element("select", {}, ...options);
    const at = () => ({ game: this.game.name, player: { id: this.select.value }, moves: [] });
    section.append(
      element(
        "div",
        { class: "button-row" },
        element("label", { class: "field" }, element("span", {}, "Network"), this.select),
        button("Play", () => this.context.play(at())),
        button("Analyse", () => this.context.analyse(at())),
        button("Positions it misplays", () => this.#check()),
      ),
      this.misplayed.element,
    );
    return section;
  }

  #check() {
    this.misplayed.check(this.game, { id: this.select.value, num_simulations: 0 });
  }
}

function button(text, onclick) {
  return element("button", { type: "button", onclick }, text);
}
