// A person's mistakes in all games that ended in this browser, kept as puzzles.

import type { Side } from "../api";
import type { GameState } from "../game/game_state";
import { keep, kept } from "../kept";
import { type Mistake, mistakesOf, NOTABLE, type Plies } from "./review";

export interface Puzzle extends Mistake {
  /** The whole game. */
  game: ReturnType<GameState["request"]>;
  /** When it was reviewed, in milliseconds since 1970. */
  date: number;
  isSolved: boolean;
}

const MOST_PUZZLES = 200;

/** Return a side's mistakes in the game that is shown. */
export function puzzlesIn(state: GameState, plies: Plies, side: Side): Puzzle[] {
  const own = mistakesOf(plies).filter((one) => one.side === side && (one.loss ?? 0) >= NOTABLE);
  const common = { game: state.request(Infinity), date: Date.now(), isSolved: false };
  return own.map((one) => ({ ...one, ...common }));
}

/** Return the puzzles of the game that is shown, those not solved first, then the newest. */
export function keptPuzzles({ shown }: GameState): Puzzle[] {
  const { game, setup } = shown.value;
  const isOfGame = ({ game: one }: Puzzle) => one.game === game.name && one.setup === setup.id;
  return kept<Puzzle>("puzzles").filter(isOfGame);
}

/** Keep puzzles, unless they are known. */
export function addPuzzles(found: Puzzle[]): void {
  const all = kept<Puzzle>("puzzles");
  const known = new Set(all.map(keyOf));
  keepAll([...found.filter((one) => !known.has(keyOf(one))), ...all]);
}

export function markSolved(solved: Puzzle): void {
  const all = kept<Puzzle>("puzzles");
  keepAll(all.map((one) => (keyOf(one) === keyOf(solved) ? { ...one, isSolved: true } : one)));
}

function keepAll(puzzles: Puzzle[]): void {
  const sorted = puzzles.toSorted((one, other) => Number(one.isSolved) - Number(other.isSolved));
  keep("puzzles", sorted.slice(0, MOST_PUZZLES));
}

/** Return what puzzles of one position have in common. */
function keyOf({ game, ply }: Puzzle): string {
  return JSON.stringify({ ...game, moves: game.moves.slice(0, ply) });
}
