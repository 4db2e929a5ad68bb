"""Play a Kaggle ConnectX submission inside Kaggle's own environment.

    pip install --no-deps kaggle-environments
    pip install jsonschema numpy requests
    python scripts/kaggle_match.py submission.py --opponents random negamax --games 20

In: the file that `alphazero export format=kaggle` writes. Out: the results against each opponent,
and the seconds per move. The script needs only Kaggle's package and three others, not this one.
"""

import argparse
import statistics


def main() -> None:
    """Play the games, and print one line per opponent."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("submission")
    parser.add_argument("--opponents", nargs="+", default=["random", "negamax"])
    parser.add_argument("--games", type=int, default=20, help="games per opponent, on both sides")
    options = parser.parse_args()
    for opponent in options.opponents:
        results, seconds = [], []
        for number in range(options.games):
            result, times = play(options.submission, opponent, seat=number % 2)
            results.append(result)
            seconds += times
        tally = ", ".join(f"{results.count(r)} {name}" for r, name in RESULTS.items())
        print(
            f"{opponent}: {tally}; seconds per move: {statistics.mean(seconds):.2f} on average, "
            f"{max(seconds):.2f} at most, in {len(seconds)} moves",
            flush=True,
        )


RESULTS = {1: "won", 0: "drawn", -1: "lost", None: "failed"}


def play(submission: str, opponent: str, seat: int) -> tuple[int | None, list[float]]:
    """Play a game; return the submission's result, None after an error, and its move times."""
    from kaggle_environments import make

    environment = make("connectx")
    players = [submission, opponent]
    steps = environment.run(players if seat == 0 else players[::-1])
    logs = [step[seat] for step in environment.logs[1:] if len(step) > seat and step[seat]]
    result = steps[-1][seat].reward if steps[-1][seat].status == "DONE" else None
    return result, [log["duration"] for log in logs if log["duration"] > 0.001]


if __name__ == "__main__":
    main()
