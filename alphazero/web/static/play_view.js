// The Play view: a board, the two sides, and the course of their game.

import { BoardView } from "./board_view.js";
import { copyText } from "./clipboard.js";
import { element } from "./dom.js";
import { GameFlow, resultText } from "./game_flow.js";
import { GameSteps } from "./game_steps.js";
import { formatHash, gameParameters } from "./router.js";
import { formatSeat, parseSeat, seatName, SeatChoice, usualSeats } from "./seats.js";
import { SetupDialog } from "./setup_dialog.js";

/** Return the view: {element, open, close, parameters}. */
export function createPlayView(context) {
  return new PlayView(context);
}

class PlayView {
  constructor(context) {
    Object.assign(this, { context, state: context.state, isOpen: false });
    this.element = element("div", { class: "play-view" });
    this.flow = new GameFlow(context.backend, this.state, context.announce);
    this.flow.addEventListener("change", () => this.#update());
    this.dialog = new SetupDialog(this.state, (game) => this.#startAnywhere(game));
    this.seats = null;
    this.onState = () => this.#onState();
  }

  /** Show the game of the state; `seats`: who plays, null keeps those of the game. */
  open({ first = null, second = null, seats = null }) {
    this.close();
    this.isOpen = true;
    const { game } = this.state;
    const usual = this.seatsOf === game.name ? this.seats : usualSeats(game);
    const named = [parseSeat(first, game), parseSeat(second, game)];
    this.seats = seats ?? usual.map((seat, side) => named[side] ?? seat);
    const missing = [first, second].filter((text, side) => text !== null && named[side] === null);
    if (missing.length)
      this.context.notify(`There is no player ${missing[0]} here: another plays.`);
    this.seatsOf = game.name;
    this.flow.seats = this.seats;
    this.#build();
    this.state.addEventListener("change", this.onState);
    this.flow.open(this.seats);
    this.#update();
    this.context.announce(`${game.title}. ${this.status.textContent}`);
  }

  close() {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.flow.close();
    this.state.removeEventListener("change", this.onState);
    this.board.close();
    this.dialog.element.close();
  }

  /** Return what the address holds besides the game. */
  parameters() {
    const [first, second] = this.seats.map(formatSeat);
    return { first, second };
  }

  #build() {
    const { state } = this;
    Object.assign(this, { game: state.game, setup: state.setup });
    this.board = new BoardView(state, {
      onAction: (action) => this.flow.play(action),
      label: `${state.game.title} board`,
      mayPlay: () => this.isOpen && this.flow.mayPlay,
    });
    this.status = element("p", { class: "status", id: "status" });
    this.counts = element("p", { class: "counts" });
    this.progress = element("progress", { class: "thinking", "aria-label": "Simulations" });
    this.problem = element("div", { class: "problem", role: "alert" });
    this.steps = new GameSteps(state);
    this.buttons = this.#makeButtons();
    this.choices = [0, 1].map((side) => this.#seatChoice(side));
    this.element.replaceChildren(
      element("section", { class: "card play-board", "aria-label": "Board" }, this.board.element),
      element(
        "section",
        { class: "card play-panel", "aria-label": "Players and moves" },
        ...this.#panel(),
      ),
      this.dialog.element,
    );
  }

  #panel() {
    const { again, back, pause, on } = this.buttons;
    const now = element(
      "div",
      { class: "now" },
      this.status,
      this.counts,
      this.progress,
      this.problem,
    );
    const main = element("div", { class: "button-row main-buttons" }, back, again, pause, on);
    return [
      element(
        "div",
        { class: "field" },
        element("label", { for: "game" }, "Game"),
        this.#gameChoice(),
      ),
      element(
        "div",
        { class: "seats", role: "group", "aria-label": "Who plays" },
        this.choices.map((choice) => choice.element),
        this.buttons.swap,
      ),
      now,
      this.steps.element,
      main,
      element("div", { class: "button-row more" }, this.#moreButtons()),
    ];
  }

  #makeButtons() {
    const { flow } = this;
    return {
      again: button("New game", () => this.#newGame()),
      back: button("Take back", () => flow.takeBack()),
      on: button("Play on from here", () => flow.playOn(), "primary"),
      pause: button("Pause", () => flow.pause(!flow.isPaused)),
      swap: button("Swap sides", () => this.#sit([...this.seats].reverse())),
    };
  }

  #moreButtons() {
    const { context, state } = this;
    const analyse = () => context.analyse({ ...state.wholeGame(), ply: state.ply });
    return [
      button("Analyse this game", analyse),
      button("Set up\u2026", () => this.dialog.open()),
      button("Copy link", () => copyText(this.#link(), "link", context)),
      button("Copy moves", () => copyText(state.list, "moves", context)),
      button("Copy board", () => copyText(state.position.board, "board", context)),
    ];
  }

  #link() {
    const { state } = this;
    const parameters = { ...gameParameters(state), ...this.parameters() };
    return new URL(formatHash("play", state.game.name, parameters), location.href).href;
  }

  #gameChoice() {
    const { games } = this.state.catalogue;
    const options = games.map(({ name, title }) => element("option", { value: name }, title));
    const onchange = () => this.context.play({ game: select.value });
    const select = element("select", { id: "game", onchange }, options);
    select.value = this.game.name;
    return select;
  }

  #seatChoice(side) {
    const name = this.setup.sides[side];
    const order = side === 0 ? "first" : "second";
    const onChange = (seat) => this.#sit(this.seats.map((one, k) => (k === side ? seat : one)));
    const color = this.setup.colors[side];
    return new SeatChoice(this.game, side, `${name}, ${order}`, color, this.seats[side], onChange);
  }

  #sit(seats) {
    this.seats = seats;
    this.choices.forEach((choice, side) => choice.show(seats[side]));
    this.flow.sit(seats);
    this.context.changed();
  }

