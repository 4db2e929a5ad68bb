"""UCT: Monte Carlo tree search with UCB1 and rollouts, on a tree or on a table of positions.

In: the rules of a game and a state. Out: a `Node` with its statistics, and the move to play. One
simulation has four phases, each a method of `Uct`: `select`, `expand`, `rollout`, `backpropagate`.

Without a table every node has statistics of its own: the search is a tree. With a table, a
dictionary from states to nodes, a position has one node however it is reached, and what was learned
for one move serves the next.

Sources: L. Kocsis and C. Szepesvari, "Bandit based Monte-Carlo planning", 2006; C. Browne et al.,
"A survey of Monte Carlo tree search methods", 2012, section 3.
"""

import dataclasses
import math
import random
import time
from collections.abc import Callable, Hashable
from typing import NamedTuple

from alphazero.textbook.game import Rules, State, check_rules


@dataclasses.dataclass(eq=False)
class Node:
    """A position and its statistics."""

    state: State
    player: int  #: the player to move
    visits: int = 0  #: simulations that ended at or passed through the node
    #: Wins in these simulations of the player who is *not* to move: where turns alternate, the one
    #: who has just moved here. A draw is half a win.
    wins: float = 0.0
    #: nodes by action; {} at a leaf
    children: dict = dataclasses.field(default_factory=dict, repr=False)

    def wins_of(self, player: int) -> float:
        """Return the wins of either player."""
        return self.wins if player != self.player else self.visits - self.wins


class PositionStatistics(NamedTuple):
    """What a search has learned about a position, for the player to move there."""

    visits: int  #: simulations that ended at or passed through the position
    wins: float  #: of the player to move; a draw is half a win
    value: float  #: expected result, in [-1, 1]: 2 * wins / visits - 1; nan without visits


def ucb1(wins: float, visits: int, parent_visits: int, uct_c: float = math.sqrt(2.0)) -> float:
    """Return the UCB1 score of a child, infinity without visits.

        score = wins / visits + uct_c * sqrt(ln(parent_visits) / visits)

    P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time analysis of the multiarmed bandit
    problem", 2002; there uct_c is sqrt(2).
    """
    if visits == 0:
        return math.inf
    # In a table a child can have visits that did not come through this parent, which has none yet.
    log_visits = math.log(max(parent_visits, 1))
    return wins / visits + uct_c * math.sqrt(log_visits / visits)


def random_rollout(game: Rules, state: State, rng: random.Random) -> float:
    """Play random moves to the end; return the result for player 0."""
    while not game.is_over(state):
        state = game.step(state, rng.choice(game.legal_actions(state)))
    return game.result(state) if game.player_to_move(state) == 0 else -game.result(state)


