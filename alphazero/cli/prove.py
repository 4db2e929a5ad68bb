"""Play a small game against every possible opponent, or a puzzle, and compare each of the player's
moves with perfect play. The exit status is 0 if no position is misplayed, otherwise 1.

    alphazero prove player=checkpoints/tic_tac_toe/RUN num_simulations=100
    alphazero prove player=uct:5000
    alphazero prove game=connect_x:3x3x3 player=uct:2000,statistics=position

The game must be small enough to enumerate its positions.
"""

import dataclasses

from rich.text import Text

from alphazero.boards.skin import skin_of
from alphazero.boards.text import Medium, draw_board, own_text, result_name, side
from alphazero.cli.players import PLAYER_HELP, choose_game
from alphazero.cli.progress import counted_choice
from alphazero.config.settings import option
from alphazero.games.batched_game import Game
from alphazero.players.base import PlayerSettings, thinking_of
from alphazero.players.registry import make_player
from alphazero.runtime.console import Console
from alphazero.solvers.enumeration import MAX_POSITIONS, ExactValues
from alphazero.solvers.proof import Failure, ProofReport, prove

_DEFAULT_GAME = "tic_tac_toe"
_NOT_ALL_COMPARED = (
    "positions of this game remember the moves that led to them. Only a sample of those that count "
    "as one was compared, so this is not a proof if such positions differ."
)


@dataclasses.dataclass
class Settings(PlayerSettings):
    """Settings of the `prove` command: the player, the game, and how many mistakes to print."""

    game: str | None = option(
        None,
        f"the game, of at most {MAX_POSITIONS:,} positions; by default that of the network, "
        f"otherwise {_DEFAULT_GAME}",
    )
    player: str = option("network", PLAYER_HELP)
    show: int = option(3, "misplayed positions to print", 0, 10_000)


def run(settings: Settings, console: Console) -> int:
    """Compare the player's move in every position with perfect play, and print the result.

    Returns:
        The exit status: 0 if no position is misplayed, otherwise 1.

    Raises:
        InputError: if the game has too many positions, or a setting cannot be used.
    """
    game = choose_game(settings.game, (settings.player,), settings, _DEFAULT_GAME)
    player = make_player(settings.player, game, settings)
    with console.status(Text(f"Enumerating the positions of {game.name} ...")):
        exact = ExactValues(game)
    num_positions = int((~exact.positions.over).sum())
    with counted_choice(player, f"{player.name} on {game.name}", num_positions) as choose:
        report = prove(game, lambda states: choose(states).actions, exact)
    how = thinking_of(player)
    thinking = f" ({how})" if how else ""
    asked = f"{player.name}{thinking}, asked for its move in {num_positions:,} positions."
    text = "\n".join([asked, "", *proof_lines(game, report)])
    console.print(text, markup=False)
    if not exact.positions.are_all_compared:
        console.print(f"note: {_NOT_ALL_COMPARED}", markup=False)
    for failure in report.failures[: settings.show]:
        print_misplayed(console, game, failure)
    return 0 if report.perfect else 1


def print_misplayed(console: Console, game: Game, failure: Failure) -> None:
    """Print a position that a player misplays, with the player's move, better moves and the board.

    The results that these moves lead to are printed from the viewpoint of the player to move.
    """
    skin = skin_of(game)
    medium = Medium.of(console)
    played = skin.notation.text(failure.action)
    better = ", ".join(skin.notation.text(action) for action in failure.best_actions)
    player = int(game.players(failure.state[None])[0])
    mover = side(skin, player, medium)
    result = result_name(game, failure.value)
    best = result_name(game, failure.best_value)
    text = f" played {played}, a {result}, where {better} would have kept a {best}"
    console.print(Text.assemble("\nmisplayed: ", mover, text))
    console.print(draw_board(game, skin, failure.state, medium))


# --- the text of a proof, also at the end of a training run ---------------------------------------


def proof_lines(game: Game, report: ProofReport) -> list[str]:
    """Format the result of checking a player's move in every position as lines of text.

    For a game of two players, they count the games that the player wins, draws and loses against
    every possible play of the opponent; for a one-player game, they compare its result from the
    start with the best possible one.
    """
    kept = f"{report.num_accurate:,} of {report.num_not_final:,} unfinished positions"
    if report.results is not None:
        result, best = (own_text(game, result) for result in report.results)
        return [
            f"Alone ({report.game_name}):",
            f"  result from the start: {result}; the best possible: {best}",
            f"  best possible result kept in {kept}",
        ]
    lines = [f"Against every possible play of the opponent ({report.game_name}):"]
    for side_report, name in zip(report.sides, ("first: ", "second:")):
        lines += [
            f"  player moves {name} {side_report.num_positions:,} positions can occur",
            f"    {_games_text(side_report.games)}",
        ]
    return [*lines, f"  {_verdict(report)}", f"  best possible result kept in {kept}"]


def _verdict(report: ProofReport) -> str:
    if report.unbeatable:
        return "unbeatable: no play of the opponent wins"
    if report.perfect:
        loser = "first" if report.sides[0].games[2] else "second"
        return (
            f"perfect, but {report.num_losses:,} games are lost: the player who moves {loser} "
            "loses this game against perfect play, and no move of this player makes it worse"
        )
    return f"beatable: {report.num_losses:,} games are lost"


def _games_text(games: tuple[int, ...]) -> str:
    won, drawn, lost = games
    return f"{sum(games):,} different games: {won:,} won, {drawn:,} drawn, {lost:,} lost"
