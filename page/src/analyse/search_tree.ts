// The search tree. A node is named by its path, such as "3/2": ids change with every message.

import type { TreeNode } from "../api";
import type { MoveFacts } from "./position_search";

interface Branch extends TreeNode {
  path: number[];
  children: Branch[];
}

export type Nodes = Map<string, Branch>;

export const keyOf = (path: number[]) => path.join("/");

/** Return the nodes of a message by their paths. */
export function readTree(list: TreeNode[]): Nodes {
  const nodes: Nodes = new Map();
  const byId: Branch[] = [];
  for (const node of list) {
    const above = node.parent === null ? null : byId[node.parent];
    const path = above && node.action !== null ? [...above.path, node.action] : [];
    byId[node.id] = { ...node, path, children: [] };
    nodes.set(keyOf(path), byId[node.id]);
    above?.children.push(byId[node.id]);
  }
  return nodes;
}

/** Return what the search knows of the moves after a path. */
export function movesAfter(nodes: Nodes, path: number[]): MoveFacts[] {
  const { children = [], visits: all = 1 } = nodes.get(keyOf(path)) ?? {};
  return children.map(({ action, visits, value, prior, proven }) => {
    const found = { action: action ?? 0, visits, value, prior, share: visits / all };
    return { ...found, score: null, result: proven, isProven: true, isBest: false };
  });
}

/** Return a path, and after it the most visited actions as far as they are known. */
export function lineFrom(nodes: Nodes, path: number[], maxLength: number): number[] {
  const children = nodes.get(keyOf(path))?.children ?? [];
  if (!children.length || path.length >= maxLength) return path;
  const next = children.reduce((most, one) => (one.visits > most.visits ? one : most));
  return lineFrom(nodes, next.path, maxLength);
}
