// The pieces on a board: placed, dropped, turned over, taken away.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Game, Position, Setup } from "../api";
import {
  allCells,
  type Cell,
  CELL,
  isSame,
  type Layout,
  middleOf,
  squaresOfAction,
} from "./layout";

const DROP_MS = 90; // for a first square; the whole fall grows with its root
const TURN_MS = 320;
const SLIDE_MS = 220;
const APPEAR_MS = 180;

export function Shape({ color }: { color: string }) {
  if (color === "x") return <path class="stroke" d="M-26 -26L26 26M26 -26L-26 26" />;
  if (color === "o") return <circle class="stroke" r={29} />;
  if (color === "wall") return <rect class="wall" x={-50} y={-50} width={CELL} height={CELL} />;
  return (
    <>
      <circle class="disc" r={42} />
      <circle class="disc-ring" r={29} />
    </>
  );
}

/** The piece of a side, beside its name. */
export function SidePiece({ color }: { color: string }) {
  return (
    <svg viewBox="-50 -50 100 100" class="side-piece" aria-hidden="true">
      <g class={`piece piece-${color}`}>
        <Shape color={color} />
      </g>
    </svg>
  );
}

interface PieceProps {
  layout: Layout;
  cell: Cell;
  color: string;
  isGhost?: boolean;
}

export function Piece({ layout, cell, color, isGhost }: PieceProps) {
  const { x, y } = middleOf(layout, cell);
  const name = `piece piece-${color}${isGhost ? " is-ghost" : ""}`;
  return (
    <g class={name} transform={`translate(${x} ${y})`} data-cell={`${cell}`}>
      <g class="piece-shape">
        <Shape color={color} />
      </g>
    </g>
  );
}

interface PiecesProps {
  layout: Layout;
  cells: number[][];
  setup: Setup;
  /** The cell whose piece is drawn last, so that it moves over the others. */
  above?: Cell | null;
  /** The cell whose piece is taken up. */
  lifted?: Cell | null;
}

export function Pieces({ layout, cells, setup, above = null, lifted = null }: PiecesProps) {
  const taken = allCells(layout).filter(([row, column]) => cells[row][column]);
  taken.sort((one, other) => Number(isSame(one, above)) - Number(isSame(other, above)));
  return (
    <>
      {taken.map((cell) => {
        const color = setup.colors[cells[cell[0]][cell[1]] - 1];
        const isGhost = isSame(cell, lifted);
        return <Piece key={`${cell}`} {...{ layout, cell, color, isGhost }} />;
      })}
    </>
  );
}

/** Return whether a position can be the one after another: then its pieces move. */
export function isNext(before: Position, after: Position): boolean {
  const known = before.cells.flat();
  const added = after.cells.flat().filter((cell, k) => cell && !known[k]).length;
  return after.ply === before.ply + 1 && added <= 1;
}

/** Move the pieces in a drawing to where they lie, if the position follows the one before. */
export function useMotion(game: Game, layout: Layout, position: Position, last: number | null) {
  const drawing = useRef<SVGSVGElement>(null);
  const before = useRef(position);
  useLayoutEffect(() => {
    const previous = before.current;
    before.current = position;
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (isStill || !drawing.current || !isNext(previous, position)) return;
    const squares = last === null ? [] : squaresOfAction(game, last);
    for (const cell of allCells(layout)) {
      const [was, is] = [previous, position].map(({ cells }) => cells[cell[0]][cell[1]]);
      const shape = drawing.current.querySelector(`.pieces [data-cell="${cell}"] .piece-shape`);
      if (!is || is === was || !shape) continue;
      const comesFrom = isSame(cell, squares.at(-1) ?? null) ? squares[0] : null;
      if (comesFrom) slide(shape, middleOf(layout, comesFrom), middleOf(layout, cell));
      else if (was) turn(shape);
      else if (layout.style === "plate") fall(shape, cell[0] + 1);
      else appear(shape);
    }
    const marks = drawing.current.querySelector(".marks"); // once the piece has come to rest
    marks?.animate([{ opacity: 0 }, { opacity: 0 }, { opacity: 1 }], 600);
  }, [game, layout, position, last]);
  return drawing;
}

function slide(shape: Element, from: { x: number; y: number }, to: { x: number; y: number }) {
  const before = { transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)` };
  shape.animate([before, { transform: "none" }], { duration: SLIDE_MS, easing: "ease-in-out" });
}

function turn(shape: Element) {
  const steps = [-1, 0, 1].map((scale) => ({ transform: `scaleX(${scale})` }));
  shape.animate(steps, { duration: TURN_MS, easing: "ease-in-out" });
}

function fall(shape: Element, numRows: number) {
  const height = numRows * CELL;
  const rebound = `translateY(${-Math.min(height * 0.06, 22)}px)`;
  const steps = [
    { transform: `translateY(${-height}px)`, easing: "cubic-bezier(.55,0,.9,.6)" },
    { transform: "none", offset: 0.78, easing: "ease-out" },
    { transform: rebound, offset: 0.88, easing: "ease-in" },
    { transform: "none" },
  ];
  shape.animate(steps, { duration: 160 + DROP_MS * Math.sqrt(numRows) * 1.9 });
}

function appear(shape: Element) {
  const steps = [
    { transform: "scale(.4)", opacity: 0 },
    { transform: "none", opacity: 1 },
  ];
  shape.animate(steps, { duration: APPEAR_MS, easing: "ease-out" });
}
