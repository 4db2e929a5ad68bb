"""AlphaZero in plain Python: PUCT search with an evaluator, root noise and tree reuse; self-play.

A search returns a `PolicyOutput`; a self-play game returns one training `Sample` per move. A
simulation has three phases, each a method of `AlphaZero`: `simulate`, `expand`, `backward`. The
evaluator is any function ``(game, state) -> (priors, value)``, such as a network or a table of
samples; see `alphazero.textbook.evaluators`.

Source: D. Silver et al., "A general reinforcement learning algorithm that masters chess, shogi, and
Go through self-play", 2018, supplement ("Search") and its pseudocode.
"""

import dataclasses
import math
import random
from typing import Any, NamedTuple

from alphazero.textbook.evaluators import Evaluator, checked_answer
from alphazero.textbook.game import NotebookGame, Rules, State, as_rules


@dataclasses.dataclass(eq=False)
class Node:
    """A position in the search tree and its statistics; values are for the player to move in it."""

    state: State
    player: int  #: the player to move, 0 or 1
    prior: float = 1.0  #: P(s, a) of the action that leads here
    visits: int = 0  #: N: one for the node's own evaluation, plus all visits to its children
    value_sum: float = 0.0  #: W: the sum of the values of these visits, for the player to move
    #: Child nodes by action; {} at a leaf.
    children: dict = dataclasses.field(default_factory=dict, repr=False)
    #: The result of the finished game, for the player to move; None if the game is not over or the
    #: node has not been reached yet.
    result: float | None = None

    @property
    def value(self) -> float:
        """Q, for the player to move: the result if the game is over, else the mean of all visits.

        It is NaN if there are no visits and no known result.
        """
        if self.result is not None:
            return self.result
        if not self.visits:
            return math.nan
        return self.value_sum / self.visits

    def value_for(self, player: int) -> float:
        """Return `value` from the viewpoint of the given player, 0 or 1."""
        return self.value if player == self.player else -self.value


class PolicyOutput(NamedTuple):
    """The result of a search: the best action, the policy target and the root's value."""

    action: Any  #: the most visited action
    action_weights: dict  #: the policy target, {action: fraction of the visits}
    root_value: float  #: the root's mean value for its player to move


class Sample(NamedTuple):
    """A training sample from one move of a self-play game."""

    state: State
    action_weights: dict  #: the policy target, {action: fraction of the visits}
    outcome: float  #: the result of the game for the player to move in ``state``
    root_value: float  #: the value that the search found, for the player to move in ``state``
    ply: int  #: number of moves played before ``state``


