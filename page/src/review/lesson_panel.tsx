// A lesson beside the board: the puzzle, what became of the last try, and the buttons.

import { useEffect, useRef } from "preact/hooks";
import { dateText } from "../format";
import type { GameState } from "../game/game_state";
import { Button, focusBoard } from "../ui";
import type { Lesson } from "./lesson";

type LessonPanelProps = { state: GameState; lesson: Lesson };

export function LessonPanel({ state, lesson }: LessonPanelProps) {
  const { course, puzzle } = lesson;
  const goOn = useRef<HTMLDivElement>(null);
  const isOpen = puzzle !== null && !course?.result;
  // A puzzle is solved on the board; then the next one is asked for.
  useEffect(() => {
    if (isOpen) focusBoard();
    else goOn.current?.querySelector<HTMLElement>(".primary")?.focus();
  }, [isOpen, puzzle]);
  const end = () => {
    lesson.end();
    requestAnimationFrame(() => document.querySelector<HTMLElement>(".learn")?.focus());
  };
  if (!course) return null;
  const { puzzles, results, text } = course;
  const place = puzzle
    ? `${results.length + 1} of ${puzzles.length}, game of ${dateText(puzzle.date)}`
    : "";
  const isElsewhere = puzzle && puzzle.ply !== state.shown.value.ply;
  return (
    <section class="review" aria-label="Learn from your mistakes">
      <div class="section-head">
        <h2>Learn from your mistakes</h2>
        <p class="review-status">{place}</p>
      </div>
      <p class="mistake-text">{text}</p>
      <div class="button-row mistake-steps" ref={goOn}>
        {isElsewhere && <Button text="To the puzzle" onClick={() => state.show(puzzle.ply)} />}
        {isOpen && <Button text="Show me" onClick={() => lesson.showBest()} />}
        {puzzle ? (
          <Button class={isOpen ? "" : "primary"} onClick={() => lesson.next()}>
            {isOpen ? "Skip" : "Next \u2192"}
          </Button>
        ) : (
          <Button class="primary" text="Once more" onClick={() => lesson.begin(puzzles)} />
        )}
        <Button text="Back to the review" onClick={end} />
      </div>
    </section>
  );
}
