// The game that the page shows: a tree of the moves that were played or tried, one line of it, and
// which position of that line is shown.
//
// The rules are the backend's; here are only its answers.

import { signal } from "@preact/signals";
import { formatHash } from "../address";
import type { Backend, Catalogue, Position, PositionRequest, Setup } from "../api";
import { messageOf } from "../format";
import { readGame, writeGame } from "./game_file";
import { keptGames } from "../kept";
import type { Branch, GameNode, GameToShow, Shown, Start } from "./types";

export class GameState {
  readonly shown = signal({} as Shown); // until the first game is loaded
  /** What was shown last of each game, by its id. */
  private readonly known = new Map<number, Shown>();
  private readonly waiting = signal<{ above: GameNode; action: number } | null>(null);
  private numAsked = 0;
  /** How many games are on their way here. */
  readonly numLoads = signal(0);
  /** What of the game loaded last could not be read, "" for nothing. */
  problem = "";

  constructor(
    private readonly backend: Backend,
    private readonly catalogue: { value: Catalogue },
  ) {}

  get position(): Position {
    const { line, ply } = this.shown.value;
    return line[ply].position;
  }

  /** The move in the position shown that the backend has not answered yet, null for none. */
  get awaited(): number | null {
    const { line, ply } = this.shown.value;
    const { above, action } = this.waiting.value ?? {};
    return above === line[ply] ? (action ?? null) : null;
  }

  get isAtEnd(): boolean {
    const { line, ply } = this.shown.value;
    return ply === line.length - 1;
  }

  get moves(): number[] {
    return movesOf(this.shown.value.line);
  }

  /** Nothing was played or set up yet. */
  get isEmpty(): boolean {
    const { line, board } = this.shown.value;
    return !line[0].children.length && board === null;
  }

  /** The game with its variations, as a file. */
  get file(): string {
    const start = { ...gameParameters(this.shown.value), moves: null, ply: null };
    return writeGame(this.shown.value, formatHash("analyse", this.shown.value.game.name, start));
  }

  /** Return the position after `ply` moves, as requests have it; by default the one shown. */
  request(ply = this.shown.value.ply): PositionRequest & { moves: number[] } {
    return { ...startOf(this.shown.value), moves: this.moves.slice(0, ply) };
  }

  show(ply: number): void {
    const last = this.shown.value.line.length - 1;
    this.change({ ply: Math.min(Math.max(ply, 0), last) });
  }

  /** Leave a variation of a game that has ended: show its end. */
  leaveVariation(): void {
    const { line } = this.shown.value;
    const main = [line[0], ...mainLine(line[0])];
    const end = main[main.length - 1];
    if (end.position.over && end !== line[line.length - 1]) this.follow(end);
  }

  /** Show a position anywhere in the tree; the line then leads through it. */
  goTo(node: GameNode): void {
    const ply = this.shown.value.line.indexOf(node);
    if (ply >= 0) this.show(ply);
    else this.follow(node);
  }

  /** Play a move in the position shown; what followed it stays in the tree. */
  async play(action: number): Promise<void> {
    const { line, ply } = this.shown.value;
    const known = line[ply].children.find((one) => one.action === action);
    if (known) {
      this.numAsked += 1;
      // Where the line was cut, what was played before does not come back by itself.
      if (this.isAtEnd) this.change({ line: [...line, known], ply: ply + 1 });
      else this.goTo(known);
      return;
    }
    const moves = [...this.moves.slice(0, ply), action];
    const request = { ...this.request(), moves, from_ply: ply + 1 };
    this.waiting.value = { above: line[ply], action };
    try {
      const answer = await this.newest(this.backend.position(request));
      if (answer) this.follow(child(line[ply], action, answer.positions[0]));
    } finally {
      this.waiting.value = null;
    }
  }

  /** End the line after `ply` moves; the moves after them stay in the tree. */
  cut(ply: number): void {
    this.numAsked += 1;
    this.change({ line: this.shown.value.line.slice(0, ply + 1), ply });
  }

