// What is said of the mistakes of a game. Values are for the side whose game is looked at.

import type { Side } from "../api";
import { resultText, valueText } from "../format";
import type { Shown } from "../game/types";
import { type Mistake, NOTABLE, type Ply } from "./review";

/** Return what was wrong with a move, what it lost, and which would have been better. */
export function mistakeText(shown: Shown, mistake: Mistake, view: Side): string {
  const { sides, action_texts: texts } = shown.setup;
  const { ply, side, grade, best, played } = mistake;
  const better = best !== null && best !== played ? ` Better was ${texts[best]}.` : "";
  const head = `Move ${ply + 1}: ${sides[side]} played ${texts[played]}, ${grade.text}`;
  return `${head}: it ${lossText(shown, mistake, view)}.${better}`;
}

/** Return what a move lost: from which result to which if that is exact, else an estimate. */
export function lossText({ game, setup }: Shown, found: Ply, view: Side): string {
  const { value, loss, exact, side, score_loss: score } = found;
  if (loss === null || value === null) return "";
  if (loss < NOTABLE)
    return game.counts_pieces ? `gave ${score} discs away` : "wins later than it could";
  const before = view === 0 ? value : -value;
  const after = side === view ? before - loss : before + loss;
  const whose = side === view ? "" : ` for ${setup.sides[view]}`;
  if (!exact) return `took the value from ${valueText(before)} to ${valueText(after)}${whose}`;
  return `turned a ${resultText(before)} into a ${resultText(after)}${whose}`;
}

/** Return what a review found of a side's moves. */
export function summary({ setup }: Shown, mistakes: Mistake[], view: Side): string {
  if (!mistakes.length) return "No mistakes were found.";
  const num = mistakes.filter(({ side }) => side === view).length;
  const others = mistakes.length - num;
  const [one, other] = [setup.sides[view], setup.sides[1 - view]];
  return `Mistakes: ${num} of ${one}, marked below the graph; ${others} of ${other}, above it.`;
}
