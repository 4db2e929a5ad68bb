"""Make, check or time the opening book of Connect Four that ships with the package.

    pip install bitbully; python scripts/make_connect_four_book.py out=connect_four_book.xz
    python scripts/make_connect_four_book.py check=200    # needs no bitbully
    python scripts/make_connect_four_book.py times=50     # neither does this

Making it takes some five minutes and 2 GB of memory. The scores are those of the package
`bitbully`, which has a database of all positions with 12 discs. Positions and scores are stored in
`work=` along the way, and a second call continues there.

`check=` compares the scores in the book with those of a search without it, on positions from random
games. `times=` plays as many games at random and as many well, where one move in ten is random. It
prints how long scoring all moves of their positions takes, each from an empty table.

In: no file. Out: the file that `alphazero.solvers.opening_book` describes, or a table. Shapes: N
positions, K state words.
"""

import dataclasses
import lzma
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from script_command import exit_status

from alphazero.cli.progress import progress
from alphazero.config.command_line import from_overrides
from alphazero.config.settings import option
from alphazero.own_games.registry import make_game
from alphazero.runtime.files import check_output, write_output
from alphazero.runtime.jit import njit
from alphazero.solvers.connect_x import ConnectXSolver, new_search
from alphazero.solvers.opening_book import (
    BOOK_PLIES,
    NO_BOOK,
    UNKNOWN,
    OpeningBook,
    book_index,
    book_score,
    load_book,
    make_book,
)

GAME = make_game("connect_four")
NUM_ENTRIES = 7_221_889
LAST_TIMED_PLY = 16
_CHUNK = 250_000  # positions per step of an enumeration
_SAVE_EVERY = 200_000  # positions scored between two saves
_COLUMN = np.uint64(127)


@dataclasses.dataclass
class Settings:
    """What to do, and the files."""

    out: str = option("connect_four_book.xz", "file to write")
    work: str = option("connect_four_book.work", "folder of partial results")
    check: int = option(0, "check the shipped book on this many positions instead", 0, 1_000_000)
    times: int = option(0, "time the solver in this many games of each kind instead", 0, 10_000)
    seed: int = option(0, "seed of the positions to check or time", 0, 2**63 - 1)


def main(arguments: list[str]) -> int:
    """Read the arguments and do what they say; return the exit status."""
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    name = "make_connect_four_book.py"
    return exit_status(lambda: run(from_overrides(Settings, arguments, name)))


def run(settings: Settings) -> None:
    """Make the book, or check or time the solver with the book that ships."""
    generator = np.random.default_rng(settings.seed)
    if settings.times:
        Console(highlight=False).print(times_table(settings.times, generator))
    elif settings.check:
        num_wrong = count_wrong(load_book(GAME.rules), settings.check, generator)
        print(f"{num_wrong} of {settings.check} scores are wrong")
    else:
        check_output(settings.out, "out")
        scores = all_scores(Path(settings.work))
        filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0}]
        data = lzma.compress(scores.tobytes(), filters=filters)
        write_output(settings.out, data)
        print(f"{len(data):,} bytes with {(scores != UNKNOWN).sum():,} scores: {settings.out}")


# --- making ---------------------------------------------------------------------------------------


def all_scores(work: Path) -> np.ndarray:
    """Score all positions of the book; return its entries, int8[NUM_ENTRIES]."""
    work.mkdir(parents=True, exist_ok=True)
    book = make_book(np.full(NUM_ENTRIES, UNKNOWN, np.int8))
    for plies in BOOK_PLIES:
        positions = stored_positions(work, plies)
        enter(book, positions, stored_scores(work, plies, positions))
    return book.scores


@njit
def enter(book, positions, scores):
    """Write the scores (int8[N]) of positions ([N, K]) into a book."""
    for row in range(positions.shape[0]):
        mine = positions[row, 0]
        book.scores[book_index(book, mine, mine | positions[row, 1])] = scores[row]


def stored_positions(work: Path, plies: int) -> np.ndarray:
    """Return all unfinished positions with so many discs, [N, K]; they are stored in ``work``."""
    path = work / f"positions_{plies}.npy"
    if not path.exists():
        positions = GAME.initial_states()
        with progress("enumerating plies", plies) as show:
            for ply in range(plies):
                positions, _ = next_positions(positions)
                show(ply + 1)
        _save(path, positions)
    return np.load(path)


