// A board: the drawing of a position, and the grid over it that takes moves.

import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Game, Position, Setup } from "../api";
import { capital } from "../format";
import { type Drag, useDrag } from "./drag";
import { cellOfNode, Grid } from "./grid";
import { Ground } from "./ground";
import { HintedMove, LastMarks, LegalHints } from "./hints";
import {
  actionOfCell,
  type Cell,
  cellOfAction,
  flat,
  isSame,
  type Layout,
  layoutOf,
  nameOfCell,
  squaresOfAction,
} from "./layout";
import { LineGhosts, MoveMarks } from "./marks";
import { type Moves, useMoves } from "./moves";
import { Piece, Pieces, Shape, useMotion } from "./pieces";

const LEAST_PX = 11; // letters on a board are no smaller

/** What an analysis shows of a move on the board. */
export interface MoveMark {
  action: number;
  /** Of the visits, from 0 to 1; sizes its disc or arrow. */
  share: number;
  value: number | null;
  /** The exact score where a solver knows it, such as a margin of discs; else null. */
  score: number | null;
  /** The exact or proven result, -1, 0 or 1: the colour of the score, a letter without one. */
  result: number | null;
  isBest: boolean;
}

export interface BoardProps {
  game: Game;
  setup: Setup;
  position: Position;
  /** The action that led to the position, null at the start. */
  last: number | null;
  /** The actions that may be chosen now; none: the board is only looked at. */
  legal: number[];
  /** What a screen reader calls the board. */
  label: string;
  onAction: (action: number) => void;
  /** Called with the legal action under the pointer or the focus, null for none. */
  onHover?: (action: number | null) => void;
  marks?: MoveMark[];
  /** Moves from the position on that are drawn as numbered ghost pieces, over the marks. */
  line?: number[];
  /** A move to point out. */
  hint?: number | null;
  /** The board is being set up: called with the [row, column] of a cell that was chosen. */
  onCell?: (cell: [number, number]) => void;
}

export function Board(props: BoardProps) {
  const { game, setup } = props;
  return <BoardOfGame key={`${game.name} ${setup.id}`} {...props} />;
}

function BoardOfGame(props: BoardProps) {
  const { game, setup, position, legal, onCell } = props;
  const layout = useMemo(() => layoutOf(game, setup), [game, setup]);
  const moves = useMoves(props);
  const { path, choice } = moves;
  const drawing = useMotion(game, layout, position, props.last);
  const grid = useRef<HTMLDivElement>(null);
  const drag = useDrag(drawing, {
    key: moves.key,
    onLift: (cell) => path.at(-1) !== flat(game, cell) && moves.choose(cell),
    onDrop: (x, y) => {
      const node = document.elementFromPoint(x, y);
      const cell = grid.current?.contains(node) ? cellOfNode(node) : null;
      if (cell && path.length && choice.next.has(flat(game, cell))) moves.choose(cell);
      else moves.cancel();
    },
  });
  const isEmpty = !position.cells.flat().some(Boolean);
  return (
    <div class={`board-view${legal.length || onCell ? " is-active" : ""}`}>
      <div
        class={`board board-${layout.style}${onCell ? " is-set-up" : ""}`}
        style={`--board-ratio: ${layout.width / layout.height}`}
        hidden={!onCell && position.drawn !== null && isEmpty}
      >
        <Drawing {...{ ...props, layout, moves, drag, drawing }} />
        <Grid
          {...{ layout, grid, label: props.label }}
          isFalling={game.action_kind === "column"}
          lookOf={(cell) => {
            const square = flat(game, cell);
            const isHeld = !onCell && choice.starts.has(square);
            const isNext = path.length > 0 && choice.next.has(square);
            const isLegal = isHeld || isNext || Boolean(onCell) || moves.actionAt(cell) !== null;
            return { label: labelOf(cell, props, moves), isLegal, isHeld };
          }}
          onChoose={moves.choose}
          onHover={moves.hover}
          onPress={(cell, event) => {
            const isPiece = position.cells[cell[0]][cell[1]] > 0;
            if (isPiece && !onCell && choice.starts.has(flat(game, cell))) drag.press(cell, event);
          }}
          onEscape={moves.cancel}
        />
      </div>
      {position.drawn !== null && (
        <pre class="board-text" tabIndex={0} role="region" aria-label={`${props.label}, drawn`}>
          {position.drawn}
        </pre>
      )}
      <ActionButtons {...props} moves={moves} />
    </div>
  );
}

interface DrawingProps extends BoardProps {
  layout: Layout;
  moves: Moves;
  drag: Drag;
  drawing: RefObject<SVGSVGElement | null>;
}

