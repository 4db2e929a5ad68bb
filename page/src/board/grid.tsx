// The squares of a board for mouse, keyboard and screen reader: a grid that lies over the drawing.
//
// It is one stop of the Tab key. Arrow keys move within it, Enter and Space choose.

import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { type Cell, CELL, type Layout } from "./layout";

const STEPS: Record<string, [number, number]> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};

export interface CellLook {
  label: string;
  /** Whether choosing the cell does something. */
  isLegal: boolean;
  /** Whether a piece may be taken up there. */
  isHeld: boolean;
}

interface GridProps {
  layout: Layout;
  label: string;
  lookOf: (cell: Cell) => CellLook;
  grid: RefObject<HTMLDivElement | null>;
  /** Whether pieces fall, so that one begins in the lowest row. */
  isFalling: boolean;
  onChoose: (cell: Cell) => void;
  /** Called with the cell under the pointer or the focus, null for none. */
  onHover: (cell: Cell | null) => void;
  onPress: (cell: Cell, event: PointerEvent) => void;
  /** Called when Escape is pressed; returns whether that did something. */
  onEscape: () => boolean;
}

/** Return the cell of a node in a grid, null for none. */
export function cellOfNode(node: EventTarget | null): Cell | null {
  if (!(node instanceof HTMLElement) || !node.dataset.cell) return null;
  const [row, column] = node.dataset.cell.split(",").map(Number);
  return [row, column];
}

export function Grid({ layout, label, lookOf, grid, isFalling, ...on }: GridProps) {
  const { rows, columns, drawn } = layout;
  // Where the Tab key leads: row and column as they are drawn.
  const [stop, setStop] = useState<Cell>([
    isFalling ? rows - 1 : Math.floor(rows / 2),
    drawn.indexOf(Math.floor(columns / 2)),
  ]);

  const focus = (row: number, column: number) => {
    const inside = (value: number, length: number) => Math.min(Math.max(value, 0), length - 1);
    const [to, beside] = [inside(row, rows), inside(column, columns)];
    setStop([to, beside]);
    const cell = grid.current?.children[to].children[beside];
    if (cell instanceof HTMLElement) cell.focus();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const { key, altKey, ctrlKey, metaKey } = event;
    if (altKey || ctrlKey || metaKey) return;
    if (key === "Enter" || key === " ") on.onChoose([stop[0], drawn[stop[1]]]);
    else if (key === "Home" || key === "End") focus(stop[0], key === "Home" ? 0 : columns - 1);
    else if (key in STEPS) focus(stop[0] + STEPS[key][0], stop[1] + STEPS[key][1]);
    else if (key !== "Escape" || !on.onEscape()) return;
    event.preventDefault();
    event.stopPropagation();
  };

  const withCell = <E extends Event>(act: (cell: Cell, event: E) => void) => {
    return (event: E) => {
      const cell = cellOfNode(event.target);
      if (cell) act(cell, event);
    };
  };

  const part = (start: number, length: number) => `${(100 * start) / length}%`;
  const place = {
    left: part(layout.left, layout.width),
    top: part(layout.top, layout.height),
    width: part(columns * CELL, layout.width),
    height: part(rows * CELL, layout.height),
  };
  return (
    <div
      role="grid"
      class="board-grid"
      aria-label={label}
      style={place}
      ref={grid}
      onKeyDown={onKeyDown}
      onClick={withCell((cell) => {
        setStop([cell[0], drawn.indexOf(cell[1])]);
        on.onChoose(cell);
      })}
      onPointerMove={withCell((cell, event: PointerEvent) => {
        if (event.pointerType !== "touch") on.onHover(cell);
      })}
      onPointerDown={withCell((cell, event: PointerEvent) => {
        if (event.button === 0) on.onPress(cell, event);
      })}
      onPointerLeave={() => on.onHover(null)}
      onFocusIn={withCell((cell, event) => {
        const { target } = event;
        const isByKey = target instanceof HTMLElement && target.matches(":focus-visible");
        on.onHover(isByKey ? cell : null);
      })}
      onFocusOut={() => on.onHover(null)}
    >
      {[...Array(rows).keys()].map((row) => (
        <div key={row} role="row" class="grid-row">
          {drawn.map((column, k) => {
            const look = lookOf([row, column]);
            const names = ["grid-cell", look.isLegal && "is-legal", look.isHeld && "is-held"];
            return (
              <div
                key={column}
                role="gridcell"
                class={names.filter(Boolean).join(" ")}
                tabIndex={row === stop[0] && k === stop[1] ? 0 : -1}
                aria-label={look.label}
                data-cell={`${row},${column}`}
              />
            );
          })}
        </div>
      ))}
    </div>
  );
}
