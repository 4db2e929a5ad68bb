"""Self-play: B games in lockstep with one evaluator, an unending stream of finished games.

In: a game, an evaluator, settings. Out: `GameRecord`s as games finish. Every step adds one leaf
node to each game's search tree, so the evaluator always gets a batch. A game whose search is
finished makes its move while the others search on; a new game replaces a finished one.
`alphazero.selfplay.threads` runs one such worker on each core. Does not depend on replay or
learner. Follows Silver et al. 2018, "Self-play", with the variations named in the settings.
"""

from collections.abc import Iterator

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.inference.evaluator import Evaluator
from alphazero.search.batched_search import TreeSearch
from alphazero.search.roots import PolicyOutput
from alphazero.search.settings import SearchSettings
from alphazero.search.tree import ROOT_INDEX
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.games_in_progress import GamesInProgress, Moves
from alphazero.selfplay.settings import (
    SelfPlaySettings,
    ply_temperatures,
    simulations_at,
)

# Moves are made when this fraction of the searches is finished: ten moves cost as much as one.
_MIN_FINISHED_FRACTION = 1 / 16


class SelfPlay:
    """Plays B self-play games in lockstep, and replaces each finished game by a new one.

    Args:
        game: a batched game.
        evaluator: evaluates leaf nodes; its weights may change between calls of `begin`.
        settings: the settings of self-play; ``num_parallel_games`` is B.
        search_settings: the settings of each move's search.
        generator: random generator for moves and root noise.

    Attributes:
        games: the games in progress.
        num_positions: number of moves chosen by a search so far, without random openings.
        search: the searches of the B games, in the same rows as in ``games``.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        settings: SelfPlaySettings,
        search_settings: SearchSettings,
        generator: np.random.Generator,
    ):
        self.game = game
        self.settings = settings
        self.games = GamesInProgress(settings.num_parallel_games, game)
        self.num_positions = 0
        self.search = TreeSearch(
            game,
            evaluator,
            num_games=settings.num_parallel_games,
            max_simulations=max(settings.num_simulations, settings.initial_num_simulations),
            settings=search_settings,
            generator=generator,
            explores=True,
        )
        self._generator = generator
        self._num_simulations = settings.num_simulations
        self._games_to_start: int | None = None  # None means no limit

    def play(self, num_games: int, progress: float = 1.0) -> Iterator[GameRecord]:
        """Yield ``num_games`` finished games, or a few more if several end at once.

        Args:
            progress: fraction of the run that is done, in [0, 1], as in `begin`.
        """
        self.begin(num_games, progress)
        finished = 0
        while finished < num_games:
            records = self.advance(1)
            finished += len(records)
            yield from records

    def begin(self, num_games: int, progress: float = 1.0) -> None:
        """Prepare to play ``num_games`` more games with the evaluator's current weights.

        The search trees of unfinished games are discarded, because the network may have changed.

        Args:
            progress: fraction of the run that is done, in [0, 1]; it determines the number of
                simulations if the settings let that grow during the run.
        """
        self._num_simulations = simulations_at(self.settings, progress)
        playing = self.games.playing
        rows = np.flatnonzero(playing)
        self._games_to_start = None
        if not self.settings.carry_over:
            self._games_to_start = max(num_games - len(rows), 0)
        self.search.stop(np.flatnonzero(~playing))
        if len(rows):
            self.search.reset(rows, self.games.roots[rows], self._num_simulations)

    def restart(self, generator: np.random.Generator) -> None:
        """Abandon the games in progress; later games depend only on ``generator``."""
        self.games.playing[:] = False
        self._generator.bit_generator.state = generator.bit_generator.state

    def advance(self, num_steps: int) -> list[GameRecord]:
        """Take up to ``num_steps`` steps, each of which adds one leaf node per game.

        New games start in free rows. Without games in progress, it stops early.

        Returns:
            The games that have ended.
        """
        records = []
        for _ in range(num_steps):
            self._start_games()
            if not self.games.playing.any():
                break
            self.search.step()
            records += self._make_moves()
        return records

    def state_dict(self) -> dict:
        """Return the games in progress and the random state, without the search trees."""
        return {"generator": self._generator.bit_generator.state, **self.games.state_dict()}

    def load_state_dict(self, state: dict) -> None:
        """Restore a state from `state_dict`."""
        self._generator.bit_generator.state = state["generator"]
        self.games.load_state_dict(state)

    def _start_games(self) -> None:
        """Start games in the rows without one, but no more games than are still to be played."""
        if self.games.playing.all() or self._games_to_start == 0:
            return
        rows = np.flatnonzero(~self.games.playing)[: self._games_to_start]
        if self._games_to_start is not None:
            self._games_to_start -= len(rows)
        self.games.start(rows, self.game.initial_states(len(rows)))
        if self.settings.random_opening_fraction > 0:
            self._play_openings(rows)
        self.search.reset(rows, self.games.roots[rows], self._num_simulations)

    def _play_openings(self, rows: np.ndarray) -> None:
        """Begin some of the games with random moves.

        These moves are recorded but not trained on. An opening stops before a move that would end
        the game.
        """
        settings = self.settings
        generator = self._generator
        opened = generator.random(len(rows)) < settings.random_opening_fraction
        lengths = generator.integers(1, settings.random_opening_plies + 1, len(rows))
        lengths[~opened] = 0
        for ply in range(self.game.max_plies):
            opening = rows[lengths > ply]
            if not len(opening):
                return
            ended = self._make_random_moves(opening)
            lengths[np.isin(rows, opening[ended])] = 0

    def _make_random_moves(self, rows: np.ndarray) -> np.ndarray:
        """Make a random legal move in each game, unless it would end the game.

        Returns:
            bool[M], True where the move would have ended the game.
        """
        states = self.games.roots[rows]
        before = self.game.inspect(states)
        scores = self._generator.random(before.legal_action_mask.shape)
        actions = np.where(before.legal_action_mask, scores, -np.inf).argmax(axis=1)
        after = self.game.step(states, actions)
        live = ~after.over
        num_live = np.count_nonzero(live)
        one_hot = np.eye(self.game.num_actions, dtype=np.float32)
        moves = Moves(
            states=states[live],
            actions=actions[live],
            action_weights=one_hot[actions[live]],
            root_values=np.zeros(num_live, np.float32),
            players=before.players[live],
            is_target=np.zeros(num_live, np.bool_),
            surprises=np.zeros(num_live, np.float32),
        )
        self.games.move(rows[live], moves, after.states[live])
        return after.over

    def _make_moves(self) -> list[GameRecord]:
        """Make a move in every game whose search is finished, once enough searches are.

        Returns:
            The games that have ended.
        """
        games = self.games
        rows = self.search.finished_rows()
        if len(rows) < np.count_nonzero(games.playing) * _MIN_FINISHED_FRACTION:
            return []
        temperatures = ply_temperatures(self.settings, games.plies[rows])
        output = self.search.output(rows, temperatures)
        actions = output.actions  # already sampled by a Gumbel search
        if not output.is_sampled:
            actions = sample_actions(output.move_weights, temperatures, self._generator)
        after = self.game.step(games.roots[rows], actions)
        games.move(rows, self._moves(rows, actions, output), after.states)
        self.num_positions += len(rows)
        live = ~after.over
        if live.any():
            moved = rows[live], actions[live], after.states[live]
            self.search.advance(*moved, self._num_simulations)
        if live.all():
            return []
        self.search.stop(rows[after.over])
        return [
            games.finish(row, after.players[index], after.results[index])
            for index, row in enumerate(rows)
            if after.over[index]
        ]

    def _moves(self, rows: np.ndarray, actions: np.ndarray, output: PolicyOutput) -> Moves:
        """Collect what is recorded of one move in each of the games ``rows``."""
        tree = self.search.tree
        priors = tree.children_priors[rows, ROOT_INDEX]
        return Moves(
            states=self.games.roots[rows],
            actions=actions,
            action_weights=output.action_weights,
            root_values=output.root_values,
            players=tree.players[rows, ROOT_INDEX],
            is_target=np.ones(len(rows), np.bool_),
            surprises=kl_divergence(output.action_weights, priors),
        )


def sample_actions(
    weights: np.ndarray, temperatures: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Sample an action in each row with probability proportional to weight ** (1 / temperature).

    With visit counts as weights this is the sampling of Silver et al. 2017, "Self-play".

    Args:
        weights: float32[M, A], 0 or more, with a positive sum in each row.
        temperatures: float[M]; 0 takes the action with the largest weight.

    Returns:
        int32[M], the actions.
    """
    weights = weights.astype(np.float64)
    weights /= weights.max(axis=1, keepdims=True)
    sharpened = weights ** (1.0 / np.maximum(temperatures, 1e-3))[:, None]
    cumulative = np.cumsum(sharpened, axis=1)
    thresholds = generator.random(len(weights))[:, None] * cumulative[:, -1:]
    # Rounding can put a threshold at the very end, beyond the last action.
    last_action = weights.shape[1] - 1
    sampled = np.minimum((cumulative <= thresholds).sum(axis=1), last_action)
    actions = np.where(temperatures > 0, sampled, weights.argmax(axis=1))
    return actions.astype(np.int32)


def kl_divergence(targets: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """Measure how far each search moved the policy: the Kullback-Leibler divergence.

    It is the sum over a of target(a) * log(target(a) / prior(a)). Actions with a prior of 0, which
    are proven losses, are left out.

    Args:
        targets, priors: probabilities, both [M, A].

    Returns:
        float32[M], in nats, 0 or more.
    """
    counted = (targets > 0.0) & (priors > 0.0)
    ratios = np.where(counted, targets, 1.0) / np.where(counted, priors, 1.0)
    terms = np.where(counted, targets * np.log(ratios), 0.0)
    divergences = np.maximum(terms.sum(axis=1), 0.0)
    return divergences.astype(np.float32)
