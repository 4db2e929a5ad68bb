// The squares of a board for mouse, keyboard and screen reader: a grid that lies over the drawing.
//
// It is one stop of the Tab key. Arrow keys move within it, Enter and Space choose. A piece that is
// pressed is chosen at once, so that it may be dragged to where it goes.

import { useRef, useState } from "preact/hooks";
import { type Cell, CELL, isSame, type Layout } from "./layout";
import type { Moves } from "./moves";

const STEPS: Record<string, Cell> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};

interface GridProps {
  layout: Layout;
  label: string;
  labelOf: (cell: Cell) => string;
  moves: Moves;
}

/** Return the cell of a node in a grid, null for none. */
function cellOfNode(node: EventTarget | null): Cell | null {
  if (!(node instanceof HTMLElement) || !node.dataset.cell) return null;
  const [row, column] = node.dataset.cell.split(",").map(Number);
  return [row, column];
}

/** Return a listener for the events of cells. */
function forCells<E extends Event>(act: (cell: Cell, event: E) => void) {
  return (event: E) => {
    const cell = cellOfNode(event.target);
    if (cell) act(cell, event);
  };
}

export function Grid({ layout, label, labelOf, moves }: GridProps) {
  const { rows, columns, drawn, drawnRows } = layout;
  const lowest = layout.game.action_kind === "column" ? rows - 1 : Math.floor(rows / 2);
  const grid = useRef<HTMLDivElement>(null);
  const pressed = useRef<Cell | null>(null); // a piece that the press has chosen
  // Where the Tab key leads.
  const [stop, setStop] = useState<Cell>([lowest, Math.floor(columns / 2)]);

  const focus = ([row, column]: Cell, down: number, right: number) => {
    const step = (list: number[], from: number, by: number) =>
      list[Math.min(Math.max(list.indexOf(from) + by, 0), list.length - 1)];
    const to = [step(drawnRows, row, down), step(drawn, column, right)];
    grid.current?.querySelector<HTMLElement>(`[data-cell="${to}"]`)?.focus();
  };
  const onKeyDown = forCells((cell, event: KeyboardEvent) => {
    const { key, altKey, ctrlKey, metaKey } = event;
    if (altKey || ctrlKey || metaKey) return;
    if (key === "Enter" || key === " ") moves.choose(cell);
    else if (key === "Home" || key === "End") focus(cell, 0, key === "Home" ? -columns : columns);
    else if (key in STEPS) focus(cell, ...STEPS[key]);
    else if (key !== "Escape" || !moves.cancel()) return;
    event.preventDefault();
    event.stopPropagation();
  });
  const part = (length: number, whole: number) => `${(100 * length) / whole}%`;
  const [left, top] = [part(layout.left, layout.width), part(layout.top, layout.height)];
  const [width, height] = [part(columns * CELL, layout.width), part(rows * CELL, layout.height)];
  const style = { left, top, width, height };
  const listeners = {
    onKeyDown,
    onClick: forCells((cell) => {
      if (!isSame(cell, pressed.current)) moves.choose(cell);
    }),
    onPointerMove: forCells((cell, event: PointerEvent) => {
      if (event.pointerType !== "touch") moves.hover(cell);
    }),
    onPointerDown: forCells((cell, event: PointerEvent) => {
      const isTaken = event.button === 0 && moves.isStart(cell) && !moves.path.length;
      pressed.current = isTaken ? cell : null;
      if (isTaken) moves.choose(cell);
    }),
    onPointerUp: ({ clientX: x, clientY: y }: PointerEvent) => {
      const to = cellOfNode(document.elementFromPoint(x, y)); // a finger's target is its start
      if (pressed.current && to && !isSame(to, pressed.current)) moves.choose(to);
    },
    onPointerLeave: () => moves.hover(null),
    onFocusIn: forCells((cell) => {
      setStop(cell);
      moves.hover(document.activeElement?.matches(":focus-visible") ? cell : null);
    }),
    onFocusOut: () => moves.hover(null),
  };
  return (
    <div role="grid" class="board-grid" aria-label={label} {...{ style, ref: grid }} {...listeners}>
      {drawnRows.map((row) => (
        <div key={row} role="row" class="grid-row">
          {drawn.map((column) => {
            const cell: Cell = [row, column];
            const isLegal = moves.isLegal(cell) ? " is-legal" : "";
            return (
              <div
                key={column}
                role="gridcell"
                class={`grid-cell${isLegal}${moves.isStart(cell) ? " is-held" : ""}`}
                tabIndex={isSame(cell, stop) ? 0 : -1}
                aria-label={labelOf(cell)}
                data-cell={`${cell}`}
              />
            );
          })}
        </div>
      ))}
    </div>
  );
}
