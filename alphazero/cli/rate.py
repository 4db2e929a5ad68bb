"""`alphazero rate`: the networks of a run, UCT and random on one Elo scale, as a table and a picture."""

import dataclasses
from pathlib import Path

import numpy as np
from rich.console import Console

from alphazero.cli.counting_bar import counting_bar
from alphazero.cli.help_text import print_help
from alphazero.cli.pictures.ratings import draw_ratings
from alphazero.cli.rate_table import growth_text, ratings_table
from alphazero.cli.warm_up import warm_up
from alphazero.evaluation.elo import Ratings, connected_players, rate
from alphazero.evaluation.match import MatchProgress, Openings
from alphazero.evaluation.rating_file import RatingFile
from alphazero.evaluation.tournament import play_tournament
from alphazero.games.batched_game import Game
from alphazero.games.registry import make_stored_game
from alphazero.network.weights import load_network, network_info
from alphazero.players.base import Player, PlayerSettings
from alphazero.players.registry import make_player, network_path, read_spec
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.overrides import from_overrides
from alphazero.runtime.random_generators import child_generator
from alphazero.runtime.settings import check_folder, option
from alphazero.storage.pretrained import is_shipped
from alphazero.storage.run_folder import RunFolder, find_network

COMMAND = "alphazero rate"
SUMMARY = "Rate networks of a run, UCT and random on one Elo scale. Games are added to those of earlier calls; Ctrl-C keeps every finished match."
EXAMPLES = [
    "alphazero rate run=latest",
    "alphazero rate run=checkpoints/connect_four/RUN num_networks=12 num_games=2000",
    "alphazero rate run=latest players=[random,uct:100,uct:1000,uct:10000,uct:100000]",
    "alphazero rate run=latest players=[uct:1000,checkpoints/connect_four/OTHER] num_games=0",
]
STANDARD_PLAYERS = ["random", "uct:100", "uct:1000", "uct:10000"]


@dataclasses.dataclass
class RateSettings:
    """Who is rated, and by how many games."""

    run: str = option("latest", "folder of the run, or latest")
    root: str = option("checkpoints", "folder of all runs, where latest is looked for")
    game: str | None = option(
        None, "your own game's file, if the run is of one: a stored file alone never runs it"
    )
    num_networks: int = option(
        8, "networks of the run: the first, the newest, and others evenly between them", 1, 10_000
    )
    num_simulations: int = option(200, "simulations of a network for a move", 1, 1_000_000)
    players: list[str] = option(
        STANDARD_PLAYERS, "who else is rated, by the words of 'alphazero match'"
    )
    anchor: str = option("uct:1000", "the player whose rating is given")
    anchor_elo: float = option(1000.0, "its rating", -1e6, 1e6)
    num_games: int = option(
        600, "games to add, an even number; 0 shows what is there", 0, 1_000_000
    )
    games_per_match: int = option(
        20, "games after which the next two players are chosen, an even number", 2, 10_000
    )
    opening_plies: int = option(4, "random moves that each pair of games starts with", 0, 1000)
    device: str = option("auto", "where networks run: auto, cpu, cuda")
    engine: str = option(
        "torch",
        "what runs networks (openvino is faster on a CPU, where installed)",
        choices=("torch", "torch_compile", "openvino"),
    )
    precision: str = option(
        "float32",
        "their number format; int8 needs openvino",
        choices=("float32", "bfloat16", "int8"),
    )
    seed: int = option(0, "seed of the openings and of the players", 0, 2**63 - 4)
    output: str = option(
        "", "picture to write (.png, .svg, .pdf); empty writes ratings.png into the run's folder"
    )


def main(words: list[str], console: Console | None = None) -> int:
    """Play the games, store them, and show the ratings."""
    if {"-h", "--help"} & set(words):
        print_help("rate", SUMMARY, RateSettings(), EXAMPLES)
        return 0
    settings = from_overrides(RateSettings, words, COMMAND)
    for key in ("num_games", "games_per_match"):
        if getattr(settings, key) % 2:
            raise ConfigError(
                f"{key}={getattr(settings, key)} is not allowed: {key} takes an even number, since colours alternate."
            )
    check_folder(settings, "output")
    folder = RunFolder.find(settings.run, settings.root, None, key="run")
    networks = choose_networks(folder, settings.num_networks)
    stored_game = load_network(networks[0]).game
    game = make_stored_game(stored_game, f"the network '{networks[0]}'", settings.game)
    file = RatingFile.open(folder.path / "ratings.json", game.name, settings.opening_plies)
    console = console or Console(highlight=False)
    anchor = player_name(settings.anchor, game, settings)
    status = 0
    if settings.num_games:
        players = make_players(networks, game, settings, file)
        warm_up(game, players.values(), Console(stderr=True))
        try:
            play(game, players, file, settings, anchor)
        except KeyboardInterrupt:
            console.print(
                f"Stopped: {file.num_games:,} games are kept in {file.path}; the same command adds to them.\n",
                soft_wrap=True,
            )
            status = 130
    ratings = rate_joined(file, anchor, settings.anchor_elo)
    if ratings is None:
        others = {name for pairing in file.pairings for name in pairing[:2]} - {anchor}
        console.print(
            f"No ratings yet: no finished match joins {anchor}, the anchor, to another player. It and {len(others)} others take {len(others)} matches "
            f"or more, of {settings.games_per_match} games each; {len(file.matches)} are there (num_games= adds games).",
            soft_wrap=True,
        )
        return status
    show(ratings, file, settings, folder, console)
    return status


