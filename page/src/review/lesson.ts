// Learning from one's own mistakes: the position before each is a puzzle, solved by a move that
// gives nothing of note away, as the review judges it.

import { signal } from "@preact/signals";
import type { Side } from "../api";
import type { App } from "../app";
import type { MoveNote } from "../board/types";
import { messageOf } from "../format";
import type { GameNode } from "../game/types";
import { markSolved, type Puzzle } from "./puzzles";
import { NOTABLE } from "./review";
import { lossText } from "./texts";

export type Result = "at once" | "later" | "shown" | "skipped";

interface Course {
  /** The game; once another line is shown, the course is over. */
  line: GameNode[];
  puzzles: Puzzle[];
  /** How the puzzles before this one ended. */
  results: Result[];
  /** How this one ended, null while it is open. */
  result: Result | null;
  /** The moves tried in vain, as they are marked on the board; then the right one. */
  notes: MoveNote[];
  text: string;
}

export class Lesson {
  private readonly now = signal<Course | null>(null);
  private stopper = new AbortController();

  constructor(
    private readonly app: App,
    /** Called with the person's side. */
    private readonly onSide: (side: Side) => void,
  ) {}

  /** The course through the game that is shown, null without one. */
  get course(): Course | null {
    const course = this.now.value;
    return course?.line === this.app.game.shown.value.line ? course : null;
  }

  /** The puzzle that is set, null at the end of a course. */
  get puzzle(): Puzzle | null {
    return this.course?.puzzles[this.course.results.length] ?? null;
  }

  /** Set the puzzle after those that have ended so, or sum up. */
  begin(puzzles: Puzzle[], results: Result[] = []): Promise<void> {
    return this.app.attempt(() => this.set(puzzles, results));
  }

  private async set(puzzles: Puzzle[], results: Result[]): Promise<void> {
    this.stopper.abort();
    const puzzle = puzzles.at(results.length);
    if (puzzle) await this.show(puzzle);
    const { line, setup } = this.app.game.shown.value;
    const num = (result: Result) => results.filter((one) => one === result).length;
    const all = `${num("at once") + num("later")} of ${puzzles.length} better moves`;
    this.now.value = { line, puzzles, results, result: null, notes: [], text: "" };
    if (!puzzle) return this.say(`You found ${all}, ${num("at once")} at the first try.`);
    const { ply, played, side, grade } = puzzle;
    this.note(played, grade.sign, `played, ${grade.text}`);
    const was = `Move ${ply + 1}: ${setup.action_texts[played]} was ${grade.text}`;
    this.say(`${was}. Find a better move for ${setup.sides[side]}.`);
  }

  /** Show the position of a puzzle, perhaps of another game, which needs no review. */
  private async show({ game, ply, side }: Puzzle): Promise<void> {
    const state = this.app.game;
    if (JSON.stringify(state.request(Infinity)) !== JSON.stringify(game)) {
      await state.load({ ...game, ply, isNew: true });
      this.app.review.stop();
    }
    this.onSide(side);
    state.show(ply);
  }

  next(): void {
    const { course } = this;
    if (course) void this.begin(course.puzzles, [...course.results, course.result ?? "skipped"]);
  }

  end(): void {
    this.stopper.abort();
    this.now.value = null;
    this.app.review.complete();
  }

  showBest(): void {
    const { best } = this.puzzle ?? {};
    if (best == null) return;
    this.stopper.abort();
    this.solve(best, "shown", `The best move is ${this.nameOf(best)}.`);
  }

  async tryMove(action: number): Promise<void> {
    const { puzzle, course } = this;
    if (!puzzle || !course) return;
    this.stopper.abort();
    this.stopper = new AbortController();
    const { signal } = this.stopper;
    const name = this.nameOf(action);
    this.change({ text: `Looking at ${name} \u2026` });
    try {
      const { ply, best, played, side } = puzzle;
      const known = action === played ? puzzle : await this.app.review.judge(ply, action, signal);
      if (signal.aborted) return;
      const { grade, loss } = known;
      if (action === best || !grade || (loss ?? 0) < NOTABLE) {
        const isBest = action === best || known.score_loss === 0;
        const other = isBest ? "" : ` The review prefers ${this.nameOf(best ?? 0)}.`;
        const result = course.notes.length > 1 ? "later" : "at once";
        return this.solve(action, result, `Right: ${name}.${other}`);
      }
      this.note(action, grade.sign, `tried, ${grade.text}`);
      const lost = lossText(this.app.game.shown.value, known, side);
      this.say(`No: ${name} is ${grade.text}, it ${lost}. Try another move.`);
    } catch (error) {
      if (!signal.aborted) this.say(messageOf(error));
    }
  }

  private solve(action: number, result: Result, text: string): void {
    this.note(action, "\u2713", "right", true);
    if (this.puzzle && result !== "shown") markSolved(this.puzzle);
    this.change({ result });
    this.say(text);
  }

  private nameOf(action: number): string {
    return this.app.game.shown.value.setup.action_texts[action];
  }

  private note(action: number, sign: string, text: string, isGood = false): void {
    const notes = this.course?.notes ?? [];
    this.change({ notes: [...notes, { action, sign, text, isGood }] });
  }

  private say(text: string): void {
    this.change({ text });
    this.app.announce(text);
  }

  private change(some: Partial<Course>): void {
    if (this.now.value) this.now.value = { ...this.now.value, ...some };
  }
}
