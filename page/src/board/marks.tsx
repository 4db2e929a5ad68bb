// What is marked on a board: the last move, legal squares, a hint, what the search thinks.
//
// Of a search there is a disc or an arrow for each move: the larger and the more solid, the larger
// its share of the visits. A ring marks the best move, a badge an exact score or result. On a small
// board there is less text, not smaller text.

import type { Position } from "../api";
import { marginText, percentText, resultText, valueText } from "../format";
import { type Cell, CELL, isSame, type Layout } from "./layout";
import type { Moves } from "./moves";
import type { MoveMark, MoveNote } from "./types";

const SMALLEST_SHARE = 0.005; // of the visits; a move with less is a dot without numbers
const SMALLEST_SHARE_WITH_VALUE = 0.03;
const SMALLEST_SHARE_ON_ARROW = 0.15; // arrows cross, so that most numbers would hide each other
const BADGE_SIZE = 22; // of letters; a badge with larger ones takes the upper half of its cell

type OnBoard = { layout: Layout; position: Position };

/** The last move, or the line that won. */
export function LastMarks({ layout, position: { cells, marked, over } }: OnBoard) {
  const isWon = over && layout.game.has_lines && marked.length > 1;
  const look = isWon ? { name: "mark mark-won", r: 36 } : { name: "mark mark-last", r: 11 };
  const circles = marked.map((cell) => {
    const name = `${look.name} mark-on-${layout.colorAt(cells, cell) ?? "none"}`;
    return <circle key={`${cell}`} class={name} transform={layout.at(cell)} r={look.r} />;
  });
  return <g class="marks">{circles}</g>;
}

/** The squares chosen of a move, and those to which it may go on. */
export function LegalHints({ layout, position: { cells }, legal, moves }: LegalHintsProps) {
  const isFree = ["lines", "points"].includes(layout.style); // all empty squares are legal
  const isHelpful = layout.game.action_kind === "square" && !isFree;
  const squares = isHelpful ? legal.map((action) => layout.landing(cells, action)) : [];
  const targets = layout.places.filter(moves.isNext);
  const dots = [...squares, ...targets].filter((cell): cell is Cell => cell !== null);
  const inset = { x: 4 - CELL / 2, y: 4 - CELL / 2, width: CELL - 8, height: CELL - 8 };
  return (
    <g class="hints">
      {moves.path.map((square) => (
        <rect key={square} class="chosen" transform={layout.at(layout.cellAt(square))} {...inset} />
      ))}
      {dots.map((cell) => {
        const isTaken = layout.colorAt(cells, cell) !== undefined;
        const look = isTaken ? { class: "hint-ring", r: 40 } : { class: "hint", r: 12 };
        return <circle key={`${cell}`} transform={layout.at(cell)} {...look} />;
      })}
    </g>
  );
}

/** `legal`: actions whose squares are marked before one is chosen. */
type LegalHintsProps = OnBoard & { legal: number[]; moves: Moves };

/** A move to point out: a frame around its square, or an arrow where pieces move. */
export function HintedMove({ layout, position, hint }: OnBoard & { hint: number }) {
  const cell = layout.landing(position.cells, hint);
  const [from] = layout.squares(hint);
  if (!cell) return null;
  if (from && !isSame(from, cell)) {
    return <Arrow {...{ layout, from, cell, width: 14 }} class="hinted-arrow" />;
  }
  const frame = { x: -45, y: -45, width: 90, height: 90, rx: 14 };
  return (
    <g class="hinted" transform={layout.at(cell)}>
      <rect {...frame} />
      <rect class="hinted-ring" {...frame} />
    </g>
  );
}

type MoveNotesProps = Omit<MoveMarksProps, "isBehind"> & { notes: MoveNote[] };

