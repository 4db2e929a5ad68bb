"""An agent for Kaggle's ConnectX: PUCT search with a network evaluated in numpy.

`alphazero export format=kaggle` writes this file and appends the weights of a network. The file
needs only numpy. Kaggle calls its last function, `agent`, once per move.

On a board whose size is not the network's, the agent still wins in one move or blocks the
opponent's win, and otherwise plays near the middle.

A position is two integers with one bit per cell: the discs of the player to move, and the
opponent's. Each column has a spare bit on top, so that a line never runs from one column into the
next. Bit numbers for 6 x 7:

     .  .  .  .  .  .  .      the spare row, always empty
     5 12 19 26 33 40 47      the top row
     :  :  :  :  :  :  :
     0  7 14 21 28 35 42
"""

import base64
import functools
import io
import itertools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

#: Rows, columns and line length of the network's game. An exported file sets this and the weights
#: at its end.
BOARD = (0, 0, 0)
WEIGHTS = ""

#: Fraction of Kaggle's time per move that a search may take; Kaggle's overage time is never used.
TIME_FRACTION = 0.75
MAX_SIMULATIONS = 50_000
#: PUCT's exploration constants.
PB_C_INIT = 1.25
PB_C_BASE = 19652.0
#: The first-play urgency reduction below the root.
FIRST_PLAY_URGENCY = 0.25

#: The steps from a cell of a line to the next: row, column, diagonal, antidiagonal.
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))
#: Maximum number of states kept for each line of patterns: all 3^7 of a row of Connect Four.
MAX_STATES = 2187
#: Maximum number of positions whose answers are kept.
MAX_ANSWERS = 100_000


Position = tuple[int, int]
#: A function that maps a position to prior logits, [A], and the value for the player to move.
Evaluate = Callable[[Position], tuple[np.ndarray, float]]


# --- rules ----------------------------------------------------------------------------------------


class Rules:
    """The rules of Connect-X on a board of a given size.

    Args:
        rows, columns: the size of the board.
        length: number of discs in a row that win.
    """

    def __init__(self, rows: int, columns: int, length: int):
        self.rows = rows
        self.columns = columns
        self.length = length
        #: Columns from the middle outwards.
        self.order = sorted(range(columns), key=lambda column: abs(2 * column - columns + 1))
        self._column_cells = (1 << rows) - 1

    def read(self, board: list[int], mark: int) -> Position:
        """Convert Kaggle's board to a position.

        Args:
            board: the cells row by row from the top left: 0 empty, 1 and 2 the players' discs.
            mark: the player to move, 1 or 2.

        Returns:
            The discs of the player to move and those of the opponent, one bit per disc.
        """
        mine = other = 0
        for cell, owner in enumerate(board):
            row, column = divmod(cell, self.columns)
            bit = 1 << (column * (self.rows + 1) + self.rows - 1 - row)
            if owner == mark:
                mine |= bit
            elif owner:
                other |= bit
        return mine, other

    def disc(self, occupied: int, column: int) -> int:
        """Return the bit of the cell where a disc dropped into a column lands; 0 if there is none.

        Args:
            occupied: the bits of all discs on the board.
            column: the column, counted from 0.
        """
        bottom = 1 << (column * (self.rows + 1))
        free = ~occupied & (self._column_cells * bottom)
        return free & -free

    def has_line(self, discs: int) -> bool:
        """Return whether a player's discs contain a winning line.

        Args:
            discs: one bit per disc of this player.
        """
        for shift in (1, self.rows, self.rows + 1, self.rows + 2):
            runs = discs  # the bits where runs begin, one disc longer after each step
            for _ in range(self.length - 1):
                runs &= runs >> shift
            if runs:
                return True
        return False

    def tactics(self, mine: int, other: int) -> tuple[int | None, list[int]]:
        """Look one move ahead: return the result, if already decided, and the moves to consider.

        Args:
            mine: the discs of the player to move, one bit per disc.
            other: the opponent's discs.

        Returns:
            The result for the player to move: 1 if a disc wins, -1 if the opponent threatens to win
            in two columns, 0 if the board is full, otherwise None. Then the columns to consider:
            those that win; failing that, those that block the opponent's win; failing that, all
            that are not full.
        """
        discs = {column: self.disc(mine | other, column) for column in self.order}
        moves = [column for column in self.order if discs[column]]
        if not moves:
            return 0, []
        wins = [column for column in moves if self.has_line(mine | discs[column])]
        if wins:
            return 1, wins
        blocks = [column for column in moves if self.has_line(other | discs[column])]
        if len(blocks) > 1:
            return -1, blocks
        return None, blocks or moves

    def planes(self, positions: list[Position]) -> np.ndarray:
        """Convert B positions to the network's input, float32[B, 2, rows, columns].

        The first plane contains the discs of the player to move, the second the opponent's; in
        both, 1 marks a disc, and the rows are from the top.
        """
        num_bits = self.columns * (self.rows + 1)
        num_bytes = (num_bits + 7) // 8
        words = [discs for position in positions for discs in position]
        data = b"".join(discs.to_bytes(num_bytes, "little") for discs in words)
        packed = np.frombuffer(data, np.uint8).reshape(len(positions), 2, -1)
        bits = np.unpackbits(packed, axis=2, bitorder="little")[:, :, :num_bits]
        columns = bits.reshape(-1, 2, self.columns, self.rows + 1)
        from_top = columns[:, :, :, : self.rows][:, :, :, ::-1]
        return from_top.transpose(0, 1, 3, 2).astype(np.float32)


