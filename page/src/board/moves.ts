// Which move the person at the board is choosing, and which one they look at.

import { useEffect, useState } from "preact/hooks";
import type { Cell, Layout } from "./layout";
import { choiceAfter, chosenAction, pathWith } from "./move_choice";
import type { BoardProps } from "./types";

export type Moves = ReturnType<typeof useMoves>;

const NO_PATH: number[] = [];

export function useMoves(layout: Layout, { game, position, legal, ...on }: BoardProps) {
  const key = `${position.ply} ${position.board} ${legal}`;
  const isMove = game.action_kind === "move";
  /** The squares that are chosen of a move from square to square. */
  const [path, setPath] = useWhile(key, NO_PATH);
  const [looked, hover] = useWhile<Cell | null>(key, null);
  const choiceFor = (chosen: number[]) => choiceAfter(game.action_squares ?? [], legal, chosen);
  const choice = choiceFor(path);
  const pathAfter = (cell: Cell) => pathWith(choice, path, layout.flat(cell));
  /** Return the legal action that choosing a cell would play, null for none. */
  const actionAt = (cell: Cell) => {
    const action = isMove ? chosenAction(choiceFor(pathAfter(cell))) : layout.actionOf(cell);
    return action !== null && legal.includes(action) ? action : null;
  };
  const choose = (cell: Cell) => {
    if (on.onCell) return on.onCell(cell);
    const action = actionAt(cell);
    if (isMove) setPath(action === null ? pathAfter(cell) : NO_PATH);
    if (action !== null) on.onAction(action);
  };
  /** Begin anew; return whether anything had been chosen. */
  const cancel = () => {
    setPath(NO_PATH);
    return path.length > 0;
  };
  const isStart = (cell: Cell) => choice.starts.has(layout.flat(cell));
  const isNext = (cell: Cell) => path.length > 0 && choice.next.has(layout.flat(cell));
  /** Return whether choosing a cell does something. */
  const isLegal = (cell: Cell) =>
    Boolean(on.onCell) || isStart(cell) || isNext(cell) || actionAt(cell) !== null;
  /** The legal action under the pointer or the focus. */
  const hovered = looked && actionAt(looked);
  useEffect(() => on.onHover?.(hovered), [hovered]);
  return { path, choice, hovered, hover, choose, cancel, isStart, isNext, isLegal };
}

/** Return a state that is forgotten as soon as the key changes, and a function that sets it. */
function useWhile<T>(key: string, initial: T): [T, (value: T) => void] {
  const [held, setHeld] = useState({ key, value: initial });
  const value = held.key === key ? held.value : initial;
  return [value, (next) => setHeld({ key, value: next })];
}
