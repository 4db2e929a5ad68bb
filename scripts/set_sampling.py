"""Sample evaluation sets: positions of random and of strong games, with exact scores.

In: a game, a solver and a seed. Out: an `EvaluationSet`. Half of the positions come from games of
uniformly random moves. The other half come from self-play of UCT in which each move is random with
a small probability, so that games differ and contain mistakes to punish. A game gives at most one
position, at the ply used least so far, so that all plies are about equally frequent. Shapes: T
plies, K state words, A actions.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from alphazero.evaluation.exact.sets import EvaluationSet, make_set
from alphazero.games.batched_game import Game
from alphazero.players.base import Player, PlayerSettings
from alphazero.players.python_uct import uct_player
from alphazero.players.without_search import RandomPlayer
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator, uniform_actions
from alphazero.solvers.base import ILLEGAL_VALUE, Solver, values_of

#: Where positions come from: games of random moves, or strong play with some random moves.
SOURCES = ("random", "strong")
STRONG_SIMULATIONS = 1000  #: UCT simulations per move in strong play
RANDOM_MOVE_FRACTION = 0.15  #: fraction of random moves in strong play
#: Maximum fraction of positions in which some move wins at once. Without a limit they would be half
#: of all positions, and they say little about a player.
MAX_IMMEDIATE_FRACTION = 0.2

# After this many games in a row without a new position, we assume that none is left.
_MAX_BARREN_GAMES = 400
# How much a rejected position adds to the uses of its ply; an accepted one adds 1.
_REJECTED_USE = 0.1


def game_positions(game: Game, num_games: int, generator: np.random.Generator) -> np.ndarray:
    """Play games of uniformly random moves and return all their unfinished positions.

    Args:
        num_games: number of games to play.
        generator: the source of the random moves.

    Returns:
        [N, K], the positions of all games, ordered by ply.
    """
    states = game.initial_states(num_games)
    positions = []
    while len(states):
        positions.append(states)
        actions = uniform_actions(game.legal_action_mask(states), generator)
        after = game.step(states, actions)
        states = after.states[~after.over]
    return np.concatenate(positions)


def sample_set(
    game: Game,
    solver: Solver,
    num_positions: int,
    seed: int,
    max_empties: int | None = None,
    progress: Callable[[int], None] = lambda num_found: None,
) -> EvaluationSet:
    """Sample an evaluation set: half of its positions from random, half from strong games.

    All positions are different, even up to symmetry. Fewer are returned if the games contain no
    others, as in a small game.

    Args:
        max_empties: maximum number of empty squares in a position; None allows any number.
        progress: called after each new position, with the number of positions found so far.

    Raises:
        ConfigError: if the games contain no suitable position.
    """
    samples: list[_Sample] = []
    seen: set[bytes] = set()
    max_immediate = MAX_IMMEDIATE_FRACTION * num_positions / len(SOURCES)
    num_random = num_positions // 2
    for source, wanted in zip(SOURCES, (num_random, num_positions - num_random)):
        num_found = num_barren = 0
        found = _samples(game, solver, source, seed, max_empties, max_immediate, seen)
        while num_found < wanted and num_barren < _MAX_BARREN_GAMES:
            sample = next(found)
            num_barren = num_barren + 1 if sample is None else 0
            if sample is not None:
                num_found += 1
                samples.append(sample)
                progress(len(samples))
    if not samples:
        reason = f"{_MAX_BARREN_GAMES} games contained no position that can be misplayed"
        raise ConfigError.of("game", game.name, "another game", reason)
    samples.sort(key=lambda each: (len(each.moves), each.source, each.moves))
    moves, states, scores, sources = zip(*samples)
    return make_set(game, np.stack(states), np.stack(scores), sources, moves, {})


def canonical_keys(game: Game, states: np.ndarray) -> list[bytes]:
    """Compute a key for each of ``states``, [N, K].

    Two positions have the same key if one is a symmetric image of the other, as seen by the player
    to move.
    """
    planes = game.observe(states)
    flat = planes.reshape(*planes.shape[:2], -1)
    images = np.stack([flat[:, :, table] for table in game.cell_symmetries], axis=1)
    return [min(image.tobytes() for image in row) for row in images]


class _Sample(NamedTuple):
    """A sampled position with its exact scores."""

    moves: tuple[int, ...]  # the moves that lead to it from the start
    state: np.ndarray  # [K], the position
    scores: np.ndarray  # int16[A], the exact scores of its actions
    source: str


def _samples(
    game: Game,
    solver: Solver,
    source: str,
    seed: int,
    max_empties: int | None,
    max_immediate: float,
    seen: set[bytes],
) -> Iterator[_Sample | None]:
    """Play games without end; yield one position of each, or None if the game has no suitable one.

    Of the game's new positions, the one whose ply has been used least so far is chosen. It is not
    suitable if it cannot be misplayed, or would exceed ``max_immediate``.

    Args:
        max_immediate: maximum number of positions in which some move wins at once.
        seen: the keys of all positions found so far; new keys are added.
    """
    ply_uses = np.zeros(game.max_plies + 1)
    num_immediate = 0
    for moves, states in _games(game, source, seed):
        keys = canonical_keys(game, states)
        plies = [ply for ply, key in enumerate(keys) if key not in seen]
        if max_empties is not None:
            plies = [ply for ply in plies if (game.cells(states[ply]) == 0).sum() <= max_empties]
        if not plies:
            yield None
            continue
        ply = min(plies, key=lambda ply: ply_uses[ply])
        seen.add(keys[ply])
        state = states[ply]
        scores = solver.scores(state[None])[0]
        immediate = wins_at_once(game, state)
        has_room = not immediate or num_immediate < max_immediate
        accepted = has_room and bool(can_be_misplayed(scores[None])[0])
        num_immediate += accepted and immediate
        ply_uses[ply] += 1 if accepted else _REJECTED_USE
        line = tuple(map(int, moves[:ply]))
        yield _Sample(line, state, scores, source) if accepted else None


def wins_at_once(game: Game, state: np.ndarray) -> bool:
    """Return whether some move wins at once in an unfinished position, an array of K words."""
    legal = np.flatnonzero(game.legal_action_mask(state[None])[0])
    after = game.step(np.repeat(state[None], len(legal), axis=0), legal)
    signs = np.where(after.players == game.players(state[None]), 1, -1)
    return bool((signs * after.results > 0).any())


def _games(game: Game, source: str, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Play games without end; yield the moves (int32[T]) and positions ([T, K]) of each."""
    generator = child_generator(seed, f"{source} games")
    random_player = RandomPlayer(game, int(generator.integers(2**31)))
    strong_seed = int(generator.integers(2**31))
    settings = PlayerSettings(num_simulations=STRONG_SIMULATIONS, seed=strong_seed)
    strong_player = uct_player(game, settings)
    while True:
        moves = []
        states = []
        state = game.initial_states()
        over = False
        while not over:
            is_random = source == "random" or generator.random() < RANDOM_MOVE_FRACTION
            player: Player = random_player if is_random else strong_player
            action = player.choose(state).actions[:1]
            moves.append(int(action[0]))
            states.append(state[0])
            transition = game.step(state, action)
            state = transition.states
            over = bool(transition.over[0])
        yield np.array(moves, np.int32), np.stack(states)


def can_be_misplayed(action_scores: np.ndarray) -> np.ndarray:
    """Return for each position whether some legal action gives up the best possible result.

    Args:
        action_scores: int16[N, A], the exact score of each action for the player to move;
            `ILLEGAL_SCORE` for illegal actions.

    Returns:
        bool[N].
    """
    values = values_of(action_scores)
    worse = values < values.max(axis=1, keepdims=True)
    return ((values != ILLEGAL_VALUE) & worse).any(axis=1)
