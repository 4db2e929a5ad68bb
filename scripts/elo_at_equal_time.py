"""Measure the Elo gain of the default player over a plain search with the same network and time.

    python scripts/elo_at_equal_time.py connect_four --time-limit-s 1 --num-games 40

The plain search uses torch in float32, one leaf at a time, no cache and no exact results. The
players take turns on the whole machine and play pairs of games from random openings of four plies.
Most of these openings are decided in Connect Four, where `--drawn-plies 8` takes openings that are
draws under perfect play.
"""

import argparse

from script_command import exit_status

from alphazero.cli.match import tally_text
from alphazero.cli.progress import progress
from alphazero.evaluation.match import play_match
from alphazero.evaluation.openings import choose_openings
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player
from alphazero.players.search_player import TIMED_SIMULATIONS, SearchPlayer


def main() -> None:
    """Play the match and print its result."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("game")
    parser.add_argument("--time-limit-s", type=float, default=1.0)
    parser.add_argument("--num-games", type=int, default=40)
    parser.add_argument("--drawn-plies", type=int, help="play drawn openings of this many plies")
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    game = make_game(options.game)
    settings = PlayerSettings(time_limit_s=options.time_limit_s, endgame="auto")
    default = make_player("best", game, settings)
    torch = make_player("best", game, PlayerSettings(engine="torch", precision="float32"))
    plain = SearchPlayer(
        game, torch.evaluator, TIMED_SIMULATIONS, options.time_limit_s, seed=1, name="plain"
    )
    drawn = bool(options.drawn_plies)
    openings = choose_openings(game, options.drawn_plies or 4, options.seed, drawn)

    with progress("playing", options.num_games) as show:
        report = play_match(
            game,
            default,
            plain,
            options.num_games,
            openings,
            progress=lambda so_far: show(so_far.num_finished, f"A: {tally_text(so_far)}"),
        )
    low, high = report.elo_interval
    print(
        f"{game.name}, {options.time_limit_s:g} s a move, default ({default.engine}, "
        f"{default.method}) against plain: {report.score:.1%}, {report.elo:+.0f} Elo "
        f"({low:+.0f} to {high:+.0f}), {options.num_games} games"
    )


if __name__ == "__main__":
    raise SystemExit(exit_status(main))
