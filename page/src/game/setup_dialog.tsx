// The dialog that starts a game anywhere: after a list of moves, or from a board set up by clicking.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Game, Position, Setup, Side } from "../api";
import type { App, GameToShow } from "../app";
import { Board } from "../board/board";
import { capital } from "../format";
import { Button, Choice } from "../ui";
import { type GameState, listText } from "./game_state";

interface SetupDialogProps {
  app: App;
  state: GameState;
  onStart: (game: GameToShow) => void;
  onClose: () => void;
}

export function SetupDialog({ app, state, onStart, onClose }: SetupDialogProps) {
  const { game, setup, board } = state.shown.value;
  const { position } = state;
  const dialog = useRef<HTMLDialogElement>(null);
  const setupId = useSignal(setup.id);
  const moves = useSignal(board === null ? listText(setup, state.moves) : "");
  const hasBoard = useSignal(board !== null);
  const text = useSignal(position.board);
  const toMove = useSignal<Side>(position.to_move);
  const error = useSignal("");
  useEffect(() => dialog.current?.showModal(), []);
  const chosen = game.setups.find(({ id }) => id === setupId.value) ?? setup;
  const submit = async (event: Event) => {
    event.preventDefault();
    const start = hasBoard.value ? { board: text.value, to_move: toMove.value } : {};
    const wanted = { game: game.name, setup: chosen.id, moves: moves.value, ...start };
    try {
      await app.backend.position(wanted); // a refusal is shown here
      onClose();
      onStart(wanted);
    } catch (problem) {
      error.value = problem instanceof Error ? capital(problem.message) : "";
    }
  };
  const use = (on: boolean) => {
    hasBoard.value = on;
    moves.value = on ? "" : listText(setup, state.moves);
  };
  return (
    <dialog
      class="dialog setup-dialog"
      aria-labelledby="dialog-title"
      ref={dialog}
      onClose={onClose}
    >
      <form method="dialog" onSubmit={submit}>
        <h2 id="dialog-title">Set up a game of {game.title}</h2>
        {game.setups.length > 1 && (
          <Choice
            label="Who begins"
            value={chosen.id}
            options={game.setups.map(({ id, label }) => [id, label])}
            onChange={(id) => (setupId.value = id)}
          />
        )}
        <label class="field">
          <span>Moves</span>
          <textarea
            rows={2}
            spellcheck={false}
            placeholder={`as on the board, such as ${chosen.action_texts[position.legal[0] ?? 0]}`}
            value={moves.value}
            onInput={(event) => (moves.value = event.currentTarget.value)}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={hasBoard.value}
            onChange={(event) => use(event.currentTarget.checked)}
          />
          Start from a board of your own
        </label>
        {hasBoard.value && <BoardEditor {...{ game, setup: chosen, position, text, toMove }} />}
        <p class="error-line" role="alert">
          {error}
        </p>
        <div class="button-row">
          <button type="submit" class="primary">
            Start here
          </button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </dialog>
  );
}

interface BoardEditorProps {
  game: Game;
  setup: Setup;
  position: Position;
  text: { value: string };
  toMove: { value: Side };
}

/** A board whose squares take pieces by clicking, and the same board as text. */
function BoardEditor({ game, setup, position, text, toMove }: BoardEditorProps) {
  const piece = useSignal("1");
  const cells = readBoard(text.value, game, setup);
  const [empty, first, second] = setup.letters;
  const put = ([row, column]: [number, number]) => {
    if (!cells) return;
    const rows = game.action_kind === "column" ? landing(cells, column, Number(piece.value)) : row;
    if (rows !== null) cells[rows][column] = Number(piece.value);
    text.value = writeBoard(cells, setup);
  };
  return (
    <div class="board-editor">
      {!position.drawn && (
        <div class="editor-board">
          <Board
            game={game}
            setup={setup}
            position={{
              ...position,
              cells: cells ?? position.cells,
              marked: [],
              legal: [],
              over: false,
            }}
            last={null}
            legal={[]}
            label="Board to set up"
            onAction={() => undefined}
            onCell={put}
          />
        </div>
      )}
      <div class="editor-fields">
        <Choice
          label="Clicking puts"
          value={piece.value}
          options={[
            ["1", setup.sides[0]],
            ["2", setup.sides[1]],
            ["0", "nothing (takes away)"],
          ]}
          onChange={(value) => (piece.value = value)}
        />
        <Choice
          label="Side to move"
          value={String(toMove.value)}
          options={[
            ["0", setup.sides[0]],
            ["1", setup.sides[1]],
          ]}
          onChange={(value) => (toMove.value = value === "0" ? 0 : 1)}
        />
        <Button onClick={() => (text.value = writeBoard(emptyBoard(game), setup))}>
          Empty the board
        </Button>
        <label class="field">
          <span>Board as text</span>
          <textarea
            rows={Math.min(game.rows, 8)}
            spellcheck={false}
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        </label>
        <p class="hint-text">
          {`\u201c${first}\u201d ${setup.sides[0]}, \u201c${second}\u201d ${setup.sides[1]}, \u201c${empty}\u201d empty.`}
        </p>
      </div>
    </div>
  );
}

/** Return the row of a column that takes a piece, or from which one is taken; null if none. */
function landing(cells: number[][], column: number, piece: number): number | null {
  const top = cells.findIndex((row) => row[column] > 0);
  const free = (top < 0 ? cells.length : top) - 1;
  const row = piece > 0 ? free : top;
  return row < 0 ? null : row;
}

function emptyBoard(game: Game): number[][] {
  return Array.from({ length: game.rows }, () => Array<number>(game.columns).fill(0));
}

/** Return the cells of a board as text; null if it is not one. */
function readBoard(text: string, game: Game, setup: Setup): number[][] | null {
  const rows = text
    .trim()
    .split(/\s*\n\s*/)
    .map((row) => [...row].map((letter) => letterIndex(letter, setup)));
  const fits = rows.length === game.rows && rows.every((row) => row.length === game.columns);
  if (!fits || rows.flat().some((cell) => cell < 0)) return null;
  return setup.mirrored ? rows.map((row) => row.reverse()) : rows;
}

function letterIndex(letter: string, { letters }: Setup): number {
  const exact = letters.indexOf(letter);
  return exact >= 0 ? exact : letters.toLowerCase().indexOf(letter.toLowerCase());
}

function writeBoard(cells: number[][], { letters, mirrored }: Setup): string {
  const shown = mirrored ? cells.map((row) => [...row].reverse()) : cells;
  return shown.map((row) => row.map((cell) => letters[cell]).join("")).join("\n");
}
