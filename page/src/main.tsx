// The page of `alphazero serve`. Another page may embed it with a backend and a view of its own:
//
//     <div id="page" data-backend="./browser_backend.js" data-view="play"></div>
//
// The named module exports `browserBackend()`, which returns a Backend of api.ts.

import { render } from "preact";
import type { Backend } from "./api";
import { Page } from "./page";
import { serverBackend } from "./server_backend";
import "./base.css";
import "./board/board.css";
import "./play/play.css";
import "./review/review.css";
import "./analyse/analyse.css";
import "./runs/runs.css";

const root = document.getElementById("page");
if (root) {
  const { backend: module } = root.dataset;
  const backend: Backend = module
    ? (await import(new URL(module, document.baseURI).href)).browserBackend()
    : serverBackend();
  root.replaceChildren();
  render(<Page backend={backend} />, root);
}
