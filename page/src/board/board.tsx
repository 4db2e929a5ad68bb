// A board: the drawing of a position, and the grid over it that takes moves.

import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { capital, moveText } from "../format";
import { Button } from "../ui";
import { Grid } from "./grid";
import { Ground } from "./ground";
import { type Cell, isSame, type Layout, layoutOf } from "./layout";
import { HintedMove, LastMarks, LegalHints, LineGhosts, MoveMarks, MoveNotes } from "./marks";
import { type Moves, useMoves } from "./moves";
import { lettersOf, Pieces, Shape, useMotion } from "./pieces";
import { isTurned } from "./turn";
import type { BoardProps, MoveNote } from "./types";

const LEAST_PX = 11; // letters on a board are no smaller

export function Board(given: BoardProps) {
  const { awaited, position } = given;
  const isShown = awaited != null && position.drawn === null; // a text says more than its board
  const props = isShown ? withPiece(given, awaited) : given;
  return <BoardOfGame key={`${props.game.name} ${props.setup.id}`} {...props} />;
}

/** Return a board on which the piece of a move lies already. */
function withPiece({ position, ...props }: BoardProps, action: number): BoardProps {
  const { cells, to_move: side, ply } = position;
  const after = layoutOf(props.game, props.setup).placed(cells, action, side);
  // Half a ply later, so that what the answer changes moves as well.
  const shown = { ...position, cells: after, ply: ply + 0.5, marked: [] };
  return { ...props, position: shown, last: action, legal: [], marks: [] };
}

type Parts = BoardProps & { layout: Layout; moves: Moves };

function BoardOfGame(props: BoardProps) {
  const { game, setup, position, legal, label, onCell } = props;
  const { cells, drawn } = position;
  const layout = layoutOf(game, setup, isTurned(game));
  const moves = useMoves(layout, props);
  const parts = { ...props, layout, moves };
  // Beside a text, a board says nothing while it is empty, unless moves are made on it.
  const isNeeded = onCell || game.action_kind !== "other" || cells.flat().some(Boolean);
  const drawing = useMotion(layout, position, props.last);
  return (
    <div class={`board-view${legal.length || onCell ? " is-active" : ""}`}>
      <div
        class={`board board-${layout.style}${onCell ? " is-set-up" : ""}`}
        style={`--board-ratio: ${layout.width / layout.height}`}
        hidden={drawn !== null && !isNeeded}
      >
        <Drawing {...parts} drawing={drawing} />
        <Grid {...{ layout, label, moves }} labelOf={(cell) => labelOf(cell, parts)} />
      </div>
      {drawn !== null && !lettersOf(position) && (
        <pre class="board-text" tabIndex={0} role="region" aria-label={`${label}, as text`}>
          {drawn}
        </pre>
      )}
      <ActionButtons {...parts} />
    </div>
  );
}

type DrawingProps = Parts & { drawing: RefObject<SVGSVGElement | null> };

function Drawing({ layout, moves, drawing, ...props }: DrawingProps) {
  const { setup, position, last, marks = [], hint = null, line = [], notes = [] } = props;
  const { cells } = position;
  const least = useLeastSize(drawing, layout.width);
  const board = { layout, position };
  const to = moves.hovered === null ? null : layout.landing(cells, moves.hovered);
  const side = setup.colors[position.to_move];
  const ghost = to && (
    <g class={`hover-ghost piece piece-${side} is-ghost`} transform={layout.at(to)}>
      <Shape color={side} />
    </g>
  );
  const isPlate = layout.style === "plate"; // what falls passes behind the plate
  const above = last === null ? null : layout.squares(last).at(-1);
  const legal = props.marks ? [] : props.legal;
  const viewBox = `0 0 ${layout.width} ${layout.height}`;
  return (
    <svg viewBox={viewBox} class="board-drawing" aria-hidden="true" ref={drawing}>
      <Ground layout={layout} least={least}>
        {isPlate && ghost}
        <Pieces {...{ layout, cells, above }} letters={lettersOf(position)} />
      </Ground>
      <LegalHints {...board} {...{ legal, moves }} />
      {!isPlate && ghost}
      <LastMarks {...board} />
      <g class="overlay">
        <MoveMarks {...board} {...{ least, marks }} isBehind={line.length > 0} />
        {hint !== null && <HintedMove {...board} hint={hint} />}
        <MoveNotes {...board} {...{ notes, least, marks }} />
        <LineGhosts {...board} line={line} />
      </g>
    </svg>
  );
}

/** The moves without a place on the board, and those that share squares. */
function ActionButtons({ layout, moves, position, legal, hint, onAction }: Parts) {
  const placeless = legal.filter((action) => !layout.landing(position.cells, action));
  const listed = [...placeless, ...(moves.path.length ? moves.choice.meant : [])];
  // A word has a capital; other texts, such as a2a3, stay as they are typed.
  const textOf = (text: string) => (/^[a-z]+$/.test(text) ? capital(text) : text);
  const lookOf = (action: number) => `action-button${action === hint ? " is-hinted" : ""}`;
  return (
    <div class="action-list">
      {listed.map((action) => (
        <Button key={action} class={lookOf(action)} onClick={() => onAction(action)}>
          {textOf(moveText(layout.setup, position, action))}
        </Button>
      ))}
    </div>
  );
}

/** Return what is said of a cell. */
function labelOf(cell: Cell, { layout, moves, position, legal, hint = null, ...props }: Parts) {
  const { setup, notes = [] } = props;
  const { cells, marked, over } = position;
  const piece = cells[cell[0]][cell[1]];
  const said = [`${layout.name(cell)}: ${piece ? setup.sides[piece - 1] : "empty"}`];
  if (marked.some((one) => isSame(one, cell))) said.push(over ? "marked" : "last move");
  const isLanding = (one: number) => isSame(layout.landing(cells, one), cell);
  const action = layout.actionOf(cell);
  const isLegal = action !== null && legal.includes(action) && isLanding(action);
  if (isLegal || moves.isNext(cell)) said.push("legal move");
  else if (moves.path.includes(layout.flat(cell))) said.push("chosen");
  else if (moves.isStart(cell)) said.push("can move");
  const hinted = hint === null ? [] : [layout.landing(cells, hint), ...layout.squares(hint)];
  if (hinted.some((one) => isSame(one, cell))) said.push("hint");
  const isNoted = ({ action }: MoveNote) => isSame(layout.landing(cells, action), cell);
  return [...said, ...notes.filter(isNoted).map(({ text }) => text)].join(", ");
}

/** Return the smallest size of letters that can be read, in the units of the drawing. */
function useLeastSize(drawing: RefObject<SVGSVGElement | null>, width: number): number {
  const [size, setSize] = useState(LEAST_PX);
  useLayoutEffect(() => {
    const node = drawing.current;
    if (!node) return;
    const observer = new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width) setSize(Math.ceil((LEAST_PX * width) / contentRect.width));
    });
    observer.observe(node);
    return () => observer.disconnect();
  }, [drawing, width]);
  return size;
}
