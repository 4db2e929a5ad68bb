// The networks of a run: one of them is played, analysed, or tried on positions with exact results.

import { useState } from "preact/hooks";
import type { Game, RunSummary } from "../api";
import type { App } from "../app";
import { countText } from "../format";
import { Button, Choice } from "../ui";
import { MisplayedList } from "./misplayed_list";
import { newestFirst, Section } from "./parts";

type NetworksProps = { app: App; game: Game | null; run: RunSummary; isAlone: boolean };

export function Networks({ app, game, run, isAlone }: NetworksProps) {
  const [value, setValue] = useState(""); // the newest, until another one is chosen
  const [list, setList] = useState(0); // the number of the list that is open
  const network = run.networks.find(({ player }) => player === value) ?? newestFirst(run).at(0);
  const title = isAlone ? "Networks" : `Networks of ${run.name}`;
  if (!network || !game || !run.playable) {
    const reason = network ? "They cannot be played here." : "None is stored here.";
    return <Section title={title} children={<p>{reason}</p>} />;
  }
  const at = { game: game.name, moves: [], player: { id: network.player } };
  const text = ({ iteration }: typeof network) => `iteration ${countText(iteration)}`;
  const options = newestFirst(run).map((one) => [one.player, text(one)] as const);
  return (
    <Section title={title}>
      <div class="button-row">
        <Choice label="Network" value={network.player} options={options} onChange={setValue} />
        <Button onClick={() => app.play(at)}>Play</Button>
        <Button onClick={() => app.analyse(at)}>Analyse</Button>
        <Button onClick={() => setList(list + 1)}>Positions it misplays</Button>
      </div>
      {list > 0 && <MisplayedList key={list} {...{ app, game, network }} />}
    </Section>
  );
}
