"""Rate networks of a run, UCT and random on one Elo scale. Games are added to those of earlier
calls; Ctrl-C keeps every finished match.

    alphazero rate run=latest
    alphazero rate run=checkpoints/connect_four/RUN num_networks=12 num_games=2000
    alphazero rate run=latest players=[random,uct:100,uct:1000,uct:10000,uct:100000]
    alphazero rate run=latest players=[uct:1000,checkpoints/connect_four/OTHER]

The result is a table, and the file ratings.json in the run's folder, which the page draws.
"""

import dataclasses

import numpy as np
from rich.box import SQUARE
from rich.table import Table
from rich.text import Text

from alphazero.cli.players import warm_up
from alphazero.cli.progress import progress
from alphazero.cli.rate_players import choose_networks, make_players, player_name
from alphazero.config.settings import option
from alphazero.evaluation.elo import Ratings, rate
from alphazero.evaluation.match import MatchProgress
from alphazero.evaluation.openings import choose_openings
from alphazero.evaluation.ratings import RatingFile, search_of, short_name
from alphazero.evaluation.report import Z_95
from alphazero.evaluation.tournament import play_tournament
from alphazero.games.batched_game import Game
from alphazero.players.base import NETWORK_KIND_HELP, Player, PlayerSettings
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import check_output
from alphazero.storage.run_folder import RunFolder

STANDARD_PLAYERS = ["random", "uct:100", "uct:1000", "uct:10000"]


@dataclasses.dataclass
class Settings:
    """Settings of the `rate` command: the run, the other players, and the number of games."""

    run: str = option("latest", "the run's folder, or latest")
    root: str = option("checkpoints", "the folder of all runs, for latest")
    game: str | None = option(None, "your own game's file, which a stored run never executes")
    num_networks: int = option(8, "networks of the run, evenly spaced", 1, 10_000)
    num_simulations: int = option(200, "simulations of a network per move", 1, 1_000_000)
    players: list[str] = option(STANDARD_PLAYERS, "the other players, as in 'alphazero match'")
    anchor: str = option("uct:1000", "the player whose rating is fixed, at 1000 Elo")
    num_games: int = option(600, "games to add; 0 shows the ratings", 0, 1_000_000, even=True)
    games_per_match: int = option(20, "after these, the next two are chosen", 2, 10_000, even=True)
    opening_plies: int = option(4, "random plies at the start of each pair of games", 0, 1000)
    device: str = option("auto", "where networks run: auto, cpu, cuda")
    network_kind: str | None = option(None, NETWORK_KIND_HELP)
    seed: int = option(0, "seed of openings and players", 0, 2**63 - 4)

    def of_networks(self) -> PlayerSettings:
        """Return the settings that apply to the networks of the run when they play."""
        return PlayerSettings(
            num_simulations=self.num_simulations,
            device=self.device,
            network_kind=self.network_kind,
            seed=self.seed,
        )


def run(settings: Settings, console: Console) -> None:
    """Play the games, store them in the run's ratings.json, and print the ratings.

    If a player fails or Ctrl-C ends the tournament, the ratings so far are stored and printed.

    Raises:
        ConfigError: if a setting cannot be used.
        StoredFileError: if the run has no networks, or its ratings.json cannot be read.
    """
    from alphazero.players.network import game_of_network  # importing torch takes a second

    folder = RunFolder.find(settings.run, settings.root, None, key="run")
    networks = choose_networks(folder, settings.num_networks)
    game = game_of_network(networks[0], settings.game)
    if game.num_players == 1:
        reason = f"{game.name} has one player; 'alphazero match' compares two players of it"
        raise ConfigError.of("game", game.name, reason=reason)
    path = folder.path / "ratings.json"
    file = RatingFile.open(path, game.name, settings.opening_plies, game.rules_digest)
    anchor = player_name(settings.anchor, game, settings.of_networks())
    if not settings.num_games:
        _show(file, anchor, console)
        return
    check_output(file.path, "run")
    specs = [*settings.players, settings.anchor]
    players = make_players(networks, specs, game, settings.of_networks(), file)
    warm_up(game, players.values())
    try:
        _play(game, players, file, settings, anchor)
    finally:  # every finished match is stored
        _show(file, anchor, console)


def _play(
    game: Game, players: dict[str, Player], file: RatingFile, settings: Settings, anchor: str
) -> None:
    """Play the games; write ratings.json after every match, and show a progress bar.

    Args:
        game: the game to play.
        players: {name in ratings.json: player}.
        file: the matches of earlier calls, to which the new ones are added.
        settings: the number of games and the openings.
        anchor: the name of the player whose rating is fixed at 1000 Elo.
    """
    # A smaller even number if that is needed for every player to get two matches.
    num_pairs = settings.num_games // (2 * len(players)) // 2
    affordable = 2 * num_pairs
    games_per_match = max(2, min(settings.games_per_match, affordable))
    openings = choose_openings(game, file.opening_plies, settings.seed, file.drawn_openings)
    file.drawn_openings = openings.solver is not None
    num_before = 0  # number of games in the matches that have ended

    def on_progress(player_a: str, player_b: str, so_far: MatchProgress) -> None:
        show(num_before + so_far.num_finished, f"{player_a} - {player_b}")

    with progress("playing", settings.num_games) as show:
        for match in play_tournament(
            game, players, file.matches, settings.num_games, games_per_match, openings, on_progress
        ):
            file.matches.append(match)
            file.write(rate(file.pairings, anchor))
            num_before += len(match.scores)