function Drawing({ layout, moves, drag, drawing, ...props }: DrawingProps) {
  const { game, setup, position, last, marks, onCell, line = [] } = props;
  const { cells } = position;
  const { lifted } = drag;
  const least = useLeastSize(drawing, layout);
  const board = { game, setup, layout, position };
  const to = moves.hovered === null ? null : cellOfAction(game, cells, moves.hovered);
  const ghost = to && (
    <g class="hover-ghost">
      <Piece layout={layout} cell={to} color={setup.colors[position.to_move]} isGhost />
    </g>
  );
  const isPlate = layout.style === "plate"; // what falls passes behind the plate
  const above = last === null ? null : squaresOfAction(game, last).at(-1);
  const legal = marks || onCell ? [] : props.legal;
  const color = lifted && setup.colors[cells[lifted[0]][lifted[1]] - 1];
  return (
    <svg
      viewBox={`0 0 ${layout.width} ${layout.height}`}
      class="board-drawing"
      aria-hidden="true"
      ref={drawing}
    >
      <Ground {...{ game, setup, layout, least }}>
        {isPlate && ghost}
        <g class="pieces">
          <Pieces {...{ layout, setup, cells, above, lifted }} />
        </g>
      </Ground>
      <LegalHints {...board} legal={legal} path={moves.path} next={moves.choice.next} />
      {!isPlate && ghost}
      <LastMarks {...board} />
      <g class="overlay">
        <MoveMarks {...{ game, layout, least, cells, marks }} isBehind={line.length > 0} />
        <HintedMove {...board} hint={props.hint} />
        <LineGhosts {...board} line={line} />
        {color && (
          <g class={`piece piece-${color} is-dragged`} transform={drag.place}>
            <Shape color={color} />
          </g>
        )}
      </g>
    </svg>
  );
}

/** The moves without a place on the board, and those that share squares. */
function ActionButtons({ game, setup, position, legal, moves, hint, onAction }: ActionProps) {
  const { path, choice } = moves;
  const placeless = legal.filter((action) => !cellOfAction(game, position.cells, action));
  return (
    <div class="action-list">
      {[...placeless, ...(path.length ? choice.meant : [])].map((action) => (
        <button
          key={action}
          type="button"
          class={`action-button${action === hint ? " is-hinted" : ""}`}
          onClick={() => onAction(action)}
          onPointerEnter={() => moves.hover(action)}
          onPointerLeave={() => moves.hover(null)}
          onFocus={() => moves.hover(action)}
          onBlur={() => moves.hover(null)}
        >
          {buttonText(setup.action_texts[action])}
        </button>
      ))}
    </div>
  );
}

type ActionProps = BoardProps & { moves: Moves };

/** Return a word with a capital; other texts, such as a2a3, stay as they are typed. */
function buttonText(text: string): string {
  return /^[a-z]+$/.test(text) ? capital(text) : text;
}

/** Return the smallest size of letters that can be read, in the units of the drawing. */
function useLeastSize(drawing: RefObject<SVGSVGElement | null>, { width }: Layout): number {
  const [size, setSize] = useState(LEAST_PX);
  useLayoutEffect(() => {
    const node = drawing.current;
    if (!node) return;
    const measure = () => {
      const shown = node.getBoundingClientRect().width;
      if (shown > 0) setSize(Math.ceil((LEAST_PX * width) / shown));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, [drawing, width]);
  return size;
}

/** Return what is said of a cell. */
function labelOf(
  cell: Cell,
  { game, setup, position, legal, hint, onCell }: BoardProps,
  moves: Moves,
) {
  const piece = position.cells[cell[0]][cell[1]];
  const said = [`${nameOfCell(game, setup, cell)}: ${piece ? setup.sides[piece - 1] : "empty"}`];
  if (onCell) return said[0];
  if (position.marked.some((marked) => isSame(marked, cell))) {
    said.push(position.over ? "marked" : "last move");
  }
  const { path, choice } = moves;
  const square = flat(game, cell);
  const action = actionOfCell(game, cell);
  const isLanding = (one: number) => isSame(cellOfAction(game, position.cells, one), cell);
  if (action !== null && legal.includes(action) && isLanding(action)) said.push("legal move");
  else if (path.length && choice.next.has(square)) said.push("legal move");
  else if (path.includes(square)) said.push("chosen");
  else if (choice.starts.has(square)) said.push("can move");
  if (hint !== null && hint !== undefined) {
    const squares = squaresOfAction(game, hint);
    if (isLanding(hint) || squares.some((one) => isSame(one, cell))) said.push("hint");
  }
  return said.join(", ");
}
