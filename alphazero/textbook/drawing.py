"""Draw a search tree of `Uct` or `AlphaZero` as text.

The search's method `label` describes each node. In a search with a table of positions, several move
sequences can lead to one node; the node is then drawn once for each sequence.
"""


def tree_text(search, root, max_depth: int | None = None) -> str:
    """Draw the tree below a node as text: one line per visited node, beginning with its action.

    The most visited children come first. The unvisited actions of a node share one line.

    Args:
        search: the `Uct` or `AlphaZero` search that grew the tree.
        root: the node at the top of the drawing.
        max_depth: number of levels to draw below ``root``; None means all of them.
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
    """Return a node's visited children as pairs (action, child), the most visited first.

    Equally visited children are in the order of their actions.
    """
    visited = [(action, child) for action, child in node.children.items() if child.visits]
    return sorted(visited, key=lambda pair: (-pair[1].visits, pair[0]))
