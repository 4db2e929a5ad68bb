// The moves of the game and what else was tried, as a tree one can walk through, name and prune.

import { useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { App } from "../app";
import { decoded } from "../game/game_file";
import { type GameState, pathTo } from "../game/game_state";
import { MoveButton, useMoveInSight } from "../game/game_steps";
import type { GameNode } from "../game/types";
import { Button } from "../ui";

export function Variations({ app }: { app: App }) {
  const { game: state } = app;
  const { line, ply } = state.shown.value;
  const shown = line[ply];
  const isStart = ply === 0;
  const undo = useSignal<(() => void) | null>(null);
  const isMain = pathTo(shown).every((one) => !one.parent || one.parent.children[0] === one);
  const list = useMoveInSight<HTMLDivElement>(app);
  const remove = () => (undo.value = state.remove(shown));
  const bringBack = () => {
    undo.value?.();
    undo.value = null;
    // The button is gone: the focus goes to the move.
    const find = () => list.current?.querySelector<HTMLElement>("[aria-current]");
    requestAnimationFrame(() => find()?.focus());
  };
  return (
    <section class="variations" aria-label="Moves and variations">
      <div class="variation-box" ref={list}>
        <Moves app={app} nodes={line[0].children} />
      </div>
      {!isStart && shown.notes?.C && <p class="hint-text">{shown.notes.C.join(" ")}</p>}
      <div class="button-row">
        <input
          aria-label="Name of the move"
          placeholder="Name"
          maxLength={80}
          disabled={isStart}
          value={shown.name}
          onChange={({ currentTarget }) => state.rename(shown, currentTarget.value.trim())}
        />
        <Button text="Make main line" off={isMain} onClick={() => state.promote(shown)} />
        <Button text="Delete from here" off={isStart} onClick={remove} />
        {undo.value && <Button text="Undo" onClick={bringBack} />}
        <Button text="Save" off={state.isEmpty} onClick={() => save(state)} />
        <OpenButton app={app} />
      </div>
    </section>
  );
}

type MovesProps = { app: App; nodes: GameNode[]; number?: number };

/** The main continuation in line, and the variations of each move below it. */
function Moves({ app, nodes, number = 1 }: MovesProps) {
  const items = [];
  for (let at = nodes; at.length > 0; at = at[0].children) {
    const [main, ...others] = at;
    items.push(
      <li key={`${number} ${main.action}`}>
        <MoveButton app={app} node={main} number={number} />
        {main.name && <span class="move-name">{main.name}</span>}
      </li>,
      ...others.map((other) => (
        <li key={`${number} ${other.action}`} class="variation">
          <Moves app={app} nodes={[other]} number={number} />
        </li>
      )),
    );
    number += 1;
  }
  return <ol class="move-list">{items}</ol>;
}

function save(state: GameState): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([state.file], { type: "text/plain" }));
  link.download = `${state.shown.value.game.name.replace(/[^a-z0-9_]+/gi, "_")}.sgf`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function OpenButton({ app }: { app: App }) {
  const input = useRef<HTMLInputElement>(null);
  const open = async ({ currentTarget: field }: { currentTarget: HTMLInputElement }) => {
    const [file] = field.files ?? [];
    if (!file) return;
    await app.attempt(async () => {
      app.notify(`Opening ${file.name}\u2026`);
      const num = await app.game.open(decoded(await file.arrayBuffer()));
      const which = num > 1 ? `the first of ${num} games in ` : "";
      app.notify(`This is ${which}${file.name}.`);
    });
    field.value = ""; // the same file may be opened again
  };
  const names = { accept: ".sgf,.ggf,.txt", "aria-label": "A game to open" };
  return (
    <>
      <Button text={"Open\u2026"} onClick={() => input.current?.click()} />
      <input type="file" hidden {...names} ref={input} onChange={open} />
    </>
  );
}
