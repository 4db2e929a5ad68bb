// The bar beside the board: how the expected result is shared between the sides.

import type { AnalysisMessage, ExactAnswer, Position } from "../api";

interface ValueBarProps {
  position: Position;
  analysis: AnalysisMessage | null;
  exact: ExactAnswer | null;
  colors: [string, string];
}

/** The part from below belongs to side 0: all of it if side 0 wins, half of it in a draw. */
export function ValueBar({ position, analysis, exact, colors }: ValueBarProps) {
  const { over, winner, to_move: toMove } = position;
  const view = toMove === 0 ? 1 : -1;
  const result = (exact?.known ? exact.value : null) ?? analysis?.proven ?? analysis?.value ?? 0;
  const ended = winner === null ? 0 : winner === 0 ? 1 : -1;
  const value = over ? ended : view * result;
  return (
    <div class={`value-bar piece-${colors[1]}`} aria-hidden="true">
      <div
        class={`value-bar-share piece-${colors[0]}`}
        style={{ blockSize: `${50 + 50 * value}%` }}
      />
    </div>
  );
}
