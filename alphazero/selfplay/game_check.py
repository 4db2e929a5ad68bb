"""Check games from files and workers before they are used.

In: arrays that should contain games, finished or in progress. Out: a `GamesError` if they do not,
which says what is wrong. Every game is replayed by the rules, because a file may be damaged or
forged, and a worker may be faulty, of another version, or not a worker at all. Whether the moves
were searched well cannot be checked.
"""

from typing import Any

import numpy as np

from alphazero.games.batched_game import Game, Transition
from alphazero.selfplay.game_record import LENGTHS, REQUIRED, GameRecord

_SUM_TOLERANCE = 1e-3


class GamesError(ValueError):
    """Games failed the check; the message is a clause such as "its games are not ..."."""


def check_games(columns: dict[str, np.ndarray], game: Game) -> None:
    """Check that arrays contain finished games; `alphazero.selfplay.game_record` has the format.

    Raises:
        GamesError: if a game breaks the rules, or the arrays have the wrong format.
    """
    _check_arrays(columns, game)
    _check_numbers(columns)
    _check_rules(columns, game)


def check_in_progress(state: dict[str, np.ndarray], game: Game) -> None:
    """Check a stored state of games in progress, made by `GamesInProgress.state_dict`.

    Raises:
        GamesError: if a game breaks the rules, or an array has the wrong format.
        KeyError: if an array is missing.
    """
    plies = state["plies"]
    noted = state["actions"]
    num_games = len(state["rows"])
    longest = noted.shape[1] if noted.ndim == 2 else 0
    expected: dict[str, tuple[Any, tuple[int, ...]]] = {
        "rows": (np.int64, (num_games,)),
        "playing": (np.bool_, (num_games,)),
        "plies": (np.int32, (num_games,)),
        "roots": (game.state_dtype, (num_games, game.state_size)),
        "players": (np.int8, (num_games, longest)),
    }
    for name, (dtype, shape) in expected.items():
        _check_array(name, state[name], dtype, shape)
    if len(np.unique(state["rows"])) != num_games or (state["rows"] < 0).any():
        raise GamesError("its games in progress are numbered wrongly")
    if not state["playing"].all() or (plies < 0).any() or (plies > longest).any():
        raise GamesError("its games in progress have impossible lengths")
    begun = plies > 0
    if (state["roots"][~begun] != game.initial_states(1)).any():
        raise GamesError("its games do not begin with the first position")
    if begun.any():
        is_noted = np.arange(longest) < plies[:, None]
        names = GameRecord._fields
        columns = {name: state[name][is_noted] for name in names if name in state}
        columns |= {"outcomes": np.zeros(int(plies.sum()), np.float32)}
        columns |= {LENGTHS: plies[begun].astype(np.int64)}
        _check_arrays(columns, game)
        _check_numbers(columns)
        players = _check_rules(columns, game, roots=state["roots"][begun])
        if (players != state["players"][is_noted]).any():
            raise GamesError("the players of its games in progress are wrong")


def _check_array(name: str, array: np.ndarray, dtype: Any, shape: tuple[int, ...]) -> None:
    if array.dtype != dtype or array.shape != shape:
        raise GamesError(
            f"its {name} are {array.dtype}{list(array.shape)}, "
            f"where {np.dtype(dtype)}{list(shape)} is expected"
        )


def _check_arrays(columns: dict[str, np.ndarray], game: Game) -> None:
    """Check the arrays' names, shapes and types."""
    if not REQUIRED <= columns.keys():
        raise GamesError(f"its games lack {', '.join(sorted(REQUIRED - columns.keys()))}")
    lengths = columns[LENGTHS]
    if lengths.ndim != 1 or lengths.dtype != np.int64 or not len(lengths) or lengths.min() < 1:
        raise GamesError("its games have impossible lengths")
    if lengths.max() > game.max_plies:
        raise GamesError(f"it has a game of more than {game.max_plies} plies")
    num_plies = int(lengths.sum())
    expected: dict[str, tuple[Any, tuple[int, ...]]] = {
        "states": (game.state_dtype, (num_plies, game.state_size)),
        "actions": (np.int32, (num_plies,)),
        "action_weights": (np.float32, (num_plies, game.num_actions)),
        "root_values": (np.float32, (num_plies,)),
        "outcomes": (np.float32, (num_plies,)),
        "is_target": (np.bool_, (num_plies,)),
        "surprises": (np.float32, (num_plies,)),
    }
    if unknown := columns.keys() - expected.keys() - {LENGTHS}:
        raise GamesError(f"its games have an unknown part {min(unknown)!a:.40}")
    for name, (dtype, shape) in expected.items():
        array = columns.get(name)
        if array is not None:
            _check_array(name, array, dtype, shape)


