// A small board without moves.

import type { Game, Setup } from "../api";
import { Ground } from "./ground";
import { layoutOf } from "./layout";
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
  const viewBox = `0 0 ${layout.width} ${layout.height}`;
  const name = `board-thumbnail board-${layout.style}`;
  return (
    <svg viewBox={viewBox} class={name} role="img" aria-label={label}>
      <Ground layout={layout} least={0}>
        <Pieces layout={layout} cells={cells} />
      </Ground>
      {marks.map(({ action, look }) => {
        const cell = layout.landing(cells, action);
        if (!cell) return null;
        return (
          <g key={`${action} ${look}`} class={`thumb-mark is-${look}`} transform={layout.at(cell)}>
            <title>{LOOKS[look].title}</title>
            <circle r={36} />
            <text y={19} font-size={52} children={LOOKS[look].symbol} />
          </g>
        );
      })}
    </svg>
  );
}
