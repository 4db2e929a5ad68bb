// A game that the newest network of a run plays against itself, move by move.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Game, Position, RunSummary, StreamMessage } from "../api";
import type { App } from "../app";
import { Board } from "../board/board";
import { pause, prefersRest } from "../board/motion";
import { countText } from "../format";
import { Button } from "../ui";
import { ErrorLine, Section } from "./parts";

const NUM_SIMULATIONS = 50;
const NUM_RANDOM = 2; // plies at the start, so that games differ
const MOVE_MS = 800;
const REST_MS = 3000;
const NONE: number[] = [];
const onAction = () => undefined;

type SelfPlayProps = { app: App; game: Game; run: RunSummary };

export function SelfPlay({ app, game, run }: SelfPlayProps) {
  const [position, setPosition] = useState<Position | null>(null);
  const [error, setError] = useState("");
  const [isPaused, setPaused] = useState(prefersRest);
  const box = useRef<HTMLElement>(null);
  // The game that a pause keeps, and the network for the next one.
  const [table] = useState({ moves: [] as number[], network: run.networks.at(0) });
  const newest = useRef(run);
  newest.current = run;

  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const step = async () => {
      const { moves, network } = table;
      const request = { game: game.name, moves };
      const answer = await app.backend.position({ ...request, from_ply: moves.length });
      const now = answer.positions[answer.positions.length - 1];
      if (signal.aborted) return;
      setPosition(now);
      setError("");
      // Nobody waits for a move that is out of sight, and training needs the processor.
      while (!isPaused && !signal.aborted && !isSeen(box.current)) await pause(MOVE_MS);
      if (isPaused || signal.aborted) return;
      const time = pause(now.over ? REST_MS : MOVE_MS);
      let action = now.legal[Math.floor(Math.random() * now.legal.length)];
      const onMessage = (message: StreamMessage) => {
        if (message.type === "move") action = message.action;
      };
      if (!now.over && network && moves.length >= NUM_RANDOM) {
        const player = { id: network.player, num_simulations: NUM_SIMULATIONS };
        await app.backend.move({ ...request, player }, { signal, onMessage });
      }
      await time;
      if (signal.aborted) return;
      table.moves = now.over ? [] : [...moves, action];
      if (now.over) [table.network] = newest.current.networks;
    };
    const failed = (reason: Error) => {
      if (!signal.aborted) setError(reason.message);
      return pause(REST_MS);
    };
    const play = async () => {
      do await step().catch(failed);
      while (!isPaused && !signal.aborted);
    };
    void play();
    return () => stop.abort();
  }, [isPaused]);

  const [setup] = game.setups;
  const last = position?.ply ? (table.moves[position.ply - 1] ?? null) : null;
  const label = `A game of ${run.name} against itself`;
  const iteration = countText(table.network?.iteration ?? 0);
  return (
    <Section title="The newest network plays itself" box={box}>
      {position && <Board {...{ game, setup, position, last, label, legal: NONE, onAction }} />}
      <p class="hint-text">{`Iteration ${iteration}, ${NUM_SIMULATIONS} simulations a move`}</p>
      <Button onClick={() => setPaused(!isPaused)}>{isPaused ? "Play on" : "Pause"}</Button>
      <ErrorLine text={error} />
    </Section>
  );
}

function isSeen(box: Element | null): boolean {
  const { top, bottom } = box?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
  return !document.hidden && bottom > 0 && top < innerHeight;
}
