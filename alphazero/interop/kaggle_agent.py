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
import ctypes
import glob
import io
import math
import os
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

#: Rows, columns and line length of the network's game. An exported file sets this and the weights
#: at its end.
BOARD: tuple[int, int, int] | None = None
WEIGHTS = ""

#: Fraction of Kaggle's time per move that a search may take; Kaggle's overage time is never used.
TIME_FRACTION = 0.75
MAX_SIMULATIONS = 50_000
#: Maximum number of positions that the network evaluates in one batch.
NUM_LEAVES = 16
#: PUCT's exploration constants.
PB_C_INIT = 1.25
PB_C_BASE = 19652.0
#: The first-play urgency reduction below the root.
FIRST_PLAY_URGENCY = 0.25


Position = tuple[int, int]
#: A function that maps B positions to prior logits, [B, A], and values for the player to move, [B].
Evaluate = Callable[[list[Position]], Iterable[Any]]


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
            runs = discs  # the bits where runs of ``run`` discs begin
            run = 1
            while run < self.length and runs:
                grow = min(run, self.length - run)
                runs &= runs >> (grow * shift)
                run += grow
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


class Network:
    """The forward pass of a residual network, in numpy.

    Feature maps are stored as [B, H, W, C], so that a convolution is a matrix product.

    Args:
        arrays: the weights by their names in torch's state dict, with batch normalization already
            merged into the convolutions.
    """

    def __init__(self, arrays: dict[str, np.ndarray]):
        self.arrays = arrays
        blocks = {name.split(".")[1] for name in arrays if name.startswith("tower.")}
        self.num_blocks = len(blocks)
        self.kernels = {
            name: array.transpose(2, 3, 1, 0).reshape(-1, len(array))
            for name, array in arrays.items()
            if array.ndim == 4 and name != "position_bias"
        }

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate B positions with the network.

        Args:
            planes: float32[B, C, H, W], the positions as `Rules.planes` converts them.

        Returns:
            Prior logits, [B, A], with illegal actions not masked, and values for the player to
            move, [B], in [-1, 1].
        """
        x = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
        x = self._conv("stem.conv", x)
        if "position_bias" in self.arrays:
            x = x + self.arrays["position_bias"].transpose(0, 2, 3, 1)
        x = np.maximum(x, 0)
        for block in range(self.num_blocks):
            inner = np.maximum(self._conv(f"tower.{block}.first.conv", x), 0)
            x = np.maximum(x + self._conv(f"tower.{block}.second.conv", inner), 0)
        policy = np.maximum(self._conv("policy_conv.conv", x), 0)
        prior_logits = self._linear("policy", _flat(policy))
        value = np.maximum(self._conv("value_conv.conv", x), 0)
        hidden = np.maximum(self._linear("value_hidden", _flat(value)), 0)
        value_logits = self._linear("value", hidden)
        return prior_logits, _expected(value_logits)

    def _conv(self, name: str, x: np.ndarray) -> np.ndarray:
        kernel = self.kernels[f"{name}.weight"]
        size = self.arrays[f"{name}.weight"].shape[-1]
        num, height, width, channels = x.shape
        before = (size - 1) // 2
        after = size - 1 - before
        x = np.pad(x, ((0, 0), (before, after), (before, after), (0, 0)))
        parts = np.empty((num, height, width, size * size, channels), np.float32)
        for k in range(size * size):
            down, right = divmod(k, size)
            parts[:, :, :, k] = x[:, down : down + height, right : right + width]
        output = parts.reshape(-1, size * size * channels) @ kernel
        output = output + self.arrays.get(f"{name}.bias", 0)
        return output.reshape(num, height, width, -1)

    def _linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self.arrays[f"{name}.weight"].T + self.arrays[f"{name}.bias"]


def _flat(features: np.ndarray) -> np.ndarray:
    """Flatten the feature maps of each position, [B, H, W, C], to [B, C*H*W] as torch does."""
    return features.transpose(0, 3, 1, 2).reshape(len(features), -1)


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
    """A node of the search tree, that is, a position; values are for the player to move in it."""

    __slots__ = (
        "position", "moves", "priors", "children", "visits", "values", "in_flight",
        "num_visits", "value", "num_in_flight", "proven",
    )  # fmt: skip

    def __init__(self, rules: Rules, mine: int, other: int):
        self.position = mine, other
        self.proven, self.moves = rules.tactics(mine, other)
        self.value = 0.0 if self.proven is None else float(self.proven)
        self.priors: list[float] = []  # empty until `expand`
        num = len(self.moves)
        self.children: list[Any] = [None] * num  # nodes; None before the first visit
        self.visits = [0] * num
        self.values = [0.0] * num
        self.in_flight = [0] * num
        self.num_visits = 1
        self.num_in_flight = 0

    def expand(self, logits: np.ndarray, value: float) -> None:
        """Store the network's output in the node: the moves' priors and the value.

        Args:
            logits: [A], the prior logits of all columns. The priors are their softmax over the
                columns that `Rules.tactics` says to consider.
            value: the network's value for the player to move, in [-1, 1].
        """
        logits = logits[self.moves]
        weights = np.exp(logits - logits.max())
        self.priors = (weights / weights.sum()).tolist()
        self.value = float(value)

    def select(self, urgency: float) -> int:
        """Return the index of the move with the largest PUCT score; visits in flight count.

        Args:
            urgency: first-play urgency reduction: the value assumed for unvisited moves is this
                node's value minus ``urgency`` times the square root of the visited moves' total
                prior.
        """
        num = self.num_visits + self.num_in_flight
        pb_c = PB_C_INIT + math.log((num + PB_C_BASE + 1) / PB_C_BASE)
        scale = pb_c * math.sqrt(num)
        visited = sum(prior for prior, visits in zip(self.priors, self.visits) if visits)
        unvisited_value = max(self.value - urgency * math.sqrt(visited), -1.0)
        best = 0
        best_score = -math.inf
        for index, prior in enumerate(self.priors):
            visits = self.visits[index]
            value = self.values[index] if visits else unvisited_value
            score = value + scale * prior / (1 + visits + self.in_flight[index])
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
        evaluate: maps positions to the network's prior logits and values.
        position: a position for which `Rules.tactics` returns None as the result.
        deadline: the time to stop, on the clock of `time.perf_counter`; at least one batch of
            positions is searched.
        max_simulations: the search stops earlier if it has made this many simulations.
    """
    root = Node(rules, *position)
    logits, values = evaluate([position])
    root.expand(logits[0], values[0])
    while root.proven is None and root.num_visits <= max_simulations:
        paths = _collect(rules, root, max_simulations)
        leaves = []
        for path in paths:
            parent, index = path[-1]
            leaves.append(parent.children[index])
        if leaves:
            answers = evaluate([leaf.position for leaf in leaves])
            for path, leaf, logits, value in zip(paths, leaves, *answers):
                leaf.expand(logits, value)
                _back_up(path, leaf)
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


