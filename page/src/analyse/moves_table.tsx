// The moves of a position as a table: visits, share, prior, value, exact result.
//
// Sorted by visits; rows change places only if one is clearly ahead.

import { useRef } from "preact/hooks";
import { countText, marginText, percentText, resultText, UNKNOWN, valueText } from "../format";
import type { MoveFacts } from "./position_search";
import { stableOrder } from "./stable_order";

const COLUMNS = [
  ["move", "Move", "a legal move; choose one to play it"],
  ["share", "Share", "of the search's visits"],
  ["visits", "Visits", "simulations that went through the move"],
  ["prior", "Prior", "probability that the network gives the move before any search"],
  ["value", "Value", "expected result for the player to move, from \u22121 (loss) to +1 (win)"],
  ["exact", "Exact", "result with perfect play, by a solver or (\u2713) proven by the search"],
] as const;

interface RowProps {
  texts: string[];
  /** The move whose line is shown on the board. */
  hovered: number | null;
  onHover: (action: number | null) => void;
  onPlay: (action: number) => void;
}

interface MovesTableProps extends RowProps {
  moves: MoveFacts[];
  isFinal: boolean;
}

export function MovesTable({ moves, isFinal, ...row }: MovesTableProps) {
  const order = useRef<number[]>([]);
  const found = new Map(moves.map((one) => [one.action, one]));
  const visits = new Map(moves.map((one) => [one.action, one.visits ?? 0]));
  order.current = stableOrder(order.current, visits, isFinal);
  const leave = () => row.onHover(null);
  return (
    <div class="analysis-table-box">
      <table class="analysis-table">
        <caption class="visually-hidden">Moves, most visited first</caption>
        <thead>
          <tr>
            {COLUMNS.map(([name, title]) => (
              <th key={name} scope="col" class={`col-${name}`} children={title} />
            ))}
          </tr>
        </thead>
        <tbody onPointerLeave={leave} onFocusOut={leave}>
          {order.current.map((action) => (
            <MoveRow key={action} action={action} {...found.get(action)} {...row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function MoveRow({ texts, hovered, onHover, onPlay, ...found }: RowProps & Partial<MoveFacts>) {
  const { action = 0, visits = null, result = null, score = null, isBest } = found;
  const share = visits && (found.share ?? 0);
  const margin = score === null || result === 0 ? "" : ` ${marginText(score)}`;
  const exact = result === null ? UNKNOWN : resultText(result);
  const look = () => onHover(action);
  const name = `${isBest ? "is-best" : ""} ${hovered === action ? "is-hovered" : ""}`;
  return (
    <tr class={name} onPointerEnter={look}>
      <td class="col-move">
        <button type="button" class="move-button" onClick={() => onPlay(action)} onFocus={look}>
          {texts[action]}
        </button>
        {isBest && (
          <span class="best-mark">
            {"\u2605"}
            <span class="visually-hidden">best move</span>
          </span>
        )}
      </td>
      <td class="col-share">
        {percentText(share)}
        <ShareBar share={share ?? 0} />
      </td>
      <td class="col-visits">{visits === null ? UNKNOWN : countText(visits)}</td>
      <td class="col-prior">{percentText(found.prior)}</td>
      <td class="col-value">{valueText(found.value)}</td>
      <td class="col-exact" data-result={result === null ? "" : exact}>
        {exact}
        {result !== null && (found.isProven ? " \u2713" : margin)}
      </td>
    </tr>
  );
}

export function ShareBar({ share }: { share: number }) {
  return (
    <span class="share-track">
      <span class="share-bar" style={{ inlineSize: `${100 * share}%` }} />
    </span>
  );
}

/** What the columns mean, for those who have no pointer to hover with. */
export function ColumnsHelp({ note }: { note: string }) {
  return (
    <details class="columns-help">
      <summary>What the columns mean</summary>
      {COLUMNS.map(([name, title, meaning]) => (
        <div key={name}>{`${title}: ${meaning}`}</div>
      ))}
      {note && <p class="exact-note">{note}</p>}
    </details>
  );
}
