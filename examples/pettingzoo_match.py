"""A match between two of our players in PettingZoo's Connect Four; see docs/PETTINGZOO.md."""

from alphazero.interop.agents import PettingZooAgent, play_match
from alphazero.interop.board_view import make_environment, view_of
from alphazero.players.registry import make_player


def main(num_games: int = 4) -> None:
    """Play a few games and print the result."""
    # The same as pettingzoo.classic.connect_four_v3.env().
    environment = make_environment("connect_four_v3")
    view = view_of(environment)
    strong, weak = (
        PettingZooAgent(make_player(spec, view.game), view) for spec in ("uct:500", "uct:20")
    )

    # One move by hand: an agent needs only the observation.
    environment.reset(seed=0)
    observation, *_ = environment.last()
    environment.step(strong.act(observation, environment.agent_selection))

    # Whole games; the two take turns at moving first.
    report = play_match(environment, strong, weak, num_games)
    results = f"{report.wins} won, {report.draws} drawn, {report.losses} lost"
    print(
        f"{strong.name} against {weak.name}: {results}; {report.num_distinct_games} distinct games."
    )


if __name__ == "__main__":
    main()
