// The search tree, opened level by level: an ARIA tree whose rows update while the search runs.
//
// Arrow keys, Home and End walk through the rows, Enter goes to the position of a row. What the
// user has opened stays open; rows change places only if one is clearly ahead.

import { element } from "./dom.js";
import { countText, percentText, resultText, valueText } from "./number_text.js";
import { keyOf, ROOT, SearchTree } from "./search_tree.js";
import { stableOrder } from "./stable_order.js";

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

/** The children of one node: a list of rows, and one that counts those left out. */
class Branch {
  constructor(view, key, attributes) {
    Object.assign(this, { view, key, order: [] });
    this.element = element("ul", attributes);
    this.rest = new RestRow();
  }

  clear() {
    this.order = [];
    this.element.replaceChildren();
  }

  update(exact) {
    const { tree, rows } = this.view;
    const node = tree.get(this.key);
    if (!node) return;
    const visits = new Map(node.children.map((key) => [key, tree.get(key).visits]));
    const before = this.order;
    this.order = stableOrder(before, visits, exact);
    for (const key of this.order) {
      if (!rows.has(key)) rows.set(key, new Row(this.view, key));
      rows.get(key).update(exact);
    }
    const isRest = this.rest.update(tree.numLeftOut(node));
    const wanted = [...this.order.map((key) => rows.get(key)), ...(isRest ? [this.rest] : [])];
    this.#place(wanted.map((row) => row.element));
  }

  /** Put the elements into their order; one with the focus is not taken out of the page. */
  #place(elements) {
    const { children } = this.element;
    if (elements.length === children.length && elements.every((one, k) => one === children[k])) {
      return;
    }
    const stays = elements.findIndex((one) => one.contains(document.activeElement));
    if (stays < 0 || elements[stays].parentElement !== this.element) {
      this.element.replaceChildren(...elements);
      return;
    }
    [...children].forEach((child) => child !== elements[stays] && child.remove());
    elements[stays].before(...elements.slice(0, stays));
    elements[stays].after(...elements.slice(stays + 1));
  }
}

/** One node. */
class Row {
  constructor(view, key) {
    Object.assign(this, { view, key, branch: null });
    this.path = view.tree.get(key).path;
    const cell = (name) => element("span", { class: `tree-${name}` });
    this.cells = Object.fromEntries(
      ["move", "visits", "value", "prior", "proven"].map((name) => [name, cell(name)]),
    );
    this.toggle = element("span", { class: "tree-toggle", onclick: () => this.#onToggle() });
    const label = element("span", { class: "tree-label" }, this.toggle, this.cells.move);
    label.style.setProperty("--level", this.path.length - 1);
    this.bar = element("span", { class: "share-bar" });
    const track = element("span", { class: "share-track" }, this.bar);
    const { move, ...others } = this.cells;
    const cells = [label, track, ...Object.values(others), this.#go()];
    this.row = element("div", { class: "tree-row" }, ...cells);
    this.row.addEventListener("click", () => view.focus(this));
    this.row.addEventListener("dblclick", () => this.#onToggle());
    this.row.addEventListener("pointerenter", () => view.onHover(this.path));
    this.row.addEventListener("pointerleave", () => view.onHover(null));
    this.element = element("li", { role: "treeitem", tabindex: -1 }, this.row);
    this.element.setAttribute("aria-level", this.path.length);
    this.element.addEventListener("focus", () => view.onHover(this.path));
    this.element.treeRow = this;
    this.#writeMove();
  }

  get canOpen() {
    const node = this.view.tree.get(this.key);
    return node !== undefined && (node.children.length > 0 || this.view.tree.numLeftOut(node) > 0);
  }

  update(exact) {
    const node = this.view.tree.get(this.key);
    if (!node) return; // another search of the same position has not come here yet
    const proven = node.proven === null ? "" : resultText(node.proven);
    const texts = {
      visits: countText(node.visits),
      value: valueText(node.value),
      prior: percentText(node.prior),
      proven: proven && `${proven} \u2713`,
    };
    for (const [name, text] of Object.entries(texts)) this.cells[name].textContent = text;
    this.cells.proven.dataset.result = proven;
    const { visits: all } = this.view.tree.get(keyOf(this.path.slice(0, -1)));
    this.bar.style.setProperty("inline-size", `${(100 * node.visits) / Math.max(all, 1)}%`);
    const said = `${this.name}, ${texts.visits} visits, value ${texts.value}, prior ${texts.prior}`;
    this.element.setAttribute("aria-label", proven ? `${said}, proven ${proven}` : said);
    this.#updateBranch(exact);
  }

  #updateBranch(exact) {
    const isOpen = this.canOpen && this.view.open.has(this.key);
    if (this.canOpen) this.element.setAttribute("aria-expanded", isOpen);
    this.toggle.textContent = this.canOpen ? (isOpen ? "\u25be" : "\u25b8") : "";
    if (isOpen && !this.branch) {
      this.branch = new Branch(this.view, this.key, { role: "group" });
    }
    if (isOpen) {
      this.branch.update(exact);
      if (!this.branch.element.isConnected) this.element.append(this.branch.element);
    } else {
      this.branch?.element.remove();
    }
  }

  #writeMove() {
    const node = this.view.tree.get(this.key);
    const side = this.view.sideOf(node.mover);
    const text = this.view.textOf(node.action);
    const chip = element("span", { class: `piece-chip chip-${side.color}`, "aria-hidden": "true" });
    this.cells.move.replaceChildren(chip, text);
    this.name = `${text} by ${side.name}`;
  }

  #go() {
    const label = "Go to this position (Enter)";
    const attributes = { class: "tree-go", tabindex: -1, type: "button", title: label };
    const button = element("button", { ...attributes, "aria-label": label }, "\u2192");
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      this.view.onGo(this.path);
    });
    return button;
  }

  #onToggle() {
    if (this.canOpen) this.view.toggle(this.key, !this.view.open.has(this.key));
  }
}

/** The last row of a branch: how many moves the messages leave out. */
class RestRow {
  constructor() {
    this.element = element("li", { role: "treeitem", tabindex: -1, class: "tree-rest" });
    this.element.treeRow = this;
    this.canOpen = false;
  }

  /** Return whether there is anything to say. */
  update(num) {
    const text = `${num} more ${num === 1 ? "move" : "moves"} hardly visited`;
    if (this.element.textContent !== text) this.element.textContent = text;
    return num > 0;
  }
}

function header() {
  const names = ["Move", "Share", "Visits", "Value", "Prior", "Proven"];
  const cells = names.map((name) => element("span", {}, name));
  return element("div", { class: "tree-row tree-header", "aria-hidden": "true" }, ...cells);
}
