// A move from square to square, chosen one square after the other.
//
// Knows the squares of the legal actions, as flat indices, and nothing of pointers or drawings.

export interface MoveChoice {
  /** The squares with which a move may begin. */
  starts: Set<number>;
  /** The squares that may be chosen after those chosen so far. */
  next: Set<number>;
  /** The actions whose squares are all chosen: several where pieces are promoted. */
  meant: number[];
}

/** Return what may follow the squares chosen so far; `squares` are those of every action. */
export function choiceAfter(squares: number[][], legal: number[], path: number[]): MoveChoice {
  const moves = legal.filter((action) => squares[action]?.length);
  const begun = moves.filter((action) => path.every((one, k) => squares[action][k] === one));
  const longer = begun.filter((action) => squares[action].length > path.length);
  return {
    starts: new Set(moves.map((action) => squares[action][0])),
    next: new Set(longer.map((action) => squares[action][path.length])),
    meant: begun.filter((action) => squares[action].length === path.length),
  };
}

/** Return the squares that are chosen once another one is. */
export function pathWith(choice: MoveChoice, path: number[], square: number): number[] {
  if (choice.next.has(square)) return [...path, square];
  if (path.length === 1 && path[0] === square) return [];
  return choice.starts.has(square) ? [square] : [];
}

/** Return the action that is chosen, null if another square or a choice between several follows. */
export function chosenAction({ meant, next }: MoveChoice): number | null {
  return meant.length === 1 && next.size === 0 ? meant[0] : null;
}
