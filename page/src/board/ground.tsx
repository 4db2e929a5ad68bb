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
  const names = <Names layout={layout} least={least} />;
  if (style === "plate") {
    const middles = places.map(layout.middle);
    const holes = middles.map(({ x, y }) => `M${x - 41} ${y}${HOLE}`).join("");
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
  const frame = style === "points" ? "wood" : style;
  const hasStars = ["green", "points"].includes(style) && layout.rows >= 8 && layout.columns >= 8;
  return (
    <>
      {hasFrame && <rect class={`frame frame-${frame}`} width={width} height={height} rx={18} />}
      {hasFrame && <rect class={`ground ground-${style}`} {...inner} />}
      <path class={`line line-${style}`} d={lines(layout)} />
      {hasStars && <path class="star" d={stars(layout)} />}
      {names}
      {children}
    </>
  );
}

const HOLE = "a41 41 0 1 0 82 0a41 41 0 1 0 -82 0";

/**
 * Return the lines between the squares, of a framed board also those around them; of a board of
 * points the lines through the middles of its squares, which are the points.
 */
function lines({ style, left, top, rows, columns }: Layout): string {
  const inset = style === "points" ? CELL / 2 : 0;
  const [first, more] = style === "lines" ? [1, 0] : [0, style === "points" ? 0 : 1];
  const steps = (from: number, count: number) =>
    [...Array(count + more).keys()].slice(first).map((k) => from + inset + k * CELL);
  const [right, bottom] = [left + columns * CELL - inset, top + rows * CELL - inset];
  const down = steps(left, columns).map((x) => `M${x} ${top + inset}V${bottom}`);
  return [...down, ...steps(top, rows).map((y) => `M${left + inset} ${y}H${right}`)].join("");
}

/** Return four dots near the corners, and of a board of points one in the middle. */
function stars({ style, left, top, rows, columns }: Layout): string {
  const isOfPoints = style === "points";
  const edge = (count: number) => (isOfPoints ? Math.min(3, Math.floor(count / 4)) + 0.5 : 2);
  const both = (count: number) => [edge(count), count - edge(count)];
  const dots = both(rows).flatMap((row) => both(columns).map((column) => [column, row]));
  if (isOfPoints && rows % 2 && columns % 2) dots.push([columns / 2, rows / 2]);
  return dots.map(([x, y]) => `M${left + x * CELL} ${top + y * CELL}h0`).join("");
}

/** The names along the edges or, where there are none, in the corners of the squares. */
function Names({ layout, least }: Omit<GroundProps, "children">) {
  const { game, setup, names, left, top, drawn } = layout;
  const middle = (k: number) => (k + 0.5) * CELL;
  const below = layout.style === "plate" ? drawn.map((column) => setup.action_texts[column]) : [];
  const edges = [
    ...names.columns.map((name, k) => ({ name, x: left + middle(k), y: top - 16 })),
    ...names.rows.map((name, k) => ({ name, x: left / 2, y: top + middle(k) + 10 })),
    ...below.map((name, k) => ({ name, x: left + middle(k), y: layout.height - 12 })),
  ];
  const hasCorners = game.action_kind === "square" && !setup.column_names.length;
  const corners = (hasCorners ? layout.places : []).map((cell) => {
    const { x, y } = layout.middle(cell);
    return { name: layout.name(cell), x: x - 41, y: y - 25 };
  });
  // Where names cannot be read, or would hide others, there are none.
  const write = (look: string, size: number, most: number, texts: typeof edges) =>
    (size > most ? [] : texts).map(({ name, x, y }) => (
      <text key={`${x},${y}`} class={look} {...{ x, y }} font-size={size} children={name} />
    ));
  return (
    <>
      {write("edge-label", Math.max(29, least), 60, edges)}
      {write("cell-name", Math.max(17, least), 25, corners)}
    </>
  );
}
