// Steps through a game: to its ends, back and forth, or to any move of the list.

import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../ui";
import type { GameState } from "./game_state";

/** Outlines on a square of 16 units. */
const ICONS = {
  start: "M3 3v10M13 3L6 8l7 5z",
  back: "M11 3L4 8l7 5z",
  forth: "M5 3l7 5-7 5z",
  end: "M3 3l7 5-7 5zM13 3v10",
};

/** The buttons that step, around the number of the move shown. */
export function StepButtons({ state }: { state: GameState }) {
  const { line, ply } = state.shown.value;
  const last = line.length - 1;
  const step = (name: string, icon: keyof typeof ICONS, to: number, off: boolean) => (
    <Button class="step" aria-label={name} title={name} off={off} onClick={() => state.show(to)}>
      <svg viewBox="0 0 16 16" class="step-icon" aria-hidden="true">
        <path d={ICONS[icon]} />
      </svg>
    </Button>
  );
  return (
    <div class="step-row">
      {step("To the start", "start", 0, ply === 0)}
      {step("One move back", "back", ply - 1, ply === 0)}
      <span class="step-place">
        {ply} / {last}
      </span>
      {step("One move on", "forth", ply + 1, ply === last)}
      {step("To the end", "end", last, ply === last)}
    </div>
  );
}

/** The moves of the line that is shown. */
export function MoveList({ state }: { state: GameState }) {
  const { line, ply, setup } = state.shown.value;
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => scrollTo(list.current, ply), [ply, line.length]);
  return (
    <ol class="move-list" aria-label="Moves" ref={list}>
      {line.slice(1).map(({ action }, k) => {
        const text = setup.action_texts[action ?? 0];
        return (
          <li key={k}>
            <button
              type="button"
              class="move-step"
              aria-label={`Move ${k + 1}, ${text}`}
              aria-current={k + 1 === ply ? "step" : undefined}
              onClick={() => state.show(k + 1)}
            >
              <span class="move-number">{k + 1}.</span>
              {text}
            </button>
          </li>
        );
      })}
    </ol>
  );
}

/** Bring the move of the position shown into sight; the page itself stays where it is. */
function scrollTo(list: HTMLElement | null, ply: number): void {
  if (!list) return;
  const item = list.children[ply - 1];
  if (!item) {
    list.scrollTop = 0;
    return;
  }
  const [inner, outer] = [item.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inner.top >= outer.top && inner.bottom <= outer.bottom) return;
  list.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
}
