// The value over a game: a line for side 0 over the plies, with the mistakes of each side marked.
//
// A click, or the arrow keys, shows a ply. What a mistake lost is said by the signs of chess: ?! ?
// ??, in the colour of the side that made it. Exact values are squares.

import type { PlyMessage, Side } from "../api";
import { valueText } from "../format";
import type { GameState } from "../game/game_state";
import { mistakeOf, type Reviewed } from "./review";

const [WIDTH, HEIGHT] = [340, 132];
const MARGIN = { top: 14, right: 8, bottom: 22, left: 26 };
const [LEFT, RIGHT] = [MARGIN.left, WIDTH - MARGIN.right];
const [TOP, BOTTOM] = [MARGIN.top, HEIGHT - MARGIN.bottom];

const yOf = (value: number) => (TOP + BOTTOM) / 2 - (value * (BOTTOM - TOP)) / 2;

type Known = PlyMessage & { value: number; side: Side };

export function ValuePlot({ state, plies }: { state: GameState; plies: Reviewed["plies"] }) {
  const { line, ply, setup } = state.shown.value;
  const last = line.length - 1;
  const xOf = (at: number) => LEFT + (at / Math.max(last, 1)) * (RIGHT - LEFT);
  const known = plies.flatMap((found) =>
    found && found.value !== null && line[found.ply]
      ? [{ ...found, side: line[found.ply].position.to_move } as Known]
      : [],
  );
  const onClick = (event: MouseEvent) => {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
    const at = ((event.clientX - left) * WIDTH) / width;
    state.show(Math.round(((at - LEFT) / (RIGHT - LEFT)) * last));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowLeft: -1,
      ArrowDown: -1,
      ArrowRight: 1,
      ArrowUp: 1,
    };
    const leaps: Record<string, number> = { PageDown: -10, PageUp: 10, Home: -last, End: last };
    const step = steps[event.key] ?? leaps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    state.show(ply + step);
  };
  const every = Math.max(Math.ceil(last / 10), 1);
  const ticks = line.map((_, at) => at).filter((at) => at % every === 0);
  return (
    <svg
      class="value-plot"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="slider"
      tabindex={0}
      aria-label="Value over the game"
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={ply}
      aria-valuetext={describe(state, plies)}
      onClick={onClick}
      onKeyDown={onKeyDown}
    >
      {[1, 0, -1].map((value) => (
        <g key={value}>
          <line
            class={value ? "chart-grid" : "chart-axis"}
            x1={LEFT}
            x2={RIGHT}
            y1={yOf(value)}
            y2={yOf(value)}
          />
          <text x={LEFT - 5} y={yOf(value) + 4} text-anchor="end">
            {value ? valueText(value).slice(0, 2) : "0"}
          </text>
        </g>
      ))}
      {ticks.map((at) => (
        <text key={at} x={xOf(at)} y={HEIGHT - 5} text-anchor="middle">
          {at}
        </text>
      ))}
      <line class="plot-now" x1={xOf(ply)} x2={xOf(ply)} y1={TOP} y2={BOTTOM} />
      {known.length > 0 && <path class="plot-area" d={area(known, xOf)} />}
      {known.length > 0 && <path class="plot-line" d={`M${points(known, xOf)}`} />}
      {known.map((found) => (
        <Point
          key={found.ply}
          found={found}
          x={xOf(found.ply)}
          isNow={found.ply === ply}
          color={setup.colors[found.side]}
        />
      ))}
    </svg>
  );
}

/** A value, and what is to be said of the move played there. */
function Point({
  found,
  x,
  isNow,
  color,
}: {
  found: Known;
  x: number;
  isNow: boolean;
  color: string;
}) {
  const mistake = mistakeOf(found.loss);
  const y = yOf(found.value);
  const r = mistake || isNow ? 4.5 : 2;
  const name = `plot-point ${isNow ? "is-now" : ""} ${mistake ? `is-mistake piece-${color}` : ""}`;
  return (
    <>
      {found.exact ? (
        <rect class={name} x={x - r} y={y - r} width={2 * r} height={2 * r} />
      ) : (
        <circle class={name} cx={x} cy={y} r={r} />
      )}
      {mistake && (
        <text class="plot-sign" x={x} y={found.value > 0.5 ? y + 17 : y - 7} text-anchor="middle">
          {mistake.sign}
        </text>
      )}
    </>
  );
}

function points(known: Known[], xOf: (ply: number) => number): string {
  return known.map(({ ply, value }) => `${xOf(ply).toFixed(1)},${yOf(value).toFixed(1)}`).join("L");
}

/** Return the area between the line and zero. */
function area(known: Known[], xOf: (ply: number) => number): string {
  const [first, last] = [known[0], known[known.length - 1]].map(({ ply }) => xOf(ply));
  return `M${first},${yOf(0)}L${points(known, xOf)}L${last},${yOf(0)}Z`;
}

function describe(state: GameState, plies: Reviewed["plies"]): string {
  const { line, ply, setup } = state.shown.value;
  const name = ply ? `After move ${ply}, ${setup.action_texts[line[ply].action ?? 0]}` : "Start";
  const found = plies[ply];
  if (!found || found.value === null) return name;
  const value = `${valueText(found.value)} for ${setup.sides[0]}${found.exact ? ", exact" : ""}`;
  const mistake = mistakeOf(found.loss);
  return `${name}: ${value}${mistake ? `; the move played here is a ${mistake.name}` : ""}`;
}
