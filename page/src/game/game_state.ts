// The game that the page shows: a tree of the moves that were played or tried, one line of it, and
// which position of that line is shown.
//
// The rules are the backend's; here are only its answers.

import { signal } from "@preact/signals";
import type { Backend, Catalogue, Game, Position, PositionRequest, Setup } from "../api";
import type { GameToShow } from "../app";

/** A position of the game, and the move that leads to it. */
export interface GameNode {
  action: number | null;
  position: Position;
  parent: GameNode | null;
  /** The main continuation first, then what else was tried. */
  children: GameNode[];
  /** What the person calls it, "" for nothing. */
  name: string;
}

/** Replaced as a whole with every change. */
export interface Shown {
  game: Game;
  setup: Setup;
  /** The board that the game starts from; null: the usual one. */
  board: string | null;
  toMove: number | null;
  /** From the root to the end of the line. */
  line: GameNode[];
  ply: number;
}

/** A move, and what was played or tried after it. */
export interface Branch {
  text: string;
  name: string;
  children: Branch[];
}

export class GameState {
  readonly shown;
  private numAsked = 0;

  constructor(
    private readonly backend: Backend,
    readonly catalogue: { value: Catalogue },
    first: Shown,
  ) {
    this.shown = signal(first);
  }

  /** Return the state of a new page. */
  static async start(backend: Backend, catalogue: { value: Catalogue }, game: GameToShow) {
    return new GameState(backend, catalogue, await loaded(backend, catalogue.value, game));
  }

  get position(): Position {
    const { line, ply } = this.shown.value;
    return line[ply].position;
  }

  /** Whether the last position of the line is shown. */
  get isAtEnd(): boolean {
    const { line, ply } = this.shown.value;
    return ply === line.length - 1;
  }

  /** The actions of the line. */
  get moves(): number[] {
    return movesOf(this.shown.value.line);
  }

  /** Return the position after `ply` moves, as requests have it; by default the one shown. */
  request(ply = this.shown.value.ply): PositionRequest & { moves: number[] } {
    const { game, setup, board, toMove } = this.shown.value;
    return { ...startOf(game, setup, board, toMove), moves: this.moves.slice(0, ply) };
  }

  wholeGame() {
    return this.request(this.moves.length);
  }

  /** Show the position after `ply` moves of the line. */
  show(ply: number): void {
    const { line } = this.shown.value;
    this.change({ ply: Math.min(Math.max(ply, 0), line.length - 1) });
  }

  /** Show a position anywhere in the tree; the line then leads through it. */
  goTo(node: GameNode): void {
    const { line } = this.shown.value;
    const ply = pathTo(node).length - 1;
    this.change({ line: line[ply] === node ? line : [...pathTo(node), ...mainLine(node)], ply });
  }

  /** Play a move in the position shown; what followed it stays in the tree. */
  async play(action: number): Promise<void> {
    const { line, ply } = this.shown.value;
    const above = line[ply];
    const known = above.children.find((one) => one.action === action);
    if (known) {
      this.numAsked += 1;
      this.goTo(known);
      return;
    }
    const moves = [...this.moves.slice(0, ply), action];
    const answer = await this.ask({ ...this.request(), moves, from_ply: ply + 1 });
    if (!answer) return;
    const node = child(above, action, answer.positions[0]);
    this.change({ line: [...line.slice(0, ply + 1), node], ply: ply + 1 });
  }

  /** End the line after `ply` moves; the moves after them stay in the tree. */
  cut(ply: number): void {
    this.numAsked += 1;
    this.change({ line: this.shown.value.line.slice(0, ply + 1), ply });
  }

  /** Show another game; nothing changes if the backend refuses it. */
  async load(wanted: GameToShow): Promise<void> {
    this.numAsked += 1;
    const number = this.numAsked;
    const found = await loaded(this.backend, this.catalogue.value, wanted);
    if (number === this.numAsked) this.change(found);
  }

  /** Take over the catalogue as it is now, for example with networks trained since. */
  renew(): void {
    const { game, setup } = this.shown.value;
    const found = this.catalogue.value.games.find((one) => one.name === game.name);
    if (!found) return;
    const same = found.setups.find((one) => one.id === setup.id) ?? found.setups[0];
    this.change({ game: found, setup: same });
  }

  // --- variations ------------------------------------------------------------------------------

  rename(node: GameNode, name: string): void {
    node.name = name;
    this.change({});
  }

