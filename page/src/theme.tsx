// Light or dark: as the system says, or as the person chose with the button.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect } from "preact/hooks";

const KEY = "theme";
const SUN =
  "M12 7a5 5 0 100 10 5 5 0 000-10zM12 1v3m0 16v3M4.2 4.2l2.1 2.1m11.4 11.4l2.1 2.1" +
  "M1 12h3m16 0h3M4.2 19.8l2.1-2.1M17.7 6.3l2.1-2.1";
const MOON = "M20 14.5A8.5 8.5 0 019.5 4 8.5 8.5 0 1020 14.5z";
const dark = () => matchMedia("(prefers-color-scheme: dark)");

/** The button that changes the theme; the choice is kept in this browser. */
export function ThemeButton() {
  const chosen = useSignal(recall());
  const isSystemDark = useSignal(dark().matches);
  useEffect(() => {
    const query = dark();
    const follow = () => (isSystemDark.value = query.matches);
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  useLayoutEffect(() => {
    if (chosen.value) document.documentElement.dataset.theme = chosen.value;
  }, [chosen.value]);
  const isDark = chosen.value ? chosen.value === "dark" : isSystemDark.value;
  const name = isDark ? "Light colours" : "Dark colours";
  const change = () => {
    chosen.value = isDark ? "light" : "dark";
    remember(chosen.value);
  };
  return (
    <button type="button" class="quiet" aria-label={name} title={name} onClick={change}>
      <svg viewBox="0 0 24 24" class="icon" aria-hidden="true">
        <path d={isDark ? SUN : MOON} />
      </svg>
    </button>
  );
}

// A browser may forbid a page to keep anything.

function remember(theme: string): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // it lasts until the page is closed
  }
}

function recall(): string {
  try {
    const kept = localStorage.getItem(KEY) ?? "";
    return ["light", "dark"].includes(kept) ? kept : "";
  } catch {
    return "";
  }
}
