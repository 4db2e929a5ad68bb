// What does not change on a board: its ground, its lines and holes, and the names along its edges.

import type { ComponentChildren } from "preact";
import { CELL, type Layout } from "./layout";

interface GroundProps {
  layout: Layout;
  /** The smallest size of letters that can be read, in the units of the drawing. */
  least: number;
  /** What lies on the ground; discs that fall pass behind the front of a plate. */
  children: ComponentChildren;
}

export function Ground({ layout, least, children }: GroundProps) {
  const { style, left, top, width, height, places } = layout;
  const inner = { x: left, y: top, width: layout.columns * CELL, height: layout.rows * CELL };
  const names = !layout.isBare && <Names layout={layout} least={least} />;
  if (style === "plate") {
    const holes = places
      .map(layout.middle)
      .map(({ x, y }) => `M${x - 41} ${y}${HOLE}`)
      .join("");
    const front = `M${left} ${top}h${inner.width}v${inner.height}H${left}z`;
    const edge = { x: left - 5, y: top - 5, width: inner.width + 10, height: inner.height + 10 };
    return (
      <>
        <rect class="plate-back" {...inner} rx={22} />
        {/* What falls comes out from behind the upper edge of this inner drawing. */}
        <svg {...inner} viewBox={Object.values(inner).join(" ")}>
          {children}
        </svg>
        <path class="plate" fill-rule="evenodd" d={front + holes} />
        <rect class="plate-edge" {...edge} rx={18} />
        <path class="plate-rim" d={holes} />
        {names}
      </>
    );
  }
  const hasFrame = style !== "lines";
  return (
    <>
      {hasFrame && <rect class={`frame frame-${style}`} width={width} height={height} rx={18} />}
      {hasFrame && <rect class={`ground ground-${style}`} {...inner} />}
      <path class={`line line-${style}`} d={lines(layout, hasFrame)} />
      {style === "green" && layout.rows >= 8 && <path class="star" d={stars(layout)} />}
      {names}
      {children}
    </>
  );
}

const HOLE = "a41 41 0 1 0 82 0a41 41 0 1 0 -82 0";

/** Return the lines between the squares; of a framed board also those around them. */
function lines({ left, top, rows, columns }: Layout, isFramed: boolean): string {
  const [right, bottom] = [left + columns * CELL, top + rows * CELL];
  const skip = isFramed ? 0 : 1;
  const steps = (count: number) => [...Array(count + 1).keys()].slice(skip, count + 1 - skip);
  const down = steps(columns).map((k) => `M${left + k * CELL} ${top}V${bottom}`);
  return [...down, ...steps(rows).map((k) => `M${left} ${top + k * CELL}H${right}`)].join("");
}

/** Return the four dots two squares from the corners. */
function stars({ left, top, rows, columns }: Layout): string {
  const points = [2, rows - 2].flatMap((row) => [2, columns - 2].map((column) => [column, row]));
  return points.map(([x, y]) => `M${left + x * CELL} ${top + y * CELL}h0`).join("");
}

/** The names along the edges or, where there are none, in the corners of the squares. */
function Names({ layout, least }: Omit<GroundProps, "children">) {
  const { game, setup, style, left, top, height, drawn } = layout;
  const [large, small] = [Math.max(29, least), Math.max(17, least)];
  const middle = (k: number) => (k + 0.5) * CELL;
  const write = (look: string, text: string, x: number, y: number) => (
    <text key={`${x},${y}`} class={look} {...{ x, y }} font-size={look[0] === "e" ? large : small}>
      {text}
    </text>
  );
  const isTight = large > CELL / 2; // the names would hide each other
  if (style === "plate") {
    const texts = isTight ? [] : drawn.map((column) => setup.action_texts[column]);
    const look = "edge-label edge-below";
    return <>{texts.map((name, k) => write(look, name, left + middle(k), height - 12))}</>;
  }
  if (setup.column_names.length && style !== "lines") {
    const [above, beside] = isTight ? [[], []] : [setup.column_names, setup.row_names];
    return (
      <>
        {above.map((name, k) => write("edge-label", name, left + middle(k), top - 16))}
        {beside.map((name, k) => write("edge-label", name, left / 2, top + middle(k) + 10))}
      </>
    );
  }
  const cells = game.action_kind === "square" && small < CELL / 4 ? layout.places : [];
  const corner = cells.map((cell) => ({ cell, ...layout.middle(cell) }));
  return (
    <>
      {corner.map(({ cell, x, y }) =>
        write("cell-name", layout.name(cell), x - 41, y - 42 + small),
      )}
    </>
  );
}
