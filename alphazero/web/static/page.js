// The page: its head, its views, and the address that says which of them is shown and with what.
//
// A view is {element, open(parameters), close()}. The views share one GameState and this context:
// backend, state, announce, notify, showError, play, analyse, changed.

import { createAnalysisView } from "./analysis_view.js";
import { Announcer } from "./announcer.js";
import { element } from "./dom.js";
import { GameState } from "./game_state.js";
import { createPlayView } from "./play_view.js";
import { formatHash, gameOf, gameParameters, parseHash } from "./router.js";
import { createRunsView } from "./runs_view.js";
import { HUMAN, playerSeat } from "./seats.js";
import { isTemporary } from "./server_backend.js";
import { themeButton } from "./theme.js";

const NAMES = { play: "Play", analyse: "Analyse", runs: "Runs" };
const RETRY_MS = 2000;
const NOTICE_MS = 4000;
const TAKES_ARROWS = "input, select, textarea, dialog, [role=grid], [role=tree], [role=treegrid]";

/** Fill an element with the page; the backend answers its requests. */
export async function startPage(backend, root) {
  await new Page(backend, root).start();
}

class Page {
  constructor(backend, root) {
    Object.assign(this, { backend, root, shown: null, numRoutes: 0 });
    this.announcer = new Announcer();
    this.notice = element("p", { class: "notice", role: "status" });
    this.main = element("main", { id: "main", tabindex: "-1" });
  }

