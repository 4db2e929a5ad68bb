// The Analyse view: a board for both sides, and what the search finds while it runs.
//
// Puts the parts together: the state says which position is shown, PositionSearch searches it, the
// other parts draw what it finds. Everything is drawn at most once a frame.

import { AnalysisControls } from "./analysis_controls.js";
import { AnalysisTable } from "./analysis_table.js";
import { BoardView } from "./board_view.js";
import { element } from "./dom.js";
import { GameReview } from "./game_review.js";
import { gameRow } from "./game_row.js";
import { GameSteps } from "./game_steps.js";
import { MovesOverlay } from "./moves_overlay.js";
import { countText, valueText } from "./number_text.js";
import { PositionSearch } from "./position_search.js";
import { SetupDialog } from "./setup_dialog.js";
import { TreeView } from "./tree_view.js";
import { ValueBar } from "./value_bar.js";
import { Verdict } from "./verdict.js";

const MAX_LINE = 10; // moves of a line shown on the board

/** Return the view: {element, open, close, parameters}. */
export function createAnalysisView(context) {
  return new AnalysisView(context);
}

class AnalysisView {
  constructor(context) {
    Object.assign(this, { context, state: context.state, isOpen: false, hovered: null });
    this.element = element("div", { class: "analysis-view" });
    this.search = new PositionSearch(context.backend);
    this.search.addEventListener("change", () => this.#drawSoon());
    this.onState = () => this.#onState();
  }

  /**
   * Show the position of the state.
   * @param analyst id of the player who analyses it, null: as before; @param simulations
   */
  open({ analyst = null, simulations = null }) {
    this.close();
    this.isOpen = true;
    this.#build(this.#wanted(analyst, simulations));
    this.state.addEventListener("change", this.onState);
    this.#onState();
  }

  /** Return what the address holds besides the game. */
  parameters() {
    const { analyst: usual } = this.game;
    const { id, num_simulations: num } = this.search.player ?? {};
    return {
      analyst: id === usual?.id ? null : id,
      simulations: num === usual?.num_simulations ? null : num,
    };
  }

  close() {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.dialog.element.close();
    this.state.removeEventListener("change", this.onState);
    this.search.close();
    this.review.close();
    this.review.plot.close();
    this.board.close();
  }

  /** Return the player to choose: the one of the address, or the one chosen before. */
  #wanted(analyst, simulations) {
    const { game } = this.state;
    const before = this.search.player !== null && this.game === game ? this.search.player : {};
    const num = /^\d+$/.test(simulations ?? "") ? { num_simulations: Number(simulations) } : {};
    return { ...game.analyst, ...(analyst ? { id: analyst } : before), ...num };
  }

  #build(wanted) {
    const { context, state, search } = this;
    const onHover = (action) => this.#showLine(action === null ? null : [action]);
    const play = (action) => this.#play(action);
    this.game = state.game;
    this.setup = state.setup;
    this.shown = null;
    this.board = new BoardView(state, { onAction: play, label: "Board for analysis" });
    this.board.element.addEventListener("hoveraction", ({ detail }) => {
      this.table.highlight(detail);
      onHover(detail);
    });
    this.overlay = new MovesOverlay(this.board, state.setup.colors);
    this.bar = new ValueBar();
    this.controls = new AnalysisControls({
      onPlayer: (player) => {
        this.#choose(player);
        context.changed?.();
      },
      onStart: () => this.#restart(),
      onStop: () => search.stop(),
    });
    this.verdict = new Verdict();
    this.table = new AnalysisTable({ onHover, onPlay: play });
    this.review = new GameReview(context.backend, state);
    this.steps = new GameSteps(state);
    this.dialog = new SetupDialog(state, (game) => state.load(game));
    this.tree = new TreeView({
      onHover: (path) => this.#showLine(path),
      onGo: (path) => this.#go(path),
      textOf: (action) => this.#text(action),
      sideOf: (side) => ({ name: this.setup.sides[side], color: this.setup.colors[side] }),
    });
    this.note = element("p", { class: "exact-note" });
    this.element.replaceChildren(...this.#layout());
    this.controls.offer(this.game, wanted);
    this.#choose(this.controls.player);
  }

