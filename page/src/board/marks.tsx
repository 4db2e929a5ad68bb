// What the search thinks, drawn on the board: a disc or an arrow for each move, or a line of moves.
//
// The larger and the more solid a disc, the larger its share of the visits. A ring marks the best
// move, a badge an exact score or result. On a small board there is less text, not smaller text.

import type { Game, Position, Setup } from "../api";
import { marginText, percentText, resultText, valueText } from "../format";
import type { MoveMark } from "./board";
import {
  type Cell,
  CELL,
  cellOfAction,
  type Layout,
  middleOf,
  type Point,
  squaresOfAction,
} from "./layout";

const SMALLEST_SHARE = 0.005; // of the visits; a move with less is a dot without numbers
const SMALLEST_SHARE_WITH_VALUE = 0.03;
const SMALLEST_SHARE_ON_ARROW = 0.15; // arrows cross, so that most numbers would hide each other
const LARGEST_BADGE_LETTERS = 26; // in a corner; larger ones stand in the middle of the cell

interface MarkProps {
  mark: MoveMark;
  layout: Layout;
  /** The smallest size of letters that can be read, in the units of the drawing. */
  least: number;
}

type MoveMarksProps = Omit<MarkProps, "mark"> & {
  game: Game;
  cells: number[][];
  marks?: MoveMark[];
  /** Whether a line of moves is drawn over them. */
  isBehind: boolean;
};

export function MoveMarks({ game, cells, marks = [], isBehind, ...others }: MoveMarksProps) {
  const order = (one: MoveMark) => (one.isBest ? 2 : one.share);
  return (
    <g class={`overlay-moves${isBehind ? " is-behind" : ""}`}>
      {[...marks]
        .sort((one, other) => order(one) - order(other))
        .map((mark) => {
          const { action, isBest } = mark;
          const cell = cellOfAction(game, cells, action);
          const squares = squaresOfAction(game, action);
          if (!cell) return null;
          return (
            <g key={action} class={`move-mark${isBest ? " is-best" : ""}`} data-action={action}>
              {game.action_kind === "move" ? (
                <MoveArrow from={squares[0]} to={cell} {...{ mark, ...others }} />
              ) : (
                <MoveDisc cell={cell} {...{ mark, ...others }} />
              )}
            </g>
          );
        })}
    </g>
  );
}

function MoveDisc({ mark, cell, layout, least }: MarkProps & { cell: Cell }) {
  const { share, isBest } = mark;
  const { x, y } = middleOf(layout, cell);
  const isDot = share < SMALLEST_SHARE && !isBest;
  const r = isDot ? 8 : 30 + 12 * Math.sqrt(share);
  const letters = Math.max(22, least);
  const isCentral = letters > LARGEST_BADGE_LETTERS && badgeText(mark) !== null;
  const corner = { x: x + CELL / 2, y: y - 0.34 * CELL };
  return (
    <>
      <circle class="move-disc" cx={x} cy={y} r={r} fill-opacity={0.5 + 0.45 * Math.sqrt(share)} />
      {isBest && (
        <>
          <circle class="move-ring-ground" cx={x} cy={y} r={46} />
          <circle class="move-ring" cx={x} cy={y} r={46} />
        </>
      )}
      {!isDot && !isCentral && <DiscTexts {...{ mark, x, y, r, least }} />}
      <Badge
        mark={mark}
        {...(isCentral ? { x, y } : corner)}
        isCentral={isCentral}
        size={letters}
      />
    </>
  );
}

interface DiscTextsProps extends Point {
  mark: MoveMark;
  r: number;
  least: number;
}

/** The share of a move and, where there is room below it, the value. */
function DiscTexts({ mark: { share, value, isBest }, x, y, r, least }: DiscTextsProps) {
  const text = percentText(share);
  const size = Math.max((text.length > 3 ? 0.56 : 0.68) * r, least);
  const small = Math.max(0.48 * r, least);
  const hasValue = (share >= SMALLEST_SHARE_WITH_VALUE || isBest) && small <= 0.7 * r;
  const fits = text.length * 0.68 * size <= 2 * r;
  return (
    <>
      <text class="move-share" x={x} y={hasValue ? y + 0.05 * r : y + 0.36 * size} font-size={size}>
        {fits ? text : text.replace("%", "")}
      </text>
      {hasValue && (
        <text class="move-value" x={x} y={y + 0.1 * r + small} font-size={small}>
          {valueText(value)}
        </text>
      )}
    </>
  );
}

