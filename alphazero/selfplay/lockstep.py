"""Self-play: B games in lockstep share one evaluator and yield an endless stream of finished games.

Every step adds one leaf node to each game's search tree, so the evaluator always gets a batch. A
game whose search is finished makes its move while the other searches continue; a new game replaces
a finished one, which becomes a `GameRecord`. `alphazero.selfplay.threads` runs several such
workers, each in its own thread. This module does not depend on the replay buffer or the learner. It
follows Silver et al. 2018, "Self-play", with the variations described in the settings.
"""

from collections.abc import Iterator

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.inference.backends import make_search
from alphazero.inference.evaluator import Evaluator
from alphazero.search.roots import PolicyOutput
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.games_in_progress import GamesInProgress, Moves
from alphazero.selfplay.settings import SelfPlaySettings, ply_temperatures, simulations_at

# Moves are made once this fraction of the searches is finished: ten moves cost as much as one.
_MIN_FINISHED_FRACTION = 1 / 16


class SelfPlay:
    """Plays B self-play games in lockstep, replacing each finished game by a new one.

    Args:
        game: the rules of the game, applied to arrays of positions.
        evaluator: evaluates leaf nodes; its weights may change between calls of `begin`.
        settings: number of games and simulations, openings and temperatures;
            ``num_parallel_games`` is B.
        search_settings: the constants and root algorithm of each move's search.
        generator: random generator for moves and root noise.

    Attributes:
        games: the positions and moves of the games in progress.
        num_positions: number of moves chosen by a search so far, not counting random openings.
        search: the searches of the B games, a `SearchBackend`, in the same rows as in ``games``.
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
        self.search = make_search(
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
        self._max_in_progress = settings.num_parallel_games

    def play(self, num_games: int, progress: float = 1.0) -> Iterator[GameRecord]:
        """Play until ``num_games`` games have finished, yielding each as it finishes.

        A few more games are yielded if several finish in the last step.

        Args:
            num_games: number of games to finish; may include games begun earlier.
            progress: fraction of the run that is done, in [0, 1], which may determine the number of
                simulations per move.
        """
        self.begin(num_games, progress)
        finished = 0
        while finished < num_games:
            records = self.advance(1)
            finished += len(records)
            yield from records

    def begin(self, num_games: int, progress: float = 1.0) -> None:
        """Prepare to finish ``num_games`` more games with the evaluator's current weights.

        The search trees of unfinished games are discarded, because the network may have changed.
        At most ``num_games`` games are in progress, plus one for each that has finished before:
        if all rows played at once, the first few games would take as long as all of them.

        Args:
            num_games: number of games to finish, including those in progress. Unless the setting
                ``carry_over`` is on, only as many games are started as are needed to reach this
                number.
            progress: fraction of the run that is done, in [0, 1]; determines the number of
                simulations if the settings let that number grow during the run.
        """
        self._num_simulations = simulations_at(self.settings, progress)
        playing = self.games.playing
        rows = np.flatnonzero(playing)
        self._games_to_start = None
        self._max_in_progress = num_games + self.games.num_finished
        if not self.settings.carry_over:
            self._games_to_start = max(num_games - len(rows), 0)
        self.search.stop(np.flatnonzero(~playing))
        if len(rows):
            self.search.reset(rows, self.games.roots[rows], self._num_simulations)

    def restart(self, generator: np.random.Generator) -> None:
        """Abandon the games in progress and continue with a copy of the generator's random state.

        Later games therefore depend only on the generator and on the evaluator's weights.
        """
        self.games.playing[:] = False
        self._generator.bit_generator.state = generator.bit_generator.state

    def advance(self, num_steps: int) -> list[GameRecord]:
        """Take up to ``num_steps`` steps, each of which adds one leaf node to every game's tree.

        A new game starts in each free row. If no games are left to play, the method returns early.

        Returns:
            The games that finished during these steps.
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
        """Return the games in progress and the random generator's state, without search trees."""
        return {"generator": self._generator.bit_generator.state, **self.games.state_dict()}

    def load_state_dict(self, state: dict) -> None:
        """Restore a state that `state_dict` returned; the searches restart in the next `begin`."""
        self._generator.bit_generator.state = state["generator"]
        self.games.load_state_dict(state)

    def _start_games(self) -> None:
        """Start new games in the free rows, but no more than are still to be started."""
        if self.games.playing.all() or self._games_to_start == 0:
            return
        rows = np.flatnonzero(~self.games.playing[: self._max_in_progress])[: self._games_to_start]
        if not len(rows):
            return
        if self._games_to_start is not None:
            self._games_to_start -= len(rows)
        self.games.start(rows, self.game.initial_states(len(rows)))
        if self.settings.random_opening_fraction > 0:
            self._play_openings(rows)
        self.search.reset(rows, self.games.roots[rows], self._num_simulations)

    def _play_openings(self, rows: np.ndarray) -> None:
        """Begin some of the newly started games with random moves.

        These moves are recorded but do not become training samples. An opening stops before a move
        that would end the game.

        Args:
            rows: int[M], the indices of the new games.
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
        """Make a random legal move in each given game unless that move would end the game.

        Args:
            rows: int[M], the indices of the games.

        Returns:
            bool[M], True where the move would have ended the game and was not made.
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
            states=self.game.identity(states[live]),
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
        """Make a move in every game whose search is finished, once enough searches are finished.

        Returns:
            The games that ended with these moves; [] if not enough searches are finished.
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
        """Collect the data to record for one move in each of the given games.

        Args:
            rows: int[M], the indices of the games.
            actions: int32[M], the actions played.
            output: the results of the M searches.
        """
        return Moves(
            states=self.game.identity(self.games.roots[rows]),
            actions=actions,
            action_weights=output.action_weights,
            root_values=output.root_values,
            players=output.players,
            is_target=np.ones(len(rows), np.bool_),
            surprises=kl_divergence(output.action_weights, output.priors),
        )


def sample_actions(
    weights: np.ndarray, temperatures: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Sample an action in each row with probability proportional to weight ** (1 / temperature).

    With visit counts as weights, this is the sampling of Silver et al. 2017, "Self-play".

    Args:
        weights: float32[M, A], not negative, with a positive sum in each row.
        temperatures: float[M], one per row; 0 means that the action with the largest weight is
            taken.
        generator: random generator to draw from.

    Returns:
        int32[M], the sampled actions.
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
    """Measure how far each search moved the policy from its priors, as a KL divergence.

    The divergence is the sum over actions a of target(a) * log(target(a) / prior(a)). Actions with
    a prior of 0, which are proven losses, are left out.

    Args:
        targets: float[M, A], policy targets, as probabilities.
        priors: float[M, A], the root's priors, as probabilities.

    Returns:
        float32[M], in nats, 0 or more.
    """
    counted = (targets > 0.0) & (priors > 0.0)
    ratios = np.where(counted, targets, 1.0) / np.where(counted, priors, 1.0)
    terms = np.where(counted, targets * np.log(ratios), 0.0)
    divergences = np.maximum(terms.sum(axis=1), 0.0)
    return divergences.astype(np.float32)