  #layout() {
    const boardRow = element("div", { class: "board-row" }, this.bar.element, this.board.element);
    const tree = element("div", { class: "section-head" }, element("h2", {}, "Search tree"));
    const row = gameRow(this.context, () => this.dialog.open());
    const parts = [this.controls.element, this.verdict.element, this.table.element, this.note];
    this.treeSection = section("analysis-tree", "Search tree", tree, this.tree.element);
    return [
      section("analysis-board", "Board", boardRow, this.steps.element, row),
      section("analysis-panel", "Analysis", ...parts),
      section("analysis-game", "Game", this.review.element),
      this.treeSection,
      this.dialog.element,
    ];
  }

  #choose(player) {
    this.search.choose(player);
    const isDefault = player === null || player.id === this.game.analyst.id;
    this.tree.reset(true);
    this.review.player = isDefault ? null : { id: player.id };
  }

  #restart() {
    this.tree.reset(true);
    this.search.start();
  }

  #onState() {
    const { state } = this;
    if (state.game !== this.game || state.setup !== this.setup) {
      this.open({}); // another game, by the set-up dialog
      this.context.changed?.();
      return;
    }
    const request = state.request();
    const key = JSON.stringify(request);
    if (key !== this.shown) {
      Object.assign(this, { shown: key, drawn: null, drawnExact: null });
      this.tree.reset();
      this.overlay.clear();
      this.table.reset(state.position.legal, (action) => this.#text(action));
      this.search.show(request, !state.position.over);
    }
    this.review.update();
    this.steps.update();
    this.#drawSoon();
  }

  #drawSoon() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      if (this.isOpen) this.#draw();
    });
  }

  #draw() {
    const { search, setup } = this;
    const { position } = this.state;
    const { analysis, exact } = search;
    const textOf = (action) => this.#text(action);
    this.controls.update(search);
    this.table.element.hidden = this.treeSection.hidden = position.over;
    this.verdict.update({ position, analysis, exact, sides: setup.sides, textOf });
    this.bar.update(position, analysis, exact, setup.colors);
    if (exact !== this.drawnExact) this.table.updateExact(exact);
    if (analysis && analysis !== this.drawn) {
      this.table.update(analysis);
      this.tree.update(analysis.tree, analysis.final);
      if (analysis.final) this.#announce(analysis, position);
    }
    if (!position.over) this.overlay.showMoves(position, analysis, exact);
    Object.assign(this, { drawn: analysis, drawnExact: exact });
    this.note.textContent = position.over ? "" : exactNote(exact);
  }

  #announce({ value, best, num_simulations: num }, position) {
    const side = this.setup.sides[position.to_move];
    const found = `${valueText(value)} for ${side}, best move ${this.#text(best)}`;
    this.context.announce(`${countText(num)} simulations: ${found}.`);
  }

  /** Show the line that begins with a path on the board, null: none. */
  #showLine(path) {
    if (!this.isOpen) return;
    const { position } = this.state;
    if (path === null) {
      this.overlay.showLine(position, []);
      return;
    }
    const { analysis } = this.search;
    const isBest = path.length === 1 && analysis?.best === path[0];
    const line = isBest ? analysis.line : this.tree.tree.lineFrom(path, MAX_LINE);
    this.overlay.showLine(position, line.slice(0, Math.max(MAX_LINE, path.length)));
  }

  async #play(action) {
    try {
      await this.state.play(action);
    } catch (error) {
      this.context.showError(error);
    }
  }

  /** Go to the position that a path leads to from the one shown. */
  #go(path) {
    const { board, to_move: toMove, setup, moves, game } = this.state.request();
    const { player } = this.search;
    const after = [...moves, ...path];
    this.context.analyse({ game, setup, board, to_move: toMove, moves: after, player });
  }

  #text(action) {
    return this.setup.action_texts[action];
  }
}

function section(name, label, ...children) {
  return element("section", { class: `card ${name}`, "aria-label": label }, ...children);
}

/** Return what the numbers in the column of exact results mean, or why there are none. */
function exactNote(exact) {
  if (exact === null) return "";
  if (!exact.known) return `No exact result: ${exact.reason}`;
  return exact.meaning === "discs"
    ? "Exact results are final margins in discs."
    : "Exact results: \u00b11 is a result of the last disc; each disc that the winner has left adds one.";
}