/** The arrow of a move with its share or score; a move that was hardly looked at has none. */
function MoveArrow({ mark, from, to, layout, least }: MarkProps & { from: Cell; to: Cell }) {
  const { share, isBest } = mark;
  const isKnown = badgeText(mark) !== null;
  if (share < SMALLEST_SHARE && !isBest && !isKnown) return null;
  const [start, end] = [middleOf(layout, from), middleOf(layout, to)];
  const width = 6 + 10 * Math.sqrt(share);
  const opacity = 0.35 + 0.6 * Math.sqrt(share);
  const size = Math.max(24, least);
  const middle = { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 };
  return (
    <>
      <Arrow class="move-arrow" {...{ start, end, width }} fill-opacity={opacity} />
      {!isKnown && (share >= SMALLEST_SHARE_ON_ARROW || isBest) && (
        <text class="arrow-share" x={middle.x} y={middle.y + 0.36 * size} font-size={size}>
          {percentText(share)}
        </text>
      )}
      <Badge mark={mark} {...middle} isCentral size={size} />
    </>
  );
}

/** Return an exact score, or the letter of a result whose score is not known; else null. */
function badgeText({ score, result }: MoveMark): string | null {
  if (score !== null) return marginText(score);
  return result === null ? null : resultText(result)[0].toUpperCase();
}

interface BadgeProps extends Point {
  mark: MoveMark;
  /** Whether the place is the middle of the badge, else the middle of its right edge. */
  isCentral: boolean;
  size: number;
}

function Badge({ mark, x, y, isCentral, size }: BadgeProps) {
  const text = badgeText(mark);
  if (text === null) return null;
  const height = 1.36 * size;
  const width = Math.max(height, (0.62 * text.length + 0.45) * size);
  const left = isCentral ? x - width / 2 : x - width;
  const place = { x: left, y: y - height / 2, width, height, rx: height / 2 };
  const name = `badge badge-${resultText(Math.sign(mark.result ?? mark.score ?? 0))}`;
  return (
    <>
      <rect class={name} {...place} />
      <text class="badge-letter" x={left + width / 2} y={y + 0.36 * size} font-size={size}>
        {text}
      </text>
    </>
  );
}

interface ArrowProps {
  start: Point;
  end: Point;
  /** Of the shaft. */
  width: number;
  class: string;
  "fill-opacity"?: number;
}

export function Arrow({ start, end, width, ...others }: ArrowProps) {
  const length = Math.hypot(end.x - start.x, end.y - start.y);
  const half = width / 2;
  const neck = Math.max(length - 5 * half, 0);
  const d = `M0 ${half}H${neck}V${3 * half}L${length} 0L${neck} ${-3 * half}V${-half}H0Z`;
  const turn = (180 / Math.PI) * Math.atan2(end.y - start.y, end.x - start.x);
  return <path d={d} transform={`translate(${start.x} ${start.y}) rotate(${turn})`} {...others} />;
}

interface LineGhostsProps {
  game: Game;
  setup: Setup;
  layout: Layout;
  position: Position;
  line: number[];
}

/** A line of moves as ghost pieces with numbers. */
export function LineGhosts({ game, setup, layout, position, line }: LineGhostsProps) {
  const cells = position.cells.map((row) => [...row]); // what lands on top of others needs them
  const ghosts = line.map((action, k) => {
    const cell = cellOfAction(game, cells, action);
    const side = (position.to_move + k) % 2; // a pass is an action too
    if (!cell) return null;
    cells[cell[0]][cell[1]] = side + 1;
    const from = squaresOfAction(game, action).at(0);
    if (from) cells[from[0]][from[1]] = 0;
    const { x, y } = middleOf(layout, cell);
    const color = setup.colors[side];
    return (
      <g key={k}>
        <circle class={`ghost ghost-${color}`} cx={x} cy={y} r={40} />
        <text class={`ghost-number on-${color}`} x={x} y={y + 15} font-size={42}>
          {k + 1}
        </text>
      </g>
    );
  });
  return <g class="overlay-line">{ghosts}</g>;
}
