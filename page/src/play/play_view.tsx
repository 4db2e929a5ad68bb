// The Play view: a board, the two sides, the course of their game, and a look back at its end.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Parameters } from "../address";
import type { App } from "../app";
import { Board } from "../board/board";
import { copyText } from "../copy";
import { capital } from "../format";
import { MoveList, StepButtons } from "../game/game_steps";
import { type GameState, listText } from "../game/game_state";
import { SetupDialog } from "../game/setup_dialog";
import { Review } from "../review/review";
import { ReviewPanel } from "../review/review_panel";
import { Button, Card, Choice } from "../ui";
import { GameFlow, resultText } from "./flow";
import { SeatChoice } from "./seat_choice";
import { formatSeat, parseSeat, seatName, type Seats, seatsAgainst, usualSeats } from "./seats";

interface PlayViewProps {
  app: App;
  game: GameState;
  parameters: Parameters;
  /** Keeps who plays in the address. */
  rewrite: (parameters: Parameters) => void;
}

export function PlayView({ app, game: state, parameters, rewrite }: PlayViewProps) {
  const { game, setup, line, ply } = state.shown.value;
  const isSettingUp = useSignal(false);
  const seats = useSignal(useMemo(() => firstSeats(app, state, parameters), []));
  const flow = useMemo(() => new GameFlow(app, state, seats.value), []);
  const review = useMemo(() => new Review(app, state), []);
  const sit = (chosen: Seats) => {
    seats.value = chosen;
    app.seats.set(game.name, chosen);
    flow.sit(chosen);
    rewrite(seatParameters(chosen));
  };
  useEffect(() => {
    app.seats.set(game.name, seats.value);
    rewrite(seatParameters(seats.value));
    flow.open();
    review.open();
    app.announce(`${game.title}. ${statusText(state, flow, seats.value)}`);
    return () => {
      flow.close();
      review.close();
    };
  }, []);
  const { position } = state;
  const tryAgain = () => {
    sit(seatsAgainst(seats.value, position.to_move, game));
    flow.playOn();
  };
  const advice = review.now.value.plies[ply]?.best ?? null;
  const isFinished = line[line.length - 1].position.over;
  const setUp = () => (isSettingUp.value = true);
  return (
    <div class={`play-view ${isFinished ? "is-finished" : ""}`}>
      <Card class="play-board" label="Board">
        <Board
          game={game}
          setup={setup}
          position={position}
          last={line[ply].action}
          legal={flow.mayPlay ? position.legal : []}
          label={`${game.title} board`}
          onAction={(action) => flow.play(action)}
          hint={flow.now.value.hint?.action ?? (isFinished ? advice : null)}
        />
        <StepButtons state={state} />
      </Card>
      <Card class="play-panel" label="Players and moves">
        <Now state={state} flow={flow} seats={seats.value} />
        {isFinished && <ReviewPanel state={state} review={review} onTryAgain={tryAgain} />}
        <MainButtons {...{ app, state, flow, seats: seats.value, isFinished }} />
        <MoveList state={state} />
        <Players {...{ app, state, seats: seats.value, sit }} />
        <MoreButtons {...{ app, state, setUp }} />
      </Card>
      {isSettingUp.value && (
        <SetupDialog
          app={app}
          state={state}
          onStart={(wanted) => app.play({ ...wanted, seats: seats.value })}
          onClose={() => (isSettingUp.value = false)}
        />
      )}
    </div>
  );
}

/** What happens now: whose turn it is, how far a player has thought, what went wrong. */
function Now({ state, flow, seats }: { state: GameState; flow: GameFlow; seats: Seats }) {
  const { game, setup } = state.shown.value;
  const { progress, problem, hint } = flow.now.value;
  const { counts } = state.position;
  const later = problem?.seconds ? ` Trying again in ${problem.seconds} s.` : "";
  return (
    <div class="now">
      <p class="status" id="status">
        {statusText(state, flow, seats)}
      </p>
      {game.counts_pieces && (
        <p class="counts">
          {setup.sides[0]} {counts[0]} {"\u00b7"} {setup.sides[1]} {counts[1]}
        </p>
      )}
      <progress
        class={progress ? "thinking" : "thinking is-idle"}
        hidden={state.position.over}
        aria-label="Simulations"
        max={progress?.total || 1}
        value={progress?.total ? progress.done : undefined}
      />
      <p class="hint-text now-note">
        {hint?.text ?? (progress?.note ? capital(progress.note) : "")}
      </p>
      <div class="problem" role="alert">
        {problem && (
          <>
            <p>{capital(problem.text) + later}</p>
            <Button onClick={() => flow.retry()}>Try again</Button>
          </>
        )}
      </div>
    </div>
  );
}

