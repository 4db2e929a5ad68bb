// Steps through a game: to its ends, back and forth, or to any move of the list.

import { useLayoutEffect, useRef } from "preact/hooks";
import { moveText } from "../format";
import type { App } from "../app";
import { TurnButton } from "../board/turn";
import { Button } from "../ui";
import type { GameState } from "./game_state";
import type { GameNode } from "./types";

/** Outlines on a square of 16 units. */
const ICONS = {
  start: "M3 3v10M13 3L6 8l7 5z",
  back: "M11 3L4 8l7 5z",
  forth: "M5 3l7 5-7 5z",
  end: "M3 3l7 5-7 5zM13 3v10",
};

/** Below a board: the buttons that step, around the number of the move shown, and one to turn it. */
export function StepButtons({ state }: { state: GameState }) {
  const { line, ply, game } = state.shown.value;
  const last = line.length - 1;
  const step = (name: string, icon: keyof typeof ICONS, to: number, off: boolean) => (
    <Button class="step" aria-label={name} title={name} off={off} onClick={() => state.show(to)}>
      <svg viewBox="0 0 16 16" class="step-icon" aria-hidden="true">
        <path d={ICONS[icon]} />
      </svg>
    </Button>
  );
  return (
    <div class="below-board">
      <div class="step-row">
        {step("To the start", "start", 0, ply === 0)}
        {step("One move back", "back", ply - 1, ply === 0)}
        <span class="step-place">{`${ply} / ${last}`}</span>
        {step("One move on", "forth", ply + 1, ply === last)}
        {step("To the end", "end", last, ply === last)}
      </div>
      <TurnButton game={game} />
    </div>
  );
}

export function MoveList({ app }: { app: App }) {
  const { line } = app.game.shown.value;
  const list = useMoveInSight<HTMLOListElement>(app);
  return (
    <ol class="move-list" aria-label="Moves" ref={list}>
      {line.slice(1).map((node, k) => (
        <li key={k}>
          <MoveButton app={app} node={node} number={k + 1} />
        </li>
      ))}
    </ol>
  );
}

type MoveButtonProps = { app: App; node: GameNode; number: number };

/** A move in a list, with its sign if a review found something; a click shows what follows it. */
export function MoveButton({ app, node, number }: MoveButtonProps) {
  const { game: state } = app;
  const grade = app.review.now.value.moves.get(node)?.grade;
  const { line, ply, setup } = state.shown.value;
  const { position } = node.parent ?? node;
  const text = moveText(setup, position, node.action ?? 0);
  const isJudged = grade && line[ply + 1] === node; // on the board, the position before it
  return (
    <Button
      class={`move-step ${line.includes(node) ? "is-on-line" : ""} ${isJudged ? "is-judged" : ""}`}
      aria-label={[`Move ${number}`, text, grade?.text].filter(Boolean).join(", ")}
      aria-current={line[ply] === node ? "step" : undefined}
      onClick={() => state.goTo(node)}
    >
      <span class="move-number">{number}.</span>
      {text}
      {grade && <span class={`move-sign is-${grade.name}`} children={grade.sign} />}
    </Button>
  );
}

/** Return the ref of a box that scrolls to the move shown; the page itself stays where it is. */
export function useMoveInSight<T extends HTMLElement>(app: App) {
  const { line, ply } = app.game.shown.value;
  const box = useRef<T>(null);
  useLayoutEffect(() => {
    if (!box.current) return;
    const outer = box.current.getBoundingClientRect();
    const inner = box.current.querySelector("[aria-current]")?.getBoundingClientRect();
    if (!inner) box.current.scrollTop = 0;
    else if (inner.top < outer.top || inner.bottom > outer.bottom)
      box.current.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
  }, [line[ply], app.review.now.value.isRunning]); // a review adds signs
  return box;
}
