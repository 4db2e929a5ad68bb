// Light or dark: as the system says, or as the person chose with the button.

import { computed, effect, signal } from "@preact/signals";

const KEY = "theme";
const SUN =
  "M12 7a5 5 0 100 10 5 5 0 000-10zM12 1v3m0 16v3M4.2 4.2l2.1 2.1m11.4 11.4l2.1 2.1" +
  "M1 12h3m16 0h3M4.2 19.8l2.1-2.1M17.7 6.3l2.1-2.1";
const MOON = "M20 14.5A8.5 8.5 0 019.5 4 8.5 8.5 0 1020 14.5z";

const system = matchMedia("(prefers-color-scheme: dark)");
const isSystemDark = signal(system.matches);
system.addEventListener("change", () => (isSystemDark.value = system.matches));

/** "light", "dark", or "" for the system's; kept in this browser. */
const chosen = signal("");
export const isDark = computed(() => (chosen.value ? chosen.value === "dark" : isSystemDark.value));
/** Use what the browser stores, unless it is forbidden or full. */
export const inStorage = (use: () => void) =>
  new Promise<void>((done) => done(use())).catch(() => {});
inStorage(() => (chosen.value = localStorage.getItem(KEY) ?? ""));
effect(() => {
  if (chosen.value) document.documentElement.dataset.theme = chosen.value;
});

export function ThemeButton() {
  const name = isDark.value ? "Light colours" : "Dark colours";
  const change = () => {
    chosen.value = isDark.value ? "light" : "dark";
    inStorage(() => localStorage.setItem(KEY, chosen.value));
  };
  return (
    <button type="button" class="quiet" aria-label={name} title={name} onClick={change}>
      <svg viewBox="0 0 24 24" class="icon" aria-hidden="true">
        <path d={isDark.value ? SUN : MOON} />
      </svg>
    </button>
  );
}