@dataclasses.dataclass
class AlphaZero:
    """A PUCT search that keeps its tree between moves: call `reset`, then `search` and `advance`.

    ``NOTEBOOK`` holds the settings that reproduce the AlphaZero notebook of docs/notebooks.md:
    ``AlphaZero(game, evaluate, **NOTEBOOK)`` grows the same tree.
    """

    game: Rules  #: the rules; also accepts a game in notebook form, see `NotebookGame`
    evaluate: Evaluator  #: returns priors and value, see `alphazero.textbook.evaluators`
    pb_c_init: float = 1.25  #: exploration constant, for values in [-1, 1]
    pb_c_base: float = 19652.0  #: scale of the growth of pb_c with a node's visits, see `score`
    first_play_value: str = "parent"  #: basis of an unvisited child's value: "parent" or "zero"
    first_play_urgency: float = 0.0  #: reduction of that value, see `unvisited_value`
    root_first_play_urgency: float = 0.0  #: the reduction for children of the root
    #: Lowest result of the game; the highest is its negative. None means -1, or no limit for a game
    #: in notebook form.
    lowest_value: float | None = None
    #: Whether visits from earlier searches count towards the ``num_simulations`` of `search`.
    count_kept_visits: bool = True
    dirichlet_alpha: float = 0.3  #: concentration of the root noise
    dirichlet_fraction: float = 0.25  #: fraction of noise in the root's priors
    #: Random generator that draws the root noise and samples the moves of self-play.
    rng: random.Random = dataclasses.field(default_factory=random.Random)

    root: Node = dataclasses.field(init=False, repr=False)
    #: Whether Dirichlet noise is mixed into the root's priors.
    has_noise: bool = dataclasses.field(init=False, repr=False)

    def __post_init__(self):
        self.game = as_rules(self.game)
        if self.lowest_value is None:
            self.lowest_value = -math.inf if isinstance(self.game, NotebookGame) else -1.0
        self.reset(self.game.initial_state())

    # --- searches ---------------------------------------------------------------------------------

    def reset(self, state: State) -> None:
        """Start a new search tree at the position ``state``, dropping the current one."""
        self.set_root(self.make_node(state))

    def advance(self, action) -> None:
        """Make the position after an action the new root, keeping only the tree below it.

        Raises:
            ValueError: if the action is not legal at the root or the game is over.
        """
        state = self.root.state
        legal = [] if self.game.is_over(state) else self.game.legal_actions(state)
        if action not in legal:
            hint = f"legal actions: {', '.join(map(str, legal))}" if legal else "the game is over"
            raise ValueError(f"{action!r} is not legal here; {hint}.")
        self.set_root(self.root.children[action])

    def search(self, num_simulations: int, add_noise: bool = False) -> PolicyOutput:
        """Search from the root until its actions have ``num_simulations`` visits in total.

        Visits from earlier searches count towards this total, unless `count_kept_visits` is False:
        then ``num_simulations`` more simulations are run.

        Args:
            num_simulations: total number of visits to the root's actions at which to stop.
            add_noise: whether to mix Dirichlet noise into the root's priors first, as in self-play;
                a root that already has noise gets no more.

        Raises:
            ValueError: if the game is over.
        """
        if self.game.is_over(self.root.state):
            raise ValueError("the game is over: there is no move to search for.")
        if not self.count_kept_visits:
            num_simulations += self.root.visits - 1
        if add_noise and not self.has_noise:
            self.mix_root_priors()
        while not self.is_finished(num_simulations):
            self.run_simulation()
        return self.output()

    def run_simulation(self) -> None:
        """Run one simulation, which evaluates one new position or revisits a finished game."""
        path = self.simulate()
        value = self.expand(path[-1])
        self.backward(path, value)

    def is_finished(self, num_simulations: int) -> bool:
        """Return whether the root's actions have at least ``num_simulations`` visits in total.

        The root's own visit count is larger by one, because the root itself was evaluated once.
        """
        return self.root.visits - 1 >= num_simulations

    def output(self) -> PolicyOutput:
        """Return the most visited action, the policy target and the root's value so far.

        action_weights = visits / sum of visits;  all equal if there are no visits

        Of equally visited actions, the first is returned.
        """
        visits = {action: self.root.children[action].visits for action in self.playable_actions()}
        total = sum(visits.values())
        if total:
            weights = {action: count / total for action, count in visits.items()}
        else:
            weights = dict.fromkeys(visits, 1 / len(visits))
        best = max(weights, key=weights.get)
        return PolicyOutput(best, weights, self.root.value)

    def playable_actions(self) -> list:
        """Return the actions that the search may choose at the root.

        These are all legal actions; a subclass may exclude some.
        """
        return list(self.root.children)

    # --- the phases -------------------------------------------------------------------------------

    def simulate(self) -> list[Node]:
        """Walk from the root to a leaf, always to the child with the largest `score`.

        Of children with equal scores, the first is taken. A leaf is a node without children or at
        the end of a game.

        Returns:
            The nodes visited, from the root to the leaf.
        """
        node = self.root
        path = [node]
        while node.children and node.result is None:
            scores = self.scores(node)
            best = max(scores, key=scores.get)
            node = node.children[best]
            path.append(node)
        return path

    def expand(self, leaf: Node) -> float:
        """Evaluate a leaf, add its children with their priors, and return the leaf's value.

        The value is for the player to move at the leaf. A finished game is not evaluated and gets
        no children: its value is its result.

        Raises:
            ValueError: if the evaluator returns invalid priors or an invalid value.
        """
        if leaf.result is None and self.game.is_over(leaf.state):
            leaf.result = self.game.result(leaf.state)
        if leaf.result is not None:
            return leaf.result
        actions = self.game.legal_actions(leaf.state)
        answer = self.evaluate(self.game, leaf.state)
        priors, value = checked_answer(answer, actions, self.lowest_value)
        for action in actions:
            state = self.game.step(leaf.state, action)
            leaf.children[action] = self.make_node(state, priors[action], leaf)
        return value

    def backward(self, path: list[Node], value: float) -> None:
        """Add one visit and the leaf's value to the statistics of every node of a path.

        Args:
            path: the nodes from the root to the leaf.
            value: the value of the leaf, for the player to move there; the sign is flipped for
                nodes where the other player is to move.
        """
        leaf = path[-1]
        for node in reversed(path):
            node.visits += 1
            node.value_sum += value if node.player == leaf.player else -value

    # --- PUCT -------------------------------------------------------------------------------------

    def scores(self, node: Node) -> dict:
        """Return the PUCT score of each legal action of an expanded node, {action: score}."""
        return {action: self.score(node, child) for action, child in node.children.items()}

    def score(self, node: Node, child: Node) -> float:
        """Return the PUCT score of one child, for the player to move at its parent ``node``.

        score = Q + pb_c * P * sqrt(N) / (1 + n)
        pb_c  = pb_c_init + ln((N + pb_c_base + 1) / pb_c_base)

        Q, P and n are the child's value, prior and visits; N is the number of visits of ``node``.
        """
        value = child.value_for(node.player) if child.visits else self.unvisited_value(node)
        return value + self.exploration(node, self.prior(node, child), child.visits)

    def exploration(self, node: Node, prior: float, visits: int) -> float:
        """Return the exploration term of a child's `score`: pb_c * P * sqrt(N) / (1 + n).

        Args:
            node: the child's parent, which has N visits.
            prior: P, the child's prior.
            visits: n, the child's number of visits.
        """
        pb_c = self.pb_c_init + math.log((node.visits + self.pb_c_base + 1) / self.pb_c_base)
        return pb_c * prior * math.sqrt(node.visits) / (1 + visits)

    def prior(self, node: Node, child: Node) -> float:
        """Return the prior P that the `score` of a child of ``node`` uses.

        Subclasses may override this method.
        """
        return child.prior

    def unvisited_value(self, node: Node) -> float:
        """Return the value Q of an unvisited child: its parent's, reduced by first-play urgency.

        value = node's mean value - first_play_urgency * sqrt(sum of visited children's priors)

        The value is for the player to move at the parent ``node``, and at least `lowest_value`. If
        `first_play_value` is "zero", 0 replaces the node's mean value.
        """
        visited_priors = sum(child.prior for child in node.children.values() if child.visits)
        is_root = node is self.root
        urgency = self.root_first_play_urgency if is_root else self.first_play_urgency
        mean = 0.0 if self.first_play_value == "zero" else node.value_sum / node.visits
        return max(mean - urgency * math.sqrt(visited_priors), self.lowest_value)

    # --- the root ---------------------------------------------------------------------------------

    def set_root(self, node: Node) -> None:
        """Make a node the root and drop the rest of the tree.

        A node without visits is evaluated too.
        """
        self.root = node
        self.has_noise = False
        if not node.visits:
            self.backward([node], self.expand(node))

    def mix_root_priors(self) -> None:
        """Mix Dirichlet noise into the root's priors, so that self-play tries unlikely moves too.

        prior = (1 - dirichlet_fraction) * prior + dirichlet_fraction * noise
        """
        children = self.root.children.values()
        gammas = [self.rng.gammavariate(self.dirichlet_alpha, 1.0) for _ in children]
        total = sum(gammas)
        for child, gamma in zip(children, gammas):
            noise = self.dirichlet_fraction * gamma / total
            child.prior = (1 - self.dirichlet_fraction) * child.prior + noise
        self.has_noise = True

    def make_node(self, state: State, prior: float = 1.0, parent: Node | None = None) -> Node:
        """Make a node for a position without adding it to the tree.

        Args:
            state: the position.
            prior: P(s, a) of the action that leads to the position.
            parent: the node before that action; None for a root. The player to move is the other
                one than at the parent if the game's `player_to_move` returns None.
        """
        player = self.game.player_to_move(state)
        if player is None:
            player = 1 - parent.player if parent else 0
        return Node(state, player, prior)

    def label(self, node: Node, parent: Node | None = None) -> str:
        """Describe a node in one line of a drawn tree: its visits, value, prior and PUCT score.

        The value is for the player to move at ``parent``. Without a parent, the node is described
        as a root: without prior and score, and with the value for its own player to move.
        """
        player = node.player if parent is None else parent.player
        text = f"visits {node.visits}"
        if node.visits:
            text += f", value {node.value_for(player) + 0.0:+.3f}"  # 0.0 turns -0.0 into 0.0
        if parent is None:
            return f"{text}, player {player} to move"
        prior = self.prior(parent, node)
        score = self.score(parent, node)
        return f"{text}, prior {prior:.3f}, PUCT {score:.4f}"

    def untried(self, node: Node) -> list:
        """Return the actions of a node whose children have no visits, to list them in a drawn tree.

        The list is empty for a node below the root that has no visited children.
        """
        children = node.children.items()
        if node is not self.root and not any(child.visits for _, child in children):
            return []
        return [action for action, child in children if not child.visits]


