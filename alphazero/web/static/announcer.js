// What happens, said to those who use a screen reader.

import { element } from "./dom.js";

export class Announcer {
  constructor() {
    const attributes = { class: "visually-hidden", role: "status", "aria-live": "polite" };
    this.element = element("p", attributes);
  }

  /** Say a sentence; a second one within a moment is said with the first. */
  say(text) {
    const isNew = !this.timer;
    clearTimeout(this.timer);
    this.element.textContent = isNew ? text : `${this.element.textContent} ${text}`;
    this.timer = setTimeout(() => {
      this.timer = null;
    }, 400);
  }
}
