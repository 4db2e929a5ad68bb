// The Play view: a board, the two sides, the course of their game, and a look back at its end.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { formatHash, type Parameters } from "../address";
import type { Game, Side } from "../api";
import type { App, ViewProps } from "../app";
import { Board } from "../board/board";
import { capital } from "../format";
import { MoveList, StepButtons } from "../game/game_steps";
import { SetupButton } from "../game/setup_dialog";
import { Lesson } from "../review/lesson";
import { LessonPanel } from "../review/lesson_panel";
import { addPuzzles, keptPuzzles, puzzlesIn } from "../review/puzzles";
import { notesOf } from "../review/review";
import { ReviewPanel } from "../review/review_panel";
import { isLost } from "../server_backend";
import { Button, Card, Choice, focusBoard } from "../ui";
import { endText, GameFlow } from "./flow";
import { OwnMove } from "./own_move";
import { SeatChoice } from "./seat_choice";
import { formatSeat, parseSeat, seatName, type Seats, seatsAgainst, usualSeats } from "./seats";

const ELO = "Elo: that of UCT with 1,000 simulations is 1,000; \u00b1 is the standard error.";

export function PlayView({ app, parameters }: ViewProps) {
  const { game: state } = app;
  const { game, setup, line, ply } = state.shown.value;
  const { position } = state;
  const chosen = useSignal(useMemo(() => firstSeats(app, parameters), []));
  const flow = useMemo(() => new GameFlow(app, chosen.value), []);
  const { review } = app;
  const lesson = useMemo(() => new Lesson(app, takeSide), []);
  const seats = chosen.value;
  const props = { app, flow, seats };
  // At once: later, the way back may have led to another address, which this would overwrite.
  useLayoutEffect(() => {
    app.seats.set(game.name, seats);
    app.keepParameters({ first: formatSeat(seats[0]), second: formatSeat(seats[1]) });
  }, [seats]);
  useEffect(() => {
    review.player = null;
    app.announce(`${game.title}. ${statusText(props)}`);
    return flow.open();
  }, []);
  const sit = (wanted: Seats) => {
    chosen.value = wanted;
    flow.sit(wanted);
  };
  function takeSide(side: Side) {
    if (chosen.value[side].kind !== "human") sit(seatsAgainst(chosen.value, side, game));
  }
  const tryAgain = () => {
    takeSide(app.game.position.to_move);
    flow.playOn();
    requestAnimationFrame(focusBoard); // the button is gone
  };
  const isFinished = line[line.length - 1].position.over;
  const { course, puzzle } = lesson;
  const people = ([0, 1] as const).filter((side) => seats[side].kind === "human");
  const isTaught = app.backend.analysis && people.length === 1 && !isFinished && !course;
  useEffect(() => {
    const { plies } = review;
    const isReviewed = isFinished && plies.filter(Boolean).length === line.length;
    const isOwn = people.length === 1 && flow.ended.has(state.shown.value.id);
    if (isReviewed && isOwn) addPuzzles(puzzlesIn(state, plies, people[0]));
  }, [review.now.value]);
  const found = isFinished && !course ? review.plies[ply] : undefined;
  const mayPlay = course ? !course.result && puzzle?.ply === ply : flow.mayPlay;
  return (
    <div class={`play-view ${isFinished ? "is-finished" : ""}`}>
      <Card class="play-board" label="Board">
        <Board
          {...{ game, setup, position, awaited: state.awaited }}
          last={line[ply].action}
          legal={mayPlay ? position.legal : []}
          label={`${game.title} board`}
          onAction={(action) => (course ? lesson.tryMove(action) : flow.play(action))}
          hint={flow.now.value.hint?.action ?? found?.best}
          notes={course ? (puzzle?.ply === ply ? course.notes : []) : notesOf(found)}
        />
        <StepButtons state={state} />
      </Card>
      <Card class="play-panel" label="Players and moves">
        <Now {...props} />
        {course && <LessonPanel {...{ state, lesson }} />}
        {isFinished && !course && app.backend.analysis && (
          <ReviewPanel
            {...{ app, seats }}
            onTryAgain={tryAgain}
            onLearn={(puzzles) => lesson.begin(puzzles)}
          />
        )}
        <MainButtons {...{ ...props, isFinished, lesson }} />
        <MoveList app={app} />
        {isTaught && <OwnMove {...{ app, flow }} />}
        {!course && <Players {...{ app, seats, sit }} />}
        <MoreButtons {...props} />
      </Card>
    </div>
  );
}

type Props = { app: App; flow: GameFlow; seats: Seats };

/** What happens now: whose turn it is, how far a player has thought, what went wrong. */
function Now({ app, flow, seats }: Props) {
  const { game, setup } = app.game.shown.value;
  const { progress, problem, hint } = flow.now.value;
  const { counts, over } = app.game.position;
  const scores = setup.sides.map((side, k) => `${side} ${counts[k]}`);
  return (
    <div class="now">
      <p class="status" id="status" children={statusText({ app, flow, seats })} />
      {game.counts_pieces && <p class="counts">{scores.join(" \u00b7 ")}</p>}
      <progress
        class={progress ? "thinking" : "thinking is-idle"}
        hidden={over}
        aria-label="Simulations"
        max={progress?.total || 1}
        value={progress?.total ? progress.done : undefined}
      />
      <p class="hint-text now-note">{hint?.text ?? capital(progress?.note ?? "")}</p>
      <div class="problem" role="alert">
        {problem && <p>{capital(problem)}</p>}
        {problem && <Button text="Try again" onClick={() => flow.retry()} />}
      </div>
    </div>
  );
}

