// The search tree, opened level by level: nested lists whose rows update while it runs.
//
// What the user has opened stays open; rows change places only if one is clearly ahead. A node is
// named by its path, such as "3/2": its id differs from message to message.

import { useRef, useState } from "preact/hooks";
import type { Setup, Side, TreeNode } from "../api";
import { countText, percentText, resultText, valueText } from "../format";
import { Button } from "../ui";
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
  onHover: (path: number[] | null) => void;
  onGo: (path: number[]) => void;
}

export function SearchTree(props: SearchTreeProps) {
  return (
    <div class="search-tree">
      <div class="tree-row tree-header" aria-hidden="true">
        {COLUMNS.map((name) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      {props.nodes.size < 2 && <p class="tree-hint">The tree of the search appears here.</p>}
      <Level {...props} above={ROOT} />
    </div>
  );
}

/** The moves below a node, the most visited first. */
function Level({ above, ...props }: SearchTreeProps & { above: string }) {
  const { nodes, isFinal } = props;
  const order = useRef<string[]>([]);
  const { children = [], visits: all = 0 } = nodes.get(above) ?? {};
  const visits = new Map(children.map((key) => [key, nodes.get(key)?.visits ?? 0]));
  order.current = stableOrder(order.current, visits, isFinal);
  const rows = order.current.map((key) => {
    const node = nodes.get(key);
    return node && <TreeRow key={key} node={node} share={node.visits / all} {...props} />;
  });
  return <ul children={rows} />;
}

type TreeRowProps = SearchTreeProps & { node: Branch; share: number };

function TreeRow({ node, share, ...props }: TreeRowProps) {
  const { setup, onHover, onGo } = props;
  const [isOpen, setOpen] = useState(false);
  const { visits, value, prior, path } = node;
  const side = node.mover ?? 0;
  const text = setup.action_texts[node.action ?? 0];
  const proven = node.proven === null ? "" : resultText(node.proven);
  const look = () => onHover(path);
  const leave = () => onHover(null);
  const hovering = { onPointerEnter: look, onFocusIn: look };
  const leaving = { onPointerLeave: leave, onFocusOut: leave };
  return (
    <li>
      <div class="tree-row" {...hovering} {...leaving}>
        <span class="tree-label" style={{ "--level": path.length - 1 }}>
          {node.num_children > 0 ? (
            <Button
              class="tree-toggle"
              aria-expanded={isOpen}
              aria-label={`Answers to ${text} by ${setup.sides[side]}`}
              onClick={() => setOpen(!isOpen)}
              text={isOpen ? "\u25be" : "\u25b8"}
            />
          ) : (
            <span class="tree-toggle" />
          )}
          <span class={`piece-chip piece-${setup.colors[side]}`} aria-hidden="true" />
          {text}
        </span>
        <ShareBar share={share} />
        <span class="tree-visits">{countText(visits)}</span>
        <span class="tree-value">{valueText(value)}</span>
        <span class="tree-prior">{percentText(prior)}</span>
        <span class="tree-proven" data-result={proven}>
          {proven && `${proven} \u2713`}
        </span>
        <Button
          class="tree-go"
          aria-label={`Go to the position after ${text}`}
          onClick={() => onGo(path)}
          text={"\u2192"}
        />
      </div>
      {isOpen && <Level {...props} above={keyOf(path)} />}
    </li>
  );
}
