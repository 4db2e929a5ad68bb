// The search tree, opened level by level: an ARIA tree whose rows update while the search runs.
//
// Arrow keys, Home and End walk through the rows, Enter goes to the position of a row. What the
// user has opened stays open; rows change places only if one is clearly ahead.

import { element } from "./dom.js";
import { ROOT, SearchTree } from "./search_tree.js";
import { Branch } from "./tree_rows.js";

export class TreeView {
  /**
   * @param onHover is called with the path under the pointer or the focus, null: none
   * @param onGo is called with the path of the position to go to
   * @param textOf(action) and sideOf(side) -> {name, color} name moves and players
   */
  constructor({ onHover, onGo, textOf, sideOf }) {
    Object.assign(this, { onHover, onGo, textOf, sideOf });
    this.tree = new SearchTree();
    this.open = new Set([ROOT]);
    this.rows = new Map();
    this.top = new Branch(this, ROOT, { role: "tree", "aria-label": "Search tree" });
    this.hint = element("p", { class: "tree-hint" }, "The tree of the search appears here.");
    this.element = element("div", { class: "search-tree" }, header(), this.top.element, this.hint);
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.element.addEventListener("focusout", () => this.onHover(null));
  }

  /** Forget the nodes, before another search. `keepOpen`: it starts from the same position. */
  reset(keepOpen = false) {
    this.tree = new SearchTree();
    if (keepOpen) return;
    this.open = new Set([ROOT]);
    this.rows.clear();
    this.top.clear();
    this.hint.hidden = false;
  }

  /** Show the `tree` of a message; `exact`: the search has ended, sort the rows. */
  update(list, exact) {
    this.tree.update(list);
    this.hint.hidden = true;
    this.top.update(exact);
    this.#keepOneTabStop();
  }

  toggle(key, isOpen) {
    if (isOpen) this.open.add(key);
    else this.open.delete(key);
    this.rows.get(key).update(true);
  }

  focus(row) {
    if (!row) return;
    this.#visible().forEach((one) => one.element.setAttribute("tabindex", -1));
    row.element.setAttribute("tabindex", 0);
    row.element.focus();
  }

  /** Return the rows that can be seen, from top to bottom. */
  #visible() {
    return [...this.element.querySelectorAll("[role=treeitem]")].map((item) => item.treeRow);
  }

  #keepOneTabStop() {
    const visible = this.#visible();
    if (visible.some((row) => row.element.tabIndex === 0)) return;
    visible[0]?.element.setAttribute("tabindex", 0);
  }

  #onKey(event) {
    const row = event.target.closest("[role=treeitem]")?.treeRow;
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
    const visible = this.#visible();
    const place = visible.indexOf(row);
    const isOpen = this.open.has(row.key);
    const actions = {
      ArrowDown: () => this.focus(visible[place + 1]),
      ArrowUp: () => this.focus(visible[place - 1]),
      Home: () => this.focus(visible[0]),
      End: () => this.focus(visible[visible.length - 1]),
      ArrowRight: () => this.#right(row, isOpen, visible[place + 1]),
      ArrowLeft: () => this.#left(row, isOpen),
      Enter: () => row.path && this.onGo(row.path),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  }

  #right(row, isOpen, next) {
    if (!row.canOpen) return;
    if (isOpen) this.focus(next);
    else this.toggle(row.key, true);
  }

  #left(row, isOpen) {
    if (isOpen && row.canOpen) this.toggle(row.key, false);
    else this.focus(row.element.parentElement.closest("[role=treeitem]")?.treeRow);
  }
}

function header() {
  const names = ["Move", "Share", "Visits", "Value", "Prior", "Proven"];
  const cells = names.map((name) => element("span", {}, name));
  return element("div", { class: "tree-row tree-header", "aria-hidden": "true" }, ...cells);
}
