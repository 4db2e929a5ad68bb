// Positions that a network misplays without search: each as a small board, to try or to analyse.

import { useEffect, useState } from "preact/hooks";
import type { Asked, MisplayedMessage, PositionAnswer, RunSummary, StreamMessage } from "../api";
import { Thumbnail } from "../board/thumbnail";
import { countText, failureOf, resultText } from "../format";
import { Button } from "../ui";
import { ErrorLine, type InGame } from "./parts";

const PAGE = 20; // boards that are shown at once

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
      if (message.type === "progress" && !message.done) setFound([]); // the check begins anew
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
  const running = `Iteration ${countText(network.iteration)}: ${progress}`;
  return (
    <div class="misplayed-box">
      {isRunning && <progress aria-label="Progress of the check" value={done} max={total || 1} />}
      <p role="status">
        {isRunning ? running : !error && `Alone, without search, it misplays ${num}.`}
      </p>
      <ErrorLine text={error} />
      <ul class="misplayed-list">
        {found.slice(0, room).map((message) => (
          <li key={message.moves.join()} class="misplayed">
            <Mistake {...{ app, game, message, player }} />
          </li>
        ))}
      </ul>
      {left > 0 && (
        <Button onClick={() => setRoom(room + PAGE)}>Show more ({countText(left)} left)</Button>
      )}
    </div>
  );
}

type MistakeProps = InGame & { message: MisplayedMessage; player: Asked };

function Mistake({ app, game, message, player }: MistakeProps) {
  const { played, best, value, best_value: bestValue } = message;
  const [answer, setAnswer] = useState<PositionAnswer | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    const request = { game: game.name, moves: message.moves, from_ply: message.moves.length };
    app.backend.position(request).then(setAnswer, (reason: Error) => setError(reason.message));
  }, []);
  if (!answer) return <ErrorLine text={error} />;
  const { moves, positions } = answer;
  const position = positions[positions.length - 1];
  const [setup] = game.setups;
  const toMove = `${setup.sides[position.to_move]} to move`;
  const bestTexts = best.map((action) => setup.action_texts[action]).join(", ");
  const playedText = setup.action_texts[played];
  const good = best.map((action) => ({ action, sign: "\u2713", text: "best", isGood: true }));
  const notes = [...good, { action: played, sign: "\u2715", text: "played", isGood: false }];
  const label = `${toMove} after ${moves.length} moves: played ${playedText}, best ${bestTexts}`;
  const at = { game: game.name, setup: setup.id, moves, player };
  const line = (name: string, sign: string, move: string, result: number) => (
    <p class={`misplayed-${name}`}>
      <span class="misplayed-sign" aria-hidden="true" children={sign} />
      {name} {move}: <strong>{resultText(result)}</strong>
    </p>
  );
  return (
    <>
      <Thumbnail {...{ game, setup, notes, label }} cells={position.cells} />
      <p class="misplayed-side">{`${toMove}, ply ${moves.length}`}</p>
      {line("played", "✕", playedText, value)}
      {line("best", "✓", bestTexts, bestValue)}
      <div class="button-row">
        <Button onClick={() => app.play(at)}>Try it</Button>
        <Button onClick={() => app.analyse(at)}>Analyse</Button>
      </div>
    </>
  );
}
