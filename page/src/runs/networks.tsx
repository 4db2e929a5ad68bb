// The networks of a run: one of them is played, analysed, or tried on positions with exact results.

import { useState } from "preact/hooks";
import type { Game, RunSummary } from "../api";
import type { App } from "../app";
import { countText } from "../format";
import { Button, Choice } from "../ui";
import { MisplayedList } from "./misplayed_list";
import { newestOf } from "./self_play";

interface NetworksProps {
  app: App;
  game: Game | null;
  run: RunSummary;
  isAlone: boolean;
}

export function Networks({ app, game, run, isAlone }: NetworksProps) {
  const [value, setValue] = useState("newest");
  const [list, setList] = useState(0); // the number of the list that is open
  const newest = newestOf(run);
  const network = run.networks.find(({ player }) => player === value) ?? newest;
  const title = isAlone ? "Networks" : `Networks of ${run.name}`;
  if (!network || !game || !run.playable) {
    return (
      <section class="card" aria-label={title}>
        <h2>{title}</h2>
        <p>
          {network
            ? "The networks of this run cannot be played here."
            : "No network of this run is stored here."}
        </p>
      </section>
    );
  }
  const at = { game: game.name, moves: [], player: { id: network.player } };
  const text = ({ iteration }: typeof network) => `iteration ${countText(iteration)}`;
  const options = run.networks
    .toSorted((a, b) => b.iteration - a.iteration)
    .map((one) => [one.player, text(one)] as const);
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      <div class="button-row">
        <Choice
          label="Network"
          value={value}
          options={[["newest", `newest: ${text(newest ?? network)}`], ...options]}
          onChange={setValue}
        />
        <Button onClick={() => app.play(at)}>Play</Button>
        <Button onClick={() => app.analyse(at)}>Analyse</Button>
        <Button onClick={() => setList(list + 1)}>Positions it misplays</Button>
      </div>
      {list > 0 && (
        <MisplayedList key={`${list} ${value}`} app={app} game={game} newest={network} />
      )}
    </section>
  );
}
