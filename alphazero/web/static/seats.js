// Who plays each side: a person, a level, or any player with its number of simulations.
//
// A seat is {kind: "human"}, {kind: "level", id} or {kind: "player", id, num_simulations}. In an
// address it is "human", "level.club" or "uct*500".

import { pieceAt } from "./board_pieces.js";
import { element, svg } from "./dom.js";

const USUAL_SIMULATIONS = { network: 200, uct: 1000 };
export const HUMAN = { kind: "human" };

/** Return the seats of a new game: a person against a level that is not the weakest. */
export function usualSeats(game) {
  return [HUMAN, opponent(game)];
}

/** Return who plays against a person unless they choose someone. */
export function opponent(game) {
  const level = game.levels[Math.min(2, game.levels.length - 1)];
  return level ? { kind: "level", id: level.id } : playerSeat(game, game.players[0].id);
}

/** Return the seat of a player of the catalogue; `num` null: its usual simulations. */
export function playerSeat(game, id, num = null) {
  const player = game.players.find((one) => one.id === id);
  const usual = player ? (USUAL_SIMULATIONS[player.kind] ?? null) : null;
  return { kind: "player", id, num_simulations: num ?? usual };
}

/** Return the player of a request; null for a person. */
export function playerOf(seat, game) {
  if (seat.kind === "human") return null;
  if (seat.kind === "level") return game.levels.find((one) => one.id === seat.id).player;
  return seat.num_simulations === null
    ? { id: seat.id }
    : { id: seat.id, num_simulations: seat.num_simulations };
}

/** Return what the player in a seat is called. */
export function seatName(seat, game) {
  if (seat.kind === "human") return "A person";
  const all = seat.kind === "level" ? game.levels : game.players;
  return all.find((one) => one.id === seat.id)?.name ?? "The player";
}

/** Return a seat as text for the address. */
export function formatSeat(seat) {
  if (seat.kind === "human") return "human";
  if (seat.kind === "level") return `level.${seat.id}`;
  return seat.num_simulations === null ? seat.id : `${seat.id}*${seat.num_simulations}`;
}

/** Return the seat that a text names; null if this game has no such player. */
export function parseSeat(text, game) {
  if (!text) return null;
  if (text === "human") return HUMAN;
  if (text.startsWith("level.")) {
    const id = text.slice("level.".length);
    return game.levels.some((one) => one.id === id) ? { kind: "level", id } : null;
  }
  const [, id, num] = text.match(/^(.*?)(?:\*(\d{1,6}))?$/);
  const player = game.players.find((one) => one.id === id);
  if (!player) return null;
  return playerSeat(game, id, num === undefined ? null : Math.min(+num, player.max_simulations));
}

function levelName({ name, elo, elo_stderr: error }) {
  if (elo === null) return name;
  const margin = error ? ` \u00b1 ${Math.round(error)}` : "";
  return `${name} \u00b7 Elo ${Math.round(elo)}${margin}`;
}

/** Return a small picture of a side's piece. */
function sidePiece(color) {
  const attributes = { viewBox: "0 0 100 100", class: "side-piece", "aria-hidden": "true" };
  return svg("svg", attributes, pieceAt({ x: 0, y: 0, size: 100 }, color));
}

/** The choice of who plays one side. */
export class SeatChoice {
  /**
   * @param side 0 or 1
   * @param color of its pieces
   * @param onChange called with the seat that was chosen
   */
  constructor(game, side, sideName, color, seat, onChange) {
    Object.assign(this, { game, onChange });
    this.select = element("select", { id: `seat-${side}`, onchange: () => this.#choose() });
    this.select.append(...this.#options());
    this.number = element("input", {
      type: "number",
      id: `simulations-${side}`,
      "aria-label": `Simulations of ${sideName}`,
      onchange: () => this.#changeNumber(),
    });
    this.unit = element("span", { class: "unit" }, "simulations");
    const name = [sidePiece(color), sideName];
    const label = element("label", { for: `seat-${side}`, class: "seat-side" }, name);
    const numbers = element("span", { class: "seat-number" }, this.number, this.unit);
    this.numbers = numbers;
    this.note = element("p", { class: "hint-text seat-note" });
    this.element = element("div", { class: "seat" }, label, this.select, numbers, this.note);
    this.show(seat);
  }

  show(seat) {
    this.seat = seat;
    this.select.value = seat.kind === "player" ? `player.${seat.id}` : formatSeat(seat);
    const player = this.game.players.find((one) => one.id === seat.id);
    this.note.textContent = (seat.kind === "player" && player.note) || "";
    const hasNumber = seat.kind === "player" && seat.num_simulations !== null;
    this.numbers.hidden = !hasNumber;
    if (!hasNumber) return;
    this.number.min = player.kind === "network" ? 0 : 1;
    this.number.max = player.max_simulations;
    this.number.value = seat.num_simulations;
  }

  #options() {
    const { levels, players } = this.game;
    const option = (value, text) => element("option", { value }, text);
    const group = (label, options) => element("optgroup", { label }, options);
    const best = levels.map((level) => option(`level.${level.id}`, levelName(level)));
    const all = players.map((player) => option(`player.${player.id}`, player.name));
    return [
      option("human", "A person"),
      ...(best.length ? [group("Levels, weakest first", best)] : []),
      group("Players", all),
    ];
  }

  #choose() {
    const { value } = this.select;
    const isPlayer = value.startsWith("player.");
    const seat = isPlayer
      ? playerSeat(this.game, value.slice("player.".length))
      : parseSeat(value, this.game);
    this.show(seat);
    this.onChange(seat);
  }

  #changeNumber() {
    const { min, max, valueAsNumber: wanted } = this.number;
    if (Number.isNaN(wanted)) {
      this.show(this.seat); // nothing was typed
      return;
    }
    const num = Math.min(Math.max(Math.round(wanted), Number(min)), Number(max));
    const seat = { ...this.seat, num_simulations: num };
    this.show(seat);
    this.onChange(seat);
  }
}
