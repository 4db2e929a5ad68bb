// The page: its head, its views, and the address that says which of them is shown and with what.

import { type Signal, signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Asked, Backend, Catalogue } from "./api";
import { AnalyseView } from "./analyse/analyse_view";
import {
  type Address,
  formatHash,
  gameOf,
  gameParameters,
  type Parameters,
  parseHash,
  type View,
  VIEWS,
} from "./address";
import type { App, GameToShow } from "./app";
import { GameState, movesOf } from "./game/game_state";
import { PlayView } from "./play/play_view";
import { HUMAN, playerSeat, type Seats } from "./play/seats";
import { RunsView } from "./runs/runs_view";
import { isTemporary } from "./server_backend";
import { ThemeButton } from "./theme";
import { capital } from "./format";

const NAMES: Record<View, string> = { play: "Play", analyse: "Analyse", runs: "Runs" };
const RETRY_MS = 2000;
const NOTICE_MS = 4000;
/** Within so many milliseconds sentences are said together. */
const TOGETHER_MS = 400;
const TAKES_ARROWS = "input, select, textarea, dialog, [role=grid], [role=tree], [role=slider]";

/** What is shown, besides the game. */
interface Shown {
  view: View;
  /** Of a run. */
  id: string;
  parameters: Parameters;
  /** Changes whenever an address was opened, so that views take its parameters. */
  visit: number;
}

/** The page; the backend answers its requests. */
export function Page({ backend }: { backend: Backend }) {
  const loading = useSignal("Loading \u2026");
  const router = useSignal<Router | null>(null);
  useEffect(() => {
    Router.start(backend, (text) => (loading.value = text)).then((found) => {
      router.value = found;
    });
  }, [backend]);
  if (router.value) return <Views router={router.value} />;
  return (
    <main id="main">
      <p class="loading" role="status">
        {loading}
      </p>
    </main>
  );
}

function Views({ router }: { router: Router }) {
  const { app, game, views } = router;
  const { view, id, parameters, visit } = router.shown.value;
  const { setup, game: entry } = game.shown.value;
  const title = view === "runs" ? "Runs" : `${entry.title}: ${NAMES[view]}`;
  useEffect(() => {
    document.title = `${title} \u00b7 AlphaZero`;
  }, [title]);
  const links = views.map((one) => (
    <a
      key={one}
      href={`#${one}`}
      data-view={one}
      aria-current={one === view ? "page" : undefined}
      onClick={(event) => {
        event.preventDefault();
        router.follow(one);
      }}
    >
      {NAMES[one]}
    </a>
  ));
  // A view is made anew with each address, and for another game.
  const key = `${view} ${visit} ${entry.name} ${setup.id}`;
  const props = { app, game, parameters, rewrite: router.keepParameters };
  return (
    <>
      <header class="page-head">
        <a class="skip" href="#main" onClick={skipToMain}>
          To the board
        </a>
        <span class="page-title">AlphaZero</span>
        <nav aria-label="Views">{links}</nav>
        <ThemeButton />
      </header>
      <main id="main" tabIndex={-1}>
        {view !== "runs" && <h1 class="visually-hidden">{title}</h1>}
        {view === "play" && <PlayView key={key} {...props} />}
        {view === "analyse" && <AnalyseView key={key} {...props} />}
        {view === "runs" && <RunsView app={app} id={id} parameters={parameters} />}
      </main>
      <p class={`notice ${router.notice.value.look}`} role="status">
        {router.notice.value.text}
      </p>
      <p class="visually-hidden" role="status" aria-live="polite">
        {router.said}
      </p>
    </>
  );
}

function skipToMain(event: Event): void {
  event.preventDefault();
  const board = document.querySelector<HTMLElement>("main [role=grid] [tabindex='0']");
  (board ?? document.getElementById("main"))?.focus();
}

/** Says what is shown, and keeps the address in step with it. */
class Router {
  readonly shown: Signal<Shown>;
  readonly notice = signal({ text: "", look: "" });
  readonly said = signal("");
  readonly app: App;
  readonly views: View[];
  private noticeTimer = 0;
  private saidAt = -Infinity;
  private written: string | null = null;
  private numRoutes = 0;
  private kept: number[] | null = null;
  /** A game is being loaded: the address stays that of what is left. */
  private isLeaving = false;

  private constructor(
    readonly backend: Backend,
    private readonly catalogue: Signal<Catalogue>,
    readonly game: GameState,
    first: Address,
  ) {
    this.views = VIEWS.filter((view) => view !== "runs" || backend.runs);
    this.shown = signal({
      view: first.view,
      id: first.name,
      parameters: first.parameters,
      visit: 0,
    });
    this.app = {
      backend,
      catalogue,
      announce: (text) => this.say(text),
      notify: (text, isError = false) => this.notify(text, isError),
      go: (hash) => {
        location.hash = hash;
      },
      rewrite: (hash) => this.write(hash, false),
      seats: new Map<string, Seats>(),
      play: ({ player, seats, ...wanted }) => this.showGame("play", wanted, {}, player, seats),
      analyse: ({ player, ...wanted }) =>
        this.showGame("analyse", wanted, player ? { analyst: player.id } : {}),
    };
  }

