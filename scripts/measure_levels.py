"""Measure the Elo of the levels of `alphazero serve`, and write alphazero/web/levels.json.

    python scripts/measure_levels.py                          # games with a shipped network
    python scripts/measure_levels.py --games othello --num-games 400

All levels of a game play a tournament (`alphazero.evaluation.tournament`) from random openings of
four plies, decided ones too; uct:1000 has 1000 points, as in docs/RATINGS.md. Games are stored in
build/levels/, and later calls add to them. A level that won or lost every game gets no rating.
"""

import argparse
import json
import time
from pathlib import Path

from alphazero.evaluation.elo import rate
from alphazero.evaluation.match import Openings
from alphazero.evaluation.ratings import RatingFile
from alphazero.evaluation.tournament import play_tournament
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player
from alphazero.storage.pretrained import shipped_network
from alphazero.storage.run_folder import folder_name
from alphazero.web import catalogue

ANCHOR = "uct:1000"
OPENING_PLIES = 4
ROOT = Path(__file__).parents[1]
OUTPUT = Path(catalogue.__file__).with_name("levels.json")


def main() -> None:
    """Measure the levels of each game, and store their ratings."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--games", nargs="+", default=["connect_four", "othello:6", "othello"])
    parser.add_argument("--num-games", type=int, default=400)
    settings = parser.parse_args()
    for name in settings.games:
        ratings = measure(name, settings.num_games)
        known = json.loads(OUTPUT.read_text()) | {name: ratings}
        OUTPUT.write_text(json.dumps(known, indent=2) + "\n")


def measure(name: str, num_games: int) -> dict[str, list[int]]:
    """Play the games; return each level's [Elo, standard error]."""
    game = make_game(name)
    folder = ROOT / "build" / "levels"
    folder.mkdir(parents=True, exist_ok=True)
    file = RatingFile.open(folder / f"{folder_name(name)}.json", name, OPENING_PLIES)
    file.drawn_openings = False
    specs = {level.id: _spec(level.player) for level in catalogue.LEVELS}
    if shipped_network(name) is None:
        specs = {id: spec for id, spec in specs.items() if not spec.startswith("best")}
    players = {spec: make_player(spec, game, PlayerSettings(seed=1)) for spec in specs.values()}
    openings = Openings(OPENING_PLIES, seed=1)
    started, before = time.monotonic(), file.num_games
    for match in play_tournament(game, players, file.matches, num_games, 20, openings):
        file.matches.append(match)
        file.write(rate(file.pairings, ANCHOR))
        done = file.num_games - before
        left = (time.monotonic() - started) * (num_games - done) / done
        print(f"{name}: {done} of {num_games} games, {left / 60:.0f} min left", flush=True)
    ratings = rate(file.pairings, ANCHOR)
    by_level = {}
    for level_id, spec in specs.items():
        index = ratings.players.index(spec)
        elo, stderr = round(float(ratings.elo[index])), round(ratings.stderr(spec))
        bound = " (a bound)" if ratings.is_bound[index] else ""
        print(f"  {spec:40} {elo:5} +- {stderr}{bound}")
        if not bound:
            by_level[level_id] = [elo, stderr]
    return by_level


def _spec(player: dict) -> str:
    """Return the specification of a level's player, as `make_player` takes it."""
    num_simulations = player.get("num_simulations")
    if player["id"] == "random":
        return "random"
    if player["id"] == "uct":
        return f"uct:{num_simulations}"
    if num_simulations == 0:
        return "best,with_search=false"
    return f"best,num_simulations={num_simulations},endgame=auto"


if __name__ == "__main__":
    main()
