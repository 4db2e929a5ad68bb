"""`alphazero rate`: the networks of a run, UCT and random on one Elo scale.

In: a run. Out: a table, a picture, and ratings.json in the run's folder, to which later calls add.
"""

import dataclasses
from collections.abc import Collection
from pathlib import Path

from alphazero.cli.output.help_text import print_help
from alphazero.cli.output.rate_bar import RateBar
from alphazero.cli.output.rate_table import growth_text, ratings_table
from alphazero.cli.player_workers import PlayerWorkers, player_maker
from alphazero.cli.rate_players import choose_networks, make_players, player_name
from alphazero.cli.warm_up import warm_up
from alphazero.config.command_line import from_overrides
from alphazero.config.settings import option
from alphazero.evaluation.elo import Ratings, connected_players, rate
from alphazero.evaluation.match import Openings, check_num_games
from alphazero.evaluation.ratings import RatingFile, short_name
from alphazero.evaluation.tournament import play_tournament
from alphazero.games.batched_game import Game
from alphazero.games.registry import make_stored_game
from alphazero.inference.engines.registry import ENGINES, PRECISIONS
from alphazero.network.weights import load_network
from alphazero.players.base import Player, PlayerSettings
from alphazero.plots.figure import check_picture
from alphazero.plots.ratings import draw_ratings
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import check_output
from alphazero.storage.run_folder import RunFolder

COMMAND = "alphazero rate"
SUMMARY = (
    "Rate networks of a run, UCT and random on one Elo scale. Games are added to those of earlier "
    "calls; Ctrl-C keeps every finished match."
)
EXAMPLES = [
    "alphazero rate run=latest",
    "alphazero rate run=checkpoints/connect_four/RUN num_networks=12 num_games=2000",
    "alphazero rate run=latest players=[random,uct:100,uct:1000,uct:10000,uct:100000]",
    "alphazero rate run=latest workers=ray",
    "alphazero rate run=latest players=[uct:1000,checkpoints/connect_four/OTHER]",
]
STANDARD_PLAYERS = ["random", "uct:100", "uct:1000", "uct:10000"]


@dataclasses.dataclass
class RateSettings(PlayerWorkers):
    """Who is rated, and by how many games."""

    run: str = option("latest", "the run's folder, or latest")
    root: str = option("checkpoints", "the folder of all runs, for latest")
    game: str | None = option(
        None, "your own game's file, if the run is of one; a stored file alone never runs it"
    )
    num_networks: int = option(
        8, "networks of the run: the first, the newest, and others evenly between", 1, 10_000
    )
    num_simulations: int = option(200, "simulations of a network per move", 1, 1_000_000)
    players: list[str] = option(STANDARD_PLAYERS, "the other players, as in 'alphazero match'")
    anchor: str = option("uct:1000", "the player whose rating is fixed")
    anchor_elo: float = option(1000.0, "the rating of the anchor", -1e6, 1e6)
    num_games: int = option(
        600, "games to add, an even number; 0 shows the stored ratings", 0, 1_000_000
    )
    games_per_match: int = option(
        20,
        "games per match, an even number; then the next two players are chosen. Fewer if num_games "
        "would not reach every player",
        2,
        10_000,
    )
    opening_plies: int = option(4, "random plies at the start of each pair of games", 0, 1000)
    device: str = option("auto", "where networks run: auto, cpu, cuda")
    engine: str = option(
        "auto",
        "what runs networks; auto takes the fastest, measured once on this machine",
        choices=("auto", *ENGINES),
    )
    precision: str = option(
        "auto",
        "number format of networks; auto is float32 with an engine that is named",
        choices=("auto", *PRECISIONS),
    )
    seed: int = option(0, "seed of openings and players", 0, 2**63 - 4)
    output: str = option(
        "", "picture to write (.png, .svg, .pdf), by default ratings.png in the run's folder"
    )

    def of_networks(self) -> PlayerSettings:
        """Return the settings of the run's networks as players."""
        keys = ("num_simulations", "device", "engine", "precision", "seed")
        return PlayerSettings(**{key: getattr(self, key) for key in keys})


