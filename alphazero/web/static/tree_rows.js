// The rows of the search tree as it is shown: a branch holds the rows below one node.
//
// The TreeView that they belong to knows the nodes and what is open; see tree_view.js.

import { element } from "./dom.js";
import { countText, percentText, resultText, valueText } from "./number_text.js";
import { keyOf, ROOT } from "./search_tree.js";
import { stableOrder } from "./stable_order.js";

/** The children of one node: a list of rows, and one that counts those left out. */
export class Branch {
  constructor(view, key, attributes) {
    Object.assign(this, { view, key, order: [] });
    this.element = element("ul", attributes);
    this.rest = new RestRow(key === ROOT ? 0 : view.tree.get(key).path.length);
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
  constructor(level) {
    this.element = element("li", { role: "treeitem", tabindex: -1, class: "tree-rest" });
    this.element.setAttribute("aria-level", level + 1);
    this.element.style.setProperty("--level", level);
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