# --- the network ----------------------------------------------------------------------------------


class WindowNetwork:
    """The forward pass of a network of windows, in numpy.

    The features of a cell are a sum of what 12 windows contribute, three of each direction (see
    `_window_contributions`).

    Args:
        arrays: the weights for a board, with batch normalizations already merged into the layers
            before them. C is the number of channels:
            directions, lines.K.weight, lines.K.bias: see `_window_contributions`.
            start: [H, W, C], to which the windows' contributions are added.
            middle.weight, middle.bias: [9 * C, C], [C], from the cells around each cell.
            means: [10, H * W], the weights of cells in the means over the board and its regions.
            Others are named as in torch's state dict.
    """

    def __init__(self, arrays: dict[str, np.ndarray]):
        self.arrays = arrays
        height, width, channels = arrays["start"].shape
        self.contributions = _window_contributions(arrays).reshape(-1, channels)
        num_cells = height * width
        cells = np.arange(num_cells)
        board = np.pad(cells.reshape(height, width), 4, constant_values=num_cells)

        def seen(down: int, right: int) -> np.ndarray:
            """Return the cell that each cell finds some steps away, num_cells beyond the border."""
            return board[4 + down :, 4 + right :][:height, :width].ravel()

        around = [seen(*step) for step in itertools.product((-1, 0, 1), repeat=2)]
        self.around = np.transpose(around).ravel()
        #: The row of each window in the contributions is a sum over pieces, plus what the border
        #: adds: [H * W, 12 * H * W] and [12 * H * W].
        powers = np.zeros((num_cells + 1, 4, 3, num_cells), np.float32)
        first = np.zeros((4, 3, num_cells), int)
        for direction, (down, right) in enumerate(STEPS):
            for place in range(3):
                first[direction, place] = 3 * 4**7 * arrays["directions"][direction] + place
                for digit in range(7):
                    distance = place - 1 + digit - 3
                    found = seen(distance * down, distance * right)
                    powers[found, direction, place, cells] += 3 * 4**digit
        self.powers = powers[:-1].reshape(num_cells, -1)
        self.first = (first + 3 * powers[-1].astype(int)).ravel()

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate B positions with the network.

        Args:
            planes: float32[B, 2, H, W], the positions as `Rules.planes` converts them.

        Returns:
            Prior logits, [B, A], with illegal actions not masked, and values for the player to
            move, [B], in [-1, 1].
        """
        pieces = (planes[:, 0] + 2 * planes[:, 1]).reshape(len(planes), -1)
        logits, values = zip(*(self._evaluate(row) for row in pieces))
        return np.array(logits), np.array(values)

    def _evaluate(self, pieces: np.ndarray) -> tuple[np.ndarray, float]:
        height, width, channels = self.arrays["start"].shape
        rows = (pieces @ self.powers).astype(int) + self.first
        sums = self.contributions.take(rows.reshape(12, -1), axis=0).sum(axis=0)
        features = np.zeros((height * width + 1, channels), np.float32)  # the last is the border
        features[:-1] = np.maximum(sums + self.arrays["start"].reshape(-1, channels), 0)
        around = features.take(self.around, axis=0).reshape(height * width, -1)
        cells = np.maximum(around @ self.arrays["middle.weight"] + self.arrays["middle.bias"], 0)
        means = self.arrays["means"] @ cells
        pooled = np.concatenate([means[0], cells.max(axis=0), means[1:].ravel()])
        shared = self.arrays["policy_global.weight"] @ pooled[: 2 * channels]
        hidden = np.maximum(self._linear("policy_hidden", cells) + shared, 0)
        logits = self._linear("policy", hidden).reshape(height, width).sum(axis=0)
        units = np.maximum(self._linear("value_hidden", pooled), 0)
        return logits, _expected(self._linear("value", units)[None])[0]

    def _linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self.arrays[f"{name}.weight"].T + self.arrays[f"{name}.bias"]


class Line:
    """A line of n cells, and what it adds to the network's U shared units.

    That depends on the pieces on the line only. It is computed when first needed, and kept: most
    positions of a search add up what is there.

    Args:
        cells: (row, column) of each cell, in order.
        windows: what windows in the line's direction contribute, [4^7, 3, F].
        shared: the weights of the shared units, [U, H, W, F].
    """

    def __init__(self, cells: list, windows: np.ndarray, shared: np.ndarray):
        self.rows, self.columns = np.transpose(cells)
        self.powers = 3 ** np.arange(len(cells))
        self.windows = windows
        self.shared = shared[:, self.rows, self.columns].reshape(len(shared), -1)
        self.contribution = functools.lru_cache(MAX_STATES)(self._contribution)

    def _contribution(self, state: int) -> np.ndarray:
        """Return what the line adds to the shared units, float32[U].

        Args:
            state: the line's cells in base 3, first cell least significant: 0 for empty, 1 for an
                own piece, 2 for an opponent's.
        """
        pieces = np.pad(state // self.powers % 3, 4, constant_values=3)
        windows = self.windows[np.correlate(pieces, 4 ** np.arange(7))]
        features = windows[:-2, 0] + windows[1:-1, 1] + windows[2:, 2]
        return self.shared @ features.ravel()


class PatternNetwork:
    """The forward pass of a network of line patterns, in numpy.

    Args:
        arrays: the weights, with batch normalization already merged into the shared layer:
            directions, lines.K.weight, lines.K.bias: see `_window_contributions`.
            shared.weight: [U, H, W, F], of the U shared units and the F features of each cell.
            Others are named as in torch's state dict.
    """

    def __init__(self, arrays: dict[str, np.ndarray]):
        self.arrays = arrays
        shared = arrays["shared.weight"]
        _, height, width, _ = shared.shape
        contributions = _window_contributions(arrays)
        self.lines = [
            Line(cells, contributions[group], shared)
            for group, step in zip(arrays["directions"], STEPS)
            for cells in _lines(height, width, step)
        ]
        powers = np.zeros((height, width, len(self.lines)), np.float32)
        for index, line in enumerate(self.lines):
            powers[line.rows, line.columns, index] = line.powers
        #: What a piece on a cell adds to the number of each line's state, [H * W, L].
        self.powers = powers.reshape(height * width, -1)

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate B positions with the network.

        Args:
            planes: float32[B, 2, H, W], the positions as `Rules.planes` converts them.

        Returns:
            Prior logits, [B, A], with illegal actions not masked, and values for the player to
            move, [B], in [-1, 1].
        """
        pieces = (planes[:, 0] + 2 * planes[:, 1]).reshape(len(planes), -1)
        states = (pieces @ self.powers).astype(int)
        sums = [
            np.sum([line.contribution(state) for line, state in zip(self.lines, row)], axis=0)
            for row in states.tolist()
        ]
        units = np.maximum(np.array(sums) + self.arrays["shared.bias"], 0)
        hidden = np.maximum(self._linear("value_hidden", units), 0)
        return self._linear("policy", units), _expected(self._linear("value", hidden))

    def _linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self.arrays[f"{name}.weight"].T + self.arrays[f"{name}.bias"]


