// Positions that a network misplays without search: each as a small board, to try or to analyse.
// When a newer network is checked, those that it plays well are marked as mended.

import { useEffect, useState } from "preact/hooks";
import type { Game, MisplayedMessage, PositionAnswer, StreamMessage } from "../api";
import type { App } from "../app";
import { Thumbnail } from "../board/thumbnail";
import { capital, countText, resultText } from "../format";
import { Button } from "../ui";

const PAGE = 20; // boards that are shown at once

/** A network to check; another `list` begins anew. */
export interface Checked {
  player: string;
  iteration: number;
  list: number;
}

interface Found {
  message: MisplayedMessage;
  isMended: boolean;
}

interface MisplayedListProps {
  app: App;
  game: Game;
  checked: Checked;
}

export function MisplayedList({ app, game, checked }: MisplayedListProps) {
  // A check comes to its end before a newer network is tried.
  const [network, setNetwork] = useState(checked);
  const [isRunning, setRunning] = useState(true);
  const [found, setFound] = useState(() => new Map<string, Found>());
  const [progress, setProgress] = useState<{ done: number; total: number } | null>(null);
  const [status, setStatus] = useState("");
  const [error, setError] = useState("");
  const [room, setRoom] = useState(PAGE);
  const [since] = useState(checked.iteration);
  const player = { id: network.player, num_simulations: 0 };

  useEffect(() => {
    if (isRunning || checked.player === network.player) return;
    setNetwork(checked);
    setRunning(true);
  }, [isRunning, checked.player]);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const wrong = new Map<string, Found>();
    setError("");
    setStatus("Comparing the network\u2019s moves with exact results \u2026");
    const onMessage = (message: StreamMessage) => {
      if (signal.aborted) return;
      if (message.type === "progress") {
        setProgress(message);
        setStatus(`${countText(message.done)} of ${countText(message.total)} positions checked`);
      } else if (message.type === "misplayed") {
        wrong.set(message.moves.join(), { message, isMended: false });
        if (network.iteration === since) setFound(new Map(wrong));
      } else if (message.type === "done") {
        const { num_positions: num = 0 } = message;
        setFound((before) => merged(before, wrong));
        setStatus(summary(num, wrong.size));
      }
    };
    const failed = (reason: Error) => {
      if (signal.aborted) return;
      setStatus("");
      setError(reason.message);
    };
    const ended = () => {
      if (signal.aborted) return;
      setProgress(null);
      setRunning(false);
    };
    void app.backend.runs
      ?.misplayed({ game: game.name, player }, { signal, onMessage })
      .catch(failed)
      .finally(ended);
    return () => stop.abort();
  }, [network.player]);

  const all = [...found.entries()].sort(([, a], [, b]) => Number(a.isMended) - Number(b.isMended));
  const mended = all.filter(([, { isMended }]) => isMended).length;
  const left = all.length - room;
  return (
    <div class="misplayed-box">
      {progress && (
        <progress aria-label="Progress of the check" value={progress.done} max={progress.total} />
      )}
      <p class="misplayed-status" role="status">
        {status}
        {network.iteration !== since &&
          ` ${all.length - mended} misplayed, ${mended} mended since iteration ${countText(since)}.`}
      </p>
      {error && (
        <p class="error-line" role="alert">
          {capital(error)}
        </p>
      )}
      <ul class="misplayed-list">
        {all.slice(0, room).map(([key, one]) => (
          <li key={key} class={`misplayed ${one.isMended ? "is-mended" : ""}`}>
            <Card app={app} game={game} found={one} player={player} />
          </li>
        ))}
      </ul>
      {left > 0 && (
        <Button onClick={() => setRoom(room + PAGE)}>Show more ({countText(left)} left)</Button>
      )}
    </div>
  );
}

/** Return what was found before with what is found now: the rest is mended. */
function merged(before: Map<string, Found>, now: Map<string, Found>): Map<string, Found> {
  const mended = [...before].map(
    ([key, { message }]) => [key, { message, isMended: true }] as const,
  );
  return new Map([...mended, ...now]);
}

function summary(num: number, wrong: number): string {
  return wrong === 0
    ? `Alone, without search, it keeps the result in all ${countText(num)} positions.`
    : `Alone, without search, it misplays ${countText(wrong)} of ${countText(num)} positions.`;
}

interface CardProps {
  app: App;
  game: Game;
  found: Found;
  player: { id: string; num_simulations: number };
}

function Card({ app, game, found: { message, isMended }, player }: CardProps) {
  const { played, best, value, best_value: bestValue } = message;
  const [answer, setAnswer] = useState<PositionAnswer | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    const { moves } = message;
    const request = { game: game.name, moves, from_ply: moves.length };
    app.backend.position(request).then(setAnswer, (reason: Error) => setError(reason.message));
  }, []);
  if (error) return <p class="error-line">{capital(error)}</p>;
  if (!answer) return null;
  const { moves, positions } = answer;
  const position = positions[positions.length - 1];
  const [setup] = game.setups;
  const side = setup.sides[position.to_move];
  const playedText = setup.action_texts[played];
  const bestTexts = best.map((action) => setup.action_texts[action]).join(", ");
  const said = `${side} to move after ${moves.length} moves: played ${playedText}, best ${bestTexts}`;
  const marks = [
    ...best.map((action) => ({ action, look: "best" }) as const),
    { action: played, look: "played" } as const,
  ];
  const at = { game: game.name, setup: setup.id, moves, player };
  const line = (name: string, sign: string, move: string, result: number) => (
    <p class={`misplayed-${name}`}>
      <span class="misplayed-sign" aria-hidden="true">
        {sign}
      </span>
      {name} {move}: <strong>{resultText(result)}</strong>
    </p>
  );
  return (
    <>
      <Thumbnail game={game} setup={setup} cells={position.cells} marks={marks} label={said} />
      <p class="misplayed-side">
        {isMended && <strong>mended </strong>}
        {side} to move, ply {moves.length}
      </p>
      {line("played", "\u2715", playedText, value)}
      {line("best", "\u2713", bestTexts, bestValue)}
      <div class="button-row">
        <Button onClick={() => app.play(at)}>Try it</Button>
        <Button onClick={() => app.analyse(at)}>Analyse</Button>
      </div>
    </>
  );
}
