// The search tree, opened level by level: an ARIA tree of flat rows that update while it runs.
//
// Arrow keys, Home and End walk through the rows, Enter goes to the position of a row. What the
// user has opened stays open; rows change places only if one is clearly ahead. A node is named by
// its path, such as "3/2": its id differs from message to message.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Setup, Side, TreeNode } from "../api";
import { countText, percentText, resultText, valueText } from "../format";
import { ShareBar } from "./moves_table";
import { stableOrder } from "./stable_order";

interface Branch extends TreeNode {
  path: number[];
  /** Who chose the move; null for the root. */
  mover: Side | null;
  children: string[];
}

type Nodes = Map<string, Branch>;

const ROOT = "";
const COLUMNS = ["Move", "Share", "Visits", "Value", "Prior", "Proven"];
const keyOf = (path: number[]) => path.join("/");

/** Return the nodes of a message by their paths. */
export function readTree(list: TreeNode[]): Nodes {
  const nodes: Nodes = new Map();
  const byId: Branch[] = [];
  for (const node of list) {
    const above = node.parent === null ? null : byId[node.parent];
    const path = above && node.action !== null ? [...above.path, node.action] : [];
    byId[node.id] = { ...node, path, mover: above?.to_move ?? null, children: [] };
    nodes.set(keyOf(path), byId[node.id]);
    above?.children.push(keyOf(path));
  }
  return nodes;
}

/** Return a path, and after it the most visited actions as far as they are known. */
export function lineFrom(nodes: Nodes, path: number[], maxLength: number): number[] {
  const children = nodes.get(keyOf(path))?.children.flatMap((key) => nodes.get(key) ?? []) ?? [];
  if (!children.length || path.length >= maxLength) return path;
  const next = children.reduce((most, one) => (one.visits > most.visits ? one : most));
  return lineFrom(nodes, next.path, maxLength);
}

interface SearchTreeProps {
  nodes: Nodes;
  isFinal: boolean;
  setup: Setup;
  /** The position that the tree grows from; another one closes what is open. */
  root: unknown;
  onHover: (path: number[] | null) => void;
  onGo: (path: number[]) => void;
}

export function SearchTree({ nodes, isFinal, setup, root, onHover, onGo }: SearchTreeProps) {
  const start = { root, orders: new Map<string, string[]>(), open: new Set([ROOT]) };
  const kept = useRef(start);
  if (kept.current.root !== root) kept.current = start;
  const { orders, open } = kept.current;
  const list = useRef<HTMLUListElement>(null);
  const stop = useSignal<string | null>(null); // the row that the Tab key reaches
  const rows = visibleRows(nodes, orders, open, isFinal);
  const focus = (row: Row | undefined) => {
    if (!row) return;
    stop.value = row.key;
    list.current?.querySelector<HTMLElement>(`[data-key="${row.key}"]`)?.focus();
  };
  const toggle = ({ key }: Row) => {
    if (!open.delete(key)) open.add(key);
    stop.value = null; // draws again
    stop.value = key;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const place = rows.findIndex(({ key }) => key === stop.value);
    const row = rows[Math.max(place, 0)];
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
    const isOpen = row.canOpen && open.has(row.key);
    const above = rows.findLast(({ level }, k) => k < place && level < row.level);
    const actions: Record<string, () => void> = {
      ArrowDown: () => focus(rows[place + 1]),
      ArrowUp: () => focus(rows[place - 1]),
      Home: () => focus(rows[0]),
      End: () => focus(rows[rows.length - 1]),
      ArrowRight: () => row.canOpen && (isOpen ? focus(rows[place + 1]) : toggle(row)),
      ArrowLeft: () => (isOpen ? toggle(row) : focus(above)),
      Enter: () => onGo(row.node.path),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  };
  const reached = rows.find(({ key }) => key === stop.value) ?? rows[0];
  const tree = rows.length ? { role: "tree" as const, "aria-label": "Search tree" } : {};
  return (
    <div class="search-tree">
      <div class="tree-row tree-header" aria-hidden="true">
        {COLUMNS.map((name) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      {rows.length === 0 && <p class="tree-hint">The tree of the search appears here.</p>}
      <ul {...tree} ref={list} onKeyDown={onKeyDown} onFocusOut={() => onHover(null)}>
        {rows.map((row) => (
          <TreeRow
            key={row.key}
            {...{ row, setup, onHover, onGo }}
            isOpen={open.has(row.key)}
            isReached={row === reached}
            onFocus={() => focus(row)}
            onToggle={() => toggle(row)}
          />
        ))}
      </ul>
    </div>
  );
}

interface Row {
  key: string;
  level: number;
  node: Branch;
  /** Its fraction of the visits of the node above. */
  share: number;
  canOpen: boolean;
}

/** Return the rows that can be seen below a node, from top to bottom. */
function visibleRows(
  nodes: Nodes,
  orders: Map<string, string[]>,
  open: Set<string>,
  exact: boolean,
  key = ROOT,
): Row[] {
  const node = nodes.get(key);
  if (!node || !open.has(key)) return [];
  const visits = new Map(node.children.map((one) => [one, nodes.get(one)?.visits ?? 0]));
  const order = stableOrder(orders.get(key) ?? [], visits, exact);
  orders.set(key, order);
  return order.flatMap((one): Row[] => {
    const child = nodes.get(one);
    if (!child) return [];
    const share = child.visits / Math.max(node.visits, 1);
    const [level, canOpen] = [child.path.length, child.num_children > 0];
    const found = { key: one, level, node: child, share, canOpen };
    return [found, ...visibleRows(nodes, orders, open, exact, one)];
  });
}

interface TreeRowProps extends Pick<SearchTreeProps, "setup" | "onHover" | "onGo"> {
  row: Row;
  isOpen: boolean;
  isReached: boolean;
  onFocus: () => void;
  onToggle: () => void;
}

function TreeRow({ row, setup, isOpen, isReached, ...on }: TreeRowProps) {
  const { node, level, key, canOpen } = row;
  const item = {
    role: "treeitem" as const,
    "aria-level": level,
    "data-key": key,
    tabIndex: isReached ? 0 : -1,
    style: { "--level": level - 1 },
  };
  const { visits, value, prior, path } = node;
  const side = node.mover ?? 0;
  const text = setup.action_texts[node.action ?? 0];
  const proven = node.proven === null ? "" : resultText(node.proven);
  const found = `${countText(visits)} visits, value ${valueText(value)}`;
  const said = `${text} by ${setup.sides[side]}, ${found}`;
  const enter = () => on.onHover(path);
  return (
    <li
      {...item}
      aria-label={`${said}, prior ${percentText(prior)}${proven && `, proven ${proven}`}`}
      aria-expanded={canOpen ? isOpen : undefined}
      onFocus={enter}
      onPointerEnter={enter}
      onPointerLeave={() => on.onHover(null)}
      onClick={on.onFocus}
      onDblClick={on.onToggle}
    >
      <div class="tree-row">
        <span class="tree-label">
          <span class="tree-toggle" onClick={on.onToggle}>
            {canOpen ? (isOpen ? "\u25be" : "\u25b8") : ""}
          </span>
          <span class="tree-move">
            <span class={`piece-chip piece-${setup.colors[side]}`} aria-hidden="true" />
            {text}
          </span>
        </span>
        <ShareBar share={row.share} />
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