/** Moves that were played or tried, each with its sign: below the marks of a search. */
export function MoveNotes({ layout, position, notes, least, marks }: MoveNotesProps) {
  return notes.map(({ action, sign, text, isGood }) => {
    const cell = layout.landing(position.cells, action);
    if (!cell) return null;
    const [from = cell] = layout.squares(action);
    const isMarked = marks.some((mark) => mark.action === action);
    const r = isMarked ? Math.max(20, 0.8 * least) : 36;
    const place = isMarked ? `translate(${r - CELL / 2} ${CELL / 2 - r})` : "";
    return (
      <g key={`${action} ${text}`} class={`move-note ${isGood ? "is-good" : "is-bad"}`}>
        {!isSame(from, cell) && <Arrow {...{ layout, from, cell, width: 10 }} />}
        <g transform={`${layout.at(cell)} ${place}`}>
          <rect x={-r} y={-r} width={2 * r} height={2 * r} rx={0.3 * r} />
          <text y={0.47 * r} font-size={1.33 * r} children={sign} />
        </g>
      </g>
    );
  });
}

interface MoveMarksProps extends OnBoard {
  /** The smallest size of letters that can be read, in the units of the drawing. */
  least: number;
  marks: MoveMark[];
  /** Whether a line of moves is drawn over them. */
  isBehind: boolean;
}

export function MoveMarks({ layout, position, least, marks, isBehind }: MoveMarksProps) {
  const order = (one: MoveMark) => (one.isBest ? 2 : one.share);
  const sorted = marks.toSorted((one, other) => order(one) - order(other));
  const groups = sorted.map((mark) => {
    const cell = layout.landing(position.cells, mark.action);
    const Mark = layout.squares(mark.action).length > 1 ? MoveArrow : MoveDisc;
    const name = `move-mark${mark.isBest ? " is-best" : ""}`;
    return (
      <g key={mark.action} class={name} data-action={mark.action}>
        {cell && <Mark {...{ layout, least, mark, cell }} />}
      </g>
    );
  });
  return <g class={`overlay-moves${isBehind ? " is-behind" : ""}`}>{groups}</g>;
}

type MarkProps = Pick<MoveMarksProps, "layout" | "least"> & { mark: MoveMark; cell: Cell };

function MoveDisc({ mark, layout, cell, least }: MarkProps) {
  const { share, value, isBest } = mark;
  const isDot = share < SMALLEST_SHARE && !isBest;
  const r = isDot ? 8 : 30 + 12 * Math.sqrt(share);
  const isSmall = badgeText(mark) !== null && least > BADGE_SIZE;
  const text = percentText(share);
  const size = isSmall ? least : Math.max((text.length > 3 ? 0.56 : 0.68) * r, least);
  const small = Math.max(0.48 * r, least);
  const hasValue = (share >= SMALLEST_SHARE_WITH_VALUE || isBest) && small <= 0.56 * r && !isSmall;
  const room = (isSmall ? 1.5 : 1.85) * r;
  const shown = [text, text.replace("%", "")].find((one) => widthOf(one) * size <= room) ?? "";
  const y = isSmall ? 0.24 * CELL + 0.2 * size : hasValue ? 0.05 * r : 0.36 * size;
  return (
    <g transform={layout.at(cell)}>
      <circle class="move-disc" r={r} fill-opacity={0.7 + 0.25 * Math.sqrt(share)} />
      {isBest && <circle class="move-ring-ground" r={46} />}
      {isBest && <circle class="move-ring" r={46} />}
      {share > 0 && !isDot && (
        <>
          {write("move-share", shown, size, y)}
          {hasValue && write("move-value", valueText(value), small, 0.1 * r + small)}
        </>
      )}
      <Badge mark={mark} size={Math.max(BADGE_SIZE, least)} place={isSmall ? "above" : "corner"} />
    </g>
  );
}