def _check_numbers(columns: dict[str, np.ndarray]) -> None:
    """Check that policy targets are distributions, and that values are in [-1, 1]."""
    weights = columns["action_weights"]
    values = columns["root_values"]
    targets = weights[columns["is_target"]]
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise GamesError("its policy targets are not all finite and positive")
    if len(targets) and np.abs(targets.sum(axis=1, dtype=np.float64) - 1).max() > _SUM_TOLERANCE:
        raise GamesError("its policy targets do not sum to 1")
    if not np.isfinite(values).all() or np.abs(values).max() > 1 + _SUM_TOLERANCE:
        raise GamesError("its values are not between -1 and 1")
    surprises = columns.get("surprises")
    if surprises is not None and not (np.isfinite(surprises).all() and (surprises >= 0).all()):
        raise GamesError("its surprises are not all finite and positive")


def _check_rules(
    columns: dict[str, np.ndarray], game: Game, roots: np.ndarray | None = None
) -> np.ndarray:
    """Replay all games at once; return the player to move at each ply.

    Args:
        roots: the current positions of games in progress; None for finished games.
    """
    states = columns["states"]
    actions = columns["actions"]
    lengths = columns[LENGTHS]
    lasts = np.cumsum(lengths) - 1
    firsts = lasts - lengths + 1
    if (states[firsts] != game.initial_states(len(firsts))).any():
        raise GamesError("its games do not begin with the first position")
    # A position is inspected only after the rules have led to it, as a stored one may be nonsense.
    is_last = np.zeros(len(states), np.bool_)
    is_last[lasts] = True
    players = np.empty(len(states), np.int8)
    last_players = np.empty(len(lengths), np.int8)
    last_results = np.empty(len(lengths), np.float32)
    mask = game.legal_action_mask(states[firsts])
    players[firsts] = game.players(states[firsts])
    legal = np.empty(columns["action_weights"].shape, np.bool_)
    rows = firsts
    games = np.arange(len(lengths))
    while len(rows):
        own = actions[rows]
        if (
            (own < 0).any()
            or (own >= game.num_actions).any()
            or not mask[range(len(own)), own].all()
        ):
            raise GamesError("it plays an illegal move")
        legal[rows] = mask
        after = game.step(states[rows], own)
        ends = is_last[rows]
        _check_ends(after, ends, None if roots is None else roots[games[ends]])
        last_players[games[ends]] = after.players[ends]
        last_results[games[ends]] = after.results[ends]
        on = ~ends
        rows = rows[on] + 1
        games = games[on]
        mask = after.legal_action_mask[on]
        if (states[rows] != after.states[on]).any():
            raise GamesError("its positions do not follow from its moves")
        players[rows] = after.players[on]
    if ((columns["action_weights"] > 0) & ~legal).any():
        raise GamesError("its policy targets allow illegal moves")
    if roots is None:
        _check_outcomes(columns["outcomes"], players, lengths, last_players, last_results)
    return players


def _check_ends(after: Transition, ends: np.ndarray, roots: np.ndarray | None) -> None:
    """Check that finished games end when the rules say, and that others lead to ``roots``.

    Args:
        after: the positions after one move in each of several games.
        ends: bool[games], whether this move is the last one recorded in its game.
        roots: the current positions of the games with a last move; None for finished games.
    """
    if roots is not None:
        if after.over[ends].any() or (after.states[ends] != roots).any():
            raise GamesError("its games in progress do not lead to their positions")
    elif (ends & ~after.over).any():
        raise GamesError("it has a game that is not finished")
    if (~ends & after.over).any():
        raise GamesError("it plays on after the end of a game")


def _check_outcomes(
    outcomes: np.ndarray,
    players: np.ndarray,
    lengths: np.ndarray,
    last_players: np.ndarray,
    last_results: np.ndarray,
) -> None:
    """Check that each ply has the game's result from the viewpoint of the player to move."""
    results = np.repeat(last_results, lengths)
    expected = np.where(players == np.repeat(last_players, lengths), results, -results)
    if (outcomes != expected).any():
        raise GamesError("its results are not those of its games")
