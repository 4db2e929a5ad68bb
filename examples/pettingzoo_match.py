"""Two of our players meet in PettingZoo's own Connect Four; docs/PETTINGZOO.md walks through this file."""

from alphazero.interop.agents import PettingZooAgent
from alphazero.interop.board_view import view_of
from alphazero.interop.environments import make_environment
from alphazero.interop.episode import play_match
from alphazero.players.registry import make_player


def main(num_games: int = 4) -> None:
    """Play a few games and print who won how many."""
    environment = make_environment(
        "connect_four_v3"
    )  # the same as pettingzoo.classic.connect_four_v3.env()
    view = view_of(environment)
    strong, weak = (
        PettingZooAgent(make_player(spec, view.game), view) for spec in ("uct:500", "uct:20")
    )

    # One move by hand: all that an agent needs is what the environment shows.
    environment.reset(seed=0)
    observation, *_ = environment.last()
    environment.step(strong.act(observation))

    # Whole games, colours alternating.
    report = play_match(environment, strong, weak, num_games)
    print(
        f"{strong.name} against {weak.name}: {report.wins} won, {report.draws} drawn, {report.losses} lost;",
        end=" ",
    )
    print(f"{report.num_distinct_games} different games.")


if __name__ == "__main__":
    main()
