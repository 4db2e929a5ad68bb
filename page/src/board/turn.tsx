// From which side the board of a game is seen, as this browser keeps it.

import { signal } from "@preact/signals";
import type { Game } from "../api";
import { keep, kept } from "../kept";
import { Button } from "../ui";

const turned = signal(kept<string>("turned")); // names of games

/** Return whether the boards of a game are seen from the other side. */
export function isTurned({ name }: Game): boolean {
  return turned.value.includes(name);
}

/** A button that turns the boards of a game by half a turn; there is none where discs fall. */
export function TurnButton({ game }: { game: Game }) {
  if (!["square", "move"].includes(game.action_kind)) return null;
  const turn = () => {
    const others = turned.value.filter((name) => name !== game.name);
    turned.value = isTurned(game) ? others : [game.name, ...others];
    keep("turned", turned.value);
  };
  return (
    <Button class="step" title="Turn the board" aria-pressed={isTurned(game)} onClick={turn}>
      <svg viewBox="0 0 24 24" class="icon" aria-hidden="true">
        <path d="M8 20V5M4 9l4-4 4 4M16 4v15M12 15l4 4 4-4" />
      </svg>
    </Button>
  );
}
