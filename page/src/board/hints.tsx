// What is marked on a board: the last move, the line that won, legal squares, a move to point out.

import type { Game, Position, Setup } from "../api";
import {
  type Cell,
  CELL,
  cellAt,
  cellOfAction,
  type Layout,
  middleOf,
  squaresOfAction,
} from "./layout";
import { Arrow } from "./marks";

interface BoardParts {
  game: Game;
  setup: Setup;
  layout: Layout;
  position: Position;
}

/** The last move, or the line that won. */
export function LastMarks({ game, setup, layout, position }: BoardParts) {
  const { cells, marked, over } = position;
  const isWon = over && game.has_lines && marked.length > 1;
  return (
    <g class="marks">
      {marked.map((cell) => {
        const { x, y } = middleOf(layout, cell);
        const color = setup.colors[cells[cell[0]][cell[1]] - 1] ?? "none";
        const name = `mark ${isWon ? "mark-won" : "mark-last"} mark-on-${color}`;
        return <circle key={`${cell}`} class={name} cx={x} cy={y} r={isWon ? 36 : 11} />;
      })}
    </g>
  );
}

interface LegalHintsProps extends BoardParts {
  /** Actions whose squares are marked. */
  legal: number[];
  /** The squares chosen of a move, and those that may follow. */
  path: number[];
  next: Set<number>;
}

/** The legal squares, or those to which a chosen piece may go. */
export function LegalHints({ game, layout, position, legal, path, next }: LegalHintsProps) {
  const { cells } = position;
  const isHelpful = game.action_kind === "square" && layout.style !== "lines";
  const squares = isHelpful ? legal.map((action) => cellOfAction(game, cells, action)) : [];
  const targets = path.length ? [...next].map((square) => cellAt(game, square)) : [];
  const dots = [...squares, ...targets].filter((cell): cell is Cell => cell !== null);
  return (
    <g class="hints">
      {path.map((square) => {
        const { x, y } = middleOf(layout, cellAt(game, square));
        const [half, length] = [CELL / 2 - 4, CELL - 8];
        const place = { x: x - half, y: y - half, width: length, height: length };
        return <rect key={square} class="chosen" {...place} />;
      })}
      {dots.map((cell) => {
        const { x, y } = middleOf(layout, cell);
        const isTaken = cells[cell[0]][cell[1]] > 0;
        const look = isTaken ? { class: "hint-ring", r: 40 } : { class: "hint", r: 12 };
        return <circle key={`${cell}`} cx={x} cy={y} {...look} />;
      })}
    </g>
  );
}

/** A move to point out: a ring on its square, or an arrow where pieces move. */
export function HintedMove({
  game,
  layout,
  position,
  hint,
}: BoardParts & { hint?: number | null }) {
  if (hint === null || hint === undefined) return null;
  const cell = cellOfAction(game, position.cells, hint);
  if (!cell) return null;
  const [from] = squaresOfAction(game, hint);
  const [start, end] = [from ?? cell, cell].map((one) => middleOf(layout, one));
  if (start.x !== end.x || start.y !== end.y) {
    return <Arrow class="hinted-arrow" width={14} {...{ start, end }} />;
  }
  return (
    <g class="hinted">
      <circle class="hinted-ground" cx={end.x} cy={end.y} r={40} />
      <circle class="hinted-ring" cx={end.x} cy={end.y} r={40} />
    </g>
  );
}
