// The networks of a run: one of them is played, analysed, or tried on positions with exact results.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Game, RunSummary } from "../api";
import type { App } from "../app";
import { countText } from "../format";
import { Button, Choice } from "../ui";
import { MisplayedList, type Checked } from "./misplayed_list";

type Network = RunSummary["networks"][number];
const NEWEST = "newest";

export function newestOf({ networks }: RunSummary): Network | null {
  return networks.reduce<Network | null>(
    (best, one) => (best && best.iteration >= one.iteration ? best : one),
    null,
  );
}

interface NetworksProps {
  app: App;
  game: Game | null;
  run: RunSummary;
  isAlone: boolean;
}

export function Networks({ app, game, run, isAlone }: NetworksProps) {
  const [value, setValue] = useState(NEWEST);
  const [checked, setChecked] = useState<Checked | null>(null);
  const number = useRef(0);
  const newest = newestOf(run);
  const network = run.networks.find(({ player }) => player === value) ?? newest;
  const check = (isNewer: boolean) => {
    if (!network) return;
    if (!isNewer) number.current += 1;
    setChecked({ ...network, list: number.current });
  };
  // An open list follows the newest network.
  useEffect(() => {
    if (checked && value === NEWEST) check(true);
  }, [newest?.iteration]);

  return (
    <section class="run-networks">
      <h2>{isAlone ? "Networks" : `Networks of ${run.name}`}</h2>
      {network && game && run.playable ? (
        <>
          <div class="button-row">
            <Choice
              label="Network"
              value={value}
              options={options(run.networks, newest)}
              onChange={setValue}
            />
            <Button onClick={() => app.play({ game: game.name, player: { id: network.player } })}>
              Play
            </Button>
            <Button
              onClick={() => app.analyse({ game: game.name, player: { id: network.player } })}
            >
              Analyse
            </Button>
            <Button onClick={() => check(false)}>Positions it misplays</Button>
            {checked && (
              <Button class="quiet" onClick={() => setChecked(null)}>
                Close the list
              </Button>
            )}
          </div>
          {checked && <MisplayedList key={checked.list} app={app} game={game} checked={checked} />}
        </>
      ) : (
        <p>
          {run.networks.length
            ? "The networks of this run cannot be played here."
            : "No network of this run is stored here."}
        </p>
      )}
    </section>
  );
}

function options(networks: Network[], newest: Network | null): [string, string][] {
  const text = ({ iteration }: Network) => `iteration ${countText(iteration)}`;
  const first = newest ? [[NEWEST, `newest: ${text(newest)}`] satisfies [string, string]] : [];
  const sorted = [...networks].sort((a, b) => b.iteration - a.iteration);
  return [...first, ...sorted.map((one): [string, string] => [one.player, text(one)])];
}
