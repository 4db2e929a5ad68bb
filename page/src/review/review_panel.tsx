// The review of a game as it is read: the accuracy of each side, the value over the game, and the
// mistakes one after the other, each with what it lost and a way to try again.

import type { Side } from "../api";
import { capital, percentText, resultText } from "../format";
import { type GameState, movesOf } from "../game/game_state";
import { Button } from "../ui";
import { accuracyOf, type Mistake, mistakesOf, type Review } from "./review";
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
  const status = isRunning ? `${num} of ${line.length} positions` : "";
  return (
    <section class="review" aria-label="Review of the game">
      <div class="section-head">
        <h2>Review</h2>
        <p class="review-status">{status}</p>
        {(isRunning || !isDone) && (
          <Button
            off={line.length === 1}
            onClick={() => (isRunning ? review.stop() : review.run())}
          >
            {isRunning ? "Stop" : "Review the game"}
          </Button>
        )}
      </div>
      <p class="error-line" role="alert">
        {capital(error)}
      </p>
      {num > 0 && (
        <>
          <Accuracy state={state} mistakes={mistakes} plies={plies} />
          <ValuePlot state={state} plies={plies} />
          <p class="mistake-text" aria-live="polite">
            {shown ? mistakeText(state, shown) : summary(mistakes, isDone)}
          </p>
          <div class="button-row mistake-steps">
            <Button
              aria-label="Mistake before"
              title="Mistake before"
              off={!before}
              onClick={() => before && state.show(before.ply)}
            >
              {"\u2190"}
            </Button>
            <Button off={!after} onClick={() => after && state.show(after.ply)}>
              Next mistake {"\u2192"}
            </Button>
            <Button class="primary" off={state.position.over} onClick={onTryAgain}>
              Try again from here
            </Button>
          </div>
        </>
      )}
    </section>
  );
}

interface AccuracyProps {
  state: GameState;
  mistakes: Mistake[];
  plies: Review["now"]["value"]["plies"];
}

function Accuracy({ state, mistakes, plies }: AccuracyProps) {
  const { line, setup } = state.shown.value;
  const row = (side: Side) => {
    const { num, good } = accuracyOf(plies, line, side);
    const own = mistakes.filter((one) => one.side === side);
    const worst = own.reduce<Mistake | null>(
      (most, one) => ((one.found.loss ?? 0) > (most?.found.loss ?? 0) ? one : most),
      null,
    );
    return (
      <tr key={side}>
        <th scope="row">
          <span class={`piece-chip piece-${setup.colors[side]}`} aria-hidden="true" />
          {setup.sides[side]}
        </th>
        <td class="accuracy">{percentText(num ? good / num : null)}</td>
        <td>
          {good} of {num}
        </td>
        <td>{worst ? <MistakeButton state={state} mistake={worst} /> : num ? "none" : ""}</td>
      </tr>
    );
  };
  return (
    <table class="accuracy-table">
      <thead>
        <tr>
          <td />
          <th scope="col">Accuracy</th>
          <th scope="col">Good moves</th>
          <th scope="col">Worst move</th>
        </tr>
      </thead>
      <tbody>
        {row(0)}
        {row(1)}
      </tbody>
    </table>
  );
}

function MistakeButton({ state, mistake }: { state: GameState; mistake: Mistake }) {
  const { ply, setup } = state.shown.value;
  const { found, sign, name } = mistake;
  return (
    <button
      type="button"
      class={`mistake is-${name}`}
      title={`${capital(name)}: ${lossText(mistake)}`}
      aria-current={ply === mistake.ply ? "step" : undefined}
      onClick={() => state.show(mistake.ply)}
    >
      {mistake.ply + 1}. {setup.action_texts[found.played ?? 0]} {sign}
    </button>
  );
}

function summary(mistakes: Mistake[], isDone: boolean): string {
  if (!isDone) return "";
  if (!mistakes.length) return "No mistakes were found.";
  const num = mistakes.length === 1 ? "One mistake was" : `${mistakes.length} mistakes were`;
  return `${num} found, marked on the graph.`;
}

/** Return what was wrong with a move, what it lost, and which would have been better. */
function mistakeText(state: GameState, mistake: Mistake): string {
  const { setup, line } = state.shown.value;
  const { found, side, name } = mistake;
  const text = (action: number) => setup.action_texts[action];
  const played = text(movesOf(line)[mistake.ply]);
  const isBetter = found.best !== null && found.best !== found.played;
  const better = isBetter && found.best !== null ? ` Better was ${text(found.best)}.` : "";
  const head = `Move ${mistake.ply + 1}: ${setup.sides[side]} played ${played}`;
  return `${head}, ${name === "inaccuracy" ? "an" : "a"} ${name} (${lossText(mistake)}).${better}`;
}

/** Return what a move lost: from which result to which if that is exact, else an estimate. */
function lossText({ found, side }: Mistake): string {
  const { value, loss, exact } = found;
  if (loss === null || value === null) return "";
  if (!exact) return `lost about ${loss.toFixed(2)}`;
  const before = side === 0 ? value : -value;
  return `exact: ${resultText(before)} to ${resultText(before - loss)}`;
}
