// The Analyse view: a board for both sides, what the search finds while it runs, the moves that
// were tried, and the review of the game.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Asked, ExactAnswer } from "../api";
import { formatHash, type Parameters } from "../address";
import type { App, ViewProps } from "../app";
import { Board } from "../board/board";
import { countText, dateText, valueText } from "../format";
import { type KeptGame, keptGames } from "../kept";
import { StepButtons } from "../game/game_steps";
import { SetupButton } from "../game/setup_dialog";
import { seatsAgainst, usualSeats } from "../play/seats";
import { notesOf } from "../review/review";
import { ReviewPanel } from "../review/review_panel";
import { Button, Card, Choice } from "../ui";
import { analystsOf, clamped, Controls } from "./controls";
import { ColumnsHelp, MovesTable } from "./moves_table";
import { bestMove, moveFacts, PositionSearch } from "./position_search";
import { lineFrom, readTree } from "./search_tree";
import { Variations } from "./variations";
import { ValueBar, Verdict } from "./verdict";

const MAX_LINE = 10; // moves of a line shown on the board

/** Return what searches the positions of the game that is shown, and who does. */
function useAnalysis(app: App, parameters: Parameters) {
  const { game, setup, line, ply } = app.game.shown.value;
  const { position } = line[ply];
  const player = useSignal(useMemo(() => wantedPlayer(app, parameters), []));
  const search = useMemo(
    () => new PositionSearch(app.backend.analysis, app.game, player.value),
    [],
  );
  const id = player.value?.id;
  app.review.player = id && id !== game.analyst?.id ? { id } : null;
  useEffect(() => () => search.close(), []);
  useEffect(() => search.show(), [line[ply]]);
  const { analysis } = search.found.value;
  useEffect(() => {
    if (!analysis?.final || analysis.value === null) return;
    const found = `${valueText(analysis.value)} for ${setup.sides[position.to_move]}`;
    const best = setup.action_texts[bestMove(search.found.value) ?? analysis.best];
    const num = countText(analysis.num_simulations);
    app.announce(`${num} simulations: ${found}, best move ${best}.`);
  }, [analysis]);
  return { player, search };
}

export function AnalyseView({ app, parameters }: ViewProps) {
  const { game: state } = app;
  const { game, setup, line, ply } = state.shown.value;
  const node = line[ply];
  const { position } = node;
  const { legal, over } = position;
  const { player, search } = useAnalysis(app, parameters);
  const path = useSignal<number[] | null>(null); // whose line is shown on the board
  useEffect(() => {
    path.value = null;
  }, [node]);
  const found = search.found.value;
  const { analysis, exact } = found;
  const isFinal = analysis?.final ?? false;
  const nodes = useMemo(() => readTree(analysis?.tree ?? []), [analysis]);
  const moves = useMemo(() => moveFacts(legal, found), [legal, analysis, exact]);
  const go = (actions: number[]) => {
    app.attempt(async () => {
      for (const action of actions) await state.play(action);
    });
  };
  const choose = (chosen: Required<Asked>) => {
    player.value = clamped(game, chosen);
    const { id, num_simulations: num } = player.value;
    const isUsual = id === game.analyst?.id;
    search.choose(player.value);
    const simulations = num === game.analyst?.num_simulations ? "" : `${num}`;
    app.keepParameters({ analyst: isUsual ? "" : id, simulations });
  };
  const tryAgain = () => {
    const seats = app.seats.get(game.name) ?? usualSeats(game);
    app.play({ ...state.request(), seats: seatsAgainst(seats, state.position.to_move, game) });
  };
  const [only, ...others] = path.value ?? [];
  const best = !others.length && only === analysis?.best ? analysis?.line.slice(0, MAX_LINE) : null;
  const ahead = best ?? (path.value && lineFrom(nodes, path.value, MAX_LINE)) ?? [];
  const shown = { position, found, setup };
  return (
    <div class="analysis-view">
      <Card class="analysis-board" label="Board">
        <div class="board-row">
          <ValueBar {...shown} />
          <Board
            {...{ game, setup, position, legal, awaited: state.awaited }}
            last={node.action}
            label="Board for analysis"
            onAction={(action) => go([action])}
            onHover={(action) => (path.value = action === null ? null : [action])}
            marks={over ? [] : moves}
            line={ahead}
            notes={notesOf(app.review.plies[ply])}
          />
        </div>
        <StepButtons state={state} />
      </Card>
      <div class="analysis-side">
        <div class="analysis-search">
          <Verdict {...shown} />
          <Card class="analysis-panel" label="Analysis">
            <Controls
              {...{ game, search, hasMoves: !over, onPlayer: choose }}
              player={player.value}
            />
            {!over && (
              <>
                <MovesTable
                  key={state.request().moves.join()}
                  {...{ moves, nodes, isFinal, setup, side: position.to_move, path: [] }}
                  hovered={path.value}
                  onHover={(at) => (path.value = at)}
                  onPlay={go}
                />
                <ColumnsHelp note={exactNote(exact)} />
              </>
            )}
            <GameRow app={app} />
          </Card>
        </div>
        <Card class="analysis-game" label="Game">
          <ReviewPanel {...{ app, seats: app.seats.get(game.name), onTryAgain: tryAgain }} />
          <Variations app={app} />
        </Card>
      </div>
    </div>
  );
}