  async #newGame() {
    const { game, setup } = this.state;
    this.context.play({ game: game.name, setup: setup.id, seats: this.seats });
  }

  async #startAnywhere(game) {
    await this.state.load(game);
    this.context.changed();
  }

  #onState() {
    const { state } = this;
    if (state.game !== this.game || state.setup !== this.setup) this.open({});
  }

  #update() {
    if (!this.isOpen) return;
    const { flow, state, buttons } = this;
    const { position } = state;
    this.board.update();
    this.steps.update();
    this.status.textContent = this.#statusText();
    const { counts } = position;
    const [one, other] = this.setup.sides;
    this.counts.textContent = `${one} ${counts[0]} \u00b7 ${other} ${counts[1]}`;
    this.counts.hidden = !this.game.counts_pieces;
    this.#showProgress();
    this.#showProblem();
    setDisabled(buttons.back, flow.plyToTakeBackTo() === null);
    buttons.on.hidden = state.isAtEnd;
    buttons.pause.hidden = !flow.isWatched || position.over;
    buttons.pause.textContent = flow.isPaused ? "Go on" : "Pause";
    buttons.again.classList.toggle("primary", position.over);
  }

  #statusText() {
    const { state, flow } = this;
    const { position, setup } = state;
    const side = setup.sides[position.to_move];
    const seat = this.seats[position.to_move];
    const place = state.isAtEnd ? "" : ` (after move ${state.ply} of ${state.moves.length})`;
    if (position.over) return resultText(state) + place;
    if (position.forced_pass) return `${side} has no legal move and passes.`;
    if (!state.isAtEnd) return `${side} to move${place}.`;
    if (flow.isPersonsTurn) {
      const isAlone = this.seats.some((other) => other.kind !== "human");
      return isAlone ? `Your turn: ${side} to move.` : `${side} to move.`;
    }
    if (flow.isPaused) return `Paused: ${side} to move.`;
    return flow.problem ? `${side} to move.` : `${side} is thinking: ${seatName(seat, this.game)}.`;
  }

  #showProgress() {
    const { progress } = this.flow;
    this.progress.classList.toggle("is-idle", progress === null);
    if (progress?.total) {
      this.progress.max = progress.total;
      this.progress.value = progress.done;
    } else {
      this.progress.removeAttribute("value");
    }
  }

  #showProblem() {
    const { problem } = this.flow;
    const key = JSON.stringify(problem);
    if (key === this.shownProblem) return;
    this.shownProblem = key;
    if (problem === null) {
      this.problem.replaceChildren();
      return;
    }
    const later = problem.seconds === null ? "" : ` Trying again in ${problem.seconds} s.`;
    const again = button("Try again", () => this.flow.retry());
    this.problem.replaceChildren(element("p", {}, capital(problem.text) + later), again);
  }
}

function button(text, onclick, name = null) {
  return element("button", { type: "button", class: name, onclick }, text);
}

/** A disabled button loses the focus: it stays, and does nothing. */
function setDisabled(node, isDisabled) {
  node.setAttribute("aria-disabled", isDisabled);
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
