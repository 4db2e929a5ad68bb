// Light or dark: as the system says, or as the person chose with the button.

import { element, svg } from "./dom.js";

const KEY = "theme";
const SUN =
  "M12 7a5 5 0 100 10 5 5 0 000-10zM12 1v3m0 16v3M4.2 4.2l2.1 2.1m11.4 11.4l2.1 2.1" +
  "M1 12h3m16 0h3M4.2 19.8l2.1-2.1M17.7 6.3l2.1-2.1";
const MOON = "M20 14.5A8.5 8.5 0 019.5 4 8.5 8.5 0 1020 14.5z";

/** Return the button that changes the theme; the choice is kept in this browser. */
export function themeButton() {
  const root = document.documentElement;
  const path = svg("path", { d: SUN });
  const icon = svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, path);
  const button = element("button", { type: "button", class: "quiet", onclick: change }, icon);
  const isDark = () =>
    (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "")) ===
    "dark";

  function show() {
    const name = isDark() ? "Light colours" : "Dark colours";
    button.setAttribute("aria-label", name);
    button.title = name;
    path.setAttribute("d", isDark() ? SUN : MOON);
  }

  function change() {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    show();
  }

  const kept = recall();
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
  return button;
}

// A browser may forbid a page to keep anything.

function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // it lasts until the page is closed
  }
}

function recall() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