/** Another game, or this one elsewhere. */
function GameRow({ app }: { app: App }) {
  const { game, setup, id } = app.game.shown.value;
  const left = useMemo(() => keptGames(game.name).filter((one) => one.id !== id), [id]);
  const size = ({ file }: KeptGame) => file.split(";").length - 2; // without the root
  const names = left.map((one) => `${dateText(one.date)}, moves: ${size(one)}`);
  const begin = () => app.analyse({ game: game.name, setup: setup.id, isNew: true });
  const reopen = (one: KeptGame) => app.go(one.hash.replace(/^#play/, "#analyse"), one.id);
  return (
    <div class="button-row game-row">
      <Choice
        bare
        label="Game"
        value={game.name}
        options={app.catalogue.value.games.map(({ name, title }) => [name, title])}
        onChange={(name) => app.go(formatHash("analyse", name))}
      />
      {left.length > 0 && (
        <Choice
          bare
          label="Earlier games"
          value=""
          options={[["", "Earlier games"], ...Object.entries(names)]}
          onChange={(chosen) => reopen(left[Number(chosen)])}
        />
      )}
      <Button text="New" onClick={begin} />
      <SetupButton app={app} onStart={(wanted) => app.analyse(wanted)} />
      <Button text="Play from here" onClick={() => app.play(app.game.request())} />
      <Button text="Copy link" onClick={() => app.copyLink()} />
    </div>
  );
}

/** Return who analyses: as the address says, as far as it is there, else the usual one. */
function wantedPlayer(app: App, { analyst, simulations }: Parameters): Required<Asked> | null {
  const { game } = app.game.shown.value;
  const analysts = analystsOf(game);
  if (!game.analyst) return null;
  const named = analysts.find((one) => one.id === analyst);
  const { id, name } = named ?? analysts.find((one) => one.id === game.analyst?.id) ?? analysts[0];
  if (analyst && !named) app.notify(`There is no analyst ${analyst} here: ${name} analyses.`);
  const isNumber = /^\d+$/.test(simulations ?? "");
  const num = isNumber ? Number(simulations) : game.analyst.num_simulations;
  return clamped(game, { id, num_simulations: num });
}

/** Return what the numbers in the column of exact results mean, or why there are none. */
function exactNote(exact: ExactAnswer | null): string {
  if (exact === null) return "";
  if (!exact.known) return `No exact result: ${exact.reason}`;
  return exact.meaning === "discs"
    ? "Exact scores are final margins in discs."
    : "Exact scores: \u00b11 is a result of the last disc; each disc that the winner has left " +
        "adds one.";
}
