// The runs found on this machine: a table of them, and the page of one.

import { element } from "./dom.js";
import { accuracyText, countText, durationText, sentence, UNKNOWN } from "./number_text.js";
import { RunPage } from "./run_page.js";

const COLUMNS = ["Run", "Game", "Iterations", "Training", "Exact accuracy", "Elo", "Updated"];
const COMMAND = "alphazero train game=tic_tac_toe";

/** Return the view of the page's contract: {element, open, close}. */
export function createRunsView(context) {
  const view = new RunsView(context);
  return {
    element: view.element,
    open: (parameters) => view.open(parameters ?? {}),
    close: () => view.close(),
  };
}

class RunsView {
  constructor(context) {
    Object.assign(this, { context, page: null, opened: 0 });
    this.element = element("div", { class: "runs-view" });
  }

  /** Show the table, or the run with an id. */
  async open({ id = null }) {
    this.close();
    const opened = this.opened;
    this.element.replaceChildren(element("p", { role: "status" }, "Loading \u2026"));
    try {
      const { runs, damaged } = await this.context.backend.runs();
      if (opened !== this.opened) return;
      if (id === null) this.#showTable(runs, damaged);
      else await this.#showRun(runs, damaged, id);
    } catch (error) {
      if (opened !== this.opened) return;
      const onclick = () => this.open({ id });
      const again = element("button", { type: "button", onclick }, "Try again");
      const text = element("p", { class: "error-line", role: "alert" }, sentence(error.message));
      this.element.replaceChildren(text, again);
    }
  }

  close() {
    this.opened += 1; // answers that come later belong to nothing
    this.page?.close();
    this.page = null;
  }

  async #showRun(runs, damaged, id) {
    const found = runs.find((run) => run.id === id);
    if (!found) {
      this.#showTable(runs, damaged, `There is no run ${id} here.`);
      return;
    }
    this.page = new RunPage(this.context, found);
    this.element.replaceChildren(this.page.element);
    await this.page.load();
  }

  #showTable(runs, damaged, error = "") {
    const title = element("h1", {}, "Runs");
    const failed = element("p", { class: "error-line", role: "alert" }, error);
    const content = runs.length ? table(runs, this.context.state.catalogue) : emptyState();
    const lines = damaged.map(({ id, error }) => `${id}: ${error}`);
    const unread = lines.map((line) => element("p", { class: "error-line" }, line));
    this.element.replaceChildren(title, failed, content, ...unread);
  }
}

function table(runs, catalogue) {
  const head = COLUMNS.map((name) => element("th", { scope: "col" }, name));
  const caption = element("caption", { class: "visually-hidden" }, "Training runs, newest first");
  return element(
    "table",
    { class: "runs-table" },
    caption,
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...runs.map((run) => row(run, titleOf(catalogue, run.game)))),
  );
}

function row(run, game) {
  const texts = [
    game,
    countText(run.iterations),
    durationText(run.hours),
    accuracyText(run.accuracy),
    run.elo === null ? UNKNOWN : String(Math.round(run.elo)),
    dateText(run.updated),
  ];
  const path = run.id.split("/").map(encodeURIComponent).join("/");
  const link = element("a", { href: `#runs/${path}` }, run.name);
  const cells = texts.map((text, k) => element("td", { "data-label": COLUMNS[k + 1] }, text));
  return element("tr", {}, element("th", { scope: "row" }, link), ...cells);
}

function emptyState() {
  return element(
    "div",
    { class: "empty-state" },
    element("p", {}, "There are no runs here yet. This trains a network in a few minutes:"),
    element("pre", {}, element("code", {}, COMMAND)),
    element("p", {}, "Its curves and networks appear here while it runs."),
  );
}

function titleOf(catalogue, name) {
  return catalogue?.games.find((game) => game.name === name)?.title ?? name;
}

function dateText(seconds) {
  const options = { dateStyle: "medium", timeStyle: "short" };
  return new Date(1000 * seconds).toLocaleString(undefined, options);
}