def choose_networks(folder: RunFolder, num_networks: int) -> list[Path]:
    """Return the networks to rate, the oldest first: evenly spaced among those that the run kept, the first and the newest always (one: the newest)."""
    find_network(folder.path)
    paths = sorted((folder.path / "networks").glob("*.safetensors"))
    if num_networks == 1:
        return paths[-1:]
    return [
        paths[index]
        for index in sorted({*np.linspace(0, len(paths) - 1, num_networks).round().astype(int)})
    ]


def make_players(
    networks: list[Path], game: Game, settings: RateSettings, file: RatingFile
) -> dict[str, Player]:
    """Return the players by their names in the file, and note there which of them are networks of the run."""
    specs = {
        player_name(spec, game, settings): spec for spec in [*settings.players, settings.anchor]
    }
    for path in networks:
        info = load_network(path).info
        name = f"network {info['iteration']}, {settings.num_simulations} simulations"
        if settings.engine != "torch" or settings.precision != "float32":
            name += f", {settings.engine} {settings.precision}"
        file.networks[name] = {"iteration": info["iteration"], "elapsed_s": info["elapsed_s"]}
        specs[name] = str(path)
    # A player's random numbers do not start anew with every call.
    seeds = {
        name: int(child_generator(settings.seed, f"{name} after {file.num_games}").integers(2**62))
        for name in specs
    }
    return {
        name: make_player(spec, game, _player_settings(spec, settings, seeds[name]))
        for name, spec in specs.items()
    }


def player_name(spec: str, game: Game, settings: RateSettings) -> str:
    """Return one name for all words that mean the same player; that of a network says which file and how many simulations.

    Raises:
        ConfigError: if the words name no player.
    """
    kind, own = read_spec(spec, _player_settings(spec, settings))
    if kind == "uct":
        return make_player(spec, game, own).name
    path = network_path(kind, game.name)
    if path is None:
        return spec
    limits = [
        f"{key}={getattr(own, key)}"
        for key in ("num_simulations", "time_limit_s")
        if getattr(own, key) is not None
    ]
    others = [
        word
        for word in spec.split(",")[1:]
        if not word.startswith(("num_simulations=", "time_limit_s="))
    ]
    return ",".join([_network_name(find_network(path)), *limits, *others])


def _network_name(path: Path) -> str:
    """Return the name of a network's file; for one that ships, which may be replaced by a better one, that of the run that made it."""
    if not is_shipped(path):
        return str(path)
    info = network_info(path)
    return f"best ({info.get('run', '?')}/{info.get('iteration', 0):06d})"


def _player_settings(spec: str, settings: RateSettings, seed: int = 0) -> PlayerSettings:
    """Return what a player's own words leave open; the number of simulations is that of networks only."""
    kind, _ = read_spec(spec)
    num_simulations = None if kind in ("uct", "random", "solver") else settings.num_simulations
    return PlayerSettings(
        num_simulations=num_simulations,
        device=settings.device,
        engine=settings.engine,
        precision=settings.precision,
        seed=seed,
    )


def play(
    game: Game, players: dict[str, Player], file: RatingFile, settings: RateSettings, anchor: str
) -> None:
    """Play the games; the file is written after every match."""
    with RateBar(settings.num_games) as bar:
        matches = play_tournament(
            game,
            players,
            file.matches,
            settings.num_games,
            settings.games_per_match,
            Openings(settings.opening_plies, settings.seed),
            bar,
        )
        for match in matches:
            file.matches.append(match)
            file.write(rate_joined(file, anchor, settings.anchor_elo))
            bar.count(len(match.scores))


def rate_joined(file: RatingFile, anchor: str, anchor_elo: float = 1000.0) -> Ratings | None:
    """Return the ratings of all players whom games join to the anchor, None if there are none."""
    joined = connected_players(file.pairings, anchor)
    pairings = [pairing for pairing in file.pairings if pairing.player_a in joined]
    return rate(pairings, anchor, anchor_elo) if pairings else None


def show(
    ratings: Ratings, file: RatingFile, settings: RateSettings, folder: RunFolder, console: Console
) -> None:
    """Print the table and draw the picture."""
    console.print(ratings_table(ratings, file))
    if growth := growth_text(ratings, file):
        console.print(growth)
    apart = sorted(
        {name for pairing in file.pairings for name in pairing[:2]} - set(ratings.players)
    )
    if apart:
        console.print(
            f"Not rated yet, since no chain of games leads to {ratings.anchor}: {', '.join(apart)}. More games may (num_games=).",
            soft_wrap=True,
        )
    console.print(f"Games and ratings: {file.path}", markup=False, soft_wrap=True)
    output = Path(settings.output) if settings.output else folder.path / "ratings.png"
    try:
        draw_ratings(ratings, file.networks, f"{file.game}: {folder.path.name}", output)
        console.print(f"Picture: {output}", markup=False, soft_wrap=True)
    except ConfigError as error:
        console.print(f"No picture: {error}", markup=False, soft_wrap=True)


class RateBar:
    """The progress on standard error: a bar with who plays and the time left; nothing where that is no terminal."""

    def __init__(self, num_games: int):
        self._progress = counting_bar()
        self._task = self._progress.add_task("playing", total=num_games)
        self._before = 0  # games of the matches that have ended

    def __enter__(self):
        self._progress.start()
        return self

    def __exit__(self, *error) -> None:
        self._progress.stop()

    def __call__(self, player_a: str, player_b: str, progress: MatchProgress) -> None:
        self._progress.update(
            self._task,
            completed=self._before + progress.num_finished,
            description=f"{player_a} - {player_b}",
        )

    def count(self, num_games: int) -> None:
        """A match has ended."""
        self._before += num_games