  /** Return the router of a page that opens at the address, as soon as the server answers. */
  static async start(backend: Backend, say: (text: string) => void): Promise<Router> {
    const address = parseHash(location.hash);
    const isGame = address.view !== "runs";
    for (;;) {
      try {
        const catalogue = signal(await backend.games());
        let problem: unknown = null;
        const wanted = isGame ? gameOf(address) : {};
        const game = await GameState.start(backend, catalogue, wanted).catch((error: unknown) => {
          if (isTemporary(error)) throw error;
          problem = error;
          return GameState.start(backend, catalogue, { game: wanted.game }).catch(() =>
            GameState.start(backend, catalogue, {}),
          );
        });
        const router = new Router(backend, catalogue, game, address);
        router.listen();
        if (problem) router.notify(messageOf(problem), true);
        return router;
      } catch (error) {
        say(messageOf(error));
        if (!isTemporary(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** Change the view, and keep the game that is shown. */
  follow(view: View): void {
    if (view === "runs") location.hash = "#runs";
    else this.visit({ view, id: "", parameters: {} }, true);
  }

  /** Take the parameters of a view into the address, for what is shown already. */
  keepParameters = (parameters: Parameters): void => {
    this.shown.value = { ...this.shown.value, parameters };
    this.keepAddress();
  };

  private listen(): void {
    window.addEventListener("hashchange", () => this.route());
    document.addEventListener("keydown", (event) => this.onKey(event));
    this.game.shown.subscribe(() => this.keepAddress());
  }

  /** Show what the address names; it is shown even if its game cannot be loaded. */
  private async route(): Promise<void> {
    if (location.hash === this.written) return; // we wrote it ourselves
    this.written = null;
    this.numRoutes += 1;
    const number = this.numRoutes;
    const address = parseHash(location.hash);
    const { view, name, parameters } = address;
    if (view === "runs" && this.backend.runs) {
      this.visit({ view, id: name, parameters }, false);
      return;
    }
    this.kept = null;
    try {
      await this.load(gameOf(address));
    } catch (error) {
      this.notify(messageOf(error), true);
      // The start of the game; what is shown stays where the server does not answer.
      if (!isTemporary(error)) await this.load({ game: name }).catch(() => undefined);
    }
    const shown = view === "runs" ? "play" : view;
    if (number === this.numRoutes) this.visit({ view: shown, id: "", parameters }, false);
  }

  /** Load a game and show it; see App.play and App.analyse. */
  private async showGame(
    view: View,
    wanted: GameToShow,
    parameters: Parameters,
    player?: Asked | null,
    seats?: Seats,
  ): Promise<void> {
    try {
      await this.load(wanted);
    } catch (error) {
      this.notify(messageOf(error), true);
      return;
    }
    const { game } = this.game.shown.value;
    if (seats) this.app.seats.set(game.name, seats);
    if (player) {
      const other = playerSeat(game, player.id, player.num_simulations);
      const isFirst = this.game.position.to_move === 0;
      this.app.seats.set(game.name, isFirst ? [HUMAN, other] : [other, HUMAN]);
    }
    this.visit({ view, id: "", parameters }, true);
  }

  /** Load a game; learn of networks and games that are there since the page was opened. */
  private async load(wanted: GameToShow): Promise<void> {
    const { games } = this.catalogue.value;
    const isKnown = games.some(({ name }) => name === wanted.game) || !wanted.game;
    if (!isKnown || this.shown.value.view === "runs") {
      this.catalogue.value = await this.backend.games();
      this.game.renew();
    }
    this.isLeaving = true;
    try {
      await this.game.load(wanted);
    } finally {
      this.isLeaving = false;
    }
  }

  private visit(shown: Omit<Shown, "visit">, isNew: boolean): void {
    this.shown.value = { ...shown, visit: this.shown.value.visit + 1 };
    this.keepAddress(isNew);
  }

  /** Write what is shown into the address; `isNew`: the way back leads to what was shown before. */
  private keepAddress(isNew = false): void {
    const { view, parameters } = this.shown.value;
    if (view === "runs" || this.isLeaving) return;
    // What loses moves can be undone by the way back.
    const moves = movesOf(this.game.shown.value.line);
    const losesMoves = this.kept !== null && !isStart(this.kept, moves);
    this.kept = moves;
    const { game } = this.game.shown.value;
    const all = { ...gameParameters(this.game.shown.value), ...parameters };
    this.write(formatHash(view, game.name, all), isNew || losesMoves);
  }

  private write(hash: string, isNew: boolean): void {
    if (hash === location.hash) return;
    if (isNew) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
    this.written = location.hash;
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

  private say(text: string): void {
    const isTogether = performance.now() - this.saidAt < TOGETHER_MS;
    this.said.value = isTogether ? `${this.said.value} ${text}` : text;
    this.saidAt = performance.now();
  }

  private notify(text: string, isError: boolean): void {
    clearTimeout(this.noticeTimer);
    this.notice.value = { text: capital(text), look: isError ? "is-shown is-error" : "is-shown" };
    const hide = () => {
      this.notice.value = { ...this.notice.value, look: isError ? "is-error" : "" };
    };
    this.noticeTimer = window.setTimeout(hide, isError ? 2 * NOTICE_MS : NOTICE_MS);
  }
}

/** Return whether a list of moves is where another one begins. */
function isStart(moves: number[], others: number[]): boolean {
  return moves.length <= others.length && moves.every((move, k) => move === others[k]);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