def main(arguments: list[str], console: Console | None = None) -> int:
    """Play the games, store them, and show the ratings."""
    if {"-h", "--help"} & set(arguments):
        print_help("rate", SUMMARY, RateSettings(), EXAMPLES)
        return 0
    settings = from_overrides(RateSettings, arguments, COMMAND)
    check_num_games(settings.num_games, low=0)
    check_num_games(settings.games_per_match, "games_per_match")
    if settings.output:
        check_picture(settings.output, "output")
    folder = RunFolder.find(settings.run, settings.root, None, key="run")
    networks = choose_networks(folder, settings.num_networks)
    stored_game = load_network(networks[0]).game
    game = make_stored_game(stored_game, f"the network '{networks[0]}'", settings.game)
    file = RatingFile.open(folder.path / "ratings.json", game.name, settings.opening_plies)
    console = console or Console(highlight=False, emoji=False)
    anchor = player_name(settings.anchor, game, settings.of_networks())
    status = 0
    if settings.num_games:
        check_output(file.path, "run")
        specs = [*settings.players, settings.anchor]
        try:
            with player_maker(settings) as make:
                players = make_players(networks, specs, game, settings.of_networks(), file, make)
                warm_up(game, players.values(), Console(stderr=True, emoji=False))
                play(game, players, file, settings, anchor)
        except KeyboardInterrupt:
            kept = f"{file.num_games:,} games are stored in {file.path}"
            text = f"Stopped: {kept}; the same command adds to them.\n"
            console.print(text, markup=False, soft_wrap=True)
            status = 130
    ratings = rate_connected(file, anchor, settings.anchor_elo)
    if ratings is None:
        console.print(_too_few_text(file, anchor, settings), markup=False, soft_wrap=True)
    else:
        show(ratings, file, settings, folder, console)
    return status


def play(
    game: Game, players: dict[str, Player], file: RatingFile, settings: RateSettings, anchor: str
) -> None:
    """Play the games; write the file after every match."""
    with RateBar(settings.num_games) as bar:
        matches = play_tournament(
            game,
            players,
            file.matches,
            settings.num_games,
            _games_per_match(settings, len(players)),
            Openings(settings.opening_plies, settings.seed),
            bar,
        )
        for match in matches:
            file.matches.append(match)
            file.write(rate_connected(file, anchor, settings.anchor_elo))
            bar.count(len(match.scores))


def _games_per_match(settings: RateSettings, num_players: int) -> int:
    """Return an even number of games per match that leaves two matches for every player."""
    affordable = settings.num_games // (2 * num_players) // 2 * 2
    return max(2, min(settings.games_per_match, affordable))


def rate_connected(file: RatingFile, anchor: str, anchor_elo: float = 1000.0) -> Ratings | None:
    """Return the ratings of all players that games connect to the anchor.

    None if no match of the anchor is stored.
    """
    connected = connected_players(file.pairings, anchor)
    pairings = [pairing for pairing in file.pairings if pairing.player_a in connected]
    return rate(pairings, anchor, anchor_elo) if pairings else None


def show(
    ratings: Ratings, file: RatingFile, settings: RateSettings, folder: RunFolder, console: Console
) -> None:
    """Print the table and draw the picture."""
    console.print(ratings_table(ratings, file))
    if growth := growth_text(ratings, file):
        console.print(growth, markup=False)
    if apart := sorted(_player_names(file) - set(ratings.players)):
        names = "; ".join(map(short_name, apart))
        text = f"Not rated yet, no chain of games leads to {ratings.anchor}: {names}."
        text += f" Add games: num_games={_games_to_join(apart, settings)}."
        console.print(text, markup=False, soft_wrap=True)
    console.print(f"Games and ratings: {file.path}", markup=False, soft_wrap=True)
    output = Path(settings.output) if settings.output else folder.path / "ratings.png"
    try:
        draw_ratings(ratings, file.networks, f"{file.game}: {folder.path.name}", output)
        console.print(f"Picture: {output}", markup=False, soft_wrap=True)
    except ConfigError as error:
        console.print(f"No picture: {error}", markup=False, soft_wrap=True)


def _too_few_text(file: RatingFile, anchor: str, settings: RateSettings) -> str:
    """Return why there are no ratings yet, and how many more games to play."""
    others = _player_names(file) - {anchor}
    return (
        f"No ratings yet: none of the {len(file.matches)} stored matches joins the anchor {anchor} "
        f"to another player. Add games: num_games={_games_to_join(others, settings)}."
    )


def _games_to_join(apart: Collection[str], settings: RateSettings) -> int:
    """Return a number of games after which the players surely have ratings: two matches each."""
    return 2 * settings.games_per_match * max(len(apart), 1)


def _player_names(file: RatingFile) -> set[str]:
    return {name for pairing in file.pairings for name in pairing[:2]}
