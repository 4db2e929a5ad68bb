// What is known of a position: its value as a bar and in large, and that of the network alone.

import type { Position, Setup } from "../api";
import { resultText, valueText } from "../format";
import { type Found, resultOf } from "./position_search";

type VerdictProps = { position: Position; found: Found; setup: Setup };

/** The bar beside the board; its part from below is side 0's: all of it if side 0 wins. */
export function ValueBar({ position, found, setup: { colors } }: VerdictProps) {
  const { over, winner, to_move: toMove } = position;
  const result = resultOf(found) ?? found.analysis?.value ?? 0;
  const ended = winner === null ? 0 : winner === 0 ? 1 : -1;
  const value = over ? ended : toMove === 0 ? result : -result;
  const size = { blockSize: `${50 + 50 * value}%` };
  return (
    <div class={`value-bar piece-${colors[1]}`} aria-hidden="true">
      <div class={`value-bar-share piece-${colors[0]}`} style={size} />
    </div>
  );
}

export function Verdict({ position, found, setup }: VerdictProps) {
  const { analysis, exact } = found;
  const { sides, action_texts: texts } = setup;
  const { over, winner } = position;
  const result = over ? null : resultOf(found);
  const name = result === null ? "" : resultText(result);
  const ended = winner === null ? "Draw" : `${sides[winner]} has won`;
  const { value, best } = analysis?.network ?? {};
  return (
    <div class="verdict">
      <p class="verdict-headline">
        <span class="verdict-value">{over ? ended : valueText(analysis?.value)}</span>
        <span class="verdict-who">{over ? "" : `for ${sides[position.to_move]}, to move`}</span>
        <span class="verdict-result" data-result={name}>
          {name && `${name}, ${exact?.known ? "exact" : "proven"}`}
        </span>
      </p>
      <p class="verdict-network">
        {best !== undefined && `Network alone: ${valueText(value)}, best move ${texts[best]}`}
      </p>
    </div>
  );
}
