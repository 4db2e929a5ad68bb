// The dialog that starts a game anywhere: after a list of moves, or from a board that is set up by
// clicking.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Game, Setup, Side } from "../api";
import type { App } from "../app";
import { Board } from "../board/board";
import type { BoardProps } from "../board/types";
import { capital, messageOf } from "../format";
import { Button, Choice, focusBoard } from "../ui";
import { listText } from "./game_state";
import type { GameToShow } from "./types";

type SetupButtonProps = { app: App; onStart: (game: GameToShow) => Promise<void> };

export function SetupButton(props: SetupButtonProps) {
  const isOpen = useSignal(false);
  return (
    <>
      <Button text={"Set up\u2026"} onClick={() => (isOpen.value = true)} />
      {isOpen.value && <SetupDialog {...props} onClose={() => (isOpen.value = false)} />}
    </>
  );
}

function SetupDialog({ app, onStart, onClose }: SetupButtonProps & { onClose: () => void }) {
  const { game, setup, board } = app.game.shown.value;
  const { position, moves: played } = app.game;
  const dialog = useRef<HTMLDialogElement>(null);
  const setupId = useSignal(setup.id);
  const moves = useSignal("");
  const hasBoard = useSignal(!position.drawn);
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
      const { positions } = await app.backend.position(wanted); // a refusal is shown here
      if (hasBoard.value && positions[0].over)
        throw new Error("On this board the game is over: set up one on which a move is possible.");
      onClose();
      await onStart(wanted);
      requestAnimationFrame(focusBoard);
    } catch (problem) {
      error.value = capital(messageOf(problem));
    }
  };
  const use = (on: boolean) => {
    hasBoard.value = on;
    moves.value = on || board !== null ? "" : listText(setup, played);
  };
  const example = `as on the board, such as ${chosen.action_texts[position.legal[0] ?? 0]}`;
  const named = { class: "dialog setup-dialog", "aria-labelledby": "dialog-title" };
  return (
    <dialog {...named} ref={dialog} onClose={onClose}>
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
        <Choice
          label="Start"
          value={hasBoard.value ? "board" : "moves"}
          options={[
            ["board", "from a board that you set up"],
            ["moves", "after a list of moves"],
          ]}
          onChange={(value) => use(value === "board")}
        />
        <p class="error-line" role="alert" children={error} />
        {hasBoard.value ? (
          <BoardEditor {...{ game, setup: chosen, position, text, toMove }} />
        ) : (
          <TextField label="Moves" text={moves} rows={2} placeholder={example} />
        )}
        <div class="button-row">
          <button type="submit" class="primary" children="Start here" />
          <Button text="Cancel" onClick={() => dialog.current?.close()} />
        </div>
      </form>
    </dialog>
  );
}

type TextFieldProps = { label: string; text: Signal<string>; rows: number; placeholder?: string };

function TextField({ label, text, ...others }: TextFieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <textarea
        {...{ ...others, spellcheck: false, value: text.value }}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
    </label>
  );
}

interface BoardEditorProps extends Pick<BoardProps, "game" | "setup" | "position"> {
  text: Signal<string>;
  toMove: Signal<Side>;
}

/** A board whose squares take pieces by clicking, and the same board as text. */
function BoardEditor({ game, setup, position, text, toMove }: BoardEditorProps) {
  const cells = readBoard(text.value, game, setup);
  const shown = { ...position, cells: cells ?? position.cells, marked: [], legal: [], over: false };
  const [empty, first, second] = [...setup.letters].map((letter) => `\u201c${letter}\u201d`);
  const [one, other] = setup.sides;
  useEffect(() => {
    // Where lines win, each move adds a piece: their numbers say who is to move.
    if (game.has_lines && cells) toMove.value = fewer(cells);
  }, [text.value]);
  const put = ([row, column]: [number, number]) => {
    if (!cells) return;
    const isColumn = game.action_kind === "column";
    const falls = isColumn && !cells[row][column];
    const at = falls ? cells.findLastIndex((line) => !line[column]) : row;
    const isCovered = isColumn && at > 0 && cells[at - 1][column] > 0;
    cells[at][column] = isCovered ? 3 - cells[at][column] : nextPiece(cells, at, column);
    text.value = writeBoard(cells, setup);
  };
  const emptyLine = setup.letters[0].repeat(game.columns);
  return (
    <div class="board-editor">
      {!position.drawn && (
        <div class="editor-board">
          <Board
            {...{ game, setup, position: shown, last: null, legal: [], label: "Board to set up" }}
            onAction={() => undefined}
            onCell={put}
          />
        </div>
      )}
      <div class="editor-fields">
        <p class="hint-text">Click a square to put a piece there, to change it, to take it away.</p>
        <Choice
          label="Side to move"
          value={`${toMove.value}`}
          options={Object.entries(setup.sides)}
          onChange={(value) => (toMove.value = value === "0" ? 0 : 1)}
        />
        <Button
          text="Empty the board"
          onClick={() => (text.value = Array(game.rows).fill(emptyLine).join("\n"))}
        />
        <TextField label="Board as text" text={text} rows={Math.min(game.rows, 8)} />
        <p class="hint-text">{`${first} ${one}, ${second} ${other}, ${empty} empty.`}</p>
      </div>
    </div>
  );
}

/** Return what a click makes of a cell: a piece of the side that has fewer, the other one, none. */
function nextPiece(cells: number[][], row: number, column: number): number {
  const now = cells[row][column];
  cells[row][column] = 0;
  const first = 1 + fewer(cells);
  if (now === 0) return first;
  return now === first ? 3 - first : 0;
}

/** Return the side that has fewer pieces, side 0 if both have as many. */
function fewer(cells: number[][]): Side {
  const count = (piece: number) => cells.flat().filter((cell) => cell === piece).length;
  return count(1) > count(2) ? 1 : 0;
}

/** Return the cells of a board as text; null if it is not one. */
function readBoard(text: string, game: Game, { letters, mirrored }: Setup): number[][] | null {
  const cellOf = (letter: string) => {
    const exact = letters.indexOf(letter);
    return exact >= 0 ? exact : letters.toLowerCase().indexOf(letter.toLowerCase());
  };
  const lines = text.trim().split(/\s*\n\s*/);
  const rows = lines.map((line) => [...line].map(cellOf));
  const fits = rows.length === game.rows && rows.every((row) => row.length === game.columns);
  if (!fits || rows.flat().some((cell) => cell < 0)) return null;
  return mirrored ? rows.map((row) => row.reverse()) : rows;
}

function writeBoard(cells: number[][], { letters, mirrored }: Setup): string {
  const shown = mirrored ? cells.map((row) => [...row].reverse()) : cells;
  return shown.map((row) => row.map((cell) => letters[cell]).join("")).join("\n");
}
