// The pieces on a board: placed, dropped, turned over, taken away.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Position } from "../api";
import { type Cell, CELL, isSame, type Layout } from "./layout";
import { prefersRest } from "./motion";

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
    <svg viewBox="-50 -50 100 100" class={`side-piece piece-${color}`} aria-hidden="true">
      <Shape color={color} />
    </svg>
  );
}

/** Return the letters of all cells in the rules' own drawing, null if it tells no kinds apart. */
export function lettersOf({ drawn, cells }: Position): string[] | null {
  const lines = (drawn ?? "").split("\n").slice(0, cells.length);
  const letters = lines.flatMap((line) => [...line.replaceAll(" ", "").slice(-cells[0].length)]);
  const flat = cells.flat();
  const isOfOneSide = (letter: string, k: number) => flat[letters.indexOf(letter)] === flat[k];
  const isBoard = letters.length === flat.length && letters.every(isOfOneSide);
  return isBoard && new Set(letters).size > 3 ? letters : null;
}

interface PiecesProps {
  layout: Layout;
  cells: number[][];
  /** The cell whose piece is drawn last, so that it moves over the others. */
  above?: Cell | null;
  letters: string[] | null;
}

export function Pieces({ layout, cells, above, letters }: PiecesProps) {
  const taken = layout.places.filter(([row, column]) => cells[row][column]);
  taken.sort((one, other) => Number(isSame(one, above)) - Number(isSame(other, above)));
  return (
    <g class="pieces">
      {taken.map((cell) => {
        const color = layout.colorAt(cells, cell) ?? "";
        const letter = letters?.[layout.flat(cell)].toUpperCase();
        const place = { transform: layout.at(cell), "data-cell": `${cell}` };
        return (
          <g key={`${cell}`} class={`piece piece-${color}`} {...place}>
            <g class="piece-shape">
              <Shape color={color} />
              {letter && <text class="piece-letter" y={18} font-size={50} children={letter} />}
            </g>
          </g>
        );
      })}
    </g>
  );
}

/** Move the pieces of a drawing to where they lie, if the position follows the one before. */
export function useMotion(layout: Layout, position: Position, last: number | null) {
  const drawing = useRef<SVGSVGElement>(null);
  const before = useRef(position);
  useLayoutEffect(() => {
    const previous = before.current;
    before.current = position;
    const added = position.cells.flat().filter((one, k) => one && !previous.cells.flat()[k]);
    const step = position.ply - previous.ply;
    if (step <= 0 || step > 1 || added.length > 1 || prefersRest()) return;
    const squares = last === null ? [] : layout.squares(last);
    for (const cell of layout.places) {
      const [was, is] = [previous, position].map(({ cells }) => cells[cell[0]][cell[1]]);
      const shape = drawing.current?.querySelector(`[data-cell="${cell}"] .piece-shape`);
      if (!is || is === was || !shape) continue;
      const move = (transform: string[], duration: number, opacity = 1) =>
        shape.animate({ transform, opacity: [opacity, 1] }, { duration, easing: "ease-in-out" });
      if (isSame(cell, squares.at(-1))) {
        const [start, end] = [squares[0], cell].map(layout.middle);
        move([`translate(${start.x - end.x}px, ${start.y - end.y}px)`, "none"], 220);
      } else if (was) move(["scaleX(-1)", "scaleX(0)", "scaleX(1)"], 320);
      else if (layout.style === "plate") {
        const depth = cell[0] + 1;
        move([`translateY(${-CELL * depth}px)`, "none"], 130 * Math.sqrt(depth));
      } else move(["scale(.4)", "none"], 180, 0);
    }
    const marks = drawing.current?.querySelector(".marks"); // once the piece has come to rest
    marks?.animate([{ opacity: 0 }, { opacity: 0 }, { opacity: 1 }], 600);
  }, [position, last]);
  return drawing;
}
