// Copies text; where a browser forbids that, it shows the text to be copied by hand.

import { render } from "preact";
import type { App } from "./app";

/** @param what the text is, such as "link" */
export async function copyText(text: string, what: string, app: App): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    app.notify(`The ${what} ${what === "moves" ? "are" : "is"} copied.`);
  } catch {
    showText(text, what);
  }
}

function showText(text: string, what: string): void {
  const place = document.body.appendChild(document.createElement("div"));
  const close = () => {
    render(null, place);
    place.remove();
  };
  render(
    <dialog class="dialog" aria-labelledby="copy-title" onClose={close}>
      <form method="dialog">
        <h2 id="copy-title">Copy the {what}</h2>
        <textarea readonly rows={8} aria-label={`The ${what}`} value={text} />
        <div class="button-row">
          <button type="submit" class="primary" children="Close" />
        </div>
      </form>
    </dialog>,
    place,
  );
  place.querySelector("dialog")?.showModal();
  place.querySelector("textarea")?.select();
}
