"""The tab Custom Scalars: a dozen charts that show at first sight how a run is going.

In: the settings of a run. Out: the layout that `SummaryWriter.add_custom_scalars` takes: categories
of charts, each with a kind and tags. TensorBoard merges the layouts of all runs, so the charts of
two runs have equal names.
"""

from alphazero.evaluation.exact.set_file import shipped_path
from alphazero.training.settings import TrainSettings

Chart = tuple[str, list[str]]  #: "Multiline" with its tags, or "Margin" with value, low and high


def layout(settings: TrainSettings) -> dict[str, dict[str, Chart]]:
    """Return the charts for which a run with these settings has values."""
    categories = {"Mistakes": _mistakes(settings), "Strength": _matches(settings)} | _LEARNING
    return {title: charts for title, charts in categories.items() if charts}


def has_exact_error(settings: TrainSettings) -> bool:
    """Return whether the run compares its network with an exact solver on a set of positions."""
    return settings.evaluation.exact and shipped_path(settings.game.name) is not None


def _mistakes(settings: TrainSettings) -> dict[str, Chart]:
    """Return the charts of the comparisons with exact results that the run makes."""
    charts: dict[str, Chart] = {}
    if has_exact_error(settings):
        charts["Exact error with search"] = _band("exact/error_search", "error_search")
        charts["Exact error of the network alone"] = _band("exact/error_network", "error_network")
    if settings.evaluation.prove:
        charts["Misplayed positions of the whole game"] = _lines("proof/misplayed_positions")
    return charts


def _matches(settings: TrainSettings) -> dict[str, Chart]:
    """Return the charts of the matches that the run plays."""
    evaluation = settings.evaluation
    charts: dict[str, Chart] = {}
    if evaluation.num_games or evaluation.final_num_games:
        charts["Score against UCT"] = _band("strength/score", "strength_score")
    if settings.pit.every:
        charts["Score in the pit"] = _band("pit/score", "pit_score")
    return charts


def _band(tag: str, bounds: str) -> Chart:
    """Return the chart of a curve with its 95% interval."""
    return "Margin", [tag, f"interval/{bounds}_low", f"interval/{bounds}_high"]


def _lines(*tags: str) -> Chart:
    """Return the chart of several curves; TensorBoard reads their tags as regular expressions."""
    return "Multiline", [f"{tag}$" for tag in tags]


_LEARNING = {
    "Losses": {
        "Policy: trained, held out, uninformed, entropy of the target": _lines(
            "loss/policy", "loss/policy_held_out", "loss/policy_uninformed", "policy/entropy_search"
        ),
        "Value: trained, held out, uninformed": _lines(
            "loss/value", "loss/value_held_out", "loss/value_uninformed"
        ),
        "Value: distance from the results": _lines("value/absolute_error"),
        "Entropy of the policy: network, search": _lines(
            "policy/entropy_network", "policy/entropy_search"
        ),
    },
    "Games": {
        "Results: first player wins, draws, second player wins": _lines(
            "games/first_player_wins", "games/draws", "games/second_player_wins"
        ),
        "Length of a game in plies": _lines("games/length_plies"),
        "Fraction of distinct games": _lines("games/distinct_fraction"),
    },
    "Speed": {
        "Positions of self-play per second": _lines("speed/positions_per_s"),
        "Seconds of an iteration: self-play, learning, measuring": _lines(
            "time/selfplay_s", "time/learner_s", "time/measure_s"
        ),
    },
}
