// Which move the person at the board is choosing, and which one they look at.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { BoardProps } from "./board";
import { actionOfCell, type Cell, flat } from "./layout";
import { choiceAfter, chosenAction, type MoveChoice, pathWith } from "./move_choice";

export interface Moves {
  /** Differs between positions and between the actions that may be chosen. */
  key: string;
  /** The squares that are chosen of a move from square to square. */
  path: number[];
  choice: MoveChoice;
  /** The legal action under the pointer or the focus. */
  hovered: number | null;
  /** Look at a cell, at an action that has none, or at nothing. */
  hover: (what: Cell | number | null) => void;
  /** Return the legal action that choosing a cell would play, null for none. */
  actionAt: (cell: Cell) => number | null;
  choose: (cell: Cell) => void;
  /** Begin anew; return whether anything had been chosen. */
  cancel: () => boolean;
}

const NO_PATH: number[] = [];

export function useMoves({ game, position, legal, ...on }: BoardProps): Moves {
  const key = `${position.ply} ${position.board} ${legal}`;
  const [path, setPath] = useWhile(key, NO_PATH);
  const [looked, hover] = useWhile<Cell | number | null>(key, null);
  const squares = game.action_squares ?? [];
  const choice = useMemo(() => choiceAfter(squares, legal, path), [game, key, path]);

  const pathAfter = (cell: Cell) => pathWith(choice, path, flat(game, cell));
  const actionAt = (cell: Cell) => {
    if (on.onCell) return null;
    const isMove = game.action_kind === "move";
    const action = isMove
      ? chosenAction(choiceAfter(squares, legal, pathAfter(cell)))
      : actionOfCell(game, cell);
    return action !== null && legal.includes(action) ? action : null;
  };
  const choose = (cell: Cell) => {
    if (on.onCell) return on.onCell(cell);
    const action = actionAt(cell);
    if (game.action_kind === "move") setPath(action === null ? pathAfter(cell) : NO_PATH);
    if (action !== null) on.onAction(action);
  };
  const cancel = () => {
    setPath(NO_PATH);
    return path.length > 0;
  };

  const hovered = Array.isArray(looked) ? actionAt(looked) : looked;
  useEffect(() => on.onHover?.(hovered), [hovered]);
  return { key, path, choice, hovered, hover, actionAt, choose, cancel };
}

/** Return a state that is forgotten as soon as the key changes, and a function that sets it. */
function useWhile<T>(key: string, initial: T): [T, (value: T) => void] {
  const [held, setHeld] = useState({ key, value: initial });
  const value = held.key === key ? held.value : initial;
  return [value, (next) => setHeld({ key, value: next })];
}
