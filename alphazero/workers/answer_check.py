"""Answers of workers are checked before they are believed.

In: an answer. Out: an `AnswerError` that says what is wrong, if something is. Its games are
replayed by the rules, see `alphazero.selfplay.game_check`.
"""

from alphazero.games.batched_game import Game
from alphazero.selfplay.game_check import GamesError, check_games
from alphazero.workers.unit import Answer, SelfPlayWork

_MOST_WORK = 1e15  # of a unit; sums of such numbers are still finite


class AnswerError(ValueError):
    """An answer that is refused; the message is a clause: "its games are not ..."."""


def check_answer(answer: Answer, game: Game, newest_version: int) -> SelfPlayWork:
    """Check that an answer has games of a network that there is; return its work.

    Args:
        newest_version: of the networks that workers can have.

    Raises:
        AnswerError: if it has not.
    """
    try:
        check_games(answer.games, game)
        if not all(0 <= figure < _MOST_WORK for figure in (*answer.work, answer.seconds)):
            raise AnswerError("its counts of work are impossible")
        work = SelfPlayWork._make(map(float, answer.work))
        is_known = type(answer.version) is int and 0 <= answer.version <= newest_version
    except GamesError as error:
        raise AnswerError(str(error)) from None
    except AnswerError:
        raise
    except Exception as error:  # an answer may be anything
        raise AnswerError(f"it answers what is no answer ({error})") from None
    if not is_known:
        raise AnswerError(f"it claims to play with network {answer.version!a:.20}")
    return work
