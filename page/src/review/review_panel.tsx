// The review of a game for one side: the move that decided it, then each mistake with what it lost,
// the lines that show why, and a way to try again; the accuracy of both sides, and the value.

import type { Side } from "../api";
import { capital, percentText } from "../format";
import { Button, Choice } from "../ui";
import type { App } from "../app";
import type { Seats } from "../play/seats";
import { type Puzzle, puzzlesIn } from "./puzzles";
import { accuracyOf, type Mistake, mistakesOf, turningPoint, usualSide } from "./review";
import { mistakeText, summary } from "./texts";
import { ValuePlot } from "./value_plot";

interface ReviewPanelProps {
  app: App;
  /** Who played it, where that is known. */
  seats: Seats | undefined;
  /** Play on from the position shown, against the same opponent. */
  onTryAgain: () => void;
  /** Make puzzles of mistakes. */
  onLearn?: (puzzles: Puzzle[]) => void;
}

export function ReviewPanel({ app, seats, onTryAgain, onLearn }: ReviewPanelProps) {
  const { game: state, review } = app;
  const { line, ply, setup } = state.shown.value;
  const { isRunning, error } = review.now.value;
  const { plies } = review;
  const { winner, over } = line[line.length - 1].position;
  const view = review.side.value ?? usualSide(seats, winner);
  const mistakes = mistakesOf(plies);
  const own = mistakes.filter(({ side }) => side === view);
  const num = plies.filter(Boolean).length;
  const isDone = num === line.length;
  const before = own.findLast((one) => one.ply < ply);
  const after = own.find((one) => one.ply > ply) ?? own[0]; // at the end, the first
  const turning = over ? turningPoint(plies, view) : undefined;
  const atEnd = state.isAtEnd ? turning : undefined;
  const shown = mistakes.find((one) => one.ply === ply) ?? atEnd ?? review.explored;
  const startOrStop = () => (isRunning ? review.stop() : review.run());
  const step = (name: string, to?: Mistake, text = name) => (
    <Button
      {...{ text, title: name, "aria-label": name }}
      off={!to || to.ply === ply}
      onClick={() => to && state.show(to.ply)}
    />
  );
  const tryAgain = () => {
    if (state.position.over && shown) state.show(shown.ply);
    onTryAgain();
  };
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
        <p class="review-status">{isRunning ? `${num} of ${line.length} positions` : ""}</p>
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
            {turning && shown === turning && "Turning point. "}
            {shown && mistakeText(state.shown.value, shown, view)}
            {!shown && isDone && summary(state.shown.value, mistakes, view)}
          </p>
          <div class="button-row mistake-steps">
            {step("Mistake before", before, "\u2190")}
            {step("Next mistake", after, "\u2192")}
            {isDone && step(turning ? "Turning point" : "Worst move", turning ?? worst)}
            <Button
              off={state.position.over && !shown}
              text={`Try again ${state.position.over ? "there" : "from here"}`}
              onClick={tryAgain}
            />
            {onLearn && (!isDone || puzzles.length > 0) && (
              <Button
                class="primary learn"
                off={!isDone}
                onClick={() => onLearn(puzzles)}
                text="Learn from your mistakes"
              />
            )}
          </div>
          {shown && <Lines app={app} mistake={shown} />}
          <Accuracy app={app} />
          <ValuePlot {...{ state, plies, view }} />
        </>
      )}
    </section>
  );
}

/** The answer to a mistake and the better line; a click shows a line in the analysis. */
function Lines({ app, mistake }: { app: App; mistake: Mistake }) {
  const { ply, played, better, answer } = mistake;
  const texts = app.game.shown.value.setup.action_texts;
  const row = (name: string, before: number[], moves: number[]) => (
    <p class="why-line">
      {`${name}: `}
      {moves.map((action, k) => (
        <Button
          key={k}
          class="move-step"
          text={texts[action]}
          onClick={() => app.explore(ply, [...before, ...moves], ply + before.length + k + 1)}
        />
      ))}
    </p>
  );
  return (
    <>
      {answer.length > 0 && row(`The answer to ${texts[played]}`, [played], answer)}
      {better.length > 0 && row("Better", [], better)}
    </>
  );
}

function Accuracy({ app }: { app: App }) {
  const { line, setup } = app.game.shown.value;
  const ofSide = (side: Side) => {
    const { num, good } = accuracyOf(app.review.plies, line, side);
    return (
      <li title="Only moves that could lose something count.">
        <span class={`piece-chip piece-${setup.colors[side]}`} aria-hidden="true" />
        {`${setup.sides[side]}: `}
        <strong class="accuracy">{percentText(num ? good / num : null)}</strong>
        {` good (${good} of ${num})`}
      </li>
    );
  };
  return <ul class="accuracies" aria-label="Good moves" children={[ofSide(0), ofSide(1)]} />;
}
