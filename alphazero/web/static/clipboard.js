// Copies text; where a browser forbids that, it shows the text to be copied by hand.

import { element } from "./dom.js";

/** @param what the text is, such as "link" */
export async function copyText(text, what, context) {
  try {
    await navigator.clipboard.writeText(text);
    context.notify(`The ${what} ${what === "moves" ? "are" : "is"} copied.`);
  } catch {
    showText(text, what);
  }
}

function showText(text, what) {
  const field = element("textarea", { readonly: "", rows: 8, "aria-label": `The ${what}` }, text);
  const close = element("button", { type: "submit", class: "primary" }, "Close");
  const title = element("h2", { id: "copy-title" }, `Copy the ${what}`);
  const row = element("div", { class: "button-row" }, close);
  const form = element("form", { method: "dialog" }, title, field, row);
  const onclose = (event) => event.target.remove();
  const dialog = element(
    "dialog",
    { class: "dialog", "aria-labelledby": "copy-title", onclose },
    form,
  );
  document.body.append(dialog);
  dialog.showModal();
  field.select();
}
