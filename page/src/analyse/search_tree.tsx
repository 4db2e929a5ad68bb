// The search tree, opened level by level: an ARIA tree of flat rows that update while it runs.
//
// Arrow keys, Home and End walk through the rows, Enter goes to the position of a row. What the
// user has opened stays open; rows change places only if one is clearly ahead. A node is named by
// its path, such as "3/2": its id differs from message to message.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { AnalysisMessage, Setup, Side, TreeNode } from "../api";
import { countText, percentText, resultText, valueText } from "../format";
import { stableOrder } from "./stable_order";

interface Branch extends TreeNode {
  path: number[];
  /** Who chose the move; null for the root. */
  mover: Side | null;
  children: string[];
}

type Nodes = Map<string, Branch>;

const ROOT = "";
const keyOf = (path: number[]) => path.join("/");

/** Return the nodes of a message by their paths. */
export function readTree(list: TreeNode[]): Nodes {
  const nodes: Nodes = new Map();
  const paths: number[][] = [];
  for (const node of list) {
    const above = node.parent === null ? null : paths[node.parent];
    const path = above && node.action !== null ? [...above, node.action] : [];
    paths[node.id] = path;
    const key = keyOf(path);
    const mover = node.parent === null ? null : list[node.parent].to_move;
    nodes.set(key, { ...node, path, mover, children: [] });
    if (above) nodes.get(keyOf(above))?.children.push(key);
  }
  return nodes;
}

/** Return a path, and after it the most visited actions as far as they are known. */
export function lineFrom(nodes: Nodes, path: number[], maxLength: number): number[] {
  const line = [...path];
  for (let node = nodes.get(keyOf(path)); node && line.length < maxLength;) {
    const children: Branch[] = node.children.flatMap((key) => nodes.get(key) ?? []);
    if (!children.length) break;
    node = children.reduce((most, one) => (one.visits > most.visits ? one : most));
    line.push(node.action ?? 0);
  }
  return line;
}

interface SearchTreeProps {
  analysis: AnalysisMessage | null;
  nodes: Nodes;
  setup: Setup;
  /** The position that the tree grows from; another one closes what is open. */
  root: unknown;
  onHover: (path: number[] | null) => void;
  onGo: (path: number[]) => void;
}