  /** Show another game; nothing changes if the backend refuses it. */
  async load(wanted: GameToShow): Promise<void> {
    this.numLoads.value += 1;
    const loaded = this.newest(this.loaded(wanted));
    await loaded.then((found) => found && this.change(found)).finally(() => this.numLoads.value--);
  }

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

  /** Forget a move and what follows it; return what brings them back. */
  remove(node: GameNode): () => void {
    const { parent } = node;
    if (!parent) return () => undefined;
    const before = parent.children;
    parent.children = before.filter((one) => one !== node);
    this.follow(parent);
    return () => {
      const added = parent.children.filter((one) => !before.includes(one));
      parent.children = [...before, ...added];
      this.follow(node);
    };
  }

  /** Show the first game of a file, with its variations; return how many games there are. */
  async open(text: string): Promise<number> {
    const { start, num } = readGame(text, this.shown.value);
    const first = await this.loaded({ ...start, moves: [] });
    const root = await this.grown(first, text).catch((error) => {
      throw new Error(`Read as ${first.game.title}, ${messageOf(error)}`);
    });
    if (!root.children.length && first.board === null) throw new Error("The file holds no moves.");
    this.numAsked += 1;
    this.change({ ...first, line: [root, ...mainLine(root)], ply: 0 });
    return num;
  }

  /** Return a game, with what was tried in it before. */
  private async loaded(wanted: GameToShow): Promise<Shown> {
    const { games, default_game: usual } = this.catalogue.value;
    const name = wanted.game ?? usual;
    // A game file may be named by its path, too.
    const game = games.find((one) => one.name === name || name.endsWith(`/${one.name}`));
    if (!game) throw new Error(`There is no game ${name} here.`);
    const setup = game.setups.find(({ id }) => id === wanted.setup) ?? game.setups[0];
    const start = { game, setup, board: wanted.board ?? null, toMove: wanted.to_move ?? null };
    const request = { ...startOf(start), moves: wanted.moves ?? [] };
    this.problem = "";
    const isStart = !request.moves.length && setup === game.setups[0] && start.board === null;
    const { moves, positions } = (isStart && game.start) || (await this.backend.position(request));
    const ply = Math.min(wanted.ply ?? moves.length, moves.length);
    const fresh = { ...start, id: Math.random(), line: [child(null, null, positions[0])], ply };
    const { id, line } = wanted.isNew ? fresh : await this.triedBefore(fresh, wanted);
    return { ...fresh, id, line: grafted(line[0], moves, positions) };
  }

  /** Return a game as it was shown before, or as it is kept; without moves if neither is. */
  private async triedBefore(fresh: Shown, { id = fresh.id, tree }: GameToShow): Promise<Shown> {
    const known = this.known.get(id);
    if (known)
      return JSON.stringify(startOf(known)) === JSON.stringify(startOf(fresh)) ? known : fresh;
    const file = keptGames(fresh.game.name).find((one) => one.id === id)?.file ?? tree;
    const root = file && (await this.grown(fresh, file).catch(() => null));
    if (file && !root) this.problem = "The variations could not be read: only the game is shown.";
    return root ? { ...fresh, id, line: [root] } : fresh;
  }

  /** Return the tree of a file's game; the backend must allow each of its moves. */
  private async grown(first: Shown, file: string): Promise<GameNode> {
    const { branches, notes } = readGame(file, first);
    const root: GameNode = { ...child(null, null, first.line[0].position), notes };
    const { action_texts: texts, separator } = first.setup;
    let ends = branches.map((branch) => ({ above: root, branch }));
    while (ends.length) {
      // All lines are asked for at once; what branches off them comes next.
      const lines = ends.map(({ above, branch }) => {
        const [before, main] = [movesOf(pathTo(above)), mainBranches(branch, texts)];
        const list = [listText(first.setup, before), ...main.map(({ text }) => text)];
        const moves = list.filter(Boolean).join(separator);
        return { above, main, request: { ...startOf(first), moves, from_ply: before.length } };
      });
      const answers = await this.backend.positions(lines.map(({ request }) => request));
      ends = lines.flatMap(({ above, main, request }, k) => {
        const { moves, positions } = answers[k];
        const path = grafted(above, moves.slice(request.from_ply), positions);
        return othersOf(main, path, texts);
      });
    }
    return root;
  }

