"""Define agents for PettingZoo environments: a player of this package, or a person at the terminal.

An agent maps an observation to an action in the environment's numbering. Any object with a `name`
and the method `act` is an agent, so agents that were written for other programs can play too.
"""

from typing import Protocol

import numpy as np

from alphazero.boards.text import plain_board
from alphazero.interop.board_view import BoardView
from alphazero.players.base import Player

#: What an agent sees, as `environment.last()` returns it: a dict of ``observation``, int8[H, W, 2],
#: the agent's own pieces and the opponent's, and ``action_mask``, int8[A], 1 = legal.
Observation = dict[str, np.ndarray]


class Agent(Protocol):
    """The interface of agents, which choose actions in a PettingZoo environment."""

    name: str  #: the agent's name in reports

    def act(self, observation: Observation, agent: str) -> int:
        """Choose a legal action, and return its number in the environment.

        Args:
            observation: the board as this agent sees it, and the legal actions; see `Observation`.
            agent: the environment's name for this agent, such as "player_0".
        """


class PettingZooAgent:
    """Wraps one of this package's players as an agent, which sees only its observations.

    Args:
        player: a player made for the game of ``view``.
        view: converts the environment's boards (see `alphazero.interop.board_view.view_of`).
        num_sampled_plies: number of plies at the start of a game in which actions are sampled in
            proportion to the player's action weights, so that games differ; afterwards, the
            player's chosen action is played.
        seed: the seed of this sampling.
    """

    def __init__(self, player: Player, view: BoardView, num_sampled_plies: int = 0, seed: int = 0):
        self.player = player
        self.name = player.name
        self._view = view
        self._num_sampled_plies = num_sampled_plies
        self._generator = np.random.default_rng(seed)

    def act(self, observation: Observation, agent: str) -> int:
        """Choose an action with the player, in the position that an observation shows.

        Args:
            observation: the board and the legal actions (see `Observation`).
            agent: the environment's name for this agent, such as "player_0".

        Returns:
            The action in the environment's numbering.

        Raises:
            ValueError: if it is not this agent's turn, or if the observation or the mask
                contradicts the rules of this package's game.
        """
        view = self._view
        planes = observation["observation"]
        mask = observation["action_mask"][view.actions].astype(bool)
        state = view.state(planes, view.agents.index(agent))
        our_mask = view.game.legal_action_mask(state[None])[0]
        if not np.array_equal(our_mask, mask):
            raise ValueError(f"the action mask contradicts the rules of {view.game.name} here.")
        action = self._choose(state, int(np.count_nonzero(planes)))
        return int(view.actions[action])

    def _choose(self, state: np.ndarray, ply: int) -> int:
        choice = self.player.choose(state[None])
        if ply >= self._num_sampled_plies:
            return int(choice.actions[0])
        weights = choice.action_weights[0].astype(np.float64)
        return int(self._generator.choice(len(weights), p=weights / weights.sum()))


class LeftGame(Exception):
    """Raised when the person at the terminal leaves the game."""


class HumanAgent:
    """A person at the terminal, who types actions in the environment's numbering.

    Args:
        view: converts the environment's boards (see `alphazero.interop.board_view.view_of`).
    """

    def __init__(self, view: BoardView):
        self.name = "human"
        self._view = view

    def act(self, observation: Observation, agent: str) -> int:
        """Print the board, ask until the person types a legal action, and return this action.

        Raises:
            LeftGame: if the person types q or quit, or if the input ends.
        """
        mask = observation["action_mask"]
        player = self._view.agents.index(agent)
        print(observed_text(self._view, observation["observation"], player, mask))
        legal = [str(action) for action in np.flatnonzero(mask)]
        letter = self._view.game.piece_letters[1 + player]
        while True:
            try:
                text = input(f"{agent} ({letter}), your action (q leaves): ").strip()
            except EOFError:
                raise LeftGame from None
            if text.lower() in ("q", "quit"):
                raise LeftGame
            if text in legal:
                return int(text)
            print(f"'{text}' is not legal here: type one of {', '.join(legal)}.")


def observed_text(view: BoardView, planes: np.ndarray, player: int, mask: np.ndarray) -> str:
    """Draw an observed board as text, with the environment's numbers of the legal actions.

    Args:
        view: the mapping between the environment's squares and those of this package's game.
        planes: int8[H, W, 2], the observer's own pieces and the opponent's.
        player: the observer, 0 for the first of the environment's agents, or 1.
        mask: int8[A] in the environment's order, 1 = legal.
    """

    def label(action: int) -> str:
        return str(view.actions[action])

    board = view.board(planes, player)
    our_mask = mask[view.actions].astype(bool)
    return plain_board(view.game, board, our_mask, label)
