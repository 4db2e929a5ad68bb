// The nodes of a search as they become known, found by the actions that lead to them.
//
// A message of `api/analyse` holds the most visited nodes only, and their ids differ from message
// to message. This keeps every node that was seen; the key of a node is its path, such as "3/2".

export const ROOT = "";

export class SearchTree {
  constructor() {
    this.nodes = new Map();
  }

  /** Take the `tree` of a message. */
  update(list) {
    const paths = [];
    for (const node of list) {
      const above = node.parent === null ? null : paths[node.parent];
      const path = above === null ? [] : [...above, node.action];
      paths[node.id] = path;
      const key = keyOf(path);
      const children = this.nodes.get(key)?.children ?? [];
      if (!this.nodes.has(key) && above) this.nodes.get(keyOf(above)).children.push(key);
      const mover = above === null ? null : list[node.parent].to_move;
      this.nodes.set(key, { ...node, key, path, mover, children });
    }
  }

  get(key) {
    return this.nodes.get(key);
  }

  /** Return how many visited children of a node were left out of the messages. */
  numLeftOut({ num_children: num, children }) {
    return Math.max((num ?? 0) - children.length, 0);
  }

  /** Return a path, and after it the most visited actions as far as they are known. */
  lineFrom(path, maxLength) {
    const line = [...path];
    let node = this.nodes.get(keyOf(path));
    while (node && node.children.length && line.length < maxLength) {
      const children = node.children.map((key) => this.nodes.get(key));
      node = children.reduce((most, child) => (child.visits > most.visits ? child : most));
      line.push(node.action);
    }
    return line;
  }
}

export function keyOf(path) {
  return path.join("/");
}
