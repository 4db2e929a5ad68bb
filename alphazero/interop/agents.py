"""Agents for a PettingZoo environment: one of our players, or a person at the terminal.

An agent maps an observation to an action in the environment's numbering. Any object with a `name`
and the method `act` is an agent, so that agents from elsewhere can play too.
"""

from typing import Protocol

import numpy as np

from alphazero.boards.text import plain_board
from alphazero.interop.board_view import BoardView
from alphazero.players.base import Player

#: The dict from `environment.last()`: ``observation``, int8[H, W, 2], and ``action_mask``, int8[A].
Observation = dict[str, np.ndarray]


class Agent(Protocol):
    """The interface of anything that chooses actions in an environment."""

    name: str  #: the agent's name in reports

    def act(self, observation: Observation, agent: str) -> int:
        """Choose an action.

        Args:
            agent: the environment's name for this agent, such as "player_0".
        """


class PettingZooAgent:
    """One of our players as an agent, which sees only the observation and the action mask.

    Args:
        player: a player made for the game of ``view``.
        view: converts the environment's boards, see `alphazero.interop.board_view.view_of`.
        num_sampled_plies: number of plies at the start whose actions are sampled in proportion to
            the player's action weights, so that games differ; later, the player's choice is played.
        seed: the seed of this sampling.
    """

    def __init__(self, player: Player, view: BoardView, num_sampled_plies: int = 0, seed: int = 0):
        self.player = player
        self.name = player.name
        self._view = view
        self._num_sampled_plies = num_sampled_plies
        self._generator = np.random.default_rng(seed)
        start = view.game.initial_states()[0]
        self._num_start_pieces = np.count_nonzero(view.game.cells(start))

    def act(self, observation: Observation, agent: str) -> int:
        """Choose an action with the player, given what the environment shows to this agent.

        Raises:
            ValueError: if it is not this agent's turn, or if the observation or the mask
                contradicts our rules.
        """
        view = self._view
        planes = observation["observation"]
        mask = observation["action_mask"][view.actions].astype(bool)
        if not mask.any():
            raise ValueError("no action is legal: it is another agent's turn, or the game is over.")
        state = view.state(planes, view.agents.index(agent))
        our_mask = view.game.legal_action_mask(state[None])[0]
        if not np.array_equal(our_mask, mask):
            raise ValueError(f"the action mask contradicts the rules of {view.game.name} here.")
        ply = int(np.count_nonzero(planes) - self._num_start_pieces)
        action = self._choose(state, ply)
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
    """A person at the terminal, who types the environment's action numbers."""

    def __init__(self, view: BoardView):
        self.name = "human"
        self._view = view

    def act(self, observation: Observation, agent: str) -> int:
        """Show the board and ask until the person types a legal action.

        Raises:
            LeftGame: if the person types q, or if the input ends.
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
    """Draw the board that a player observes as text, with the environment's action numbers.

    Args:
        planes: [H, W, 2], the player's own pieces and the opponent's.
        player: 0 or 1, the player who observes.
        mask: [A] in the environment's order, 1 = legal; only legal actions are shown.
    """

    def label(action: int) -> str:
        return str(view.actions[action])

    board = view.board(planes, player)
    our_mask = mask[view.actions].astype(bool)
    return plain_board(view.game, board, our_mask, label)
