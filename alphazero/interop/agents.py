"""Who acts in a PettingZoo environment: any of our players, or a person at the terminal.

In: what the environment shows. Out: an action by the environment's own numbers. An agent is whatever has this method `act`, so that other
people's agents take part as well.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from alphazero.interop.board_view import BoardView
from alphazero.play.board import plain_board
from alphazero.players.base import Player


class Agent(Protocol):
    """A chooser of actions in an environment."""

    name: str

    def act(
        self, observation, action_mask: np.ndarray | None = None, agent: str | None = None
    ) -> int:
        """Return an action.

        Args:
            observation: what `environment.last()` gives: the dict of ``observation`` and ``action_mask``, or the observation alone.
            action_mask: int8[A], 1 = legal, where it is not in the dict.
            agent: the name under which this one plays, such as "player_0".
        """


class PettingZooAgent:
    """One of our players, acting on the environment's observation and action mask alone.

    Args:
        player: made for the game of ``view``.
        view: how the environment's boards are read, see `alphazero.interop.board_view.view_of`.
        num_sampled_plies: in so many plies from the start of the game the action is drawn in proportion to the player's weights instead of
            taken as it says, so that games differ.
        seed: of these draws.
    """

    def __init__(self, player: Player, view: BoardView, num_sampled_plies: int = 0, seed: int = 0):
        self.player = player
        self.name = player.name
        self._view = view
        self._num_sampled_plies = num_sampled_plies
        self._generator = np.random.default_rng(seed)
        self._num_start_pieces = np.count_nonzero(view.game.cells(view.game.initial_states()[0]))

    def act(
        self, observation, action_mask: np.ndarray | None = None, agent: str | None = None
    ) -> int:
        """Return an action; see `Agent`.

        Raises:
            ValueError: with one plain sentence if it is not this agent's turn, or the observation and the mask do not fit our rules.
        """
        planes, mask = _split(observation, action_mask)
        if not mask.any():
            raise ValueError(
                "no action is legal for this agent: it is not its turn, or the game is over."
            )
        state = self._view.state(planes, self._view.player_of(planes, agent))
        if not np.array_equal(
            self._view.game.legal_action_mask(state[None])[0], mask[self._view.actions]
        ):
            raise ValueError(
                f"the environment's action mask does not fit the rules of {self._view.game.name} in this position."
            )
        return int(
            self._view.actions[
                self._choose(state, np.count_nonzero(planes) - self._num_start_pieces)
            ]
        )

    def _choose(self, state: np.ndarray, ply: int) -> int:
        choice = self.player.choose(state[None])
        if ply >= self._num_sampled_plies:
            return int(choice.actions[0])
        weights = choice.action_weights[0].astype(np.float64)
        return int(self._generator.choice(len(weights), p=weights / weights.sum()))


class LeftGame(Exception):
    """The person at the terminal has left the game."""


class HumanAgent:
    """A person, who types the environment's number of an action.

    Args:
        view: see `PettingZooAgent`.
        ask: given a prompt, returns a line that the person typed; raises EOFError when there are no more. None is `input`.
        say: shows a line to the person.
        name: what to call the person.
    """

    def __init__(
        self,
        view: BoardView,
        ask: Callable[[str], str] | None = None,
        say: Callable[[str], None] = print,
        name: str = "human",
    ):
        self.name = name
        self._view = view
        self._ask = ask or input
        self._say = say

    def act(
        self, observation, action_mask: np.ndarray | None = None, agent: str | None = None
    ) -> int:
        """Show the board and ask until the answer is a legal action; see `Agent`.

        Raises:
            LeftGame: if the person types q, or there is no more input.
        """
        planes, mask = _split(observation, action_mask)
        player = self._view.player_of(planes, agent)
        letter = self._view.game.piece_letters[1 + player]
        self._say(observed_text(self._view, planes, player, mask))
        prompt = f"{agent or self._view.agents[player]} ({letter}), your action (q leaves): "
        while True:
            try:
                text = self._ask(prompt).strip()
            except EOFError:
                raise LeftGame from None
            if text.lower() in ("q", "quit"):
                raise LeftGame
            if text.isascii() and text.isdigit() and int(text) < len(mask) and mask[int(text)]:
                return int(text)
            self._say(_refusal(text, mask))


def observed_text(view: BoardView, planes: np.ndarray, player: int, mask: np.ndarray) -> str:
    """Return as text the board that ``player`` observes ([H, W, 2]), with the environment's numbers of the legal actions."""
    legal_action_mask = np.asarray(mask)[view.actions].astype(bool)
    board = view.board(planes, player)
    return plain_board(view.game, board, legal_action_mask, lambda a: str(view.actions[a]))


def _split(observation, action_mask) -> tuple[np.ndarray, np.ndarray]:
    """Return (planes, bool[A] mask) of what an environment shows."""
    if isinstance(observation, dict):
        action_mask = observation["action_mask"] if action_mask is None else action_mask
        observation = observation["observation"]
    if action_mask is None:
        raise ValueError(
            "an agent needs the action mask: give it beside the observation, or the dict that holds both."
        )
    return np.asarray(observation), np.asarray(action_mask).astype(bool)


def _refusal(text: str, mask: np.ndarray) -> str:
    legal = ", ".join(map(str, np.flatnonzero(mask)))
    if not (text.isascii() and text.isdigit()):
        return f"'{text}' is not a number: type one of {legal}."
    if int(text) >= len(mask):
        return f"{int(text)} is out of range: type one of {legal}."
    return f"{int(text)} is not legal here: type one of {legal}."
