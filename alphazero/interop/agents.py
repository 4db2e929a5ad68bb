"""What acts in a PettingZoo environment: one of our players, or a person at the terminal.

In: an observation. Out: an action in the environment's numbers. Anything with the method `act` is
an agent, so that other people's agents can play too.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from alphazero.boards.text import plain_board
from alphazero.interop.board_view import BoardView
from alphazero.players.base import Player


class Agent(Protocol):
    """Something that chooses actions in an environment."""

    name: str

    def act(
        self, observation, action_mask: np.ndarray | None = None, agent: str | None = None
    ) -> int:
        """Return an action.

        Args:
            observation: as `environment.last()` returns it: a dict of ``observation`` and
                ``action_mask``, or the observation alone.
            action_mask: int8[A], 1 = legal; needed if it is not in the dict.
            agent: the environment's name for this agent, such as "player_0".
        """


class PettingZooAgent:
    """One of our players, which sees nothing but the observation and the action mask.

    Args:
        player: made for the game of ``view``.
        view: how to read the environment's boards, see `alphazero.interop.board_view.view_of`.
        num_sampled_plies: plies at the start whose actions are sampled in proportion to the
            player's action weights, so that games differ; later the player's choice is played.
        seed: of the sampling.
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
            ValueError: if it is not this agent's turn, or the observation and the mask contradict
                our rules.
        """
        view = self._view
        planes, mask = _split(observation, action_mask)
        if not mask.any():
            raise ValueError("no action is legal: it is another agent's turn, or the game is over.")
        state = view.state(planes, view.player_of(planes, agent))
        legal = view.game.legal_action_mask(state[None])[0]
        if not np.array_equal(legal, mask[view.actions]):
            raise ValueError(f"the action mask contradicts the rules of {view.game.name} here.")
        ply = np.count_nonzero(planes) - self._num_start_pieces
        return int(view.actions[self._choose(state, ply)])

    def _choose(self, state: np.ndarray, ply: int) -> int:
        choice = self.player.choose(state[None])
        if ply >= self._num_sampled_plies:
            return int(choice.actions[0])
        weights = choice.action_weights[0].astype(np.float64)
        return int(self._generator.choice(len(weights), p=weights / weights.sum()))


class LeftGame(Exception):
    """The person at the terminal left the game."""


class HumanAgent:
    """A person, who types the environment's action numbers.

    Args:
        view: see `PettingZooAgent`.
        ask: called with a prompt, returns the line that the person types, or raises EOFError at the
            end of the input; None is `input`.
        say: shows a line to the person.
        name: the person's name.
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
        """Show the board, and ask until the answer is a legal action; see `Agent`.

        Raises:
            LeftGame: if the person types q, or at the end of the input.
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
    """Return the board that ``player`` observes as text, with the environment's action numbers.

    Args:
        planes: [H, W, 2], the observation.
        mask: [A] in the environment's order, 1 = legal; legal actions are shown.
    """
    legal_action_mask = np.asarray(mask)[view.actions].astype(bool)
    board = view.board(planes, player)
    return plain_board(view.game, board, legal_action_mask, lambda a: str(view.actions[a]))


def _split(observation, action_mask) -> tuple[np.ndarray, np.ndarray]:
    """Return (planes, bool[A] mask) of an observation and a mask that may be part of it."""
    if isinstance(observation, dict):
        action_mask = observation["action_mask"] if action_mask is None else action_mask
        observation = observation["observation"]
    if action_mask is None:
        raise ValueError("an agent needs the action mask, in the observation's dict or on its own.")
    return np.asarray(observation), np.asarray(action_mask).astype(bool)


def _refusal(text: str, mask: np.ndarray) -> str:
    legal = ", ".join(map(str, np.flatnonzero(mask)))
    if not (text.isascii() and text.isdigit()):
        return f"'{text}' is not a number: type one of {legal}."
    if int(text) >= len(mask):
        return f"{int(text)} is out of range: type one of {legal}."
    return f"{int(text)} is not legal here: type one of {legal}."