interface MainButtonsProps {
  app: App;
  state: GameState;
  flow: GameFlow;
  seats: Seats;
  isFinished: boolean;
}

function MainButtons({ app, state, flow, seats, isFinished }: MainButtonsProps) {
  const { game, setup } = state.shown.value;
  const again = () => app.play({ game: game.name, setup: setup.id, seats });
  const { isPaused } = flow.now.value;
  return (
    <div class="button-row main-buttons">
      {!isFinished && (
        <>
          <Button off={flow.plyToTakeBackTo() === null} onClick={() => flow.takeBack()}>
            Take back
          </Button>
          <Button off={!flow.mayPlay} onClick={() => flow.askHint()}>
            Hint
          </Button>
        </>
      )}
      <Button class={isFinished ? "primary" : undefined} onClick={again}>
        New game
      </Button>
      {flow.isWatched && !state.position.over && (
        <Button onClick={() => flow.pause(!isPaused)}>{isPaused ? "Go on" : "Pause"}</Button>
      )}
      {!state.isAtEnd && !isFinished && (
        <Button class="primary" onClick={() => flow.playOn()}>
          Play on from here
        </Button>
      )}
    </div>
  );
}

interface PlayersProps {
  app: App;
  state: GameState;
  seats: Seats;
  sit: (seats: Seats) => void;
}

function Players({ app, state, seats, sit }: PlayersProps) {
  const { game, setup } = state.shown.value;
  const games = app.catalogue.value.games.map(({ name, title }) => [name, title] as const);
  return (
    <div class="players">
      <Choice
        label="Game"
        value={game.name}
        options={games}
        onChange={(name) => app.play({ game: name })}
      />
      <div class="seats" role="group" aria-label="Who plays">
        <SeatChoice
          {...{ game, setup, side: 0, seat: seats[0], onChange: (one) => sit([one, seats[1]]) }}
        />
        <SeatChoice
          {...{ game, setup, side: 1, seat: seats[1], onChange: (one) => sit([seats[0], one]) }}
        />
        <Button onClick={() => sit([seats[1], seats[0]])}>Swap sides</Button>
      </div>
    </div>
  );
}

function MoreButtons({ app, state, setUp }: { app: App; state: GameState; setUp: () => void }) {
  const { ply, setup } = state.shown.value;
  const { position, moves } = state;
  return (
    <div class="button-row more">
      <Button onClick={() => app.analyse({ ...state.wholeGame(), ply })}>Analyse this game</Button>
      <Button onClick={setUp}>Set up{"\u2026"}</Button>
      <Button onClick={() => copyText(location.href, "link", app)}>Copy link</Button>
      <Button onClick={() => copyText(listText(setup, moves), "moves", app)}>Copy moves</Button>
      <Button onClick={() => copyText(position.board, "board", app)}>Copy board</Button>
    </div>
  );
}

/** Return who plays: as the address says, else as chosen before for this game. */
function firstSeats(app: App, state: GameState, { first, second }: Parameters): Seats {
  const { game } = state.shown.value;
  const usual = app.seats.get(game.name) ?? usualSeats(game);
  const named = [parseSeat(first, game), parseSeat(second, game)];
  const missing = [first, second].filter((text, side) => text && named[side] === null);
  if (missing.length) app.notify(`There is no player ${missing[0]} here: another plays.`);
  return [named[0] ?? usual[0], named[1] ?? usual[1]];
}

function seatParameters([first, second]: Seats): Parameters {
  return { first: formatSeat(first), second: formatSeat(second) };
}

function statusText(state: GameState, flow: GameFlow, seats: Seats): string {
  const { line, ply, setup, game } = state.shown.value;
  const { position, isAtEnd } = state;
  const side = setup.sides[position.to_move];
  const place = isAtEnd ? "" : ` (after move ${ply} of ${line.length - 1})`;
  if (position.over) return resultText(state.shown.value) + place;
  if (position.forced_pass) return `${side} has no legal move and passes.`;
  if (!isAtEnd) return `${side} to move${place}.`;
  if (flow.isPersonsTurn) {
    const isAlone = seats.some(({ kind }) => kind !== "human");
    return isAlone ? `Your turn: ${side} to move.` : `${side} to move.`;
  }
  const { isPaused, problem } = flow.now.value;
  if (isPaused) return `Paused: ${side} to move.`;
  const name = seatName(seats[position.to_move], game);
  return problem ? `${side} to move.` : `${side} is thinking: ${name}.`;
}
