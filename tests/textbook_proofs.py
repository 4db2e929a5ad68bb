"""The textbook's AlphaZero search with proofs, as a naive twin of `alphazero.search`.

A move into a lost position of the opponent
is a win, whatever the evaluator says of the moves beside it. Such results travel up the tree
together with the visits, restrict the policy, and end the search when they reach the root.

Source: M. Winands, Y. Bjornsson and J. Saito, "Monte-Carlo Tree Search Solver", 2008.
"""

from alphazero.textbook.alphazero import AlphaZero, Node


class ProvingAlphaZero(AlphaZero):
    """`AlphaZero` for games with the results 1, 0 and -1, whose nodes may have proven results."""

    def is_finished(self, num_simulations: int) -> bool:
        """Return whether the simulations are done or the root is proven."""
        return self.root.result is not None or super().is_finished(num_simulations)

    def backward(self, path: list[Node], value: float) -> None:
        """Prove what the new result allows; where a node is proven, its result goes on upwards."""
        below = path[-1]
        for node in reversed(path):
            value = value if node.player == below.player else -value
            if node.result is None:
                node.result = proven_result(node)
            if node.result is not None:
                value = node.result
            node.visits += 1
            node.value_sum += value
            below = node

    def prior(self, node: Node, child: Node) -> float:
        """Return a child's prior, 0 if it is proven to lose for the player to move at ``node``."""
        return 0.0 if is_proven(child, -1, node.player) else child.prior

    def playable_actions(self) -> list:
        """Return the actions that keep a proven result, or without one are not proven to lose."""
        root, children = self.root, self.root.children
        if root.result is None:
            lost = [a for a, child in children.items() if is_proven(child, -1, root.player)]
            return [action for action in children if action not in lost]
        if root.result == -1:
            return list(children)
        return [a for a, child in children.items() if is_proven(child, root.result, root.player)]


def proven_result(node: Node) -> float | None:
    """Return the result that the children of a node prove, for its player; None if they do not.

    result = 1                      if any child is proven to win
           = max over the children  if all of them are proven
    """
    if any(is_proven(child, 1, node.player) for child in node.children.values()):
        return 1
    if not node.children or any(child.result is None for child in node.children.values()):
        return None
    return max(child.value_for(node.player) for child in node.children.values())


def is_proven(child: Node, result: float, player: int) -> bool:
    """Return whether a child is proven to have a result for ``player``."""
    return child.result is not None and child.value_for(player) == result
