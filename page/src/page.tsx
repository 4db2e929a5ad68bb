// The page: its head and its views.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { View } from "./address";
import type { Backend } from "./api";
import { AnalyseView } from "./analyse/analyse_view";
import { App } from "./app";
import { messageOf } from "./format";
import { PlayView } from "./play/play_view";
import { RunsView } from "./runs/runs_view";
import { isLost } from "./server_backend";
import { ThemeButton } from "./theme";
import { focusBoard } from "./ui";

const NAMES: Record<View, string> = { play: "Play", analyse: "Analyse", runs: "Runs" };
const LOST = "The server does not answer. What is shown stands still, and goes on once it is back.";

/** The page; the backend answers its requests. */
export function Page({ backend }: { backend: Backend }) {
  const loading = useSignal("Loading \u2026");
  const app = useSignal<App | null>(null);
  useEffect(() => {
    App.start(backend).then(
      (found) => (app.value = found),
      (error) => (loading.value = messageOf(error)),
    );
  }, [backend]);
  return (
    <>
      <p class="lost" role="alert" children={isLost.value && LOST} />
      {app.value ? (
        <Views app={app.value} />
      ) : (
        <main id="main">
          <p class="loading" role="status" children={loading} />
        </main>
      )}
    </>
  );
}

function Views({ app }: { app: App }) {
  const { view, name, parameters, visit } = app.shown.value;
  const { setup, game } = app.game.shown.value;
  const title = view === "runs" ? "Runs" : `${game.title}: ${NAMES[view]}`;
  useEffect(() => {
    document.title = `${title} \u00b7 AlphaZero`;
  }, [title]);
  // A view is made anew with each address, and for another game.
  const key = `${view} ${visit} ${game.name} ${setup.id}`;
  const props = { app, parameters };
  return (
    <>
      <header class="page-head">
        <a class="skip" href="#main" onClick={skipToMain} children="To the board" />
        <span class="page-title">AlphaZero</span>
        <nav aria-label="Views">
          {app.views.map((one) => (
            <a
              key={one}
              href={`#${one}`}
              data-view={one}
              aria-current={one === view ? "page" : undefined}
              onClick={(event) => {
                event.preventDefault();
                app.follow(one);
              }}
              children={NAMES[one]}
            />
          ))}
        </nav>
        <ThemeButton />
      </header>
      <main id="main" tabIndex={-1} inert={app.game.numLoads.value > 0}>
        {view !== "runs" && <h1 class="visually-hidden">{title}</h1>}
        {view === "play" && <PlayView key={key} {...props} />}
        {view === "analyse" && <AnalyseView key={key} {...props} />}
        {view === "runs" && <RunsView {...props} id={name} />}
      </main>
      <p class={`notice ${app.notice.value.look}`} role="status">
        {app.notice.value.text}
      </p>
      <p class="visually-hidden" role="status" aria-live="polite" children={app.said} />
    </>
  );
}

function skipToMain(event: Event): void {
  event.preventDefault();
  if (!focusBoard()) document.getElementById("main")?.focus();
}
