"""The textbook's search, set up and driven as the compiled one is.

What is here beyond `textbook_proofs` is outside the paper: a root temperature, and a
budget of simulations that is set at each root.
"""

import types

from textbook_proofs import ProvingAlphaZero

from alphazero.textbook import evaluators
from alphazero.textbook.alphazero import AlphaZero
from alphazero.textbook.game import PlainGame

CONSTANTS = (
    "pb_c_init",
    "pb_c_base",
    "first_play_value",
    "first_play_urgency",
    "root_first_play_urgency",
    "count_kept_visits",
)
#: What the solver changes.
PROVING = ("is_finished", "backward", "prior", "playable_actions")


class TextbookSearch(ProvingAlphaZero):
    """One game of a `TreeSearch`: a batched game, its evaluator, `SearchSettings`."""

    def __init__(self, game, evaluator, settings):
        constants = {name: getattr(settings, name) for name in CONSTANTS}
        self.settings, self.flatten = settings, False
        if not settings.mcts_solver:
            for name in PROVING:
                setattr(self, name, types.MethodType(getattr(AlphaZero, name), self))
        super().__init__(PlainGame(game), evaluators.network(evaluator), **constants)

    def begin(self, state, num_simulations, flatten=False):
        """Begin with an empty tree; ``flatten`` applies the root temperature."""
        self.budget, self.flatten = num_simulations, flatten
        self.reset(tuple(state.tolist()))

    def go_on(self, action, num_simulations, flatten=False):
        """Continue after an action, with the tree if the settings keep it."""
        self.budget, self.flatten = num_simulations, flatten
        self.advance(action)
        if not self.settings.reuse_tree:
            self.reset(self.root.state)

    def run(self):
        """Search the root."""
        return self.search(self.budget)

    def expand(self, leaf):
        value = super().expand(leaf)
        if not leaf.visits:
            leaf.raw_value = value
        return value

    def set_root(self, node):
        super().set_root(node)
        if self.flatten:
            self.flatten_root()

    def flatten_root(self):
        exponent, root = 1 / self.settings.root_prior_temperature, self.root
        children = root.children.values()
        powers = [self.prior(root, child) ** exponent for child in children]
        if sum(powers) > 0:  # otherwise every action is proven to lose
            for child, power in zip(children, powers):
                child.prior = power / sum(powers)

    def nodes(self):
        """Return the visited nodes by the actions that lead to them from the root."""
        found, stack = {}, [((), self.root)]
        while stack:
            path, node = stack.pop()
            if node.visits:
                found[path] = node
                stack += [((*path, action), child) for action, child in node.children.items()]
        return found