def _collect(rules: Rules, root: Node, max_simulations: int) -> list[Path]:
    """Select paths to at most `NUM_LEAVES` new nodes, which the network must evaluate next.

    A visit in flight is counted along each path, so that later ones differ, and removed before the
    function returns. Paths that end in a proven node are backed up at once and not returned.

    Args:
        max_simulations: the search's limit; no more visits are started than it allows.
    """
    paths: list[Path] = []
    marked: list[Path] = []
    while len(paths) < NUM_LEAVES and len(marked) < 2 * NUM_LEAVES and root.proven is None:
        if root.num_visits + len(paths) > max_simulations:
            break
        path: Path = []
        node = root
        while node is not None and node.proven is None and node.priors:
            parent = node
            index = parent.select(FIRST_PLAY_URGENCY if path else 0.0)
            path.append((parent, index))
            node = parent.children[index]
        is_new = node is None
        if is_new:
            mine, other = parent.position
            disc = rules.disc(mine | other, parent.moves[index])
            node = Node(rules, other, mine | disc)
            parent.children[index] = node
        if node.proven is not None:
            _back_up(path, node)
            continue
        if is_new:
            paths.append(path)
        marked.append(path)
        _mark(path, 1)
    for path in marked:
        _mark(path, -1)
    return paths


def _mark(path: Path, change: int) -> None:
    for node, index in path:
        node.in_flight[index] += change
        node.num_in_flight += change


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


class Evaluator:
    """Evaluates positions with the network, and caches its outputs for this move and later ones.

    Args:
        max_kept: the cache is emptied when it holds more positions than this.
    """

    def __init__(self, rules: Rules, network: Network, max_kept: int = 100_000):
        self.rules = rules
        self.network = network
        self.max_kept = max_kept
        self.kept: dict[Position, Any] = {}

    def __call__(self, positions: list[Position]) -> Iterable[Any]:
        new = [position for position in positions if position not in self.kept]
        if new:
            if len(self.kept) > self.max_kept:
                self.kept = {}
                new = positions
            answers = self.network.evaluate(self.rules.planes(new))
            self.kept.update(zip(new, zip(*answers)))
        return zip(*(self.kept[position] for position in positions))


_evaluators: dict[tuple, Evaluator] = {}


def load_network() -> Network:
    """Load the network from `WEIGHTS`, an .npz file in base 85 at the end of an exported file."""
    data = base64.b85decode("".join(WEIGHTS.split()))
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return Network({name: file[name] for name in file.files})


def use_one_thread() -> None:
    """Limit numpy's OpenBLAS to one thread, if its library is found.

    OpenBLAS's threads wait for each other. If another process occupies a core, this wait takes 50
    times as long as the whole matrix product in one thread.
    """
    folder = os.path.join(os.path.dirname(np.__file__), "..", "numpy.libs")
    for path in glob.glob(os.path.join(folder, "*blas*")):
        for name in ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_"):
            try:
                getattr(ctypes.CDLL(path), name)(1)
            except (AttributeError, OSError):
                pass


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
    if not _evaluators:
        use_one_thread()
        _evaluators[size] = Evaluator(rules, load_network())
    deadline = start + TIME_FRACTION * float(configuration["actTimeout"])
    root = search(rules, _evaluators[size], position, deadline)
    return best_move(root)