  async start() {
    const loading = element("p", { class: "loading", role: "status" }, "Loading \u2026");
    this.main.replaceChildren(loading);
    this.root.replaceChildren(this.main);
    const catalogue = await this.#catalogue(loading);
    this.state = new GameState(this.backend, catalogue);
    this.context = this.#context();
    this.views = {
      play: createPlayView(this.context),
      analyse: createAnalysisView(this.context),
      ...(this.backend.runs ? { runs: createRunsView(this.context) } : {}),
    };
    this.root.replaceChildren(this.#head(), this.main, this.notice, this.announcer.element);
    this.state.addEventListener("change", () => this.#keepAddress());
    window.addEventListener("hashchange", () => this.#route());
    document.addEventListener("keydown", (event) => this.#onKey(event));
    await this.#route();
  }

  /** Ask for the catalogue until it comes. */
  async #catalogue(loading) {
    for (;;) {
      try {
        return await this.backend.games();
      } catch (error) {
        loading.textContent = error.message;
        if (!isTemporary(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  #context() {
    return {
      backend: this.backend,
      state: this.state,
      announce: (text) => this.announcer.say(text),
      notify: (text) => this.#notify(text),
      showError: (error) => this.#notify(error.message, true),
      play: (game) => this.#play(game),
      analyse: (game) => this.#analyse(game),
      changed: () => this.#keepAddress(),
    };
  }

  #head() {
    this.links = Object.keys(this.views).map((view) => {
      const onclick = (event) => this.#follow(event, view);
      return element("a", { href: `#${view}`, "data-view": view, onclick }, NAMES[view]);
    });
    const nav = element("nav", { "aria-label": "Views" }, this.links);
    const skip = element(
      "a",
      { class: "skip", href: "#main", onclick: (event) => this.#skip(event) },
      "To the board",
    );
    const title = element("span", { class: "page-title" }, "AlphaZero");
    return element("header", { class: "page-head" }, skip, title, nav, themeButton());
  }

  #skip(event) {
    event.preventDefault();
    (this.main.querySelector("[role=grid] [tabindex='0']") ?? this.main).focus();
  }

  /** Change the view, and keep the game that is shown. */
  #follow(event, view) {
    event.preventDefault();
    if (view === "runs") location.hash = "#runs";
    else this.#show(view, {}, true);
  }

  // --- views -----------------------------------------------------------------------------------

  #show(view, parameters, isNew) {
    if (this.shown !== view) {
      if (this.shown) this.views[this.shown].close();
      this.shown = view;
      this.main.replaceChildren(this.views[view].element);
    }
    this.views[view].open(parameters);
    this.links.forEach((link) => {
      if (link.dataset.view === view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    });
    const { game } = this.state;
    const what = view === "runs" ? "Runs" : `${game.title}: ${NAMES[view]}`;
    document.title = `${what} \u00b7 AlphaZero`;
    if (view !== "runs") this.#keepAddress(isNew);
  }

  /** Left and right step through the game, unless something else takes them. */
  #onKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const isElsewhere = this.shown === "runs" || event.target.closest?.(TAKES_ARROWS);
    if (!step || isElsewhere || event.defaultPrevented) return;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    this.state.show(this.state.ply + step);
    event.preventDefault();
  }

  /** Show a game in the Play view; `player` plays against the person who is to move. */
  async #play({ player = null, seats = null, ...game }) {
    if (!(await this.#load(game))) return;
    const { position, game: entry } = this.state;
    if (player !== null) {
      const other = playerSeat(entry, player.id, player.num_simulations ?? null);
      seats = [0, 1].map((side) => (side === position.to_move ? HUMAN : other));
    }
    this.#show("play", { seats }, true);
  }

  /** Show a game in the Analyse view; `player` is the analyst. */
  async #analyse({ player = null, ...game }) {
    if (!(await this.#load(game))) return;
    this.#show("analyse", { analyst: player?.id ?? null }, true);
  }

  /** Load a game that is about to be shown; return whether that was possible. */
  async #load(game) {
    if (this.shown) this.views[this.shown].close();
    this.isLeaving = true; // the address stays that of what is left
    try {
      if (
        !this.state.catalogue.games.some((one) => one.name === game.game) ||
        this.shown === "runs"
      ) {
        await this.#renew();
      }
      await this.state.load(game);
      return true;
    } catch (error) {
      this.#notify(error.message, true);
      if (this.shown) this.views[this.shown].open({});
      return false;
    } finally {
      this.isLeaving = false;
    }
  }

  /** Learn of networks and games that are there since the page was opened. */
  async #renew() {
    const catalogue = await this.backend.games();
    if (this.state.game) this.state.renew(catalogue);
    else this.state.catalogue = catalogue;
  }

  // --- the address -----------------------------------------------------------------------------

  async #route() {
    if (location.hash === this.written) return; // we wrote it ourselves
    this.written = null;
    this.numRoutes += 1;
    const number = this.numRoutes;
    const { view, name, parameters } = parseHash(location.hash);
    const isKnown = view in this.views;
    if (view === "runs" && isKnown) {
      if (!this.state.game) await this.state.load({});
      if (number === this.numRoutes) this.#show("runs", { id: name || null }, false);
      return;
    }
    if (this.shown) this.views[this.shown].close();
    this.kept = null;
    try {
      await this.state.load(gameOf(name, parameters));
    } catch (error) {
      this.#notify(error.message, true);
      await this.#loadStart(name);
    }
    if (number === this.numRoutes) this.#show(isKnown ? view : "play", parameters, false);
  }

  /** Load the start of a game after its position was refused; of the usual one if there is none. */
  async #loadStart(name) {
    const isKnown = this.state.catalogue.games.some((one) => one.name === name);
    if (isKnown || !this.state.game) await this.state.load(isKnown ? { game: name } : {});
  }

  /** Write what is shown into the address; `isNew`: the way back leads to what was shown before. */
  #keepAddress(isNew = false) {
    if (!this.shown || this.shown === "runs" || this.isLeaving) return;
    // What loses moves can be undone by the way back.
    const losesMoves = this.kept && !isStart(this.kept, this.state.moves);
    this.kept = this.state.moves;
    const view = this.views[this.shown];
    const parameters = { ...gameParameters(this.state), ...(view.parameters?.() ?? {}) };
    const hash = formatHash(this.shown, this.state.game.name, parameters);
    if (hash === location.hash) return;
    if (isNew || losesMoves) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
    this.written = location.hash;
  }

  #notify(text, isError = false) {
    clearTimeout(this.noticeTimer);
    this.notice.textContent = text.charAt(0).toUpperCase() + text.slice(1);
    this.notice.classList.toggle("is-error", isError);
    this.notice.classList.add("is-shown");
    const hide = () => this.notice.classList.remove("is-shown");
    this.noticeTimer = setTimeout(hide, isError ? 2 * NOTICE_MS : NOTICE_MS);
  }
}

/** Return whether a list of moves is where another one begins. */
function isStart(moves, others) {
  return moves.length <= others.length && moves.every((move, k) => move === others[k]);
}