def _show(file: RatingFile, anchor: str, console: Console) -> None:
    """Print a table of the ratings.

    Players that no chain of games connects to the anchor cannot be rated and are listed instead.

    Args:
        file: the matches played so far.
        anchor: the name of the player whose rating is fixed at 1000 Elo.
        console: where to print.
    """
    ratings = rate(file.pairings, anchor)
    names = {name for match in file.matches for name in (match.player_a, match.player_b)}
    if not names:
        console.print("No games yet: num_games= adds some.", markup=False)
        return
    rated = (anchor,) if ratings is None else ratings.players
    unrated = sorted(names.difference(rated))
    if unrated:
        text = f"No chain of games connects these players to the anchor {anchor}; add games: "
        console.print(f"{text}{'; '.join(map(short_name, unrated))}.", markup=False)
    if ratings is None:
        return
    console.print(ratings_table(ratings, file))
    growth = growth_text(ratings, file)
    if growth:
        console.print(growth, markup=False)
    console.print(f"Games and ratings: {file.path}", markup=False)


# --- the table ------------------------------------------------------------------------------------


def ratings_table(ratings: Ratings, file: RatingFile) -> Table:
    """Make a table of the ratings, strongest player first.

    Args:
        ratings: the players' Elo ratings, with their standard errors.
        file: the matches from which the ratings are computed.
    """
    caption = f"95% intervals are of the difference to {ratings.anchor}, the anchor."
    kind = "drawn" if file.drawn_openings else "random"
    title = f"{file.game}: {file.num_games:,} games from {kind} openings, "
    title += f"{file.num_distinct_games:,} of them different"
    table = Table(
        title=Text(title, "bold"),
        title_justify="left",
        caption=Text(caption, "dim italic"),
        caption_justify="left",
        box=SQUARE,
    )
    table.add_column("player")
    for name in ("Elo", "std. error", "95% interval", "games", "score"):
        table.add_column(name, justify="right", no_wrap=True)
    for index in np.argsort(-ratings.elo, kind="stable"):
        player = ratings.players[index]
        style = "bold" if player == ratings.anchor else None
        if player in file.networks:
            style = "cyan"
        games = f"{ratings.num_games[index]:,}"
        score = f"{ratings.scores[index]:.1%}"
        shown = Text(short_name(player))
        table.add_row(shown, *rating_cells(ratings, player), games, score, style=style)
    return table


def growth_text(ratings: Ratings, file: RatingFile) -> str:
    """Format how much Elo the newest network has gained over the oldest, with a 95% interval.

    The text ends like "+120 Elo (95% interval +80 to +160)". Only networks with the same search
    settings as the newest one are considered; if there is no other such network, the text is "".

    Args:
        ratings: the players' Elo ratings, with their standard errors.
        file: the rating file, which says which players are networks of the run.
    """
    networks = [player for player in file.networks if player in ratings.players]
    networks.sort(key=lambda player: (file.networks[player]["iteration"], player))
    alike = [player for player in networks if search_of(player) == search_of(networks[-1])]
    if len(alike) < 2:
        return ""
    first = alike[0]
    newest = alike[-1]
    elo, stderr = ratings.difference(newest, first)
    low = elo - Z_95 * stderr
    high = elo + Z_95 * stderr
    names = f"{newest.partition(', ')[0]} minus {first.partition(', ')[0]}"
    return f"{names}: {elo:+.0f} Elo (95% interval {low:+.0f} to {high:+.0f})"


def rating_cells(ratings: Ratings, player: str) -> tuple[str, str, str]:
    """Format a player's cells in the table: Elo, standard error and 95% confidence interval.

    The standard error's cell is "" for the anchor, whose rating is given, and for a player whose
    rating is only a bound (see `Ratings.is_bound`), for example because it has won all its games.

    Args:
        ratings: the ratings of all players.
        player: the name of the player.
    """
    index = ratings.players.index(player)
    elo = f"{ratings.elo[index]:.0f}"
    if player == ratings.anchor:
        return elo, "", "given"
    low, high = ratings.interval(player)
    if ratings.is_bound[index]:  # the end that is nearer to the anchor's rating
        is_below = ratings.elo[index] < ratings.elo[ratings.players.index(ratings.anchor)]
        return elo, "", f"below {high:.0f}" if is_below else f"above {low:.0f}"
    return elo, f"{ratings.stderr(player):.0f}", f"{low:.0f} to {high:.0f}"
