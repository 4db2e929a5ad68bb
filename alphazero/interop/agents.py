"""Define agents for PettingZoo environments: a player of this package, or a person at the terminal.

An agent maps an observation to an action in the environment's numbering. Any object with a `name`
and the method `act` is an agent, so agents that were written for other programs can play too.
"""

from typing import Protocol

import numpy as np

from alphazero.boards.move_text import prompt, read_move
from alphazero.boards.session import Session
from alphazero.boards.skin import skin_of
from alphazero.boards.text import PLAIN, draw_board
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
    """A person at the terminal, who types moves as in `alphazero play`.

    Args:
        view: converts the environment's boards (see `alphazero.interop.board_view.view_of`).
    """

    def __init__(self, view: BoardView):
        self.name = "human"
        self._view = view

    def act(self, observation: Observation, agent: str) -> int:
        """Print the board, ask until the person types a legal move, and return its action.

        Raises:
            LeftGame: if the person types q or quit, or if the input ends.
        """
        view = self._view
        skin = skin_of(view.game)
        state = view.state(observation["observation"], view.agents.index(agent))
        session = Session(view.game, start=state)
        print(draw_board(view.game, skin, state, PLAIN).plain)
        while True:
            try:
                text = input(f"{agent} (q leaves): {prompt(session, skin)}").strip()
                if text.lower() in ("q", "quit"):
                    raise EOFError
                return int(view.actions[read_move(session, skin, text)])
            except EOFError:
                raise LeftGame from None
            except ValueError as error:
                print(error)
