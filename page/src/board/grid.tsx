// The squares of a board for mouse, keyboard and screen reader: a grid that lies over the drawing.
//
// It is one stop of the Tab key. Arrow keys move within it, Enter and Space choose.

import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { type Cell, CELL, type Layout } from "./layout";
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
  classOf: (cell: Cell) => string;
  grid: RefObject<HTMLDivElement | null>;
  moves: Moves;
  onPress: (cell: Cell, event: PointerEvent) => void;
}

/** Return the cell of a node in a grid, null for none. */
export function cellOfNode(node: EventTarget | null): Cell | null {
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

export function Grid({ layout, label, labelOf, classOf, grid, moves, onPress }: GridProps) {
  const { rows, columns, drawn } = layout;
  const lowest = layout.game.action_kind === "column" ? rows - 1 : Math.floor(rows / 2);
  // Where the Tab key leads: row and column as they are drawn.
  const [stop, setStop] = useState<Cell>([lowest, drawn.indexOf(Math.floor(columns / 2))]);

  const focus = (down: number, right: number) => {
    const inside = (value: number, length: number) => Math.min(Math.max(value, 0), length - 1);
    const to: Cell = [inside(stop[0] + down, rows), inside(stop[1] + right, columns)];
    setStop(to);
    const cell = grid.current?.children[to[0]].children[to[1]];
    if (cell instanceof HTMLElement) cell.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, altKey, ctrlKey, metaKey } = event;
    if (altKey || ctrlKey || metaKey) return;
    if (key === "Enter" || key === " ") moves.choose([stop[0], drawn[stop[1]]]);
    else if (key === "Home" || key === "End") focus(0, key === "Home" ? -columns : columns);
    else if (key in STEPS) focus(...STEPS[key]);
    else if (key !== "Escape" || !moves.cancel()) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const part = (length: number, whole: number) => `${(100 * length) / whole}%`;
  const [left, top] = [part(layout.left, layout.width), part(layout.top, layout.height)];
  const [width, height] = [part(columns * CELL, layout.width), part(rows * CELL, layout.height)];
  const listeners = {
    onKeyDown,
    onClick: forCells((cell) => {
      setStop([cell[0], drawn.indexOf(cell[1])]);
      moves.choose(cell);
    }),
    onPointerMove: forCells((cell, event: PointerEvent) => {
      if (event.pointerType !== "touch") moves.hover(cell);
    }),
    onPointerDown: forCells((cell, event: PointerEvent) => {
      if (event.button === 0) onPress(cell, event);
    }),
    onPointerLeave: () => moves.hover(null),
    onFocusIn: forCells((cell) => {
      moves.hover(document.activeElement?.matches(":focus-visible") ? cell : null);
    }),
    onFocusOut: () => moves.hover(null),
  };
  return (
    <div
      role="grid"
      class="board-grid"
      aria-label={label}
      style={{ left, top, width, height }}
      ref={grid}
      {...listeners}
    >
      {[...Array(rows).keys()].map((row) => (
        <div key={row} role="row" class="grid-row">
          {drawn.map((column, k) => (
            <div
              key={column}
              role="gridcell"
              class={`grid-cell${classOf([row, column])}`}
              tabIndex={row === stop[0] && k === stop[1] ? 0 : -1}
              aria-label={labelOf([row, column])}
              data-cell={`${row},${column}`}
            />
          ))}
        </div>
      ))}
    </div>
  );
}
