// The value over a game, for one side, with the mistakes of that side below and the others above.
//
// A click shows a ply, and so do the page's arrow keys. The longer the bar of a mistake, the more it
// lost. Exact values are squares.

import type { Side } from "../api";
import { valueText } from "../format";
import type { GameState } from "../game/game_state";
import { mistakesOf, type Plies, type Ply } from "./review";

const [WIDTH, HEIGHT] = [340, 150];
const [LEFT, RIGHT, TOP, BOTTOM] = [26, WIDTH - 8, 32, HEIGHT - 36];
const LENGTHS = { inaccuracy: 5, mistake: 10, blunder: 15 }; // of bars

const yOf = (value: number) => (TOP + BOTTOM) / 2 - (value * (BOTTOM - TOP)) / 2;

type Known = Ply & { value: number };
type ValuePlotProps = { state: GameState; plies: Plies; view: Side };

export function ValuePlot({ state, plies, view }: ValuePlotProps) {
  const { line, ply, setup } = state.shown.value;
  const last = line.length - 1;
  const xOf = (at: number) => LEFT + (at / Math.max(last, 1)) * (RIGHT - LEFT);
  const sign = view === 0 ? 1 : -1;
  const known = plies.flatMap((found): Known[] =>
    found && found.value !== null ? [{ ...found, value: sign * found.value }] : [],
  );
  const most = (RIGHT - LEFT) / Math.max(last, 1) / 2; // so that points do not hide each other
  const onClick = ({ clientX, currentTarget }: MouseEvent) => {
    const { left, width } = (currentTarget as Element).getBoundingClientRect();
    const x = ((clientX - left) * WIDTH) / width;
    state.show(Math.round(((x - LEFT) / (RIGHT - LEFT)) * last));
  };
  const every = Math.max(Math.ceil(last / 10), 1);
  const ticks = line.map((_, at) => at).filter((at) => at % every === 0);
  const points = known.map((one) => `${xOf(one.ply).toFixed(1)},${yOf(one.value).toFixed(1)}`);
  const path = points.join("L");
  const [first, end] = [known[0], known[known.length - 1]].map((one) => one && xOf(one.ply));
  return (
    <svg
      class="value-plot"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="slider"
      tabindex={0}
      aria-label={`Value for ${setup.sides[view]} over the game`}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={ply}
      aria-valuetext={describe(state, known, view)}
      onClick={onClick}
    >
      <text x={LEFT} y={10} children={`Value for ${setup.sides[view]}`} />
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
      <path class="plot-now" d={`M${xOf(ply)},${TOP}V${BOTTOM}`} />
      {path && <path class="plot-area" d={`M${first},${yOf(0)}L${path}L${end},${yOf(0)}Z`} />}
      {path && <path class="plot-line" d={`M${path}`} />}
      {known.map((found) => (
        <Point key={found.ply} {...{ found, state, most }} x={xOf(found.ply)} />
      ))}
      {mistakesOf(plies).map(({ ply: at, side, grade: { name } }) => (
        <rect
          key={at}
          class={`plot-mistake is-${name}`}
          x={xOf(at) - Math.min(most, 2.5)}
          width={Math.min(2 * most, 5)}
          y={side === view ? BOTTOM + 4 : TOP - 4 - LENGTHS[name]}
          height={LENGTHS[name]}
        />
      ))}
    </svg>
  );
}

type PointProps = { found: Known; state: GameState; x: number; most: number };

/** A value, and whether something is to be said of the move played there. */
function Point({ found: { ply, side, value, grade, exact }, state, x, most }: PointProps) {
  const color = state.shown.value.setup.colors[side];
  const isNow = state.shown.value.ply === ply;
  const y = yOf(value);
  const r = Math.min(grade || isNow ? 4.5 : 2, most);
  const name = `plot-point ${isNow ? "is-now" : ""} ${grade ? `is-mistake piece-${color}` : ""}`;
  if (exact) return <rect class={name} x={x - r} y={y - r} width={2 * r} height={2 * r} />;
  return <circle class={name} cx={x} cy={y} r={r} />;
}

function describe(state: GameState, known: Known[], view: Side): string {
  const { line, ply, setup } = state.shown.value;
  const name = ply ? `After move ${ply}, ${setup.action_texts[line[ply].action ?? 0]}` : "Start";
  const found = known.find((one) => one.ply === ply);
  if (!found) return name;
  const value = `${valueText(found.value)} for ${setup.sides[view]}${found.exact ? ", exact" : ""}`;
  return `${name}: ${value}${found.grade ? `; the move played here is ${found.grade.text}` : ""}`;
}
