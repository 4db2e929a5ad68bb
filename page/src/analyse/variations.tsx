// The moves of the game and what else was tried, as a tree one can walk through, name and prune.

import { useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { App } from "../app";
import { readGame, usesSgf, writeGame } from "../game/game_file";
import { type GameNode, type GameState, pathTo } from "../game/game_state";
import { Button } from "../ui";

export function Variations({ app, state }: { app: App; state: GameState }) {
  const { line, ply, game } = state.shown.value;
  const shown = line[ply];
  const isNaming = useSignal(false);
  const isMain = pathTo(shown).every((one) => !one.parent || one.parent.children[0] === one);
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = list.current;
    const at = box?.querySelector<HTMLElement>("[aria-current]");
    if (!box) return;
    const outside = at ? at.offsetTop - box.offsetTop : 0;
    if (outside < box.scrollTop || outside > box.scrollTop + box.clientHeight - 30) {
      box.scrollTop = outside - box.clientHeight / 2;
    }
  }, [shown]);
  const rename = (event: Event) => {
    event.preventDefault();
    const [field] = (event.currentTarget as HTMLFormElement).elements;
    state.rename(shown, (field as HTMLInputElement).value.trim());
    isNaming.value = false;
  };
  return (
    <section class="variations" aria-label="Moves and variations">
      <div class="variation-box" ref={list}>
        <Moves state={state} nodes={line[0].children} />
        {line[0].children.length === 0 && (
          <p class="hint-text">Moves that you try stay here, as variations.</p>
        )}
      </div>
      {isNaming.value ? (
        <form class="button-row" onSubmit={rename}>
          <input aria-label="Name of the move" value={shown.name} maxLength={80} autofocus />
          <button type="submit">Name it</button>
        </form>
      ) : (
        <div class="button-row">
          <Button off={ply === 0} onClick={() => (isNaming.value = true)}>
            Name
          </Button>
          <Button off={isMain} onClick={() => state.promote(shown)}>
            Make main line
          </Button>
          <Button off={ply === 0} onClick={() => state.remove(shown)}>
            Delete from here
          </Button>
          <Button off={line.length === 1} onClick={() => save(state)}>
            Save{usesSgf(game) ? " as SGF" : ""}
          </Button>
          <OpenButton app={app} state={state} />
        </div>
      )}
    </section>
  );
}

/** The main continuation in line, and the variations of each move below it. */
function Moves({ state, nodes }: { state: GameState; nodes: GameNode[] }) {
  const { line, ply, setup } = state.shown.value;
  const items = [];
  for (let at = nodes; at.length > 0; at = at[0].children) {
    const [main, ...others] = at;
    const number = pathTo(main).length - 1;
    const text = setup.action_texts[main.action ?? 0];
    items.push(
      <li key={`${number} ${main.action}`}>
        <button
          type="button"
          class={`move-step ${line.includes(main) ? "is-on-line" : ""}`}
          aria-label={`Move ${number}, ${text}`}
          aria-current={line[ply] === main ? "step" : undefined}
          onClick={() => state.goTo(main)}
        >
          <span class="move-number">{number}.</span>
          {text}
        </button>
        {main.name && <span class="move-name">{main.name}</span>}
      </li>,
    );
    for (const other of others) {
      items.push(
        <li key={`${number} ${other.action}`} class="variation">
          <Moves state={state} nodes={[other]} />
        </li>,
      );
    }
  }
  return <ol class="move-list">{items}</ol>;
}

function save(state: GameState): void {
  const { line, game, setup } = state.shown.value;
  const text = writeGame(line[0], game, setup);
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const name = game.name.replace(/[^a-z0-9_]+/gi, "_");
  const link = Object.assign(document.createElement("a"), {
    href: url,
    download: `${name}.${usesSgf(game) ? "sgf" : "txt"}`,
  });
  link.click();
  URL.revokeObjectURL(url);
}

function OpenButton({ app, state }: { app: App; state: GameState }) {
  const input = useRef<HTMLInputElement>(null);
  const open = async () => {
    const [file] = input.current?.files ?? [];
    if (!file) return;
    const { game, setup } = state.shown.value;
    try {
      await state.grow({ game: game.name, setup: setup.id }, readGame(await file.text()));
    } catch (error) {
      app.notify(error instanceof Error ? error.message : String(error), true);
    }
    if (input.current) input.current.value = ""; // the same file may be opened again
  };
  return (
    <>
      <Button onClick={() => input.current?.click()}>Open{"\u2026"}</Button>
      <input
        type="file"
        accept=".sgf,.txt"
        hidden
        aria-label="A game to open"
        ref={input}
        onChange={open}
      />
    </>
  );
}
