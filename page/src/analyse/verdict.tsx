// What is known of a position: its value in large, then the network alone, the search and perfect
// play side by side, and a sentence if the search has changed the network's mind.

import type { AnalysisMessage, ExactAnswer, Position } from "../api";
import { resultText, UNKNOWN, valueText } from "../format";

const NOTABLE = 0.2; // difference of two values that is worth a sentence

interface VerdictProps {
  position: Position;
  analysis: AnalysisMessage | null;
  exact: ExactAnswer | null;
  sides: [string, string];
  textOf: (action: number) => string;
}

export function Verdict({ position, analysis, exact, sides, textOf }: VerdictProps) {
  const network = analysis?.network ?? null;
  const { over, winner } = position;
  const result = over ? null : ((exact?.known ? exact.value : null) ?? analysis?.proven ?? null);
  const name = result === null ? "" : resultText(result);
  const ended = winner === null ? "Draw" : `${sides[winner]} has won`;
  const line = (head: string, value: string, best: string) => (
    <tr>
      <th scope="row">{head}</th>
      <td>{value}</td>
      <td>{best}</td>
    </tr>
  );
  const moveText = (action: number | undefined) =>
    action === undefined ? UNKNOWN : textOf(action);
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
        <>
          <table class="comparison-table">
            <caption class="visually-hidden">Network alone, with search, perfect play</caption>
            <thead>
              <tr>
                <td />
                <th scope="col">Value</th>
                <th scope="col">Best move</th>
              </tr>
            </thead>
            <tbody>
              {(analysis === null || network) &&
                line("Network alone", valueText(network?.value), moveText(network?.best))}
              {line("With search", valueText(analysis?.value), moveText(analysis?.best))}
              {line("Perfect play", ...perfect(exact, analysis, textOf))}
            </tbody>
          </table>
          <p class="verdict-sentence">{compare(analysis, textOf)}</p>
        </>
      )}
    </div>
  );
}

/** Return the result with perfect play, and the moves that keep it. */
function perfect(
  exact: ExactAnswer | null,
  analysis: AnalysisMessage | null,
  textOf: (action: number) => string,
): [string, string] {
  if (!exact?.known) {
    const proven = analysis?.proven ?? null;
    if (proven !== null && analysis) return [resultText(proven), textOf(analysis.best)];
    return [exact === null ? UNKNOWN : "not known", UNKNOWN];
  }
  const most = Math.max(...exact.scores.filter((score) => score !== null));
  const best = exact.scores.flatMap((score, action) => (score === most ? [textOf(action)] : []));
  const isLong = best.length > 4;
  const shown = (isLong ? best.slice(0, 3) : best).join(", ") || UNKNOWN;
  return [resultText(exact.value), isLong ? `${shown} and ${best.length - 3} more` : shown];
}

/** Return what the search changed in the network's mind, "" if nothing. */
function compare(analysis: AnalysisMessage | null, textOf: (action: number) => string): string {
  const { network, value, best, num_simulations: num } = analysis ?? {};
  if (!network || !num || value == null || network.value === null || best === undefined) return "";
  const change = value - network.value;
  const how = change > 0 ? "better" : "worse";
  const judged = `the position ${Math.abs(change).toFixed(2)} ${how} than the network alone`;
  if (best !== network.best) {
    const prefers = `The search prefers ${textOf(best)} to the network's ${textOf(network.best)}`;
    return Math.abs(change) >= NOTABLE ? `${prefers} and judges ${judged}.` : `${prefers}.`;
  }
  if (Math.abs(change) >= NOTABLE) return `Same move, but the search judges ${judged}.`;
  return "The network alone and its search agree.";
}
