// Who analyses, how long, start and stop, and how far the search is.

import type { Asked, Game, Player } from "../api";
import { capital, countText } from "../format";
import { clampSimulations } from "../play/seats";
import { Button, Choice } from "../ui";
import type { Found, PositionSearch } from "./position_search";

const SIMULATIONS = [0, 50, 200, 500, 1000, 2000, 5000, 10000, 50000];

/** Return the players of a game that have a search to show. */
export function analystsOf(game: Game): Player[] {
  return game.players.filter(({ kind }) => kind === "network" || kind === "uct");
}

interface ControlsProps {
  game: Game;
  player: Required<Asked> | null;
  search: PositionSearch;
  hasMoves: boolean;
  onPlayer: (player: Required<Asked>) => void;
}

export function Controls({ game, player, search, hasMoves, onPlayer }: ControlsProps) {
  const { analysis, error, isRunning } = search.found.value;
  const analysts = analystsOf(game);
  if (!player) {
    return <p class="search-status">Nobody here can analyse this game: train a network first.</p>;
  }
  const { id, num_simulations: num } = player;
  const total = analysis?.total ?? num;
  const amounts = amountsOf(game, player).map((one) => {
    return [`${one}`, one ? countText(one) : "0 (network alone)"] as const;
  });
  const startOrStop = () => (isRunning ? search.stop() : search.start());
  return (
    <div class="analysis-controls">
      <Choice
        label="Analyst"
        value={id}
        options={analysts.map((one) => [one.id, one.name])}
        onChange={(chosen) => onPlayer({ ...player, id: chosen })}
      />
      <Choice
        label="Simulations"
        value={String(num)}
        options={amounts}
        onChange={(value) => onPlayer({ id, num_simulations: Number(value) })}
      />
      <Button class="run-button" off={!hasMoves} onClick={startOrStop}>
        {isRunning ? "Stop" : "Start"}
      </Button>
      <p class="search-status">{hasMoves ? statusText(search.found.value, total) : ""}</p>
      <p class="error-line" role="alert" children={capital(error)} />
    </div>
  );
}

/** Return the numbers of simulations that an analyst may be asked for. */
function amountsOf(game: Game, { id, num_simulations: chosen }: Required<Asked>): number[] {
  const near = (num: number) => clamped(game, { id, num_simulations: num }).num_simulations;
  return [...new Set([...SIMULATIONS, chosen, Infinity].map(near))].sort((a, b) => a - b);
}

/** Return a number of simulations that the analyst takes, as near as possible. */
export function clamped(game: Game, { id, num_simulations: num }: Required<Asked>) {
  const player = game.players.find((one) => one.id === id);
  return { id, num_simulations: player ? clampSimulations(player, num) : num };
}

function statusText({ analysis, isRunning }: Found, total: number): string {
  const done = analysis?.num_simulations ?? 0;
  const text = `${countText(done)} of ${countText(total)} simulations`;
  if (isRunning) return analysis ? text : "The search begins \u2026";
  if (analysis === null) return "Stopped";
  if (!analysis.final) return `${text}, stopped`;
  return analysis.proven !== null && done < total ? `${text}, result proven` : text;
}
