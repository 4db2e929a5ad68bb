// Copies text.

import type { App } from "./app";
import { messageOf } from "./format";

/** @param what the text is, such as "link" */
export async function copyText(text: string, what: string, app: App): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    app.notify(`The ${what} ${what === "moves" ? "are" : "is"} copied.`);
  } catch (error) {
    app.notify(messageOf(error), true);
  }
}
