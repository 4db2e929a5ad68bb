// A small board without moves, on which some are marked.

import type { Game, Setup } from "../api";
import { Ground } from "./ground";
import { layoutOf } from "./layout";
import { MoveNotes } from "./marks";
import { Pieces } from "./pieces";
import type { MoveNote } from "./types";

interface ThumbnailProps {
  game: Game;
  setup: Setup;
  cells: number[][];
  notes: MoveNote[];
  label: string;
}

export function Thumbnail({ game, setup, cells, notes, label }: ThumbnailProps) {
  const layout = layoutOf(game, setup, true);
  const viewBox = `0 0 ${layout.width} ${layout.height}`;
  const name = `board-thumbnail board-${layout.style}`;
  return (
    <svg viewBox={viewBox} class={name} role="img" aria-label={label}>
      <Ground layout={layout} least={0}>
        <Pieces layout={layout} cells={cells} />
      </Ground>
      <MoveNotes {...{ layout, cells, notes }} />
    </svg>
  );
}
