// The Analyse view: a board for both sides, what the search finds while it runs, the moves that
// were tried, and the review of the game.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { AnalysisMessage, Asked, ExactAnswer, Game } from "../api";
import type { Parameters } from "../address";
import type { App } from "../app";
import { Board, type MoveMark } from "../board/board";
import { copyText } from "../copy";
import { countText, valueText } from "../format";
import { StepButtons } from "../game/game_steps";
import type { GameState } from "../game/game_state";
import { SetupDialog } from "../game/setup_dialog";
import { seatsAgainst, usualSeats } from "../play/seats";
import { Review } from "../review/review";
import { ReviewPanel } from "../review/review_panel";
import { Button, Card, Choice } from "../ui";
import { analystsOf, clamped, Controls } from "./controls";
import { ColumnsHelp, MovesTable } from "./moves_table";
import { PositionSearch } from "./position_search";
import { lineFrom, readTree, SearchTree } from "./search_tree";
import { ValueBar } from "./value_bar";
import { Variations } from "./variations";
import { Verdict } from "./verdict";

const MAX_LINE = 10; // moves of a line shown on the board

interface AnalyseViewProps {
  app: App;
  game: GameState;
  parameters: Parameters;
  rewrite: (parameters: Parameters) => void;
}

/** Return what searches and reviews the game that is shown, and who does. */
function useAnalysis(app: App, state: GameState, parameters: Parameters) {
  const { game, setup, line, ply } = state.shown.value;
  const node = line[ply];
  const { position } = node;
  const player = useSignal(useMemo(() => wantedPlayer(game, parameters), []));
  const search = useMemo(() => new PositionSearch(app.backend, player.value), []);
  const review = useMemo(() => new Review(app, state), []);
  useEffect(() => {
    review.open();
    return () => {
      review.close();
      search.close();
    };
  }, []);
  useEffect(() => search.show(state.request(), !position.over), [node]);
  const { analysis } = search.found.value;
  useEffect(() => {
    if (!analysis?.final || analysis.value === null) return;
    const found = `${valueText(analysis.value)} for ${setup.sides[position.to_move]}`;
    const best = setup.action_texts[analysis.best];
    const num = countText(analysis.num_simulations);
    app.announce(`${num} simulations: ${found}, best move ${best}.`);
  }, [analysis]);
  return { player, search, review };
}

export function AnalyseView({ app, game: state, parameters, rewrite }: AnalyseViewProps) {
  const { game, setup, line, ply } = state.shown.value;
  const node = line[ply];
  const { position } = node;
  const { player, search, review } = useAnalysis(app, state, parameters);
  const hovered = useSignal<number | null>(null);
  const path = useSignal<number[] | null>(null); // whose line is shown on the board
  const isSettingUp = useSignal(false);
  useEffect(() => {
    path.value = null;
  }, [node]);
  const { analysis, exact } = search.found.value;
  const nodes = useMemo(() => readTree(analysis?.tree ?? []), [analysis]);
  const marks = useMemo(() => marksOf(position.legal, search), [analysis, exact]);
  const textOf = (action: number) => setup.action_texts[action];
  const play = (action: number) => {
    state.play(action).catch((error: Error) => app.notify(error.message, true));
  };
  const go = async (actions: number[]) => {
    for (const action of actions) await state.play(action);
  };
  const choose = (chosen: Required<Asked>) => {
    player.value = clamped(game, chosen);
    const isUsual = player.value.id === game.analyst?.id;
    review.player = isUsual ? null : { id: player.value.id };
    search.choose(player.value);
    rewrite(playerParameters(game, player.value));
  };
  const tryAgain = () => {
    const seats = app.seats.get(game.name) ?? usualSeats(game);
    app.play({ ...state.request(), seats: seatsAgainst(seats, position.to_move, game) });
  };
  const shownLine = lineToShow(path.value, analysis, nodes);
  return (
    <div class="analysis-view">
      <Card class="analysis-board" label="Board">
        <div class="board-row">
          <ValueBar {...{ position, analysis, exact, colors: setup.colors }} />
          <Board
            game={game}
            setup={setup}
            position={position}
            last={node.action}
            legal={position.legal}
            label="Board for analysis"
            onAction={play}
            onHover={(action) => {
              hovered.value = action;
              path.value = action === null ? null : [action];
            }}
            marks={position.over ? [] : marks}
            line={shownLine}
          />
        </div>
        <StepButtons state={state} />
        <GameRow {...{ app, state }} onSetUp={() => (isSettingUp.value = true)} />
      </Card>
      <Card class="analysis-panel" label="Analysis">
        <Controls
          {...{ game, search, player: player.value, hasMoves: !position.over, onPlayer: choose }}
        />
        <Verdict {...{ position, analysis, exact, sides: setup.sides, textOf }} />
        {!position.over && (
          <>
            <MovesTable
              {...{ analysis, exact, textOf, legal: position.legal, hovered: hovered.value }}
              onHover={(action) => (path.value = action === null ? null : [action])}
              onPlay={play}
            />
            <ColumnsHelp note={exactNote(exact)} />
          </>
        )}
      </Card>
      <Card class="analysis-game" label="Game">
        <ReviewPanel state={state} review={review} onTryAgain={tryAgain} />
        <Variations app={app} state={state} />
      </Card>
      {!position.over && (
        <Card class="analysis-tree" label="Search tree">
          <div class="section-head">
            <h2>Search tree</h2>
          </div>
          <SearchTree
            {...{ analysis, nodes, setup, root: node, onGo: go }}
            onHover={(at) => (path.value = at)}
          />
        </Card>
      )}
      {isSettingUp.value && (
        <SetupDialog
          app={app}
          state={state}
          onStart={(wanted) => app.analyse(wanted)}
          onClose={() => (isSettingUp.value = false)}
        />
      )}
    </div>
  );
}

