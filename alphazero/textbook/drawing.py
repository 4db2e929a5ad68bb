"""Draw a search tree as text.

The search, `Uct` or `AlphaZero`, describes each node by its method `label`. If several move
sequences reach a node of a table, the node is drawn several times.
"""


def tree_text(search, root, max_depth: int | None = None) -> str:
    """Draw the tree below a node, with one line per visited node that begins with its action.

    Children are listed by decreasing visits. A node's unvisited actions share a line.

    Args:
        search: the search that the tree belongs to, `Uct` or `AlphaZero`.
        max_depth: largest depth below ``root``; None prints the whole tree.
    """
    lines = [search.label(root), *_lines_below(search, root, "", max_depth)]
    return "\n".join(lines)


def _lines_below(search, node, indent: str, depth_left: int | None) -> list[str]:
    if depth_left == 0 or not node.children:
        return []
    if depth_left is not None:
        depth_left -= 1
    unvisited = [str(action) for action in search.untried(node)]
    visited = _visited(search, node)
    blocks = [(f"{action}: {search.label(child, node)}", child) for action, child in visited]
    if unvisited:
        blocks.append((f"not visited: {', '.join(unvisited)}", None))
    lines = []
    for number, (text, child) in enumerate(blocks, 1):
        is_last = number == len(blocks)
        branch = "└─ " if is_last else "├─ "
        lines.append(indent + branch + text)
        if child is not None:
            child_indent = indent + ("   " if is_last else "│  ")
            lines += _lines_below(search, child, child_indent, depth_left)
    return lines


def _visited(search, node) -> list[tuple]:
    """Return the pairs (action, child) of a node's visited children, the most visited first."""
    visited = [(action, child) for action, child in node.children.items() if child.visits]
    return sorted(visited, key=lambda pair: (-pair[1].visits, pair[0]))
