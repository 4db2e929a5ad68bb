// What this browser keeps, as lists in its localStorage: games, puzzles, the colours.
//
// A site may keep some five million characters; a list that does not fit loses its last ones.

/** A game as it was left, with its variations. */
export interface KeptGame {
  id: number;
  game: string;
  /** Its address when it was shown last, and while it is being played; "" if it is not. */
  hash: string;
  play: string;
  /** As `writeGame` writes it. */
  file: string;
  /** When it was changed last, in milliseconds since 1970. */
  date: number;
}

const MOST_GAMES = 50;

export function kept<T>(key: string): T[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(list) ? list : [];
  } catch {
    return []; // the browser forbids it, or something else was written there
  }
}

/** Keep a list; return whether at least its first one is kept. */
export function keep(key: string, list: unknown[]): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(list));
    return true;
  } catch {
    return list.length > 1 && keep(key, list.slice(0, Math.ceil(list.length / 2)));
  }
}

/** Return the games that were left, the latest first. */
export function keptGames(name: string): KeptGame[] {
  return kept<KeptGame>("games").filter(({ game }) => game === name);
}

/** Keep a game in place of what it was before; return whether that was possible. */
export function keepGame(now: KeptGame, isEmpty: boolean): boolean {
  const all = kept<KeptGame>("games");
  const others = all.filter(({ id, file }) => id !== now.id && file !== now.file);
  return keep("games", isEmpty ? others : [now, ...others].slice(0, MOST_GAMES)) || isEmpty;
}
