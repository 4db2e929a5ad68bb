"""Self-play: B games in lockstep, one evaluator, an unending stream of finished games.

In: a game, an evaluator, settings. Out: `GameRecord`s as games finish. A slot whose search is finished plays its move while the other slots search
on; a slot whose game is finished begins the next one. `alphazero.selfplay.threads` runs one of these on each core. Knows neither replay nor
learner.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np

from alphazero.runtime.settings import option
from alphazero.search.batched_search import SearchSettings, TreeSearch
from alphazero.search.tree import ROOT_INDEX, UNPROVEN
from alphazero.selfplay.game_record import GameRecord


@dataclasses.dataclass
class SelfPlaySettings:
    """How the training games are played."""

    num_parallel_games: int = option(
        0,
        "games in lockstep, which share the network's batches; 0 measures at the start",
        low=0,
        high=65536,
    )
    games_per_iteration: int = option(
        200, "games finished in an iteration, before the network learns from them", low=1
    )
    carry_over: bool = option(
        True,
        "games that an iteration leaves unfinished go on in the next; false plays each iteration's games to their end",
    )
    num_simulations: int = option(
        128,
        "simulations of a full search, whose row is trained on (AlphaZero: 800)",
        low=2,
        high=1_000_000,
    )
    initial_num_simulations: int = option(
        0,
        "simulations of a full search when the run begins, growing evenly to num_simulations; 0 has them all along",
        low=0,
    )
    simulations_grown_at: float = option(
        0.5, "share of the run after which a full search has num_simulations", low=0.01, high=1.0
    )
    num_fast_simulations: int = option(
        32,
        "simulations of a fast search, whose row is not (KataGo's playout cap randomisation)",
        low=1,
        high=1_000_000,
    )
    full_search_fraction: float = option(
        0.25,
        "share of the moves that get a full search; 1 is AlphaZero's way (KataGo: 0.25)",
        low=0.01,
        high=1.0,
    )
    random_opening_fraction: float = option(
        0.0,
        "share of the games that begin with random moves, for positions that good play would miss",
        low=0.0,
        high=1.0,
    )
    random_opening_plies: int = option(
        6,
        "such a game begins with 1 to this many random moves; they are not trained on",
        low=1,
        high=1000,
    )
    adjudicated_fraction: float = option(
        0.0,
        "share of the games that end as soon as search has proven their result (AlphaGo Zero: 0.9, where one side resigns)",
        low=0.0,
        high=1.0,
    )
    temperature: float = option(
        1.0,
        "temperature of the first moves: 1 draws a move by its share, 0 plays the one with the largest",
        low=0.0,
        high=10.0,
    )
    num_sampled_plies: int = option(
        15, "plies that are played at this temperature (AlphaZero: 30 in chess)", low=0
    )
    final_temperature: float = option(0.0, "temperature afterwards", low=0.0, high=10.0)
    temperature_half_life: float = option(
        0.0,
        "plies in which the temperature halves towards the final one; 0 switches at once",
        low=0.0,
    )


ONE_PER_GAME = (
    "playing",
    "roots",
    "plies",
    "adjudicated",
)  #: arrays of `SelfPlay.state_dict` with an entry for each game
_ONE_PER_PLY = (
    "states",
    "actions",
    "weights",
    "values",
    "players",
    "targets",
    "surprises",
)  # with one for each ply of each game
_MOVES_AT_ONCE = 16  # moves are made when one in so many searches is finished: a call costs as much for one game as for ten


class SelfPlay:
    """The slots and the games in them.

    Args:
        game: a batched game.
        evaluator: answers the leaves; its weights may change between calls of `play`.
        generator: draws moves, root noise and which searches are full.
    """

    def __init__(
        self,
        game,
        evaluator,
        settings: SelfPlaySettings,
        search_settings: SearchSettings,
        generator: np.random.Generator,
    ):
        self.game = game
        self.settings = settings
        self.num_positions = 0  #: moves made by search so far
        self._num_full = (
            settings.num_simulations
        )  # simulations of a full search at this point of the run
        self._room: int | None = None  # games that may still be begun; None is no limit
        self._generator = generator
        most = max(
            settings.num_simulations,
            settings.initial_num_simulations,
            settings.num_fast_simulations,
        )
        self.search = TreeSearch(
            game, evaluator, settings.num_parallel_games, most, search_settings, generator
        )
        slots, plies = settings.num_parallel_games, game.max_plies
        self._playing = np.zeros(slots, np.bool_)
        self._roots = np.zeros((slots, game.state_size), game.state_dtype)
        self._plies = np.zeros(slots, np.int32)
        self._full = np.zeros(slots, np.bool_)
        self._adjudicated = np.zeros(slots, np.bool_)
        self._states = np.zeros((slots, plies, game.state_size), game.state_dtype)
        self._actions = np.zeros((slots, plies), np.int32)
        self._weights = np.zeros((slots, plies, game.num_actions), np.float32)
        self._values = np.zeros((slots, plies), np.float32)
        self._players = np.zeros((slots, plies), np.int8)
        self._targets = np.zeros((slots, plies), np.bool_)
        self._surprises = np.zeros((slots, plies), np.float32)

    def play(self, num_games: int, progress: float = 1.0) -> Iterator[GameRecord]:
        """Play until ``num_games`` more games are finished, or a few more where several end at once, and yield each as it ends; see `begin`."""
        self.begin(num_games, progress)
        finished = 0
        while finished < num_games:
            records = self.advance(1)
            finished += len(records)
            yield from records

    def begin(self, num_games: int, progress: float = 1.0) -> None:
        """Get ready to play ``num_games`` more games with the evaluator as it is now.

        Trees of unfinished games are begun anew: the network may have changed since.

        Args:
            progress: share of the run that is done, in [0, 1]; sets the simulations of a full search where they grow.
        """
        self._num_full = full_simulations(self.settings, progress)
        rows = np.flatnonzero(self._playing)
        self._room = None if self.settings.carry_over else max(num_games - len(rows), 0)
        self.search.stop(np.flatnonzero(~self._playing))
        if len(rows):
            self.search.reset(rows, self._roots[rows], *self._draw_budgets(rows))

    def advance(self, num_steps: int) -> list[GameRecord]:
        """Make so many steps, each of one leaf in every game, and return the games that ended."""
        records = []
        for _ in range(num_steps):
            self._start_games()
            if not self._playing.any():
                break
            self.search.step()
            records += self._make_moves()
        return records

    def state_dict(self) -> dict:
        """Return the games under way and the random state; the trees are not part of it."""
        rows = np.flatnonzero(self._playing)
        longest = int(self._plies.max(initial=0))
        of_games = {name: getattr(self, f"_{name}")[rows] for name in ONE_PER_GAME}
        of_plies = {name: getattr(self, f"_{name}")[rows, :longest] for name in _ONE_PER_PLY}
        return {
            "rows": rows,
            "generator": self._generator.bit_generator.state,
            **of_games,
            **of_plies,
        }

    def load_state_dict(self, state: dict) -> None:
        """Restore what `state_dict` returned."""
        self._generator.bit_generator.state = state["generator"]
        rows = state["rows"]
        self._playing[:] = False
        for name in ONE_PER_GAME:
            getattr(self, f"_{name}")[rows] = state.get(
                name, False
            )  # adjudicated is missing in runs of earlier versions, which play their games out
        for name in _ONE_PER_PLY:
            if name in state:  # surprises are missing in runs of earlier versions
                getattr(self, f"_{name}")[rows, : state[name].shape[1]] = state[name]

    def _start_games(self) -> None:
        """Begin games in idle slots, as far as there is room."""
        if self._playing.all() or self._room == 0:
            return
        rows = np.flatnonzero(~self._playing)[: self._room]
        if self._room is not None:
            self._room -= len(rows)
        self._roots[rows] = self.game.initial_states(len(rows))
        self._plies[rows] = 0
        self._playing[rows] = True
        share = self.settings.adjudicated_fraction
        self._adjudicated[rows] = self._generator.random(len(rows)) < share if share > 0 else False
        if self.settings.random_opening_fraction > 0:
            self._play_openings(rows)
        self.search.reset(rows, self._roots[rows], *self._draw_budgets(rows))

    def _play_openings(self, rows) -> None:
        """Play random moves at the start of a share of the games; they stay in the records, but none is a target, and none ends a game."""
        settings, generator = self.settings, self._generator
        opened = generator.random(len(rows)) < settings.random_opening_fraction
        lengths = np.where(
            opened, generator.integers(1, settings.random_opening_plies + 1, len(rows)), 0
        )
        for ply in range(self.game.max_plies):
            going = rows[lengths > ply]
            if not len(going):
                return
            before = self.game.inspect(self._roots[going])
            scores = generator.random(before.legal_action_mask.shape)
            actions = np.where(before.legal_action_mask, scores, -np.inf).argmax(axis=1)
            after = self.game.step(self._roots[going], actions)
            lengths[np.isin(rows, going[after.over])] = 0
            going, actions, states = (
                going[~after.over],
                actions[~after.over],
                after.states[~after.over],
            )
            self._states[going, ply] = self._roots[going]
            self._actions[going, ply] = actions
            self._weights[going, ply] = np.eye(self.game.num_actions, dtype=np.float32)[actions]
            self._values[going, ply] = 0.0
            self._players[going, ply] = before.players[~after.over]
            self._targets[going, ply] = False
            self._surprises[going, ply] = 0.0
            self._roots[going] = states
            self._plies[going] += 1

    def _draw_budgets(self, rows) -> tuple[np.ndarray, np.ndarray]:
        """Draw which of the next searches are full; return (num_simulations, noisy), for only full searches explore with noise."""
        settings = self.settings
        full = self._generator.random(len(rows)) < settings.full_search_fraction
        self._full[rows] = full
        return np.where(full, self._num_full, settings.num_fast_simulations), full

    def _make_moves(self) -> list[GameRecord]:
        """Play a move in every slot whose search is finished, if they are enough; return the games that end with it."""
        rows = self.search.finished_rows()
        if len(rows) * _MOVES_AT_ONCE < np.count_nonzero(self._playing):
            return []
        output = self.search.output(rows, self._temperatures(self._plies[rows]))
        chosen = self._choose(output.move_weights, self._plies[rows])
        actions = np.where(output.is_drawn, output.actions, chosen)
        self._note(rows, actions, output)
        self.num_positions += len(rows)
        after = self._adjudicate(rows, self.game.step(self._roots[rows], actions))
        self._plies[rows] += 1
        self._roots[rows] = after.states
        over = after.over
        going_on = rows[~over]
        if len(going_on):
            self.search.advance(
                going_on, actions[~over], after.states[~over], *self._draw_budgets(going_on)
            )
        if not over.any():
            return []
        self.search.stop(rows[over])
        self._playing[rows[over]] = False
        return [
            self._record(row, after.players[i], after.results[i])
            for i, row in enumerate(rows)
            if over[i]
        ]

    def _adjudicate(self, rows, after):
        """Return the transition with the games ended that are to end where the result of the position before the move is proven."""
        tree = self.search.tree
        proven = tree.proven_values[rows, ROOT_INDEX]
        ended = self._adjudicated[rows] & (proven != UNPROVEN) & ~after.over
        players = np.where(ended, tree.players[rows, ROOT_INDEX], after.players)
        return after._replace(
            over=after.over | ended, players=players, results=np.where(ended, proven, after.results)
        )

    def _choose(self, weights: np.ndarray, plies: np.ndarray) -> np.ndarray:
        """Draw an action for each row from its weights, sharpened by the temperature of its ply."""
        return sample_actions(weights, self._temperatures(plies), self._generator)

    def _temperatures(self, plies: np.ndarray) -> np.ndarray:
        """Return the temperature of each ply, float64[M]."""
        settings = self.settings
        late = np.maximum(plies - settings.num_sampled_plies + 1, 0)
        decay = (
            0.5 ** (late / settings.temperature_half_life)
            if settings.temperature_half_life
            else (late == 0)
        )
        return (
            settings.final_temperature + (settings.temperature - settings.final_temperature) * decay
        )

    def _note(self, rows, actions, output) -> None:
        plies = self._plies[rows]
        self._states[rows, plies] = self._roots[rows]
        self._actions[rows, plies] = actions
        self._weights[rows, plies] = output.action_weights
        self._values[rows, plies] = output.root_values
        self._players[rows, plies] = self.search.tree.players[rows, 0]
        self._targets[rows, plies] = self._full[rows]
        self._surprises[rows, plies] = divergence(
            output.action_weights, self.search.tree.children_priors[rows, ROOT_INDEX]
        )

    def _record(self, row: int, last_player: int, last_result: float) -> GameRecord:
        """Return the finished game of a slot; the result is from the viewpoint of the player to move in its last position."""
        plies = slice(0, self._plies[row])
        outcomes = np.where(
            self._players[row, plies] == last_player, last_result, -last_result
        ).astype(np.int8)
        return GameRecord(
            states=self._states[row, plies].copy(),
            actions=self._actions[row, plies].copy(),
            action_weights=self._weights[row, plies].copy(),
            root_values=self._values[row, plies].copy(),
            outcomes=outcomes,
            is_target=self._targets[row, plies].copy(),
            surprises=self._surprises[row, plies].copy(),
        )


def divergence(targets: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """Return the Kullback-Leibler divergences from priors to targets (both [M, A]) in nats, float32[M]; a prior of 0 (proven to lose) counts nothing."""
    counted = (targets > 0.0) & (priors > 0.0)
    ratios = np.where(counted, targets, 1.0) / np.where(counted, priors, 1.0)
    return np.maximum(np.where(counted, targets * np.log(ratios), 0.0).sum(axis=1), 0.0).astype(
        np.float32
    )


def full_simulations(settings: SelfPlaySettings, progress: float) -> int:
    """Return the simulations of a full search when ``progress`` in [0, 1] of the run is done."""
    first, last = (
        settings.initial_num_simulations or settings.num_simulations,
        settings.num_simulations,
    )
    return round(first + (last - first) * min(progress / settings.simulations_grown_at, 1.0))


def sample_actions(
    weights: np.ndarray, temperatures: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Draw an action for each row with probability proportional to weight ** (1 / temperature); temperature 0 takes the largest.

    Args:
        weights: float32[M, A], not negative, with a positive sum in each row.
        temperatures: float[M].

    Returns:
        int32[M].
    """
    weights = weights.astype(np.float64)
    weights /= weights.max(axis=1, keepdims=True)
    sharpened = weights ** (1.0 / np.maximum(temperatures, 1e-3))[:, None]
    cumulative = np.cumsum(sharpened, axis=1)
    drawn = (cumulative <= generator.random(len(weights))[:, None] * cumulative[:, -1:]).sum(axis=1)
    return np.where(
        temperatures > 0, np.minimum(drawn, weights.shape[1] - 1), weights.argmax(axis=1)
    ).astype(np.int32)
