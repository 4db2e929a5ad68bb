// A small board without moves.

import type { Game, Setup } from "../api";
import { Ground } from "./ground";
import { CELL, cellOfAction, layoutOf, middleOf } from "./layout";
import { Pieces } from "./pieces";

export interface ThumbnailProps {
  game: Game;
  setup: Setup;
  cells: number[][];
  /** Moves to mark, each with the name of its look: "played" or "best". */
  marks?: { action: number; look: "played" | "best" }[];
  label: string;
}

const LOOKS = {
  played: { symbol: "\u2715", title: "the move it played" },
  best: { symbol: "\u2713", title: "the best move" },
};

export function Thumbnail({ game, setup, cells, marks = [], label }: ThumbnailProps) {
  const layout = layoutOf(game, setup, true);
  return (
    <svg
      viewBox={`0 0 ${layout.width} ${layout.height}`}
      class={`board-thumbnail board-${layout.style}`}
      role="img"
      aria-label={label}
    >
      <Ground {...{ game, setup, layout, least: 0 }}>
        <Pieces {...{ layout, cells, setup }} />
      </Ground>
      {marks.map(({ action, look }) => {
        const cell = cellOfAction(game, cells, action);
        if (!cell) return null;
        const { x, y } = middleOf(layout, cell);
        return (
          <g key={`${action} ${look}`} class={`thumb-mark is-${look}`}>
            <title>{LOOKS[look].title}</title>
            <circle cx={x} cy={y} r={0.36 * CELL} />
            <text x={x} y={y + 19} font-size={52}>
              {LOOKS[look].symbol}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