/** Return the line that begins with a path, as far as the search knows it. */
function lineToShow(
  path: number[] | null,
  analysis: AnalysisMessage | null,
  nodes: ReturnType<typeof readTree>,
): number[] {
  if (path === null) return [];
  const isBest = path.length === 1 && analysis?.best === path[0];
  return isBest
    ? analysis.line.slice(0, MAX_LINE)
    : lineFrom(nodes, path, Math.max(MAX_LINE, path.length));
}

/** The controls below the board: another game, or this one elsewhere. */
function GameRow({ app, state, onSetUp }: { app: App; state: GameState; onSetUp: () => void }) {
  const { game } = state.shown.value;
  return (
    <div class="button-row game-row">
      <Choice
        bare
        label="Game"
        value={game.name}
        options={app.catalogue.value.games.map(({ name, title }) => [name, title])}
        onChange={(name) => app.analyse({ game: name })}
      />
      <Button onClick={onSetUp}>Set up{"\u2026"}</Button>
      <Button onClick={() => app.play(state.request())}>Play from here</Button>
      <Button onClick={() => copyText(location.href, "link", app)}>Copy link</Button>
    </div>
  );
}

/** Return who analyses: as the address says, as far as it is there, else the usual one. */
function wantedPlayer(game: Game, { analyst, simulations }: Parameters): Required<Asked> | null {
  const analysts = analystsOf(game);
  if (!analysts.length || !game.analyst) return null;
  const id = analysts.some((one) => one.id === analyst) ? analyst : game.analyst.id;
  const isNumber = /^\d+$/.test(simulations ?? "");
  const num = isNumber ? Number(simulations) : game.analyst.num_simulations;
  return clamped(game, { id, num_simulations: num });
}

/** Return what the address holds of the analyst: what is not usual. */
function playerParameters(game: Game, { id, num_simulations: num }: Required<Asked>): Parameters {
  const parameters: Parameters = {};
  if (id !== game.analyst?.id) parameters.analyst = id;
  if (num !== game.analyst?.num_simulations) parameters.simulations = String(num);
  return parameters;
}

function marksOf(legal: number[], search: PositionSearch): MoveMark[] {
  const { analysis, exact } = search.found.value;
  const unknown = { visits: 0, prior: null, value: null, proven: null };
  const actions = analysis?.actions ?? legal.map((action) => ({ ...unknown, action }));
  const total = actions.reduce((sum, { visits }) => sum + visits, 0);
  return actions.map(({ action, visits, prior, value, proven }) => ({
    action,
    share: total ? visits / total : (prior ?? 0),
    value,
    score: exact?.known ? (exact.scores[action] ?? null) : null,
    result: (exact?.known ? exact.values[action] : null) ?? proven,
    isBest: analysis?.best === action,
  }));
}

/** Return what the numbers in the column of exact results mean, or why there are none. */
function exactNote(exact: ExactAnswer | null): string {
  if (exact === null) return "";
  if (!exact.known) return `No exact result: ${exact.reason}`;
  return exact.meaning === "discs"
    ? "Exact scores are final margins in discs."
    : "Exact scores: \u00b11 is a result of the last disc; each disc that the winner has left adds one.";
}
