// The moves of a position as a table: visits, share, prior, value, exact result.
//
// Sorted by visits; rows keep their places while the pointer or the focus is on the table.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { ActionStatistics, AnalysisMessage, ExactAnswer } from "../api";
import { countText, marginText, percentText, resultText, UNKNOWN, valueText } from "../format";
import { stableOrder } from "./stable_order";

const COLUMNS = [
  ["move", "Move", "a legal move; choose one to play it"],
  ["share", "Share", "of the search's visits"],
  ["visits", "Visits", "simulations that went through the move"],
  ["prior", "Prior", "probability that the network gives the move before any search"],
  ["value", "Value", "expected result for the player to move, from \u22121 (loss) to +1 (win)"],
  ["exact", "Exact", "result with perfect play, by a solver or (\u2713) proven by the search"],
] as const;

interface MovesTableProps {
  legal: number[];
  analysis: AnalysisMessage | null;
  exact: ExactAnswer | null;
  textOf: (action: number) => string;
  /** The move under the pointer on the board. */
  hovered: number | null;
  onHover: (action: number | null) => void;
  onPlay: (action: number) => void;
}

export function MovesTable(props: MovesTableProps) {
  const { legal, analysis, exact, onHover } = props;
  const isHeld = useSignal(false);
  const kept = useRef<{ legal: number[]; order: number[] }>({ legal, order: legal });
  if (kept.current.legal !== legal) kept.current = { legal, order: legal };
  if (analysis && !isHeld.value) {
    const visits = new Map(analysis.actions.map((one) => [one.action, one.visits]));
    kept.current.order = stableOrder(kept.current.order, visits, analysis.final);
  }
  const total = analysis?.actions.reduce((sum, { visits }) => sum + visits, 0) ?? 0;
  const byAction = new Map(analysis?.actions.map((one) => [one.action, one]));
  return (
    <div
      class="analysis-table-box"
      onPointerEnter={() => (isHeld.value = true)}
      onPointerLeave={() => (isHeld.value = false)}
      onFocusIn={() => (isHeld.value = true)}
      onFocusOut={() => (isHeld.value = false)}
    >
      <table class="analysis-table">
        <caption class="visually-hidden">Moves, most visited first</caption>
        <thead>
          <tr>
            {COLUMNS.map(([name, title]) => (
              <th key={name} scope="col" class={`col-${name}`}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody onPointerLeave={() => onHover(null)} onFocusOut={() => onHover(null)}>
          {kept.current.order.map((action) => (
            <MoveRow
              key={action}
              {...props}
              action={action}
              found={byAction.get(action)}
              total={total}
              exact={exact}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface MoveRowProps extends MovesTableProps {
  action: number;
  found: ActionStatistics | undefined;
  total: number;
}

function MoveRow({ action, found, total, analysis, exact, ...others }: MoveRowProps) {
  const { textOf, hovered, onHover, onPlay } = others;
  const isBest = analysis?.best === action;
  const share = found && total ? found.visits / total : found ? 0 : null;
  const solved = exact?.known ? (exact.values[action] ?? null) : null;
  const result = solved ?? found?.proven ?? null;
  const score = exact?.known ? (exact.scores[action] ?? null) : null;
  const margin = score === null || result === 0 ? "" : ` ${marginText(score)}`;
  const exactText = result === null ? UNKNOWN : resultText(result);
  return (
    <tr
      class={`${isBest ? "is-best" : ""} ${hovered === action ? "is-hovered" : ""}`}
      onPointerEnter={() => onHover(action)}
    >
      <td class="col-move">
        <button
          type="button"
          class="move-button"
          onClick={() => onPlay(action)}
          onFocus={() => onHover(action)}
        >
          {textOf(action)}
        </button>
        {isBest && (
          <span class="best-mark">
            {"\u2605"}
            <span class="visually-hidden">best move</span>
          </span>
        )}
      </td>
      <td class="col-share">
        <span class="share-track">
          <span class="share-bar" style={{ inlineSize: `${100 * (share ?? 0)}%` }} />
        </span>
        <span class="share-text">{percentText(share)}</span>
      </td>
      <td class="col-visits">{found ? countText(found.visits) : UNKNOWN}</td>
      <td class="col-prior">{percentText(found?.prior)}</td>
      <td class="col-value">{valueText(found?.value)}</td>
      <td class="col-exact" data-result={result === null ? "" : exactText}>
        {exactText}
        {result !== null && (solved === null ? " \u2713" : margin)}
      </td>
    </tr>
  );
}

/** What the columns mean, for those who have no pointer to hover with. */
export function ColumnsHelp({ note }: { note: string }) {
  return (
    <details class="columns-help">
      <summary>What the columns mean</summary>
      <dl>
        {COLUMNS.map(([name, title, meaning]) => (
          <div key={name}>
            <dt>{title}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      {note && <p class="exact-note">{note}</p>}
    </details>
  );
}