export function SearchTree({ analysis, nodes, setup, root, onHover, onGo }: SearchTreeProps) {
  const kept = useRef({ root, orders: new Map<string, string[]>(), open: new Set([ROOT]) });
  if (kept.current.root !== root) {
    kept.current = { root, orders: new Map(), open: new Set([ROOT]) };
  }
  const { orders, open } = kept.current;
  const list = useRef<HTMLUListElement>(null);
  const stop = useSignal<string | null>(null); // the row that the Tab key reaches
  const rows = visibleRows(nodes, orders, open, analysis?.final ?? false);
  const focus = (row: Row | undefined) => {
    if (!row) return;
    stop.value = row.key;
    list.current?.querySelector<HTMLElement>(`[data-key="${row.key}"]`)?.focus();
  };
  const toggle = (key: string, isOpen: boolean) => {
    if (isOpen) open.add(key);
    else open.delete(key);
    stop.value = null; // draws again
    stop.value = key;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const place = rows.findIndex(({ key }) => key === stop.value);
    const row = rows[Math.max(place, 0)];
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
    const isOpen = open.has(row.key);
    const actions: Record<string, () => void> = {
      ArrowDown: () => focus(rows[place + 1]),
      ArrowUp: () => focus(rows[place - 1]),
      Home: () => focus(rows[0]),
      End: () => focus(rows[rows.length - 1]),
      ArrowRight: () => {
        if (row.canOpen && !isOpen) toggle(row.key, true);
        else if (row.canOpen) focus(rows[place + 1]);
      },
      ArrowLeft: () => {
        if (row.canOpen && isOpen) toggle(row.key, false);
        else focus(rows.find(({ key }) => row.node && key === keyOf(row.node.path.slice(0, -1))));
      },
      Enter: () => row.node && onGo(row.node.path),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  };
  const reached = rows.some(({ key }) => key === stop.value) ? stop.value : rows[0]?.key;
  return (
    <div class="search-tree">
      <div class="tree-row tree-header" aria-hidden="true">
        {["Move", "Share", "Visits", "Value", "Prior", "Proven"].map((name) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      {rows.length === 0 && <p class="tree-hint">The tree of the search appears here.</p>}
      <ul
        role={rows.length ? "tree" : undefined}
        aria-label={rows.length ? "Search tree" : undefined}
        ref={list}
        onKeyDown={onKeyDown}
        onFocusOut={() => onHover(null)}
      >
        {rows.map((row) => (
          <TreeRow
            key={row.key}
            {...{ row, setup, onHover, onGo }}
            isOpen={open.has(row.key)}
            isReached={row.key === reached}
            onFocus={() => focus(row)}
            onToggle={() => toggle(row.key, !open.has(row.key))}
          />
        ))}
      </ul>
    </div>
  );
}

interface Row {
  key: string;
  level: number;
  /** Null where it only counts the moves that were left out. */
  node: Branch | null;
  text: string;
  /** Its fraction of the visits of the node above. */
  share: number;
  canOpen: boolean;
}

/** Return the rows that can be seen, from top to bottom. */
function visibleRows(
  nodes: Nodes,
  orders: Map<string, string[]>,
  open: Set<string>,
  exact: boolean,
): Row[] {
  const below = (key: string): Row[] => {
    const node = nodes.get(key);
    if (!node || !open.has(key)) return [];
    const visits = new Map(node.children.map((one) => [one, nodes.get(one)?.visits ?? 0]));
    const order = stableOrder(orders.get(key) ?? [], visits, exact);
    orders.set(key, order);
    const level = node.path.length + 1;
    const found = order.flatMap((one) => {
      const child = nodes.get(one);
      if (!child) return [];
      const share = child.visits / Math.max(node.visits, 1);
      const canOpen = child.num_children > 0;
      return [{ key: one, level, node: child, text: "", share, canOpen }, ...below(one)];
    });
    const num = node.num_children - node.children.length;
    if (num <= 0) return found;
    const text = `${num} more ${num === 1 ? "move" : "moves"}, hardly visited`;
    const rest = { key: `${key}/rest`, level, node: null, text, share: 0, canOpen: false };
    return [...found, rest];
  };
  return below(ROOT);
}

interface TreeRowProps {
  row: Row;
  setup: Setup;
  isOpen: boolean;
  isReached: boolean;
  onHover: (path: number[] | null) => void;
  onGo: (path: number[]) => void;
  onFocus: () => void;
  onToggle: () => void;
}

function TreeRow({ row, setup, isOpen, isReached, ...on }: TreeRowProps) {
  const { node, level, key } = row;
  const item = {
    role: "treeitem" as const,
    "aria-level": level,
    "data-key": key,
    tabIndex: isReached ? 0 : -1,
    style: { "--level": level - 1 },
  };
  if (!node) {
    return (
      <li {...item} class="tree-rest">
        {row.text}
      </li>
    );
  }
  const { mover, visits, value, prior, path } = node;
  const side = mover ?? 0;
  const text = setup.action_texts[node.action ?? 0];
  const proven = node.proven === null ? "" : resultText(node.proven);
  const said = `${text} by ${setup.sides[side]}, ${countText(visits)} visits, value ${valueText(value)}`;
  return (
    <li
      {...item}
      aria-label={`${said}, prior ${percentText(prior)}${proven && `, proven ${proven}`}`}
      aria-expanded={row.canOpen ? isOpen : undefined}
      onFocus={() => on.onHover(path)}
      onPointerEnter={() => on.onHover(path)}
      onPointerLeave={() => on.onHover(null)}
      onClick={on.onFocus}
      onDblClick={on.onToggle}
    >
      <div class="tree-row">
        <span class="tree-label">
          <span class="tree-toggle" onClick={on.onToggle}>
            {row.canOpen ? (isOpen ? "\u25be" : "\u25b8") : ""}
          </span>
          <span class="tree-move">
            <span class={`piece-chip piece-${setup.colors[side]}`} aria-hidden="true" />
            {text}
          </span>
        </span>
        <span class="share-track">
          <span class="share-bar" style={{ inlineSize: `${100 * row.share}%` }} />
        </span>
        <span class="tree-visits">{countText(visits)}</span>
        <span class="tree-value">{valueText(value)}</span>
        <span class="tree-prior">{percentText(prior)}</span>
        <span class="tree-proven" data-result={proven}>
          {proven && `${proven} \u2713`}
        </span>
        <span class="tree-go" title="Go to this position (Enter)" onClick={() => on.onGo(path)}>
          {"\u2192"}
        </span>
      </div>
    </li>
  );
}