def next_positions(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Make every move in positions of one ply, [N, K]; mirror images count as one position.

    Returns:
        The unfinished positions that result, and the finished ones; each in a fixed order.
    """
    unfinished = []
    finished = []
    for chunk in np.split(positions, range(_CHUNK, len(positions), _CHUNK)):
        rows, actions = np.nonzero(GAME.legal_action_mask(chunk))
        result = GAME.step(chunk[rows], actions)
        unfinished.append(distinct(result.states[~result.over]))
        finished.append(distinct(result.states[result.over]))
    return distinct(np.concatenate(unfinished)), distinct(np.concatenate(finished))


def distinct(positions: np.ndarray) -> np.ndarray:
    """Return one of each pair of mirror images, and each position ([N, K]) once."""
    keys = np.minimum(_keys(positions), _keys(mirrored(positions)))
    return positions[np.unique(keys, return_index=True)[1]]


def mirrored(positions: np.ndarray) -> np.ndarray:
    """Return the mirror images of positions, [N, K]."""
    images = positions.copy()
    images[:, :2] = 0
    for column in range(7):
        discs = (positions[:, :2] >> np.uint64(7 * column)) & _COLUMN
        images[:, :2] |= discs << np.uint64(7 * (6 - column))
    return images


def _keys(positions: np.ndarray) -> np.ndarray:
    # Together, these sums identify a position: in each column, its height and which discs are mine.
    return positions[:, 0] + (positions[:, 0] | positions[:, 1])


def stored_scores(work: Path, plies: int, positions: np.ndarray) -> np.ndarray:
    """Score positions with so many discs, [N, K], by bitbully; they are stored in ``work``.

    Returns:
        int8[N], the scores for the player to move, `UNKNOWN` if that player can win at once.
    """
    from bitbully import bitbully_core
    from bitbully_databases import BitBullyDatabases

    solver = bitbully_core.BitBullyCore(BitBullyDatabases.get_database_path("12-ply-dist"))
    board = bitbully_core.BoardCore()
    path = work / f"scores_{plies}.npy"
    scores = np.load(path) if path.exists() else np.zeros(0, np.int8)
    with progress("scoring positions", len(positions)) as show:
        while len(scores) < len(positions):
            planes = GAME.observe(positions[len(scores) : len(scores) + _SAVE_EVERY])
            found = []
            for cells in (planes[:, 0] + 2 * planes[:, 1]).astype(np.int8):
                board.setBoard(cells.tolist())
                found.append(UNKNOWN if board.canWin() else solver.mtdf(board, 0))
            scores = np.append(scores, np.array(found, np.int8))
            _save(path, scores)
            show(len(scores))
    return scores


def _save(path: Path, array: np.ndarray) -> None:
    temporary = path.with_suffix(".new.npy")
    np.save(temporary, array)
    temporary.replace(path)


# --- checking and timing --------------------------------------------------------------------------


def count_wrong(book: OpeningBook, num_positions: int, generator: np.random.Generator) -> int:
    """Count the scores of positions with 12 discs that differ from those of a search."""
    solver = ConnectXSolver(GAME)
    solver._search = new_search(GAME.rules, 20, NO_BOOK)
    num_wrong = num_checked = 0
    with progress("checking positions", num_positions) as show:
        while num_checked < num_positions:
            *_, state = random_game(generator, BOOK_PLIES[-1])
            score = book_score(book, state[0], state[0] | state[1])
            if score != UNKNOWN:
                num_wrong += score != solver.scores(state[None]).max()
                num_checked += 1
                show(num_checked)
    return num_wrong


def random_game(generator: np.random.Generator, num_plies: int) -> Iterator[np.ndarray]:
    """Yield the positions of a random game that lasts longer than so many plies."""
    states = [np.zeros(3, np.uint64)]
    while len(states) <= num_plies:
        action = generator.choice(np.flatnonzero(GAME.legal_action_mask(states[-1][None])[0]))
        result = GAME.step(states[-1][None], np.array([action]))
        states = [np.zeros(3, np.uint64)] if result.over[0] else states + [result.states[0]]
    yield from states


def times_table(num_games: int, generator: np.random.Generator) -> Table:
    """Time the solver in random and in well-played games; return a table of its times by ply."""
    table = Table(title="Scoring all moves of a Connect Four position")
    for heading in ("ply", "games", "positions", "median ms", "slowest ms", "largest k nodes"):
        table.add_column(heading, justify="left" if heading == "games" else "right")
    found = {}
    with progress("playing", 2 * num_games) as show:
        for game_index in range(2 * num_games):
            kind = "random" if game_index % 2 else "well played"
            for ply, figures in timed_game(generator, 1.0 if game_index % 2 else 0.1):
                found.setdefault((ply, kind), []).append(figures)
            show(game_index + 1)
    for ply, kind in sorted(found):
        seconds, nodes = np.array(found[ply, kind]).T
        cells = [str(ply), kind, str(len(nodes)), f"{1e3 * np.median(seconds):.1f}"]
        table.add_row(*cells, f"{1e3 * seconds.max():.0f}", f"{nodes.max() / 1e3:,.0f}")
    return table


def timed_game(
    generator: np.random.Generator, random_fraction: float
) -> Iterator[tuple[int, tuple[float, int]]]:
    """Play a game and score each of its positions from an empty table.

    Args:
        random_fraction: probability of a random move; other moves have the best exact score.

    Yields:
        The ply, and the processor time in seconds and the nodes that its scores took.
    """
    solver = ConnectXSolver(GAME)
    position = GAME.inspect(GAME.initial_states())
    for ply in range(LAST_TIMED_PLY + 1):
        if position.over[0]:
            return
        solver._search.table[:] = 0
        num_nodes = solver.num_nodes
        started = time.process_time()
        scores = solver.scores(position.states)[0]
        yield ply, (time.process_time() - started, solver.num_nodes - num_nodes)
        is_random = generator.random() < random_fraction
        good = position.legal_action_mask[0] if is_random else scores == scores.max()
        position = GAME.step(position.states, generator.choice(np.flatnonzero(good))[None])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
