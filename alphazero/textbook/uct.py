"""UCT in plain Python: Monte Carlo tree search with UCB1 and rollouts, on a tree or a table.

A search returns the `Node` of a position, whose children hold the statistics of each move. A
simulation has four phases, each a method of `Uct`: `select`, `expand`, `simulate`, `backpropagate`.

Without a table, each move sequence has its own node, and the nodes form a tree. With a table (a
dictionary from states to nodes), each position has one node, however it is reached, and later
searches reuse the node's statistics. The table can also record the positions of rollouts.

Sources: L. Kocsis and C. Szepesvari, "Bandit based Monte-Carlo planning", 2006; C. Browne et al.,
"A survey of Monte Carlo tree search methods", 2012, section 3.
"""

import dataclasses
import math
import random
import time
from collections.abc import Callable, Hashable
from typing import NamedTuple

from alphazero.textbook.game import NotebookGame, Rules, State, as_rules, turn_passes


@dataclasses.dataclass(eq=False)
class Node:
    """A position and its statistics.

    `print` shows the board, the last move, and the wins and visits.
    """

    state: State
    player: int | None  #: the player to move; None in a game with strictly alternating turns
    visits: int = 0  #: number of simulations that ended at or passed through the node
    #: Wins in these simulations of the player who is *not* to move (if turns alternate, the one who
    #: has just moved). A draw is half a win, unless the search's ``tie_result`` says otherwise.
    wins: float = 0.0
    #: Number of draws counted as a win for neither player (see ``tie_result`` of `Uct`).
    ties: int = 0
    #: Child nodes by action; untried actions are missing.
    children: dict = dataclasses.field(default_factory=dict, repr=False)
    action: Hashable = None  #: the move by which the node was first reached; None at the root
    game: Rules | None = dataclasses.field(default=None, repr=False)  #: used to draw the board

    def __str__(self) -> str:
        board = getattr(self.game, "to_text", str)(self.state)
        move = "root" if self.action is None else f"move {self.action}"
        if self.player is not None:
            return f"{board}\n{move}, {self.wins:g}/{self.visits}"
        return f"{board}\n{move}, {self.visits} visits, mean outcome {self.value:g} to move"

    def wins_of(self, player: int) -> float:
        """Return the number of wins of ``player`` (0 or 1) in the simulations through this node."""
        if player == self.player:
            return self.wins_to_move
        return self.wins

    @property
    def wins_to_move(self) -> float:
        """The number of wins of the player to move in the simulations through this node."""
        return self.visits - self.wins - self.ties

    @property
    def value(self) -> float:
        """The mean result for the player to move; NaN if the node has no visits."""
        if not self.visits:
            return math.nan
        return self.value_sum / self.visits

    @property
    def value_sum(self) -> float:
        """The sum of the results for the player to move, called V in docs/notebooks.md."""
        return self.wins_to_move - self.wins


class PositionStatistics(NamedTuple):
    """The statistics of a position, from the viewpoint of the player to move there."""

    visits: int  #: number of simulations that ended at or passed through the position
    wins: float  #: wins of the player to move; a draw is half a win, see ``tie_result`` of `Uct`
    value: float  #: mean result for the player to move; NaN without visits


def ucb1(wins: float, visits: int, parent_visits: int, uct_c: float = math.sqrt(2.0)) -> float:
    """Return the UCB1 score of a child, which is infinite if it has no visits.

        score = wins / visits + uct_c * sqrt(ln(parent_visits) / visits)

    P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time analysis of the multiarmed bandit
    problem", 2002; there uct_c is sqrt(2).

    Args:
        wins: wins of the player who chooses this child, a draw counting as half a win.
        visits: number of simulations through the child.
        parent_visits: number of simulations through its parent.
        uct_c: the exploration constant; larger values explore more.
    """
    if visits == 0:
        return math.inf
    # In a table a child can have visits while this parent has none.
    log_visits = math.log(max(parent_visits, 1))
    return wins / visits + uct_c * math.sqrt(log_visits / visits)


def random_rollout(game: Rules, state: State, rng: random.Random) -> float:
    """Play random moves from ``state`` to the end of the game and return the result.

    Args:
        rng: random generator that chooses the moves.

    Returns:
        The result for player 0 or, if the game's `player_to_move` returns None, for the player to
        move in ``state``.
    """
    sign = -1 if game.player_to_move(state) == 1 else 1
    while not game.is_over(state):
        action = rng.choice(game.legal_actions(state))
        after = game.step(state, action)
        if turn_passes(game, state, after):
            sign = -sign
        state = after
    return sign * game.result(state)