class Uct:
    """A UCT search.

    Args:
        uct_c: the exploration constant of `ucb1`.
        final_move: play the move with most "visits", or the one with the best "value".
        table: None for a tree, or a dictionary for one node per position: {}, or the table of
            another search, to use what it has learned. States must then be hashable.
        rollout: estimates a leaf: ``rollout(game, state, rng)`` returns a result for player 0.
        rng: chooses between equal moves, and plays rollouts.
    """

    def __init__(
        self,
        game: Rules,
        uct_c: float = math.sqrt(2.0),
        final_move: str = "visits",
        table: dict[State, Node] | None = None,
        rollout: Callable[[Rules, State, random.Random], float] = random_rollout,
        rng: random.Random | None = None,
    ):
        if final_move not in ("visits", "value"):
            raise ValueError(f"final_move={final_move!r} is not allowed: use 'visits' or 'value'.")
        check_rules(game)
        self.game, self.uct_c, self.final_move = game, uct_c, final_move
        self.table, self.rollout = table, rollout
        self.rng = rng or random.Random()

    def search(
        self,
        state: State,
        num_simulations: int | None = None,
        time_limit_s: float | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Node:
        """Run simulations from a position and return its node.

        Args:
            num_simulations: 1000 if there is no time limit either.
            time_limit_s: with num_simulations, whichever ends first; one simulation is always run.
            progress: called after each simulation with the number done and the number to do.

        Raises:
            ValueError: if the game is over.
        """
        if num_simulations is None and time_limit_s is None:
            num_simulations = 1000
        root = self.begin(state)
        started, num_done = time.perf_counter(), 0
        while num_simulations is None or num_done < num_simulations:
            self.run_simulation(root)
            num_done += 1
            if progress is not None:
                progress(num_done, num_simulations)
            if time_limit_s is not None and time.perf_counter() - started >= time_limit_s:
                break
        return root

    def begin(self, state: State) -> Node:
        """Return the node of a position with its children, ready for simulations."""
        if self.game.is_over(state):
            raise ValueError("the game is over: there is no move to search for.")
        root = self.make_node(state)
        if not root.children:
            self.add_children(root)
        return root

    def run_simulation(self, root: Node) -> None:
        """Run one simulation: selection, expansion, simulation, backpropagation."""
        path = self.select([root])
        while self.expand(path[-1]):
            path = self.select(path)
        result = self.rollout(self.game, path[-1].state, self.rng)
        self.backpropagate(path, result)

    # --- the phases -------------------------------------------------------------------------------

    def select(self, path: list[Node]) -> list[Node]:
        """Selection: walk on from the end of ``path``, by the largest score, to a leaf.

        Unvisited children come first, because their score is infinite.

        Returns:
            The longer path.
        """
        path = _checked_path(path)
        while path[-1].children:
            path.append(path[-1].children[self.random_best(self.scores(path[-1]))])
        return path

    def expand(self, leaf: Node) -> bool:
        """Expansion: add the children of a leaf that was visited before and is not final.

        Returns:
            Whether they were added.
        """
        if leaf.visits == 0 or self.game.is_over(leaf.state):
            return False
        self.add_children(leaf)
        return True

    # Simulation is `self.rollout`.

    def backpropagate(self, path: list[Node], result: float) -> None:
        """Backpropagation: add one visit with ``result``, of player 0, to each node of ``path``.

        wins = wins + (1 + result) / 2,  the result being that of the player whose wins they are
        """
        for node in _checked_path(path):
            node.visits += 1
            node.wins += (1 + (result if node.player == 1 else -result)) / 2

    # --- parts of the phases ----------------------------------------------------------------------

    def scores(self, node: Node) -> dict:
        """Return the UCB1 score of each child by its action, for the player to move."""
        return {
            action: ucb1(child.wins_of(node.player), child.visits, node.visits, self.uct_c)
            for action, child in node.children.items()
        }

    def random_best(self, scores: dict):
        """Return the action with the largest score; one of equals at random."""
        largest = max(scores.values())
        return self.rng.choice([action for action in scores if scores[action] == largest])

    def add_children(self, node: Node) -> None:
        """Give a node a child for each legal action."""
        for action in self.game.legal_actions(node.state):
            node.children[action] = self.make_node(self.game.step(node.state, action))

    def make_node(self, state: State) -> Node:
        """Return a new node, or the table's node of this position."""
        if self.table is None:
            return Node(state, self.game.player_to_move(state))
        if not isinstance(state, Hashable):
            kind = type(state).__name__
            raise TypeError(f"a table needs hashable states, such as tuples; this is a {kind}.")
        if state not in self.table:
            self.table[state] = Node(state, self.game.player_to_move(state))
        return self.table[state]

    # --- the answer -------------------------------------------------------------------------------

    def best_action(self, root: Node):
        """Return the move to play, by visits or by value; of equals the other decides, then luck.

        The value of a child is its wins / visits.

        Raises:
            ValueError: if no child has a visit.
        """
        keys = {}
        for action, child in root.children.items():
            if child.visits > 0:
                value = child.wins_of(root.player) / child.visits
                by_visits = self.final_move == "visits"
                keys[action] = (child.visits, value) if by_visits else (value, child.visits)
        if not keys:
            raise ValueError(
                "no action of this node was visited: run search, or run_simulation, first."
            )
        return self.random_best(keys)

    def lookup(self, state: State) -> PositionStatistics | None:
        """Return what the table knows about a position, None if it has never met it.

        Raises:
            ValueError: if the search has no table.
        """
        if self.table is None:
            raise ValueError(
                "this search has no table to look in: make it with Uct(game, table={})."
            )
        node = self.table.get(state)
        if node is None:
            return None
        wins = node.wins_of(node.player)
        value = 2 * wins / node.visits - 1 if node.visits else math.nan
        return PositionStatistics(node.visits, wins, value)

    def label(self, node: Node, parent: Node | None = None) -> str:
        """Return one line about a node, for `alphazero.textbook.drawing`."""
        player = node.player if parent is None else parent.player
        text = f"visits {node.visits}, wins {node.wins_of(player):g}"
        if parent is None:
            return f"{text} for player {player}, who is to move"
        score = ucb1(node.wins_of(player), node.visits, parent.visits, self.uct_c)
        return f"{text}, UCB1 {score:.4f}"

    def lists_unvisited(self, node: Node) -> bool:
        """Return whether a drawing names the unvisited children of a node."""
        return True


def _checked_path(path: list[Node]) -> list[Node]:
    if isinstance(path, Node):
        raise TypeError("this is a node, and a path is a list of nodes: write [node].")
    return list(path)
