// The review of a game as it is read, for one side: its mistakes one after the other, each with what
// it lost and a way to try again; the accuracy of both sides, and the value over the game.

import type { Side } from "../api";
import { capital, percentText } from "../format";
import type { GameState } from "../game/game_state";
import { Button, Choice } from "../ui";
import type { Seats } from "../play/seats";
import { type Puzzle, puzzlesIn } from "./puzzles";
import { accuracyOf, mistakesOf, type Review, usualSide } from "./review";
import { mistakeText, summary } from "./texts";
import { ValuePlot } from "./value_plot";

interface ReviewPanelProps {
  state: GameState;
  review: Review;
  /** Who played it, where that is known. */
  seats: Seats | undefined;
  /** Play on from the position shown, against the same opponent. */
  onTryAgain: () => void;
  /** Make puzzles of mistakes. */
  onLearn?: (puzzles: Puzzle[]) => void;
}

export function ReviewPanel({ state, review, seats, onTryAgain, onLearn }: ReviewPanelProps) {
  const { line, ply, setup } = state.shown.value;
  const { plies, isRunning, error } = review.now.value;
  const { winner } = line[line.length - 1].position;
  const view = review.side.value ?? usualSide(seats, winner);
  const mistakes = mistakesOf(plies);
  const own = mistakes.filter(({ side }) => side === view);
  const num = plies.filter(Boolean).length;
  const isDone = num === line.length;
  const before = own.findLast((one) => one.ply < ply);
  const after = own.find((one) => one.ply > ply) ?? own[0]; // at the end, the first
  const shown = mistakes.find((one) => one.ply === ply);
  const startOrStop = () => (isRunning ? review.stop() : review.run());
  const step = (to = shown) => ({ off: to === shown, onClick: () => to && state.show(to.ply) });
  const back = { "aria-label": "Mistake before", title: "Mistake before", ...step(before) };
  const [worst] = own.toSorted((one, other) => (other.loss ?? 0) - (one.loss ?? 0));
  const isPersons = seats?.[view].kind === "human";
  const puzzles = isPersons ? puzzlesIn(state, plies, view) : [];
  return (
    <section class="review" aria-label="Review of the game">
      <div class="section-head">
        <h2>Review</h2>
        {num > 0 && (
          <Choice
            bare
            label="Whose mistakes"
            value={`${view}`}
            options={setup.sides.map((name, side) => [`${side}`, `Mistakes of ${name}`])}
            onChange={(value) => (review.side.value = value === "0" ? 0 : 1)}
          />
        )}
        <p class="review-status">{num && !isDone ? `${num} of ${line.length} positions` : ""}</p>
        {(isRunning || !isDone) && (
          <Button off={line.length === 1} onClick={startOrStop}>
            {isRunning ? "Stop" : "Review the game"}
          </Button>
        )}
      </div>
      <p class="error-line" role="alert" children={capital(error)} />
      {num > 0 && (
        <>
          <p class="mistake-text" aria-live="polite">
            {shown && mistakeText(state.shown.value, shown, view)}
            {!shown && isDone && summary(state.shown.value, mistakes, view)}
          </p>
          <div class="button-row mistake-steps">
            <Button text={"\u2190"} {...back} />
            <Button text={"Next mistake \u2192"} {...step(after)} />
            {state.position.over && worst ? (
              <Button text="Worst move" {...step(worst)} />
            ) : (
              <Button off={state.position.over} onClick={onTryAgain} text="Try again from here" />
            )}
            {onLearn && (!isDone || puzzles.length > 0) && (
              <Button
                class="primary learn"
                off={!isDone}
                onClick={() => onLearn(puzzles)}
                text="Learn from your mistakes"
              />
            )}
          </div>
          <Accuracy {...{ state, review }} />
          <ValuePlot {...{ state, plies, view }} />
        </>
      )}
    </section>
  );
}

function Accuracy({ state, review }: { state: GameState; review: Review }) {
  const { line, setup } = state.shown.value;
  const ofSide = (side: Side) => {
    const { num, good } = accuracyOf(review.now.value.plies, line, side);
    return (
      <li>
        <span class={`piece-chip piece-${setup.colors[side]}`} aria-hidden="true" />
        {`${setup.sides[side]}: `}
        <strong class="accuracy">{percentText(num ? good / num : null)}</strong>
        {` good (${good} of ${num})`}
      </li>
    );
  };
  return <ul class="accuracies" aria-label="Good moves" children={[ofSide(0), ofSide(1)]} />;
}