  /** Return an answer; null if something else was asked for while it was awaited. */
  private async newest<T>(answer: Promise<T>): Promise<T | null> {
    this.numAsked += 1;
    const number = this.numAsked;
    const found = await answer;
    return number === this.numAsked ? found : null;
  }

  /** Show a position, and the line through it. */
  private follow(node: GameNode): void {
    const path = pathTo(node);
    this.change({ line: [...path, ...mainLine(node)], ply: path.length - 1 });
  }

  private change(some: Partial<Shown>): void {
    this.shown.value = { ...this.shown.value, ...some };
    this.known.set(this.shown.value.id, this.shown.value);
  }
}

/** Return a game as its address has it. */
export function gameParameters({ setup, game, board, toMove, line, ply }: Shown) {
  return {
    setup: setup === game.setups[0] ? null : setup.id,
    board: board === null ? null : board.trim().split(/\r?\n/).join("/"),
    to_move: board === null ? null : (toMove ?? 0),
    moves: listText(setup, movesOf(line)),
    ply: ply === line.length - 1 ? null : ply,
    tree: null,
  };
}

export function pathTo(node: GameNode): GameNode[] {
  return node.parent ? [...pathTo(node.parent), node] : [node];
}

export function movesOf(line: GameNode[]): number[] {
  return line.slice(1).map(({ action }) => action ?? 0);
}

export function listText(setup: Setup, moves: number[]): string {
  return moves.map((action) => setup.action_texts[action]).join(setup.separator);
}

/** Return a node, which has the first position, and those after it, of which some may be there. */
function grafted(root: GameNode, moves: number[], positions: Position[]): GameNode[] {
  const path = [root];
  moves.forEach((action, k) => {
    const known = path[k].children.find((one) => one.action === action);
    path.push(known ?? child(path[k], action, positions[k + 1]));
  });
  return path;
}

function mainLine(node: GameNode): GameNode[] {
  const [next] = node.children;
  return next ? [next, ...mainLine(next)] : [];
}

/** Return moves and the main line after them, as far as it is known which moves branch off. */
function mainBranches(branch: Branch, texts: string[]): Branch[] {
  const { text, name, notes, children } = branch;
  const isEnd = name || notes || children.length > 1;
  if (!children.length || (isEnd && !texts.includes(text))) return [branch];
  return [branch, ...mainBranches(children[0], texts)];
}

/** Name the moves of a main line, whose passes may be left out, and return what branches off. */
function othersOf(main: Branch[], path: GameNode[], texts: string[]) {
  let at = 0;
  return main.flatMap(({ text, name, notes, children }, k) => {
    const isLast = k === main.length - 1;
    const next = path.findIndex((node, ply) => ply > at && texts[node.action ?? 0] === text);
    at = isLast ? path.length - 1 : Math.max(at, next);
    const above = path[at];
    above.name ||= name;
    if (notes) above.notes = notes;
    return children.slice(isLast ? 0 : 1).map((branch) => ({ above, branch }));
  });
}

/** Return a new node below another one, null for a root. */
function child(parent: GameNode | null, action: number | null, position: Position) {
  const node: GameNode = { action, position, parent, children: [], name: "" };
  parent?.children.push(node);
  return node;
}

function startOf({ game, setup, board, toMove }: Start) {
  const start = { game: game.name, setup: setup.id };
  return board === null ? start : { ...start, board, to_move: toMove ?? 0 };
}