type MainButtonsProps = Props & { isFinished: boolean; lesson: Lesson };

function MainButtons({ app, flow, seats, isFinished, lesson }: MainButtonsProps) {
  const { game, setup } = app.game.shown.value;
  const { position, isAtEnd } = app.game;
  const { isPaused } = flow.now.value;
  const before = flow.plyToTakeBackTo();
  const takeBack = () => {
    app.game.cut(before ?? 0);
    app.announce(`Taken back. ${statusText({ app, flow, seats })}`);
  };
  const hasPuzzles = app.backend.analysis && app.game.isEmpty;
  const puzzles = useMemo(() => (hasPuzzles ? keptPuzzles(app.game) : []), [hasPuzzles]);
  const again = () => app.play({ game: game.name, setup: setup.id, seats, isNew: true });
  return (
    <div class="button-row main-buttons">
      {!isFinished && <Button text="Take back" off={before === null} onClick={takeBack} />}
      {!isFinished && <Button text="Hint" off={!flow.mayPlay} onClick={() => flow.askHint()} />}
      <Button text="New game" class={isFinished ? "primary" : undefined} onClick={again} />
      {puzzles.length > 0 && (
        <Button class="learn" onClick={() => lesson.begin(puzzles)}>
          Learn from your mistakes ({puzzles.filter((one) => !one.isSolved).length} unsolved)
        </Button>
      )}
      {flow.isWatched && !position.over && (
        <Button text={isPaused ? "Go on" : "Pause"} onClick={() => flow.pause(!isPaused)} />
      )}
      {!isAtEnd && !isFinished && (
        <Button text="Play from here" class="primary" onClick={() => flow.playOn()} />
      )}
    </div>
  );
}

type PlayersProps = { app: App; seats: Seats; sit: (seats: Seats) => void };

function Players({ app, seats: [first, second], sit }: PlayersProps) {
  const { game, setup } = app.game.shown.value;
  const props = { game, setup };
  return (
    <div class="players">
      <Choice
        label="Game"
        value={game.name}
        options={app.catalogue.value.games.map(({ name, title }) => [name, title])}
        onChange={(name) => app.go(formatHash("play", name))}
      />
      <Help {...props} />
      <div class="seats" role="group" aria-label="Who plays">
        <SeatChoice {...props} side={0} seat={first} onChange={(seat) => sit([seat, second])} />
        <SeatChoice {...props} side={1} seat={second} onChange={(seat) => sit([first, seat])} />
        <Button text="Swap sides" onClick={() => sit([second, first])} />
      </div>
    </div>
  );
}

/** The rules of the game, and what the names and numbers of its players mean. */
function Help({ game }: { game: Game }) {
  const notes = game.players.map(({ name, note }) => note && `${name}: ${note}`);
  const texts = [game.rules, ...notes, ELO].filter(Boolean);
  return (
    <details class="columns-help">
      <summary>Rules and players</summary>
      {texts.map((text) => (
        <p key={text} children={text} />
      ))}
    </details>
  );
}

function MoreButtons({ app, seats }: Props) {
  const { line, ply } = app.game.shown.value;
  const analyse = () => app.analyse({ ...app.game.request(line.length), ply });
  return (
    <div class="button-row more">
      {app.backend.analysis && (
        <>
          <Button text="Analyse this game" onClick={analyse} />
          <SetupButton app={app} onStart={(wanted) => app.play({ ...wanted, seats })} />
        </>
      )}
      <Button text="Copy link" onClick={() => app.copyLink()} />
    </div>
  );
}

/** Return who plays: as the address says, else as chosen before for this game. */
function firstSeats(app: App, { first, second }: Parameters): Seats {
  const { game } = app.game.shown.value;
  const usual = app.seats.get(game.name) ?? usualSeats(game);
  const named = [parseSeat(first, game), parseSeat(second, game)];
  const missing = [first, second].filter((text, side) => text && named[side] === null);
  if (missing.length) app.notify(`There is no player ${missing[0]} here: another plays.`);
  return [named[0] ?? usual[0], named[1] ?? usual[1]];
}

/** Return whether the only person in a game has won it, "" if that says nothing. */
function endFor(seats: Seats, winner: Side | null): string {
  if (winner === null || seats.filter(({ kind }) => kind === "human").length !== 1) return "";
  return seats[winner].kind === "human" ? "You won: " : "You lost: ";
}

function statusText({ app, flow, seats }: Props): string {
  const { line, ply, setup, game } = app.game.shown.value;
  const { position, isAtEnd } = app.game;
  const side = setup.sides[position.to_move];
  const place = isAtEnd ? "" : ` (after move ${ply} of ${line.length - 1})`;
  if (position.over) return endFor(seats, position.winner) + endText(app.game.shown.value) + place;
  if (position.forced_pass) return `${side} has no legal move and passes.`;
  if (!isAtEnd) return `${side} to move${place}.`;
  if (flow.isPersonsTurn) {
    const isAlone = seats.some(({ kind }) => kind !== "human");
    return isAlone ? `Your turn: ${side} to move.` : `${side} to move.`;
  }
  const { isPaused, problem } = flow.now.value;
  if (isPaused) return `Paused: ${side} to move.`;
  const name = seatName(seats[position.to_move], game);
  return problem || isLost.value ? `${side} to move.` : `${side} is thinking: ${name}.`;
}
