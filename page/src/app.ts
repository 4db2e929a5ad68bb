// What all views share: the game, its review, who plays it, and the address that says which view is
// shown and with what.

import { type Signal, signal } from "@preact/signals";
import * as address from "./address";
import type { Asked, Backend, Catalogue } from "./api";
import { capital, failureOf, messageOf } from "./format";
import { gameParameters, GameState, movesOf } from "./game/game_state";
import type { GameNode, GameToShow } from "./game/types";
import { keepGame, keptGames } from "./kept";
import { against, playerSeat, type Seats } from "./play/seats";
import { Review } from "./review/review";

const NOTICE_MS = 4000;
const LEFT = "You are back in the game that you left.";
const MOST_LINK = 2000; // characters: longer links are cut on their way
/** Within so many milliseconds sentences are said together. */
const TOGETHER_MS = 400;
const TAKES_ARROWS = "input, select, textarea, dialog, [role=grid]";

type GameToAnalyse = GameToShow & { player?: Asked };
type GameToPlay = GameToAnalyse & { seats?: Seats };

/** `parameters`: the view's own ones in the address; `app.keepParameters` changes them. */
export type ViewProps = { app: App; parameters: address.Parameters };

/** Says what is shown, and keeps the address in step with it. */
export class App {
  /** The name is that of a run; `visit` changes whenever an address was opened. */
  readonly shown: Signal<address.Address & { visit: number }>;
  readonly notice = signal({ text: "", look: "" });
  readonly said = signal("");
  /** Who plays, by game, as it was chosen last. */
  readonly seats = new Map<string, Seats>();
  readonly review: Review;
  readonly views: address.View[];
  private noticeTimer = 0;
  private saidAt = -Infinity;
  private numRoutes = 0;
  private isTold = false;
  private kept: number[] | null = null;

  private constructor(
    readonly backend: Backend,
    readonly catalogue: Signal<Catalogue>,
    readonly game: GameState,
    first: address.Address,
  ) {
    const isThere = { play: true, analyse: backend.analysis, runs: backend.runs };
    this.views = address.VIEWS.filter((view) => isThere[view]);
    const view = this.views.includes(first.view) ? first.view : "play";
    this.shown = signal({ ...first, view, visit: 0 });
    window.addEventListener("hashchange", () => this.route());
    document.addEventListener("keydown", (event) => this.onKey(event));
    game.shown.subscribe(() => this.keepAddress());
    this.review = new Review(this);
  }

  /** Return what the views of a page share that opens at the address. */
  static async start(backend: Backend): Promise<App> {
    const catalogue = signal(await backend.games());
    const isBack = resume(catalogue.value.default_game);
    const first = address.parseHash(location.hash);
    const wanted = first.view === "runs" ? {} : address.gameOf(first);
    const game = new GameState(backend, catalogue);
    // The browser keeps its state when it loads the page again.
    const refusal = await failureOf(game.load({ ...wanted, ...history.state }));
    if (refusal) await game.load({ game: wanted.game }).catch(() => game.load({}));
    const app = new App(backend, catalogue, game, first);
    const problem = refusal || game.problem;
    if (problem) app.notify(problem, true);
    else if (isBack) app.notify(LEFT);
    return app;
  }

  // --- what views ask for ------------------------------------------------------------------------

  /** Say something to those who use a screen reader. */
  announce(text: string): void {
    const isTogether = performance.now() - this.saidAt < TOGETHER_MS;
    this.said.value = isTogether ? `${this.said.value} ${text}` : text;
    this.saidAt = performance.now();
  }

  notify(text: string, isError = false): void {
    clearTimeout(this.noticeTimer);
    const look = isError ? "is-error" : "";
    const show = (name: string) => (this.notice.value = { text: capital(text), look: name });
    show(`is-shown ${look}`);
    this.noticeTimer = window.setTimeout(() => show(look), isError ? 2 * NOTICE_MS : NOTICE_MS);
  }

  /** Do something, and say what went wrong. */
  attempt(work: () => Promise<void>): Promise<void> {
    return work().catch((error) => this.notify(messageOf(error), true));
  }

  /** Copy the address of the game, with its variations. */
  copyLink(): Promise<void> {
    const { view, parameters } = this.shown.value;
    const { game, line } = this.game.shown.value;
    const isMore = ({ name, children }: GameNode, ply: number) =>
      name || children.length > Number(ply < line.length - 1);
    const tree = line.some(isMore) ? this.game.file : null;
    const all = { ...parameters, ...gameParameters(this.game.shown.value), tree };
    const link = new URL(address.formatHash(view, game.name, all), location.href).href;
    const isWhole = link.length <= MOST_LINK || tree === null;
    return this.attempt(async () => {
      await navigator.clipboard.writeText(isWhole ? link : location.href);
      const more = isWhole ? "" : " The variations would make it too long: Save writes them.";
      this.notify(`The link is copied.${more}`);
    });
  }

  /** Go to an address, of a game with its id if it was left there; the way back leads here. */
  go(hash: string, id?: number): void {
    history.pushState(id ? { id } : null, "", hash);
    void this.route();
  }

  /** Write an address for what is shown already; the way back skips it, unless `isNew`. */
  rewrite(hash: string, isNew = false): void {
    const state = { id: this.game.shown.value.id, tree: this.game.file };
    if (isNew && hash !== location.hash) history.pushState(state, "", hash);
    else history.replaceState(state, "", hash);
  }

