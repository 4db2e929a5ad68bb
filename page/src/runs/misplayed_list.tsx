// Positions that a network misplays without search, to try or to analyse.

import { useEffect, useState } from "preact/hooks";
import type { MisplayedMessage, RunSummary, StreamMessage } from "../api";
import { countText, failureOf, resultText } from "../format";
import { Button, Table } from "../ui";
import { ErrorLine, type InGame } from "./parts";

const PAGE = 20; // positions that are shown at once
const COLUMNS = ["Position", "Played", "Best", ""];

type MisplayedListProps = InGame & { network: RunSummary["networks"][number] };

export function MisplayedList({ app, game, ...props }: MisplayedListProps) {
  const [network] = useState(props.network); // a newer one waits for the next list
  const [found, setFound] = useState<MisplayedMessage[]>([]);
  const [{ done, total }, setProgress] = useState({ done: 0, total: 0 });
  const [isRunning, setRunning] = useState(true);
  const [error, setError] = useState("");
  const [room, setRoom] = useState(PAGE);
  const player = { id: network.player, num_simulations: 0 };
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const onMessage = (message: StreamMessage) => {
      if (signal.aborted) return;
      if (message.type === "progress") setProgress(message);
      if (message.type === "misplayed") setFound((before) => [...before, message]);
    };
    const request = { game: game.name, player };
    failureOf(app.backend.runs?.misplayed(request, { signal, onMessage })).then((failure) => {
      if (signal.aborted) return;
      setRunning(false);
      setError(failure);
    });
    return () => stop.abort();
  }, []);
  const left = found.length - room;
  const num = `${countText(found.length)} of ${countText(total)} positions`;
  const progress = `${countText(done)} of ${countText(total)} positions checked.`;
  const [{ id: setup, action_texts: texts }] = game.setups;
  const rows = found.slice(0, room).map(({ moves, played, best, ...values }) => {
    const at = { game: game.name, setup, moves, player };
    return [
      `after ${moves.length} moves`,
      `${texts[played]}: ${resultText(values.value)}`,
      `${best.map((action) => texts[action]).join(", ")}: ${resultText(values.best_value)}`,
      <div class="button-row">
        <Button onClick={() => app.play(at)}>Try it</Button>
        <Button onClick={() => app.analyse(at)}>Analyse</Button>
      </div>,
    ];
  });
  const caption = "Misplayed positions";
  const running = `Iteration ${countText(network.iteration)}: ${progress}`;
  return (
    <div class="misplayed-box">
      {isRunning && <progress aria-label="Progress of the check" value={done} max={total || 1} />}
      <p role="status">
        {isRunning ? running : !error && `Alone, without search, it misplays ${num}.`}
      </p>
      <ErrorLine text={error} />
      {rows.length > 0 && <Table class="runs-table" {...{ caption, rows }} columns={COLUMNS} />}
      {left > 0 && (
        <Button onClick={() => setRoom(room + PAGE)}>Show more ({countText(left)} left)</Button>
      )}
    </div>
  );
}