  /** Make a move, and those that lead to it, the main continuation. */
  promote(node: GameNode): void {
    for (const one of pathTo(node)) {
      const { parent } = one;
      if (parent) parent.children = [one, ...parent.children.filter((other) => other !== one)];
    }
    this.change({});
  }

  /** Forget a move and all that follows it. */
  remove(node: GameNode): void {
    const { parent } = node;
    if (!parent) return;
    parent.children = parent.children.filter((one) => one !== node);
    const { line } = this.shown.value;
    if (line.includes(node)) {
      const ply = pathTo(parent).length - 1;
      this.change({ line: [...line.slice(0, ply + 1), ...mainLine(parent)], ply });
    } else {
      this.change({});
    }
  }

  /** Show a game with variations from its start; the backend must allow each of its moves. */
  async grow(game: GameToShow, branches: Branch[]): Promise<void> {
    const first = await loaded(this.backend, this.catalogue.value, { ...game, moves: [] });
    const { setup } = first;
    const attach = async (above: GameNode, before: string[], branch: Branch): Promise<void> => {
      // A line is asked for at once, as far as nothing branches off.
      const straight = [branch];
      for (let at = branch; at.children.length === 1; at = at.children[0])
        straight.push(at.children[0]);
      const texts = [...before, ...straight.map(({ text }) => text)];
      const start = startOf(first.game, setup, first.board, first.toMove);
      const from = before.length + 1;
      const answer = await this.backend.position({
        ...start,
        moves: texts.join(","),
        from_ply: from,
      });
      let at = above;
      straight.forEach(({ name }, k) => {
        at = child(at, answer.moves[before.length + k], answer.positions[k]);
        at.name = name;
      });
      for (const next of straight[straight.length - 1].children) await attach(at, texts, next);
    };
    for (const branch of branches) await attach(first.line[0], [], branch);
    this.numAsked += 1;
    this.change({ ...first, line: [first.line[0], ...mainLine(first.line[0])], ply: 0 });
  }

  /** Return the backend's answer; null if another question came after this one. */
  private async ask(request: PositionRequest & { from_ply?: number }) {
    this.numAsked += 1;
    const number = this.numAsked;
    const answer = await this.backend.position(request);
    return number === this.numAsked ? answer : null;
  }

  private change(some: Partial<Shown>): void {
    this.shown.value = { ...this.shown.value, ...some };
  }
}

/** Return the positions from the root to a node. */
export function pathTo(node: GameNode): GameNode[] {
  return node.parent ? [...pathTo(node.parent), node] : [node];
}

export function movesOf(line: GameNode[]): number[] {
  return line.slice(1).map(({ action }) => action ?? 0);
}

/** Return moves as a person writes them. */
export function listText(setup: Setup, moves: number[]): string {
  return moves.map((action) => setup.action_texts[action]).join(",");
}

/** Return the main continuation of a position. */
function mainLine(node: GameNode): GameNode[] {
  const [next] = node.children;
  return next ? [next, ...mainLine(next)] : [];
}

async function loaded(backend: Backend, catalogue: Catalogue, wanted: GameToShow): Promise<Shown> {
  const name = wanted.game ?? catalogue.default_game;
  const game = catalogue.games.find((one) => one.name === name);
  if (!game) throw new Error(`There is no game ${name} here.`);
  const setup = game.setups.find(({ id }) => id === wanted.setup) ?? game.setups[0];
  const board = wanted.board ?? null;
  const toMove = wanted.to_move ?? null;
  const start = startOf(game, setup, board, toMove);
  const isUsual = name === catalogue.default_game && setup === game.setups[0] && board === null;
  const { moves, positions } =
    (isUsual && !wanted.moves?.length && catalogue.start) ||
    (await backend.position({ ...start, moves: wanted.moves ?? [] }));
  const line = [child(null, null, positions[0])];
  moves.forEach((action, k) => line.push(child(line[k], action, positions[k + 1])));
  const ply = Math.min(wanted.ply ?? moves.length, moves.length);
  return { game, setup, board, toMove, line, ply };
}

/** Return a new node below another one, null for a root. */
function child(parent: GameNode | null, action: number | null, position: Position): GameNode {
  const node = { action, position, parent, children: [], name: "" };
  parent?.children.push(node);
  return node;
}

function startOf(game: Game, setup: Setup, board: string | null, toMove: number | null) {
  const start = { game: game.name, setup: setup.id };
  return board === null ? start : { ...start, board, to_move: toMove ?? 0 };
}
