// The moves of a position as a table: visits, share, prior, value, exact result. Each row opens
// into the answers that the search has looked at, level by level.
//
// Most visited first; while the search runs, only clear differences count.

import { useState } from "preact/hooks";
import type { Setup, Side } from "../api";
import { countText, marginText, percentText, resultText, UNKNOWN, valueText } from "../format";
import { Button } from "../ui";
import type { MoveFacts } from "./position_search";
import { keyOf, movesAfter, type Nodes } from "./search_tree";

const COLUMNS = [
  ["move", "Move", "a legal move, to be played; its arrow shows the answers to it"],
  ["share", "Share", "of the visits of the position before it"],
  ["visits", "Visits", "simulations that went through the move"],
  ["prior", "Prior", "probability that the network gives the move before any search"],
  ["value", "Value", "expected result for the player of the move, from \u22121 (loss) to +1 (win)"],
  ["exact", "Exact", "result with perfect play, by a solver or (\u2713) proven by the search"],
] as const;

interface LevelProps {
  /** The moves that lead here from the position shown. */
  path: number[];
  moves: MoveFacts[];
  side: Side;
  nodes: Nodes;
  isFinal: boolean;
  setup: Setup;
  /** The path whose line is shown on the board. */
  hovered: number[] | null;
  onHover: (path: number[] | null) => void;
  onPlay: (path: number[]) => void;
}

export function MovesTable(props: LevelProps) {
  const leave = () => props.onHover(null);
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
          <Level {...props} />
        </tbody>
      </table>
    </div>
  );
}

function Level(props: LevelProps) {
  const sorted = byVisits(props.moves, props.isFinal);
  return sorted.map((move) => <MoveRow key={move.action} {...props} move={move} />);
}

/** Return moves, most visited first; before the end of a search they may differ by a fifth. */
export function byVisits(moves: MoveFacts[], isFinal: boolean): MoveFacts[] {
  const size = ({ visits }: MoveFacts) => Math.log2(1 + (visits ?? 0));
  const rank = (one: MoveFacts) => (isFinal ? size(one) : Math.round(4 * size(one)));
  return moves.toSorted((one, other) => rank(other) - rank(one) || one.action - other.action);
}

function MoveRow({ move, ...props }: LevelProps & { move: MoveFacts }) {
  const { setup, side, nodes, hovered, onHover, onPlay } = props;
  const { action, visits, result, score, isBest, share } = move;
  const [isOpen, setOpen] = useState(false);
  const path = [...props.path, action];
  const node = nodes.get(keyOf(path));
  const text = setup.action_texts[action];
  const margin = score === null || result === 0 ? "" : ` ${marginText(score)}`;
  const exact = result === null ? UNKNOWN : resultText(result);
  const bar = { inlineSize: `${visits ? 100 * share : 0}%` };
  const look = () => onHover(path);
  const isHovered = hovered !== null && keyOf(hovered) === keyOf(path);
  return (
    <>
      <tr
        class={`${isBest ? "is-best" : ""} ${isHovered ? "is-hovered" : ""}`}
        onPointerEnter={look}
        onFocusIn={look}
      >
        <td class="col-move" style={{ "--level": props.path.length }}>
          <Button
            class="tree-toggle"
            off={!node?.num_children}
            aria-expanded={isOpen}
            aria-label={`Answers to ${text} by ${setup.sides[side]}`}
            onClick={() => setOpen(!isOpen)}
            text={isOpen ? "\u25be" : "\u25b8"}
          />
          <Button class="move-button" text={text} onClick={() => onPlay(path)} />
          {isBest && (
            <span class="best-mark">
              {"\u2605"}
              <span class="visually-hidden">best move</span>
            </span>
          )}
        </td>
        <td class="col-share">
          {percentText(visits && share)}
          <span class="share-track">
            <span class="share-bar" style={bar} />
          </span>
        </td>
        <td class="col-visits">{visits === null ? UNKNOWN : countText(visits)}</td>
        <td class="col-prior">{percentText(move.prior)}</td>
        <td class="col-value">{valueText(move.value)}</td>
        <td class="col-exact" data-result={result === null ? "" : exact}>
          {exact}
          {result !== null && (move.isProven ? " \u2713" : margin)}
        </td>
      </tr>
      {isOpen && node && (
        <Level {...props} {...{ path, side: node.to_move, moves: movesAfter(nodes, path) }} />
      )}
    </>
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
      {note && <p>{note}</p>}
    </details>
  );
}
