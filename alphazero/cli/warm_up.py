"""The first call of every player, made before a game starts, so that compiling is not timed."""

import contextlib

from alphazero.games.batched_game import Game
from alphazero.play.terminal import HumanPlayer
from alphazero.players.base import WARM_UP_SIMULATIONS
from alphazero.players.gtp import GtpPlayer
from alphazero.players.solver import SolverPlayer
from alphazero.runtime import jit
from alphazero.runtime.console import Console
from alphazero.solvers.registry import solver_advice


def warm_up(game: Game, players, console: Console) -> None:
    """Ask each player for a move at the start of the game; print a notice if a solver will be slow.

    Compiling or loading a kernel would otherwise count as thinking time. Solvers are not asked:
    they may need minutes at the start, or refuse it. GTP engines are told of real games only.
    """
    jit.announce_first_compilation()
    players = list(players)
    if any(isinstance(player, SolverPlayer) for player in players):
        if advice := solver_advice(game):
            console.print(advice, markup=False, soft_wrap=True)
    with getting_ready(console):
        for player in players:
            if not isinstance(player, (HumanPlayer, SolverPlayer, GtpPlayer)):
                player.limited(WARM_UP_SIMULATIONS, None).analyse(game.initial_states()[0])
                player.limited(1, None).choose(game.initial_states())


def getting_ready(console: Console):
    """Return a context that shows "Getting ready ..." on a terminal."""
    return console.status("Getting ready ...") if console.is_terminal else contextlib.nullcontext()
