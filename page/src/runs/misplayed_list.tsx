// Positions that a network misplays without search: each as a small board, to try or to analyse.
// Those that a newer network plays well are marked as mended.

import { useEffect, useState } from "preact/hooks";
import type { Asked, MisplayedMessage, PositionAnswer, RunSummary, StreamMessage } from "../api";
import { Thumbnail, type ThumbnailProps } from "../board/thumbnail";
import { countText, resultText } from "../format";
import { Button } from "../ui";
import { ErrorLine, type InGame } from "./parts";

const PAGE = 20; // boards that are shown at once

/** Mistakes by the moves that lead to them. */
type Found = Map<string, { message: MisplayedMessage; isMended: boolean }>;

/** `newest`: the network to check; a newer one is checked after it. */
type MisplayedListProps = InGame & { newest: RunSummary["networks"][number] };

export function MisplayedList({ app, game, newest }: MisplayedListProps) {
  const [network, setNetwork] = useState(newest);
  const [since] = useState(newest.iteration);
  const [found, setFound] = useState<Found>(new Map());
  const [{ done, total }, setProgress] = useState({ done: 0, total: 0 });
  const [isRunning, setRunning] = useState(true);
  const [error, setError] = useState("");
  const [room, setRoom] = useState(PAGE);
  const player = { id: network.player, num_simulations: 0 };
  const isFirst = network.iteration === since;

  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const wrong: Found = new Map();
    const onMessage = (message: StreamMessage) => {
      if (signal.aborted) return;
      if (message.type === "progress") setProgress(message);
      if (message.type === "misplayed") {
        wrong.set(message.moves.join(), { message, isMended: false });
        if (isFirst) setFound(new Map(wrong));
      }
      if (message.type === "done") setFound((before) => merged(before, wrong));
    };
    const ended = (reason?: Error) => {
      if (signal.aborted) return;
      setRunning(false);
      setError(reason?.message ?? "");
    };
    setRunning(true);
    const request = { game: game.name, player };
    app.backend.runs?.misplayed(request, { signal, onMessage }).then(() => ended(), ended);
    return () => stop.abort();
  }, [network.player]);
  // A check comes to its end before a newer network is tried.
  useEffect(() => {
    if (!isRunning) setNetwork(newest);
  }, [isRunning, newest.player]);

  const all = [...found.entries()].sort(([, a], [, b]) => Number(a.isMended) - Number(b.isMended));
  const num = all.filter(([, { isMended }]) => !isMended).length;
  const left = all.length - room;
  const showMore = () => setRoom(room + PAGE);
  const result = isFirst
    ? `Alone, without search, it misplays ${countText(num)} of ${countText(total)} positions.`
    : `${num} misplayed, ${all.length - num} mended since iteration ${countText(since)}.`;
  const progress = `${countText(done)} of ${countText(total)} positions checked.`;
  const running = `Iteration ${countText(network.iteration)}: ${progress}`;
  return (
    <div class="misplayed-box">
      {isRunning && <progress aria-label="Progress of the check" value={done} max={total || 1} />}
      <p role="status">{isRunning ? running : !error && result}</p>
      <ErrorLine text={error} />
      <ul class="misplayed-list">
        {all.slice(0, room).map(([key, { message, isMended }]) => (
          <li key={key} class={`misplayed ${isMended ? "is-mended" : ""}`}>
            {isMended && <strong>mended</strong>}
            <Mistake {...{ app, game, message, player }} />
          </li>
        ))}
      </ul>
      {left > 0 && <Button onClick={showMore}>Show more ({countText(left)} left)</Button>}
    </div>
  );
}

/** Return what was found before with what is found now; what is found no more is mended. */
function merged(before: Found, now: Found): Found {
  const mended: Found = new Map(before);
  mended.forEach(({ message }, key) => mended.set(key, { message, isMended: true }));
  return new Map([...mended, ...now]);
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
  const marks: ThumbnailProps["marks"] = best.map((action) => ({ action, look: "best" }));
  marks.push({ action: played, look: "played" });
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
      <Thumbnail {...{ game, setup, marks, label }} cells={position.cells} />
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
