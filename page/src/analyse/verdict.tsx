// What is known of a position: its value as a bar and in large, exact where it is known, the best
// move, and what the search or the network alone thinks.

import type { Position, Setup } from "../api";
import { capital, resultText, valueText } from "../format";
import { Card } from "../ui";
import { bestMove, type Found, resultOf } from "./position_search";

type VerdictProps = { position: Position; found: Found; setup: Setup };

/** The bar beside the board; its part from below is side 0's: all of it if side 0 wins. */
export function ValueBar({ position, found, setup: { colors } }: VerdictProps) {
  const { over, winner, to_move: toMove } = position;
  const result = resultOf(found) ?? found.analysis?.value ?? 0;
  const ended = winner === null ? 0 : winner === 0 ? 1 : -1;
  const value = over ? ended : toMove === 0 ? result : -result;
  const size = { inlineSize: `${50 + 50 * value}%` };
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
  const headline = over ? ended : capital(name) || valueText(analysis?.value);
  const { value, best } = analysis?.network ?? {};
  const bestOfAll = over ? undefined : bestMove(found);
  const isExact = exact?.known;
  const other = isExact && analysis && analysis.best !== bestOfAll ? texts[analysis.best] : null;
  return (
    <Card class="verdict" label="Value">
      <p class="verdict-headline">
        <span class="verdict-value">{headline}</span>
        <span class="hint-text verdict-who">
          {over ? "" : `for ${sides[position.to_move]}, to move`}
        </span>
        <span class="verdict-result" data-result={name}>
          {name && (isExact ? "exact" : "proven")}
        </span>
      </p>
      <p class="verdict-best">
        {bestOfAll !== undefined && `Best move: ${texts[bestOfAll]}${isExact ? ", exact" : ""}`}
        {other && `; the search prefers ${other}`}
        {name && analysis && `; search ${valueText(analysis.value)}`}
      </p>
      <p class="hint-text verdict-network">
        {best !== undefined && `Network alone: ${valueText(value)}, best move ${texts[best]}`}
      </p>
    </Card>
  );
}
