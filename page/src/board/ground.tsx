// What does not change on a board: its ground, its lines and holes, and the names along its edges.

import { Fragment } from "preact";
import { useId } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Game, Setup } from "../api";
import { allCells, CELL, type Layout, middleOf, nameOfCell } from "./layout";

interface GroundProps {
  game: Game;
  setup: Setup;
  layout: Layout;
  /** The smallest size of letters that can be read, in the units of the drawing. */
  least: number;
  /** What lies on the ground; discs that fall pass behind the front of a plate. */
  children: ComponentChildren;
}

export function Ground({ game, setup, layout, least, children }: GroundProps) {
  const names = <Names {...{ game, setup, layout, least }} />;
  if (layout.style === "plate") {
    return (
      <>
        <Plate layout={layout}>{children}</Plate>
        {names}
      </>
    );
  }
  const hasFrame = layout.style !== "lines";
  const { style, width, height } = layout;
  return (
    <>
      {hasFrame && <rect class={`frame frame-${style}`} width={width} height={height} rx={18} />}
      {hasFrame && <Area layout={layout} class={`ground ground-${style}`} />}
      <Lines layout={layout} isFramed={hasFrame} />
      {style === "green" && <StarPoints layout={layout} />}
      {names}
      {children}
    </>
  );
}

interface AreaProps {
  layout: Layout;
  grow?: number;
  class?: string;
  rx?: number;
  fill?: string;
  mask?: string;
}

/** The squares of a board, or somewhat more than them. */
function Area({ layout, grow = 0, ...others }: AreaProps) {
  const [width, height] = [layout.columns * CELL + 2 * grow, layout.rows * CELL + 2 * grow];
  const place = { x: layout.left - grow, y: layout.top - grow, width, height };
  return <rect {...place} {...others} />;
}

/** A board into which discs fall: its back, the discs, and the front with its holes. */
function Plate({ layout, children }: { layout: Layout; children: ComponentChildren }) {
  const id = useId();
  const middles = allCells(layout).map((cell) => middleOf(layout, cell));
  return (
    <>
      <Area layout={layout} grow={10} class="plate-back" rx={22} />
      {/* What falls comes out from behind the upper edge. */}
      <clipPath id={`${id}-inside`}>
        <Area layout={layout} />
      </clipPath>
      <mask id={`${id}-holes`}>
        <Area layout={layout} grow={12} fill="white" />
        {middles.map(({ x, y }) => (
          <circle key={`${x},${y}`} cx={x} cy={y} r={41} fill="black" />
        ))}
      </mask>
      <g clip-path={`url(#${id}-inside)`}>{children}</g>
      <Area layout={layout} grow={12} class="plate" rx={24} mask={`url(#${id}-holes)`} />
      {middles.map(({ x, y }) => (
        <circle key={`${x},${y}`} class="plate-rim" cx={x} cy={y} r={41} />
      ))}
    </>
  );
}

/** The lines between the squares; of a framed board also those around them. */
function Lines({ layout, isFramed }: { layout: Layout; isFramed: boolean }) {
  const { left, top, rows, columns, style } = layout;
  const [right, bottom] = [left + columns * CELL, top + rows * CELL];
  const [skip, grow] = isFramed ? [0, 1] : [1, 0];
  const steps = (count: number) => [...Array(count + 1).keys()].slice(skip, count + 1 - skip);
  const d = [
    ...steps(columns).map((k) => `M${left + k * CELL} ${top - grow}V${bottom + grow}`),
    ...steps(rows).map((k) => `M${left - grow} ${top + k * CELL}H${right + grow}`),
  ].join("");
  return <path class={`line line-${style}`} d={d} />;
}

/** The four dots two squares from the corners, where the board is large enough. */
function StarPoints({ layout }: { layout: Layout }) {
  if (layout.rows < 8) return null;
  const places = [2, layout.rows - 2];
  return (
    <>
      {places.flatMap((row) =>
        places.map((column) => {
          const [cx, cy] = [layout.left + column * CELL, layout.top + row * CELL];
          return <circle key={`${row},${column}`} class="star" cx={cx} cy={cy} r={7} />;
        }),
      )}
    </>
  );
}

/** The names along the edges or, where there are none, in the corners of the squares. */
function Names({ game, setup, layout, least }: Omit<GroundProps, "children">) {
  const { style, left, top, height, drawn } = layout;
  if (top === 0) return null;
  const edge = { class: "edge-label", "font-size": Math.max(29, least) };
  const isLegible = edge["font-size"] < CELL / 2;
  if (style === "plate") {
    const below = { ...edge, class: "edge-label edge-below", y: height - 12 };
    return (
      <>
        {drawn.map((column, k) => (
          <text key={column} {...below} x={left + (k + 0.5) * CELL}>
            {isLegible && setup.action_texts[column]}
          </text>
        ))}
      </>
    );
  }
  if (setup.column_names.length && isLegible && style !== "lines") {
    return (
      <>
        {setup.column_names.map((name, k) => (
          <text key={name} {...edge} x={left + (k + 0.5) * CELL} y={top - 16}>
            {name}
          </text>
        ))}
        {setup.row_names.map((name, row) => (
          <text key={name} {...edge} x={left / 2} y={top + (row + 0.5) * CELL + 10}>
            {name}
          </text>
        ))}
      </>
    );
  }
  const size = Math.max(17, least);
  if (game.action_kind !== "square" || size > 26 || setup.column_names.length) return null;
  return (
    <>
      {allCells(layout).map((cell) => {
        const { x, y } = middleOf(layout, cell);
        const corner = { x: x - CELL / 2 + 9, y: y - CELL / 2 + 8 + size };
        return (
          <Fragment key={`${cell}`}>
            <text class="cell-name" {...corner} font-size={size}>
              {nameOfCell(game, setup, cell)}
            </text>
          </Fragment>
        );
      })}
    </>
  );
}