#: The settings of the AlphaZero notebook in docs/notebooks.md: Q = 0 for an unvisited child, an
#: exploration constant of sqrt(2), and simulations in addition to the root's earlier visits.
NOTEBOOK = {
    "pb_c_init": math.sqrt(2.0),
    "pb_c_base": 1e30,
    "first_play_value": "zero",
    "count_kept_visits": False,
}


def play_episode(
    search: AlphaZero, num_simulations: int, num_sampled_plies: int = 15, state: State | None = None
) -> list[Sample]:
    """Let a search play a game against itself, and return one training sample per move.

    Args:
        search: chooses the moves of both players; its tree is reset first.
        num_simulations: visits per move (see `AlphaZero.search`).
        num_sampled_plies: number of moves at the start that are sampled in proportion to their
            visits (temperature 1); afterwards, the most visited move is played.
        state: the position to start from; None means the start of the game.
    """
    game = search.game
    samples = []
    players = []
    search.reset(game.initial_state() if state is None else state)
    while not game.is_over(search.root.state):
        output = search.search(num_simulations, add_noise=True)
        root = search.root
        samples.append(
            Sample(root.state, output.action_weights, 0.0, output.root_value, len(samples))
        )
        players.append(root.player)
        action = output.action
        if len(samples) <= num_sampled_plies:
            actions = list(output.action_weights)
            weights = list(output.action_weights.values())
            action = search.rng.choices(actions, weights)[0]
        search.advance(action)
    result = game.result(search.root.state)
    last_player = search.root.player
    return [
        sample._replace(outcome=result if player == last_player else -result)
        for sample, player in zip(samples, players)
    ]
