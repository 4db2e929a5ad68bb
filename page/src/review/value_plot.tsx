// The value over a game: a line for side 0 over the plies, with the mistakes of each side marked.
//
// A click, or the arrow keys, shows a ply. What a mistake lost is said by the signs of chess: ?! ?
// ??, in the colour of the side that made it. Exact values are squares.

import type { PlyMessage } from "../api";
import { valueText } from "../format";
import type { GameState } from "../game/game_state";
import { mistakeOf, type Reviewed } from "./review";

const [WIDTH, HEIGHT] = [340, 132];
const [LEFT, RIGHT, TOP, BOTTOM] = [26, WIDTH - 8, 14, HEIGHT - 22];
const STEPS = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
};

const yOf = (value: number) => (TOP + BOTTOM) / 2 - (value * (BOTTOM - TOP)) / 2;

type Known = PlyMessage & { value: number };

export function ValuePlot({ state, plies }: { state: GameState; plies: Reviewed["plies"] }) {
  const { line, ply, setup } = state.shown.value;
  const last = line.length - 1;
  const xOf = (at: number) => LEFT + (at / Math.max(last, 1)) * (RIGHT - LEFT);
  const known = plies.filter(
    (found): found is Known => found !== undefined && found.value !== null && found.ply <= last,
  );
  const onClick = ({ clientX, currentTarget }: MouseEvent) => {
    const { left, width } = (currentTarget as Element).getBoundingClientRect();
    const x = ((clientX - left) * WIDTH) / width;
    state.show(Math.round(((x - LEFT) / (RIGHT - LEFT)) * last));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ...STEPS, Home: -last, End: last };
    if (!(event.key in steps)) return;
    event.preventDefault();
    state.show(ply + steps[event.key]);
  };
  const every = Math.max(Math.ceil(last / 10), 1);
  const ticks = line.map((_, at) => at).filter((at) => at % every === 0);
  const points = known.map((one) => `${xOf(one.ply).toFixed(1)},${yOf(one.value).toFixed(1)}`);
  const path = points.join("L");
  const [first, end] = [known[0], known[known.length - 1]].map((one) => one && xOf(one.ply));
  const now = xOf(ply);
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
      {...{ onClick, onKeyDown }}
    >
      {[1, 0, -1].map((value) => (
        <g key={value}>
          <path class={value ? "chart-grid" : "chart-axis"} d={`M${LEFT},${yOf(value)}H${RIGHT}`} />
          <text x={LEFT - 5} y={yOf(value) + 4} text-anchor="end">
            {value ? valueText(value).slice(0, 2) : "0"}
          </text>
        </g>
      ))}
      {ticks.map((at) => (
        <text key={at} x={xOf(at)} y={HEIGHT - 5} text-anchor="middle" children={at} />
      ))}
      <path class="plot-now" d={`M${now},${TOP}V${BOTTOM}`} />
      {path && <path class="plot-area" d={`M${first},${yOf(0)}L${path}L${end},${yOf(0)}Z`} />}
      {path && <path class="plot-line" d={`M${path}`} />}
      {known.map((found) => (
        <Point
          key={found.ply}
          found={found}
          x={xOf(found.ply)}
          isNow={found.ply === ply}
          color={setup.colors[line[found.ply].position.to_move]}
        />
      ))}
    </svg>
  );
}

type PointProps = { found: Known; x: number; isNow: boolean; color: string };

/** A value, and what is to be said of the move played there. */
function Point({ found: { value, loss, exact }, x, isNow, color }: PointProps) {
  const mistake = mistakeOf(loss);
  const y = yOf(value);
  const r = mistake || isNow ? 4.5 : 2;
  const name = `plot-point ${isNow ? "is-now" : ""} ${mistake ? `is-mistake piece-${color}` : ""}`;
  const sign = { class: "plot-sign", "text-anchor": "middle", x, y: value > 0.5 ? y + 17 : y - 7 };
  return (
    <>
      {exact && <rect class={name} x={x - r} y={y - r} width={2 * r} height={2 * r} />}
      {!exact && <circle class={name} cx={x} cy={y} r={r} />}
      {mistake && <text {...sign}>{mistake.sign}</text>}
    </>
  );
}

function describe(state: GameState, plies: Reviewed["plies"]): string {
  const { line, ply, setup } = state.shown.value;
  const name = ply ? `After move ${ply}, ${setup.action_texts[line[ply].action ?? 0]}` : "Start";
  const found = plies[ply];
  if (!found || found.value === null) return name;
  const value = `${valueText(found.value)} for ${setup.sides[0]}${found.exact ? ", exact" : ""}`;
  const mistake = mistakeOf(found.loss);
  return `${name}: ${value}${mistake ? `; the move played here is ${mistake.text}` : ""}`;
}
