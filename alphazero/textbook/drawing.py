"""A search tree as text, and as a graph in the language of Graphviz.

In: a search, `Uct` or `AlphaZero`, which says what a node's line is, and one of its nodes. Out:
text. A node of a table that several lines reach is drawn once in a graph, with its score at the
first of its parents, and repeated in text.
"""


def tree_text(search, root, max_depth: int | None = None) -> str:
    """Return a tree as text: one line for each visited node, its action first.

    Children stand in the order of their visits. The actions of those without visits share a line.

    Args:
        max_depth: of the nodes below ``root``; None prints the whole tree.
    """
    return "\n".join([search.label(root), *_lines_below(search, root, "", max_depth)])


def tree_dot(search, root, max_depth: int | None = None) -> str:
    """Return the visited nodes as a graph for Graphviz: ``dot -Tsvg tree.dot -o tree.svg``."""
    numbers, lines = {id(root): 0}, [f'  0 [label="{_stacked(search.label(root))}"];']
    layer, depth = [root], 0
    while layer and (max_depth is None or depth < max_depth):
        below = []
        for node in layer:
            for action, child in _visited(search, node):
                if id(child) not in numbers:
                    numbers[id(child)] = len(numbers)
                    label = _stacked(search.label(child, node))
                    lines.append(f'  {numbers[id(child)]} [label="{label}"];')
                    below.append(child)
                edge = f"{numbers[id(node)]} -> {numbers[id(child)]}"
                lines.append(f'  {edge} [label="{_quoted(str(action))}"];')
        layer, depth = below, depth + 1
    return "\n".join(["digraph tree {", "  node [shape=box];", *lines, "}"])


def _lines_below(search, node, indent: str, depth_left: int | None) -> list[str]:
    if depth_left == 0 or not node.children:
        return []
    depth_left = None if depth_left is None else depth_left - 1
    unvisited = [str(action) for action in search.untried(node)]
    visited = _visited(search, node)
    blocks = [(f"{action}: {search.label(child, node)}", child) for action, child in visited]
    if unvisited:
        blocks.append((f"not visited: {', '.join(unvisited)}", None))
    lines = []
    for number, (text, child) in enumerate(blocks, 1):
        is_last = number == len(blocks)
        lines.append(f"{indent}{'└─ ' if is_last else '├─ '}{text}")
        if child is not None:
            lines += _lines_below(search, child, indent + ("   " if is_last else "│  "), depth_left)
    return lines


def _visited(search, node) -> list[tuple]:
    """Return (action, child) of the visited children, the most visited first."""
    places = {action: place for place, action in enumerate(search.scores(node))}
    visited = [(action, child) for action, child in node.children.items() if child.visits]
    return sorted(visited, key=lambda pair: (-pair[1].visits, places.get(pair[0], len(places))))


def _stacked(label: str) -> str:
    return _quoted(label).replace(", ", "\\n")


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
