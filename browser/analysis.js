// What a search has found, in the words of the page: `api/analyse` of its contract.

const MAX_NODES = { running: 200, final: 1000 };

/** Return an "analysis" message. */
export function analysisOf(search, final) {
  const { root } = search;
  const best = root.state.legal[search.best()];
  const priors = [...root.networkPriors];
  return {
    type: "analysis",
    final,
    num_simulations: search.numDone,
    total: search.numSimulations,
    value: root.proven ?? root.value,
    proven: root.proven,
    best,
    actions: root.state.legal.map((action, index) => ({
      action,
      visits: root.visits[index],
      prior: priors[index],
      value: root.visits[index] ? root.values[index] : null,
      proven: root.provenResult(index),
    })),
    line: search.line(),
    network: {
      value: root.rawValue,
      best: root.state.legal[priors.indexOf(Math.max(...priors))],
    },
    tree: treeOf(root, final ? MAX_NODES.final : MAX_NODES.running),
  };
}

/** Return the most visited nodes, parents before children. */
function treeOf(root, maxNodes) {
  const found = [{ node: root, parent: null }];
  const open = [];
  const add = (node, id) => {
    for (const child of node.children) {
      if (child !== null) open.push({ node: child, parent: id });
    }
  };
  add(root, 0);
  while (open.length && found.length < maxNodes) {
    const next = open.reduce((most, one, k) => (visitsOf(one) > visitsOf(open[most]) ? k : most), 0);
    const [entry] = open.splice(next, 1);
    add(entry.node, found.length);
    found.push(entry);
  }
  return found.map(describe);
}

function visitsOf({ node }) {
  return node.parent.visits[node.index];
}

function describe({ node, parent }, id) {
  const above = node.parent;
  const value = above ? above.values[node.index] : (node.proven ?? node.value);
  return {
    id,
    parent,
    action: above ? above.state.legal[node.index] : null,
    visits: above ? above.visits[node.index] : node.numVisits - 1,
    value,
    prior: above ? above.networkPriors[node.index] : null,
    proven: above ? above.provenResult(node.index) : node.proven,
    to_move: node.state.toMove,
    num_children: node.children.filter((child) => child !== null).length,
  };
}
