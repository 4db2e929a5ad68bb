// The controls below the board of the Analyse view: another game, or this one elsewhere.

import { copyText } from "./clipboard.js";
import { element } from "./dom.js";

/** @param onSetUp opens the dialog that starts a game anywhere */
export function gameRow(context, onSetUp) {
  const { state } = context;
  const options = state.catalogue.games.map(({ name, title }) =>
    element("option", { value: name, selected: name === state.game.name ? "" : null }, title),
  );
  const onchange = () => context.analyse({ game: select.value });
  const select = element("select", { "aria-label": "Game", onchange }, ...options);
  return element(
    "div",
    { class: "button-row game-row" },
    select,
    button("Set up\u2026", onSetUp),
    button("Play from here", () => context.play(state.request())),
    button("Copy link", () => copyText(location.href, "link", context)),
  );
}

function button(text, onclick) {
  return element("button", { type: "button", onclick }, text);
}
