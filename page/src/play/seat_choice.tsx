// The choice of who plays one side.

import type { Game, Level, Setup, Side } from "../api";
import { SidePiece } from "../board/pieces";
import { tallyOf, tallyText } from "./results";
import { clampSimulations, formatSeat, leastSimulations } from "./seats";
import { parseSeat, playerSeat, type Seat } from "./seats";

interface SeatChoiceProps {
  game: Game;
  setup: Setup;
  side: Side;
  seat: Seat;
  onChange: (seat: Seat) => void;
}

export function SeatChoice({ game, setup, side, seat, onChange }: SeatChoiceProps) {
  const name = `${setup.sides[side]}, ${side === 0 ? "first" : "second"}`;
  const player = seat.kind === "player" ? game.players.find(({ id }) => id === seat.id) : null;
  const tally = player && tallyText(tallyOf(player.id));
  const isLevel = (text: string) => game.levels.some((level) => level.name === text);
  const others = game.players.filter((one) => one.id === player?.id || !isLevel(one.name));
  const num = seat.kind === "player" ? seat.num_simulations : null;
  const choose = (value: string) => {
    const [kind, id] = [value.slice(0, 7), value.slice(7)];
    const chosen = kind === "player." ? playerSeat(game, id) : parseSeat(value, game);
    if (chosen) onChange(chosen);
  };
  return (
    <div class="seat">
      <label for={`seat-${side}`} class="seat-side">
        <SidePiece color={setup.colors[side]} />
        {name}
      </label>
      <select
        id={`seat-${side}`}
        value={seat.kind === "player" ? `player.${seat.id}` : formatSeat(seat)}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="human">A person</option>
        {game.levels.length > 0 && (
          <optgroup label="Levels, weakest first">
            {game.levels.map((level) => (
              <option key={level.id} value={`level.${level.id}`} children={levelName(level)} />
            ))}
          </optgroup>
        )}
        <optgroup label="Players">
          {others.map(({ id, name: text }) => (
            <option key={id} value={`player.${id}`} children={text} />
          ))}
        </optgroup>
      </select>
      {player && num !== null && (
        <input
          class="seat-number"
          type="number"
          aria-label={`Simulations of ${name}`}
          title="Simulations for each move"
          min={leastSimulations(player)}
          max={player.max_simulations}
          value={num}
          onChange={({ currentTarget: input }) => {
            const wanted = Math.round(input.valueAsNumber);
            const allowed = Number.isNaN(wanted) ? num : clampSimulations(player, wanted);
            input.value = String(allowed);
            onChange({ kind: "player", id: player.id, num_simulations: allowed });
          }}
        />
      )}
      <p class="hint-text seat-note">{player?.note || (tally && `You so far: ${tally}.`)}</p>
    </div>
  );
}

function levelName({ name, elo, elo_stderr: error }: Level): string {
  if (elo === null) return name;
  const margin = error ? ` \u00b1 ${Math.round(error)}` : "";
  return `${name} \u00b7 Elo ${Math.round(elo)}${margin}`;
}
