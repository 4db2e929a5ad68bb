// The networks that a run has kept, to play against or to analyse with. Beside each stands how the
// person's games against it ended.

import { useState } from "preact/hooks";
import type { Game, RunSummary } from "../api";
import type { App } from "../app";
import { countText, UNKNOWN } from "../format";
import { tallyOf, tallyText } from "../play/results";
import { Button } from "../ui";
import { type Network, Section } from "./parts";

const TITLE = "You against it, as it learned";

export function Networks({ app, game, run }: { app: App; game: Game | null; run: RunSummary }) {
  const [chosen, choose] = useState(""); // the newest, until another one is chosen
  const network = run.networks.find(({ player }) => player === chosen) ?? run.networks.at(0);
  if (!network || !game || !run.playable) {
    const reason = network ? "Its networks cannot be played here." : "No network is stored here.";
    return <Section title={TITLE} children={<p>{reason}</p>} />;
  }
  const at = { game: game.name, moves: [], player: { id: network.player } };
  const name = `iteration ${countText(network.iteration)}`;
  return (
    <Section title={TITLE}>
      <p>{tallySummary(run.networks)}</p>
      <div class="network-list" role="group" aria-label="Iteration">
        {run.networks.toReversed().map((one) => (
          <Button
            key={one.player}
            aria-pressed={one === network}
            onClick={() => choose(one.player)}
          >
            {countText(one.iteration)} <small>{tallyText(tallyOf(one.player)) || UNKNOWN}</small>
          </Button>
        ))}
      </div>
      <p class="hint-text">{keptText(run.networks)}</p>
      <div class="button-row">
        <Button class="primary" onClick={() => app.play({ ...at, isNew: true })}>
          Play against {name}
        </Button>
        <Button onClick={() => app.analyse(at)}>Analyse with it</Button>
      </div>
    </Section>
  );
}

/** Return when the run began to win against the person; the newest network comes first. */
function tallySummary(networks: Network[]): string {
  const lostTo = networks.findLast(({ player }) => tallyOf(player).lost);
  const beaten = networks.find(({ player }) => tallyOf(player).won);
  if (!lostTo && !beaten) return "When did it begin to win against you? Play some of its networks:";
  const lost = lostTo ? `First won against you: iteration ${countText(lostTo.iteration)}. ` : "";
  return lost + (beaten ? `Last that you beat: iteration ${countText(beaten.iteration)}.` : "");
}

/** Return which networks are kept: of a long run, those of every 2nd, 4th ... iteration. */
function keptText(networks: Network[]): string {
  const every = networks[networks.length - 1].iteration;
  const which = every > 1 ? `every ${every} iterations, besides the newest two` : "every iteration";
  return `Numbers are iterations: a network is kept ${which}. Your games count in this browser.`;
}