class Uct:
    """A UCT search of a game, on a tree or on a table of positions.

    Args:
        game: an object with the methods of `Rules`, or a game in notebook form (see
            `NotebookGame`).
        uct_c: the exploration constant of `ucb1`. For a game in notebook form the score is mean
            outcome + uct_c * sqrt(ln(parent_visits) / visits), as in the notebooks. The same
            constant then explores half as much, since outcomes from -1 to 1 span twice the range of
            wins / visits.
        final_move: "visits" to play the most visited move, "value" to play the one with the best
            value.
        table: None for a tree. For one node per position, a dictionary {state: node}: an empty one
            or, to reuse its statistics, that of another search. States must then be hashable.
        rollout: estimates a leaf: ``rollout(game, state, rng)`` returns the same kind of result as
            `random_rollout`. The default is that function, or the game's own ``run_simulation``.
        record_rollouts: with a table, whether every position of a simulated game, including those
            of the rollout, gets a node and a visit. The search then plays the random moves itself.
        tie_result: the result of a tie for player 0. 0 counts as half a win for each player. -1 is
            a loss for player 0 (white), as in the notebook on Othello. With None, as in the
            notebook on tic-tac-toe, a tie is a win for neither.
        rng: random generator that chooses between equal moves and plays rollouts; None means a new
            one with a random seed.

    Raises:
        ValueError: if ``final_move`` is neither "visits" nor "value", if ``record_rollouts`` is
            True without a table or with a ``rollout``, or if ``tie_result`` is not 0 for a game in
            notebook form.
    """

    def __init__(
        self,
        game: Rules,
        uct_c: float = math.sqrt(2.0),
        final_move: str = "visits",
        table: dict[State, Node] | None = None,
        rollout: Callable[[Rules, State, random.Random], float] | None = None,
        record_rollouts: bool = False,
        tie_result: float | None = 0.0,
        rng: random.Random | None = None,
    ):
        if final_move not in ("visits", "value"):
            raise ValueError(f"final_move={final_move!r} is not allowed: use 'visits' or 'value'.")
        if record_rollouts and table is None:
            raise ValueError("record_rollouts=True is not allowed with table=None: use table={}.")
        if record_rollouts and rollout is not None:
            raise ValueError(
                "record_rollouts=True is not allowed with a rollout of your own: use rollout=None."
            )
        self.game: Rules = as_rules(game)
        self.uct_c = uct_c
        self.final_move = final_move
        self.table = table
        self.rollout = rollout or getattr(self.game, "rollout", random_rollout)
        self.record_rollouts = record_rollouts
        self.tie_result = tie_result
        self.rng = rng or random.Random()
        #: Whether the game is in notebook form: scores use mean outcomes instead of wins, and a
        #: node gets all its children at once.
        self.is_notebook = isinstance(self.game, NotebookGame)
        if tie_result != 0 and self.is_notebook:
            raise ValueError(
                "tie_result is not allowed for a game in the notebook's form: it has no player 0."
            )

    def search(
        self,
        state: State,
        num_simulations: int | None = None,
        time_limit_s: float | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Node:
        """Run simulations from a position and return its node, whose children hold the statistics.

        Args:
            state: the position to search.
            num_simulations: maximum number of simulations; None means 1000, or no limit if there is
                a time limit. The search ends at the first limit that it reaches.
            time_limit_s: maximum seconds; at least one simulation is run. None means no limit.
            progress: called after each simulation with the number of simulations done and their
                maximum, None if there is none.

        Raises:
            ValueError: if the game is over.
        """
        if num_simulations is None and time_limit_s is None:
            num_simulations = 1000
        root = self.begin(state)
        started = time.perf_counter()
        num_done = 0
        while num_simulations is None or num_done < num_simulations:
            self.run_simulation(root)
            num_done += 1
            if progress is not None:
                progress(num_done, num_simulations)
            if time_limit_s is not None and time.perf_counter() - started >= time_limit_s:
                break
        return root

    def begin(self, state: State) -> Node:
        """Return a position's node, to be used as the root of simulations with `run_simulation`.

        No rollout starts at the root itself: each simulation visits one of its children. In a game
        in notebook form, all its children are added at once, as in the notebooks.

        Args:
            state: the position.

        Raises:
            ValueError: if the game is over.
        """
        if self.game.is_over(state):
            raise ValueError("the game is over: there is no move to search for.")
        root = self.make_node(state)
        if self.is_notebook:
            self.expand(root)
        return root

    def run_simulation(self, root: Node) -> None:
        """Run one simulation from ``root``: select, expand, simulate and backpropagate."""
        path = self.select([root])
        leaf = self.expand(path[-1])
        if leaf is not path[-1]:
            path.append(leaf)
        if self.record_rollouts:
            path = self.play_on(path)
        result = self.simulate(path[-1])
        self.backpropagate(path, result)

    # --- the phases -------------------------------------------------------------------------------

    def select(self, path: list[Node]) -> list[Node]:
        """Selection: extend ``path`` from its last node by the children with the largest scores.

        The path ends at the first node with an action that has no child, or at the end of a game.
        Of children with equal scores, one is chosen at random.

        Returns:
            The extended path, as a new list.
        """
        path = _checked_path(path)
        node = path[-1]
        while not self.missing_actions(node) and node.children:
            action = self.random_best(self.scores(node))
            node = node.children[action]
            path.append(node)
        return path

    def expand(self, node: Node) -> Node:
        """Expansion: add a child for a random action without a child, and return the new child.

        If the game is over, ``node`` itself is returned. In a game in notebook form, ``node`` gets
        all its children at once and is returned itself, as the start of the rollout.
        """
        missing = self.missing_actions(node)
        if not missing:
            return node
        if self.is_notebook:
            for action in missing:
                self.add_child(node, action)
            return node
        return self.add_child(node, self.choose_missing(node, missing))

    def simulate(self, node: Node) -> float | None:
        """Simulation: play from a node to the end of the game and return the result.

        Returns:
            The result for player 0, such as 1 if white has won; if `player_to_move` returns None,
            for the player to move at ``node``. None is a tie that is a win for neither (see
            ``tie_result``). In notebook form, a finished game is simulated once; later calls return
            the node's mean outcome.
        """
        if self.is_notebook and node.visits and self.game.is_over(node.state):
            return node.value
        result = self.rollout(self.game, node.state, self.rng)
        return result if result else self.tie_result

    def play_on(self, path: list[Node]) -> list[Node]:
        """Play random moves from the last node of ``path`` to the end of the game.

        This is the rollout of a search with ``record_rollouts``: every position gets a node in the
        table.

        Returns:
            The path extended by these nodes, as a new list.
        """
        path = _checked_path(path)
        node = path[-1]
        while not self.game.is_over(node.state):
            action = self.random_action(node.state)
            after = self.game.step(node.state, action)
            node = self.make_node(after, action)
            path.append(node)
        return path

    def backpropagate(self, path: list[Node], result: float | None) -> None:
        """Backpropagation: add one visit and the result of a simulation to each node of a path.

        wins = wins + (1 + result) / 2,  with the result for the player whose wins are counted

        Args:
            path: the nodes from the root to the simulated one.
            result: what `simulate` returned for the last node; None means a tie that is a win for
                neither.
        """
        path = _checked_path(path)
        if result is None:
            for node in path:
                node.visits += 1
                node.ties += 1
            return
        value = -result if path[-1].player == 1 else result  # for the player to move
        for index in range(len(path) - 1, -1, -1):
            node = path[index]
            node.visits += 1
            node.wins += (1 - value) / 2
            if index and self.passes_turn(path[index - 1], node):
                value = -value

    # --- parts of the phases ----------------------------------------------------------------------

    def missing_actions(self, node: Node) -> list:
        """Return the legal actions of a node that have no child yet; none if the game is over.

        With a table, an action that leads to an already visited position gets that position's node
        as its child and is not returned.
        """
        if self.game.is_over(node.state):
            return []
        missing = []
        for action in self.game.legal_actions(node.state):
            if action not in node.children:
                if self.table and self._is_visited(self.game.step(node.state, action)):
                    self.add_child(node, action)
                else:
                    missing.append(action)
        return missing

    def choose_missing(self, node: Node, missing: list):
        """Choose at random one of the actions ``missing``, which have no child.

        Subclasses may override this method.
        """
        return self.rng.choice(missing)

    def random_action(self, state: State):
        """Choose a legal action uniformly at random."""
        return self.rng.choice(self.game.legal_actions(state))

    def scores(self, node: Node) -> dict:
        """Return {action: `score`} for each legal action of a node.

        The score of an action without a child is infinite.
        """
        scores: dict = {}
        if self.game.is_over(node.state):
            return scores
        for action in self.game.legal_actions(node.state):
            child = node.children.get(action)
            scores[action] = math.inf if child is None else self.score(node, child)
        return scores

    def score(self, node: Node, child: Node) -> float:
        """Return the UCB1 score of a child, for the player to move at its parent ``node``.

        For a game in notebook form (see `NotebookGame`), the mean outcome replaces wins / visits.
        """
        wins = self.wins_at(node, child)
        if not self.is_notebook:
            return ucb1(wins, child.visits, node.visits, self.uct_c)
        return 2 * ucb1(wins, child.visits, node.visits, self.uct_c / 2) - 1

    def wins_at(self, node: Node, child: Node) -> float:
        """Return how often the player to move at ``node`` won in simulations through ``child``.

        A draw counts as half a win, unless ``tie_result`` of `Uct` says otherwise.
        """
        if self.passes_turn(node, child):
            return child.wins
        return child.wins_to_move

    def passes_turn(self, node: Node, child: Node) -> bool:
        """Return whether the move from ``node`` to ``child`` gives the turn to the other player."""
        return child.player is None or child.player != node.player

    def random_best(self, scores: dict):
        """Return the action with the largest score, chosen at random if several have it.

        Args:
            scores: {action: score}; scores may be numbers, or tuples, which are compared in order.
        """
        largest = max(scores.values())
        best = [action for action in scores if scores[action] == largest]
        return self.rng.choice(best)

    def add_child(self, node: Node, action) -> Node:
        """Add the child that a legal action leads to, and return it.

        Raises:
            ValueError: if the action is not legal.
        """
        legal = self.game.legal_actions(node.state)
        if action not in legal:
            raise ValueError(f"{action!r} is not legal here; legal actions: {legal}.")
        after = self.game.step(node.state, action)
        child = self.make_node(after, action)
        node.children[action] = child
        return child

    def make_node(self, state: State, action=None) -> Node:
        """Return the table's node for a position, or make a new one if there is none.

        Without a table, a new node is always made.

        Args:
            state: the position.
            action: the move that leads to the position, for display; None for a root.

        Raises:
            TypeError: if the search has a table and the state is not hashable.
        """
        if self.table is not None and not isinstance(state, Hashable):
            kind = type(state).__name__
            raise TypeError(f"a table needs hashable states, such as tuples; this is a {kind}.")
        if self.table is not None and state in self.table:
            return self.table[state]
        player = self.game.player_to_move(state)
        node = Node(state, player, action=action, game=self.game)
        if self.table is not None:
            self.table[state] = node
        return node

    def _is_visited(self, state: State) -> bool:
        return self.table is not None and state in self.table and self.table[state].visits > 0

    # --- results ----------------------------------------------------------------------------------

    def best_action(self, root: Node):
        """Return the action to play at ``root``: the one with the most visits or the best value.

        ``final_move`` of `Uct` decides which of these two numbers counts. Ties are broken by the
        other one, then at random. An action's value is wins / visits, for the player to move at
        ``root``.

        Raises:
            ValueError: if no child has a visit.
        """
        keys = {}
        for action, child in root.children.items():
            if child.visits > 0:
                value = self.wins_at(root, child) / child.visits
                by_visits = self.final_move == "visits"
                keys[action] = (child.visits, value) if by_visits else (value, child.visits)
        if not keys:
            raise ValueError(
                "no action of this node was visited: run search, or run_simulation, first."
            )
        return self.random_best(keys)

    def lookup(self, state: State) -> PositionStatistics | None:
        """Return the table's statistics of a position, or None if it is not in the table.

        Raises:
            ValueError: if the search has no table.
        """
        if self.table is None:
            raise ValueError("this search has no table: make it with Uct(game, table={}).")
        node = self.table.get(state)
        if node is None:
            return None
        return PositionStatistics(node.visits, node.wins_to_move, node.value)

    def label(self, node: Node, parent: Node | None = None) -> str:
        """Describe a node in one line of a drawn tree: its visits, wins and UCB1 score.

        The wins are those of the player to move at ``parent``. Without a parent, they are those of
        the node's own player to move, and there is no score.
        """
        if self.is_notebook:
            return self._label_in_outcomes(node, parent)
        if parent is None:
            wins = node.wins_to_move
            return f"visits {node.visits}, wins {wins:g} for player {node.player}, who is to move"
        wins = self.wins_at(parent, node)
        score = self.score(parent, node)
        return f"visits {node.visits}, wins {wins:g}, UCB1 {score:.4f}"

    def _label_in_outcomes(self, node: Node, parent: Node | None) -> str:
        """Describe a node of a game in notebook form: its visits, mean outcome and UCB score.

        The viewpoint is that of `label`.
        """
        value = node.value if parent is None else -node.value
        text = f"visits {node.visits}, mean outcome {value + 0.0:g}"
        if parent is None:
            return f"{text} for the player to move"
        return f"{text}, UCB {self.score(parent, node):.4f}"

    def untried(self, node: Node) -> list:
        """Return the actions of a node that have no visits, to list them in a drawn tree.

        The list is empty for a node without visited children.
        """
        if not any(child.visits for child in node.children.values()):
            return []
        return [action for action, score in self.scores(node).items() if score == math.inf]


def _checked_path(path: list[Node]) -> list[Node]:
    if isinstance(path, Node):
        raise TypeError("this is a node, but a path is a list of nodes: write [node].")
    if any(node is next_node for node, next_node in zip(path, path[1:])):
        raise ValueError(
            "a node follows itself on this path: expand returned the node that it was given, "
            "because the game is over there or the node got all its children. Leave it out."
        )
    return list(path)