def _window_contributions(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Return what windows along lines contribute to the features of cells.

    A window is 7 cells of a line, as a number in base 4 whose first cell is the least significant
    digit: 0 for empty, 1 for an own piece, 2 for an opponent's, 3 beyond the border.

    Args:
        arrays: the weights. G is the number of groups of directions:
            directions: [4], the group of each of `STEPS`.
            lines.K.weight, lines.K.bias: [G, inputs, 3 * outputs], [G, outputs], the convolutions
                along lines; the last has no bias.

    Returns:
        float32[G, 4^7, 3, F]: for the cell after the one in the middle of the window, for that
        cell, and for the one before; 0 if the one in the middle is beyond the border.
    """
    num_groups = len(arrays["lines.0.weight"])
    one_cell = np.eye(4, 3, dtype=np.float32)  # 0 beyond the border
    features = np.repeat(one_cell[None], num_groups, axis=0)
    for layer in range(4):
        outputs = features @ arrays[f"lines.{layer}.weight"]
        parts = outputs.reshape(num_groups, 4 ** (2 * layer + 1), 3, -1)
        parts[:, np.arange(parts.shape[1]) >> 2 * layer & 3 == 3] = 0  # its middle is no cell
        if layer == 3:
            break
        windows = np.arange(4 ** (2 * layer + 3))
        within = [windows >> 2 * place & (parts.shape[1] - 1) for place in range(3)]
        sums = sum(parts[:, within[place], place] for place in range(3))
        features = np.maximum(sums + arrays[f"lines.{layer}.bias"][:, None], 0)
    return parts


def _lines(height: int, width: int, step: tuple[int, int]) -> list[list[tuple[int, int]]]:
    """Return the lines of a board in one direction: (row, column) of their cells in order."""
    lines: dict[tuple[int, int], list] = {}
    for row, column in np.ndindex(height, width):
        line = lines.pop((row - step[0], column - step[1]), [])
        lines[row, column] = [*line, (row, column)]
    return list(lines.values())


def _expected(logits: np.ndarray) -> np.ndarray:
    """Compute values, [B], from the output of the value head.

    Args:
        logits: for the player to move: [B, 3], the logits of win, draw and loss; for a scalar head,
            [B, 1], the value before tanh.
    """
    if logits.shape[1] == 1:
        return np.tanh(logits[:, 0])
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return (weights[:, 0] - weights[:, 2]) / weights.sum(axis=1)


# --- the search -----------------------------------------------------------------------------------


class Node:
    """A node of the search tree, that is, a position; values are for the player to move in it.

    Args:
        evaluate: returns the network's prior logits and value of a position; not called if
            `Rules.tactics` knows the result.
    """

    def __init__(self, rules: Rules, evaluate: Evaluate, position: Position):
        self.position = position
        self.proven, self.moves = rules.tactics(*position)
        num = len(self.moves)
        self.priors: list[float] = []  # of `moves`; none if the result is known
        self.children: list[Any] = [None] * num  # nodes; None before the first visit
        self.visits = [0] * num
        self.values = [0.0] * num
        self.num_visits = 1
        if self.proven is not None:
            self.value = float(self.proven)
            return
        logits, value = evaluate(position)
        logits = logits[self.moves]
        weights = np.exp(logits - logits.max())
        self.priors = (weights / weights.sum()).tolist()
        self.value = float(value)

    def select(self, urgency: float) -> int:
        """Return the index of the move with the largest PUCT score.

        Args:
            urgency: first-play urgency reduction: the value assumed for unvisited moves is this
                node's value minus ``urgency`` times the square root of the visited moves' total
                prior.
        """
        pb_c = PB_C_INIT + math.log((self.num_visits + PB_C_BASE + 1) / PB_C_BASE)
        scale = pb_c * math.sqrt(self.num_visits)
        visited = sum(itertools.compress(self.priors, self.visits))
        unvisited_value = max(self.value - urgency * math.sqrt(visited), -1.0)
        best = 0
        best_score = -math.inf
        for index, prior in enumerate(self.priors):
            visits = self.visits[index]
            value = self.values[index] if visits else unvisited_value
            score = value + scale * prior / (1 + visits)
            if score > best_score:
                best = index
                best_score = score
        return best

    def prove(self) -> bool:
        """Set this node's proven result if its children imply one; return whether it is proven."""
        results = [None if not child else child.proven for child in self.children]
        if -1 in results:
            self.proven = 1
        elif None not in results:
            self.proven = max(-result for result in results if result is not None)
        return self.proven is not None


#: Nodes from the root down, each with the index of the move that the path takes from it.
Path = list[tuple[Node, int]]


def search(
    rules: Rules,
    evaluate: Evaluate,
    position: Position,
    deadline: float,
    max_simulations: int = MAX_SIMULATIONS,
) -> Node:
    """Run a PUCT search until the deadline or until its result is proven; return its root.

    Args:
        rules: the rules of Connect-X on this board.
        evaluate: returns the network's prior logits and value of a position.
        position: a position for which `Rules.tactics` returns None as the result.
        deadline: the time to stop, on the clock of `time.perf_counter`; at least one simulation
            is made.
        max_simulations: the search stops earlier if it has made this many simulations.
    """
    root = Node(rules, evaluate, position)
    while root.proven is None and root.num_visits <= max_simulations:
        _simulate(rules, evaluate, root)
        if time.perf_counter() >= deadline:
            break
    return root


def best_move(root: Node) -> int:
    """Return the column to play: the most visited one that is not proven to be a mistake.

    If the root's result is proven, only columns proven to reach it are considered; otherwise, those
    not proven to lose.
    """

    def rank(index: int) -> tuple[bool, int, float]:
        child = root.children[index]
        result = None
        if child is not None and child.proven is not None:
            result = -child.proven
        keeps = result != -1 if root.proven is None else result == root.proven
        return keeps, root.visits[index], root.priors[index]

    best = max(range(len(root.moves)), key=rank)
    return root.moves[best]


def _simulate(rules: Rules, evaluate: Evaluate, root: Node) -> None:
    """Select a path from the root to a new or proven node, and back up that node's value."""
    path: Path = []
    node = root
    while node is not None and node.proven is None:
        parent = node
        index = parent.select(FIRST_PLAY_URGENCY if path else 0.0)
        path.append((parent, index))
        node = parent.children[index]
    if node is None:
        mine, other = parent.position
        disc = rules.disc(mine | other, parent.moves[index])
        node = Node(rules, evaluate, (other, mine | disc))
        parent.children[index] = node
    _back_up(path, node)


def _back_up(path: Path, leaf: Node) -> None:
    """Add a visit with the leaf's value to each node on its path, and propagate proven results.

    The value changes its sign at each step towards the root, because the players alternate.
    """
    value = leaf.value
    child = leaf
    proving = leaf.proven is not None
    for node, index in reversed(path):
        value = -value
        node.visits[index] += 1
        if child.proven is None:
            node.values[index] += (value - node.values[index]) / node.visits[index]
        else:
            value = -float(child.proven)
            node.values[index] = value
            node.priors[index] *= value != -1.0
        if proving:
            proving = node.prove()
            if node.proven is not None:
                value = float(node.proven)
        node.num_visits += 1
        node.value += (value - node.value) / node.num_visits
        child = node


# --- Kaggle ---------------------------------------------------------------------------------------


def load_network() -> WindowNetwork | PatternNetwork:
    """Load the network from `WEIGHTS`, an .npz file in base 85 at the end of an exported file."""
    data = base64.b85decode("".join(WEIGHTS.split()))
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    return (PatternNetwork if "shared.weight" in arrays else WindowNetwork)(arrays)


@functools.cache
def load_evaluate() -> Evaluate:
    """Load the network, and return its answers, which are kept for this move and later ones."""
    rules, network = Rules(*BOARD), load_network()

    @functools.lru_cache(MAX_ANSWERS)
    def evaluate(position: Position) -> tuple[np.ndarray, float]:
        logits, values = network.evaluate(rules.planes([position]))
        return logits[0], values[0]

    return evaluate


def agent(observation: dict, configuration: dict) -> int:
    """Return the column to play, counted from 0; Kaggle calls this function once per move.

    Args:
        observation: the "board", a list of cells row by row from the top left, and the "mark" of
            the player to move, 1 or 2.
        configuration: the board's "rows" and "columns", the line length "inarow" that wins, and the
            seconds per move, "actTimeout".
    """
    start = time.perf_counter()
    size = tuple(int(configuration[name]) for name in ("rows", "columns", "inarow"))
    rules = Rules(*size)
    position = rules.read(observation["board"], int(observation["mark"]))
    result, moves = rules.tactics(*position)
    if result is not None or len(moves) == 1 or not WEIGHTS or size != BOARD:
        return moves[0]
    deadline = start + TIME_FRACTION * float(configuration["actTimeout"])
    root = search(rules, load_evaluate(), position, deadline)
    return best_move(root)