/** The arrow of a move with its share or score; a move that was hardly looked at has none. */
function MoveArrow({ mark, layout, cell, least }: MarkProps) {
  const { action, share, isBest } = mark;
  const isKnown = badgeText(mark) !== null;
  if (share < SMALLEST_SHARE && !isBest && !isKnown) return null;
  const [from] = layout.squares(action);
  const [start, end] = [from, cell].map(layout.middle);
  const [width, opacity] = [6 + 10 * Math.sqrt(share), 0.35 + 0.6 * Math.sqrt(share)];
  const size = Math.max(24, least);
  const hasShare = !isKnown && (share >= SMALLEST_SHARE_ON_ARROW || isBest);
  return (
    <>
      <Arrow class="move-arrow" {...{ layout, from, cell, width }} fill-opacity={opacity} />
      <g transform={`translate(${(start.x + end.x) / 2} ${(start.y + end.y) / 2})`}>
        {hasShare && write("arrow-share", percentText(share), size, 0.36 * size)}
        <Badge mark={mark} size={size} />
      </g>
    </>
  );
}

/** Return about how wide a share is, in sizes of bold letters. */
const widthOf = (text: string) => 0.7 * text.length + (text.endsWith("%") ? 0.3 : 0);

function write(look: string, text: string | number, size: number, y: number, x = 0) {
  return <text class={look} {...{ x, y }} font-size={size} children={text} />;
}

/** Return an exact score, or the letter of a result whose score is not known; else null. */
function badgeText({ score, result }: MoveMark): string | null {
  if (score !== null) return marginText(score);
  return result === null ? null : resultText(result)[0].toUpperCase();
}

/** An exact result: "above" in a cell, in its upper right "corner", or else around a point. */
function Badge({ mark, size, place }: { mark: MoveMark; size: number; place?: string }) {
  const text = badgeText(mark);
  if (text === null) return null;
  const height = 1.36 * size;
  const width = Math.max(height, (0.62 * text.length + 0.45) * size);
  const x = place === "corner" ? (CELL - width) / 2 : 0;
  const y = place ? (place === "corner" ? -0.34 : -0.24) * CELL : 0;
  const box = { x: x - width / 2, y: y - height / 2, width, height, rx: height / 2 };
  return (
    <>
      <rect class={`badge badge-${resultText(mark.result ?? 0)}`} {...box} />
      {write("badge-letter", text, size, y + 0.36 * size, x)}
    </>
  );
}

type ArrowProps = Pick<MarkProps, "layout" | "cell"> & { from: Cell; width: number } & Look;
type Look = { class?: string; "fill-opacity"?: number };

/** An arrow from the middle of one cell to that of another, with a shaft of some width. */
export function Arrow({ layout, from, cell, width, ...others }: ArrowProps) {
  const [start, end] = [from, cell].map(layout.middle);
  const [across, down] = [end.x - start.x, end.y - start.y];
  const [length, half] = [Math.hypot(across, down), width / 2];
  const neck = Math.max(length - 5 * half, 0);
  const d = `M0 ${half}H${neck}V${3 * half}L${length} 0L${neck} ${-3 * half}V${-half}H0Z`;
  const turn = (180 / Math.PI) * Math.atan2(down, across);
  return <path d={d} transform={`${layout.at(from)} rotate(${turn})`} {...others} />;
}

/** A line of moves as ghost pieces with numbers. */
export function LineGhosts({ layout, position, line }: OnBoard & { line: number[] }) {
  let { cells } = position; // what lands on top of others needs them
  const ghosts = line.map((action, k) => {
    const cell = layout.landing(cells, action);
    if (!cell) return null;
    const side = (position.to_move + k) % 2; // a pass is an action too
    cells = layout.placed(cells, action, side);
    return (
      <g key={k} transform={layout.at(cell)} class={`piece-${layout.setup.colors[side]}`}>
        <circle class="ghost" r={40} />
        {write("ghost-number", k + 1, 42, 15)}
      </g>
    );
  });
  return <g class="overlay-line">{ghosts}</g>;
}
