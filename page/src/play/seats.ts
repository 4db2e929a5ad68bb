// Who plays each side: a person, a level, or any player with its number of simulations.
//
// In an address a seat is "human", "level.club" or "uct*500".

import type { Asked, Game, Player } from "../api";

export type Seat =
  | { kind: "human" }
  | { kind: "level"; id: string }
  | { kind: "player"; id: string; num_simulations: number | null };
export type Seats = [Seat, Seat];

const USUAL_SIMULATIONS: Record<string, number> = { network: 200, uct: 1000 };
const HUMAN: Seat = { kind: "human" };

/** Return the seats of a new game: a person against a level that is not the weakest. */
export function usualSeats(game: Game): Seats {
  const level = game.levels[Math.min(2, game.levels.length - 1)];
  return [HUMAN, level ? { kind: "level", id: level.id } : playerSeat(game, game.players[0].id)];
}

/** Return the seat of a player of the catalogue; `num` undefined: its usual simulations. */
export function playerSeat(game: Game, id: string, num?: number): Seat {
  const player = game.players.find((one) => one.id === id);
  const usual = player ? (USUAL_SIMULATIONS[player.kind] ?? null) : null;
  return { kind: "player", id, num_simulations: num ?? usual };
}

/** Return a number of simulations that a player takes, as near as possible. */
export function clampSimulations(player: Player, num: number): number {
  return Math.min(Math.max(num, leastSimulations(player)), player.max_simulations);
}

/** A network can choose without a search. */
export function leastSimulations({ kind }: Player): number {
  return kind === "network" ? 0 : 1;
}

/** Return the player of a request; null for a person. */
export function playerOf(seat: Seat, game: Game): Asked | null {
  if (seat.kind === "human") return null;
  if (seat.kind === "level") return game.levels.find(({ id }) => id === seat.id)?.player ?? null;
  const { id, num_simulations: num } = seat;
  return num === null ? { id } : { id, num_simulations: num };
}

export function seatName(seat: Seat, game: Game): string {
  if (seat.kind === "human") return "A person";
  const all = seat.kind === "level" ? game.levels : game.players;
  return all.find((one) => one.id === seat.id)?.name ?? "The player";
}

export function formatSeat(seat: Seat): string {
  if (seat.kind === "human") return "human";
  if (seat.kind === "level") return `level.${seat.id}`;
  return seat.num_simulations === null ? seat.id : `${seat.id}*${seat.num_simulations}`;
}

/** Return the seat that a text names; null if this game has no such player. */
export function parseSeat(text: string | undefined, game: Game): Seat | null {
  if (!text) return null;
  if (text === "human") return HUMAN;
  if (text.startsWith("level.")) {
    const id = text.slice("level.".length);
    return game.levels.some((one) => one.id === id) ? { kind: "level", id } : null;
  }
  const [, id, num] = text.match(/^(.*?)(?:\*(\d{1,6}))?$/) ?? [];
  const player = game.players.find((one) => one.id === id);
  if (!player) return null;
  return playerSeat(game, id, num ? clampSimulations(player, Number(num)) : undefined);
}

/** Return a game's seats in which the side to move is a person's, against who is not one. */
export function seatsAgainst(seats: Seats, personsSide: number, game: Game): Seats {
  if (seats.every(({ kind }) => kind === "human")) return seats;
  return against(seats.find(({ kind }) => kind !== "human") ?? usualSeats(game)[1], personsSide);
}

export function against(opponent: Seat, personsSide: number): Seats {
  return personsSide === 0 ? [HUMAN, opponent] : [opponent, HUMAN];
}
