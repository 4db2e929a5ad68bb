"""Draw a search tree as text.

In: a search, `Uct` or `AlphaZero`, whose method `label` describes a node, and one of its nodes.
Out: text. If several move sequences reach a node of a table, the node is repeated.
"""


def tree_text(search, root, max_depth: int | None = None) -> str:
    """Draw a tree with one line per visited node, which begins with the node's action.

    Children are listed by decreasing visits; the unvisited actions share a line.

    Args:
        max_depth: largest depth below ``root``; None prints the whole tree.
    """
    return "\n".join([search.label(root), *_lines_below(search, root, "", max_depth)])


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
    """Return (action, child) for the visited children, the most visited first."""
    visited = [(action, child) for action, child in node.children.items() if child.visits]
    return sorted(visited, key=lambda pair: -pair[1].visits)