  /** Show a game in the Play view; `player` plays against the person who is to move. */
  play({ player, seats, ...wanted }: GameToPlay): Promise<void> {
    return this.attempt(async () => {
      await this.load({ id: this.game.shown.value.id, ...wanted });
      const { game } = this.game.shown.value;
      if (seats) this.seats.set(game.name, seats);
      const other = player && playerSeat(game, player.id, player.num_simulations);
      if (other) this.seats.set(game.name, against(other, this.game.position.to_move));
      this.visit({ view: "play", name: "", parameters: {} }, true);
    });
  }

  /** Show a game in the Analyse view; `player` analyses it. */
  analyse({ player, ...wanted }: GameToAnalyse): Promise<void> {
    return this.attempt(async () => {
      await this.load({ id: this.game.shown.value.id, ...wanted });
      const parameters: address.Parameters = player ? { analyst: player.id } : {};
      this.visit({ view: "analyse", name: "", parameters }, true);
    });
  }

  /** Show moves from a ply on as a variation in the Analyse view, and one of their positions. */
  explore(from: number, moves: number[], ply: number): Promise<void> {
    const { moves: before, ...start } = this.game.request(from);
    return this.analyse({ ...start, moves: [...before, ...moves], ply });
  }

  // --- what is shown -----------------------------------------------------------------------------

  /** Change the view, and keep the game that is shown. */
  follow(view: address.View): void {
    const { setup } = gameParameters(this.game.shown.value);
    // Instead of an empty board, the game that was analysed last.
    if (view === "analyse" && this.game.isEmpty)
      this.go(address.formatHash(view, this.game.shown.value.game.name, { setup }));
    else if (view === "runs") this.go("#runs");
    else {
      if (view === "play") this.game.leaveVariation();
      this.visit({ view, name: "", parameters: {} }, true);
    }
  }

  /** Take parameters of the view that is shown into the address. */
  keepParameters(parameters: address.Parameters): void {
    this.shown.value = { ...this.shown.value, parameters };
    this.keepAddress();
  }

  /** Show what the address names; it is shown even if its game cannot be loaded. */
  private async route(): Promise<void> {
    this.numRoutes += 1;
    const number = this.numRoutes;
    if (resume(this.catalogue.value.default_game)) this.notify(LEFT);
    const wanted = address.parseHash(location.hash);
    if (!this.views.includes(wanted.view)) wanted.view = "play";
    if (wanted.view === "runs") return this.visit(wanted, false);
    this.kept = null;
    const refusal = await failureOf(this.load({ ...address.gameOf(wanted), ...history.state }));
    if (refusal) {
      this.notify(refusal, true);
      await this.load({ game: wanted.name }).catch(() => undefined);
    }
    if (number === this.numRoutes) this.visit(wanted, false);
  }

  /** Load a game; learn of networks and games that are there since the page was opened. */
  private async load(wanted: GameToShow): Promise<void> {
    const { games } = this.catalogue.value;
    const isKnown = games.some(({ name }) => name === wanted.game) || !wanted.game;
    const mayBeNew = !isKnown || this.shown.value.view === "runs";
    if (mayBeNew) this.catalogue.value = await this.backend.games();
    await this.game.load(wanted);
    if (this.game.problem) this.notify(this.game.problem, true);
  }

  private visit(shown: address.Address, isNew: boolean): void {
    if (shown.view !== this.shown.value.view) scrollTo(0, 0);
    this.numRoutes += 1; // an address that still waits for the server is given up
    this.shown.value = { ...shown, visit: this.shown.value.visit + 1 };
    this.keepAddress(isNew);
  }

  /** Write what is shown into the address. */
  private keepAddress(isNew = false): void {
    const { view, parameters } = this.shown.value;
    if (view === "runs" || this.game.numLoads.value) return;
    // What loses moves can be undone by the way back.
    const moves = movesOf(this.game.shown.value.line);
    const losesMoves = this.kept !== null && this.kept.some((move, k) => move !== moves[k]);
    this.kept = moves;
    const { game } = this.game.shown.value;
    const all = { ...parameters, ...gameParameters(this.game.shown.value) };
    const hash = address.formatHash(view, game.name, all);
    this.rewrite(hash, isNew || losesMoves);
    this.keepGame(view, hash);
  }

  /** Keep the game in this browser; say once if it does not. */
  private keepGame(view: address.View, hash: string): void {
    const { id, game, line } = this.game.shown.value;
    const before = keptGames(game.name).find((one) => one.id === id);
    const { over } = line[line.length - 1].position;
    const play = view === "analyse" ? (before?.play ?? "") : over ? "" : hash;
    const { file } = this.game;
    const date = before?.file === file ? before.date : Date.now();
    const now = { id, game: game.name, hash, play, file, date };
    if (keepGame(now, this.game.isEmpty) || this.isTold) return;
    this.isTold = true;
    this.notify("This browser does not keep the game. Save writes it to a file.", true);
  }

  /** Left and right step through the game, unless something else takes them. */
  private onKey(event: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const { target } = event;
    const isElsewhere = target instanceof Element && target.closest(TAKES_ARROWS);
    if (!step || isElsewhere || event.defaultPrevented || this.shown.value.view === "runs") return;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    this.game.show(this.game.shown.value.ply + step);
    event.preventDefault();
  }
}

/** Go to the game that was left where the address names no more than a game; return if so. */
function resume(usual: string): boolean {
  const { view, name, parameters } = address.parseHash(location.hash);
  if (view === "runs" || history.state?.id || Object.keys(parameters).length) return false;
  const left = keptGames(name || usual).find(({ play }) => view === "analyse" || play);
  const hash = view === "play" ? left?.play : left?.hash.replace(/^#play/, "#analyse");
  if (left) history.replaceState({ id: left.id }, "", hash);
  return left !== undefined;
}
