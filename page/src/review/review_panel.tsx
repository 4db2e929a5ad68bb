// The review of a game as it is read: the accuracy of each side, the value over the game, and the
// mistakes one after the other, each with what it lost and a way to try again.

import type { Side } from "../api";
import { capital, percentText, resultText, valueText } from "../format";
import type { GameState } from "../game/game_state";
import { Button, Table } from "../ui";
import { accuracyOf, type Mistake, mistakesOf, type Review, type Reviewed } from "./review";
import { ValuePlot } from "./value_plot";

interface ReviewPanelProps {
  state: GameState;
  review: Review;
  /** Play on from the position shown, against the same opponent. */
  onTryAgain: () => void;
}

export function ReviewPanel({ state, review, onTryAgain }: ReviewPanelProps) {
  const { line, ply } = state.shown.value;
  const { plies, isRunning, error } = review.now.value;
  const mistakes = mistakesOf(plies, line);
  const num = plies.filter(Boolean).length;
  const isDone = num === line.length;
  const before = mistakes.filter((one) => one.ply < ply).at(-1);
  const after = mistakes.find((one) => one.ply > ply);
  const shown = mistakes.find((one) => one.ply === ply);
  const status = num && !isDone ? `${num} of ${line.length} positions` : "";
  const startOrStop = () => (isRunning ? review.stop() : review.run());
  const step = (mistake: Mistake | undefined) => ({
    off: !mistake,
    onClick: () => mistake && state.show(mistake.ply),
  });
  const back = { "aria-label": "Mistake before", title: "Mistake before", ...step(before) };
  const worst = mistakes.toSorted((one, other) => (other.loss ?? 0) - (one.loss ?? 0)).at(0);
  return (
    <section class="review" aria-label="Review of the game">
      <div class="section-head">
        <h2>Review</h2>
        <p class="review-status">{status}</p>
        {(isRunning || !isDone) && (
          <Button off={line.length === 1} onClick={startOrStop}>
            {isRunning ? "Stop" : "Review the game"}
          </Button>
        )}
      </div>
      <p class="error-line" role="alert" children={capital(error)} />
      {num > 0 && (
        <>
          <Accuracy {...{ state, mistakes, plies }} />
          <ValuePlot state={state} plies={plies} />
          <p class="mistake-text" aria-live="polite">
            {shown ? mistakeText(state, shown) : summary(mistakes, isDone)}
          </p>
          <div class="button-row mistake-steps">
            <Button text={"\u2190 Before"} {...back} />
            <Button text={"Next mistake \u2192"} {...step(after)} />
            {state.position.over && worst ? (
              <Button class="primary" text="Show the worst move" {...step(worst)} />
            ) : (
              <Button class="primary" off={state.position.over} onClick={onTryAgain}>
                Try again from here
              </Button>
            )}
          </div>
        </>
      )}
    </section>
  );
}

type AccuracyProps = { state: GameState; mistakes: Mistake[]; plies: Reviewed["plies"] };

function Accuracy({ state, mistakes, plies }: AccuracyProps) {
  const { line, setup } = state.shown.value;
  const row = (side: Side) => {
    const { num, good } = accuracyOf(plies, line, side);
    const own = mistakes.filter((one) => one.side === side);
    const [worst] = own.sort((one, other) => (other.loss ?? 0) - (one.loss ?? 0));
    return [
      <>
        <span class={`piece-chip piece-${setup.colors[side]}`} aria-hidden="true" />
        {setup.sides[side]}
      </>,
      <span class="accuracy">{percentText(num ? good / num : null)}</span>,
      `${good} of ${num}`,
      worst ? <MistakeButton state={state} mistake={worst} /> : num ? "none" : "",
    ];
  };
  const columns = ["", "Accuracy", "Good moves", "Worst move"];
  const rows = [row(0), row(1)];
  return <Table class="accuracy-table" caption="Accuracy of each side" {...{ columns, rows }} />;
}

function MistakeButton({ state, mistake }: { state: GameState; mistake: Mistake }) {
  const { setup } = state.shown.value;
  const { ply, played, sign, name } = mistake;
  return (
    <Button
      class={`mistake is-${name}`}
      title={`${capital(name)}: it ${lossText(mistake)}`}
      aria-current={state.shown.value.ply === ply ? "step" : undefined}
      onClick={() => state.show(ply)}
      text={`${ply + 1}. ${setup.action_texts[played ?? 0]} ${sign}`}
    />
  );
}

function summary(mistakes: Mistake[], isDone: boolean): string {
  if (!isDone) return "";
  if (!mistakes.length) return "No mistakes were found.";
  const num = mistakes.length === 1 ? "One mistake was" : `${mistakes.length} mistakes were`;
  return `${num} found, marked on the graph in the colour of the side.`;
}

/** Return what was wrong with a move, what it lost, and which would have been better. */
function mistakeText(state: GameState, mistake: Mistake): string {
  const { sides, action_texts: texts } = state.shown.value.setup;
  const { ply, side, text, best, played } = mistake;
  const better = best !== null && best !== played ? ` Better was ${texts[best]}.` : "";
  const head = `Move ${ply + 1}: ${sides[side]} played ${texts[state.moves[ply]]}`;
  return `${head}, ${text}: it ${lossText(mistake)}.${better}`;
}

/** Return what a move lost: from which result to which if that is exact, else an estimate. */
function lossText({ value, loss, exact, side }: Mistake): string {
  if (loss === null || value === null) return "";
  const before = side === 0 ? value : -value;
  if (!exact) return `took the value from ${valueText(before)} to ${valueText(before - loss)}`;
  return `turned a ${resultText(before)} into a ${resultText(before - loss)}`;
}
