// What is known of a position: its value as a bar and in large, then the network alone, the search
// and perfect play side by side.

import type { Position, Setup } from "../api";
import { resultText, UNKNOWN, valueText } from "../format";
import { Table } from "../ui";
import { bestActions, type Found, resultOf } from "./position_search";

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
  const row = (head: string, known: { value: number | null; best: number } | null) => {
    return [head, valueText(known?.value), known ? texts[known.best] : UNKNOWN];
  };
  const network = analysis?.network ?? null;
  const rows = [row("With search", analysis), ["Perfect play", ...perfect(found, texts)]];
  if (analysis === null || network) rows.unshift(row("Network alone", network));
  return (
    <div class="verdict">
      <p class="verdict-headline">
        <span class="verdict-value">{over ? ended : valueText(analysis?.value)}</span>
        <span class="verdict-who">{over ? "" : `for ${sides[position.to_move]}, to move`}</span>
        <span class="verdict-result" data-result={name}>
          {name && `${name}, ${exact?.known ? "exact" : "proven"}`}
        </span>
      </p>
      {!over && (
        <Table
          class="comparison-table"
          caption="Network alone, with search, perfect play"
          columns={["", "Value", "Best move"]}
          rows={rows}
        />
      )}
    </div>
  );
}

/** Return the result with perfect play, and the moves that keep it. */
function perfect({ exact, analysis }: Found, texts: string[]): [string, string] {
  if (!exact?.known) {
    const proven = analysis?.proven ?? null;
    if (proven !== null && analysis) return [resultText(proven), texts[analysis.best]];
    return [exact === null ? UNKNOWN : "not known", UNKNOWN];
  }
  const best = bestActions(exact.scores).map((action) => texts[action]);
  return [resultText(exact.value), best.join(", ")];
}
