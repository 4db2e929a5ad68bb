// A game that the newest network of a run plays against itself, move by move.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Game, MoveMessage, Position, ProgressMessage, RunSummary } from "../api";
import type { App } from "../app";
import { Board } from "../board/board";
import { capital, countText } from "../format";
import { Button } from "../ui";
import { newestOf } from "./networks";

const NUM_SIMULATIONS = 50;
const NUM_RANDOM = 2; // plies at the start, so that games differ
const MOVE_MS = 800;
const REST_MS = 3000;

interface Shown {
  position: Position;
  last: number | null;
  iteration: number;
}

/** The game so far, which a pause keeps. */
interface Table {
  moves: number[];
  network: RunSummary["networks"][number] | null;
}

export function SelfPlay({ app, game, run }: { app: App; game: Game; run: RunSummary }) {
  const [shown, setShown] = useState<Shown | null>(null);
  const [error, setError] = useState("");
  const [isPaused, setPaused] = useState(
    () => matchMedia("(prefers-reduced-motion: reduce)").matches,
  );
  const table = useRef<Table>({ moves: [], network: null }).current;
  const box = useRef<HTMLElement>(null);
  const newest = useRef(run);
  newest.current = run;

  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const isSeen = () => {
      const { top, bottom } = box.current?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
      return !document.hidden && bottom > 0 && top < innerHeight;
    };
    const playOn = async () => {
      table.network ??= newestOf(newest.current);
      const now = await look(app, game, table);
      if (signal.aborted) return;
      setError("");
      setShown(now);
      // Nobody waits for a move that is out of sight, and training needs the processor.
      while (!isPaused && !isSeen() && !signal.aborted) await sleep(MOVE_MS);
      if (!isPaused && !signal.aborted) await advance(app, game, table, now.position, signal);
    };
    void (async () => {
      do {
        try {
          await playOn();
        } catch (reason) {
          if (signal.aborted) return;
          setError((reason as Error).message);
          await sleep(REST_MS);
        }
      } while (!signal.aborted && !isPaused);
    })();
    return () => stop.abort();
  }, [isPaused]);

  const [setup] = game.setups;
  return (
    <section class="card self-play" aria-label="Self-play" ref={box}>
      <h2>The newest network plays itself</h2>
      {shown && (
        <Board
          game={game}
          setup={setup}
          position={shown.position}
          last={shown.last}
          legal={[]}
          label={`A game of ${run.name} against itself`}
          onAction={() => undefined}
        />
      )}
      <div class="button-row">
        <Button onClick={() => setPaused(!isPaused)}>{isPaused ? "Play on" : "Pause"}</Button>
        {shown && <p class="hint-text">{stateText(shown, setup.sides)}</p>}
      </div>
      {error && <p class="error-line">{capital(error)}</p>}
    </section>
  );
}

/** Return the position on the table. */
async function look(app: App, game: Game, { moves, network }: Table): Promise<Shown> {
  const request = { game: game.name, moves, from_ply: moves.length };
  const { positions } = await app.backend.position(request);
  const position = positions[positions.length - 1];
  return { position, last: moves.at(-1) ?? null, iteration: network?.iteration ?? 0 };
}

/** Make the next move when it is time, or begin another game. */
async function advance(
  app: App,
  game: Game,
  table: Table,
  { over, legal }: Position,
  signal: AbortSignal,
) {
  if (over) {
    await sleep(REST_MS);
    if (!signal.aborted) Object.assign(table, { moves: [], network: null });
    return;
  }
  const time = sleep(MOVE_MS);
  let action = legal[Math.floor(Math.random() * legal.length)];
  if (table.moves.length >= NUM_RANDOM && table.network) {
    const player = { id: table.network.player, num_simulations: NUM_SIMULATIONS };
    const request = { game: game.name, moves: table.moves, player };
    const onMessage = (message: MoveMessage | ProgressMessage) => {
      if (message.type === "move") action = message.action;
    };
    await app.backend.move(request, { signal, onMessage });
  }
  await time;
  if (!signal.aborted) table.moves = [...table.moves, action];
}

function stateText({ position, iteration }: Shown, sides: [string, string]): string {
  const who = `Iteration ${countText(iteration)}, ${NUM_SIMULATIONS} simulations a move`;
  if (!position.over) return `${who} · ply ${position.ply}`;
  return `${who} · ${position.winner === null ? "draw" : `${sides[position.winner]} wins`}`;
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
