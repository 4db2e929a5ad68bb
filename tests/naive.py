"""Slow, obvious implementations that tests compare ours with; they share no code with the package.

The games are written from the rules as a person explains them, with lists of lists instead of bits.
Each has `board` (rows of 0, 1, 2), `player` (0 or 1), `legal()`, `play(action)`, `over()` and
`result()`, which is 1, 0 or -1 from the viewpoint of the player to move. At the end are the
counterparts of `alphazero.replay.augmentation` and of the evaluation cache.
"""

import math

import numpy as np
from game_samples import python_breakthrough

DIRECTIONS = [
    (down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)
]


def ray(board, row, column, down, right):
    """Return the squares that follow (row, column) in a direction, up to the edge."""
    squares = []
    row, column = row + down, column + right
    while 0 <= row < len(board) and 0 <= column < len(board[0]):
        squares.append((row, column))
        row, column = row + down, column + right
    return squares


def has_line(board, piece, length):
    """Return whether the board has ``length`` pieces in a row anywhere."""
    for row in range(len(board)):
        for column in range(len(board[0])):
            for down, right in DIRECTIONS if board[row][column] == piece else ():
                line = [(row, column), *ray(board, row, column, down, right)][:length]
                if len(line) == length and all(board[r][c] == piece for r, c in line):
                    return True
    return False


class NaiveConnectX:
    """Connect-X: discs fall to the lowest empty row of a column."""

    def __init__(self, rows, columns, length):
        self.board = [[0] * columns for _ in range(rows)]
        self.length, self.player = length, 0

    def legal(self):
        if self.over():
            return []
        return [column for column, cell in enumerate(self.board[0]) if cell == 0]

    def play(self, action):
        row = max(row for row in range(len(self.board)) if self.board[row][action] == 0)
        self.board[row][action] = 1 + self.player
        self.player = 1 - self.player

    def over(self):
        return self.result() != 0 or all(cell != 0 for cell in self.board[0])

    def result(self):
        return -1 if has_line(self.board, 2 - self.player, self.length) else 0


class NaiveGomoku(NaiveConnectX):
    """Gomoku and tic-tac-toe: the same, but a piece may take any square."""

    def legal(self):
        if self.over():
            return []
        cells = [cell for row in self.board for cell in row]
        return [square for square, cell in enumerate(cells) if cell == 0]

    def play(self, action):
        row, column = divmod(action, len(self.board[0]))
        self.board[row][column] = 1 + self.player
        self.player = 1 - self.player

    def over(self):
        return self.result() != 0 or all(cell != 0 for row in self.board for cell in row)


class NaiveOthello:
    """Othello, white (player 0, piece 1) first."""

    def __init__(self, size):
        self.size, self.player = size, 0
        self.board = [[0] * size for _ in range(size)]
        low = size // 2 - 1
        self.board[low][low] = self.board[low + 1][low + 1] = 1
        self.board[low][low + 1] = self.board[low + 1][low] = 2

    def flips(self, row, column, player):
        """Return the discs that a disc of ``player`` on (row, column) would flip."""
        discs = []
        if self.board[row][column] == 0:
            for down, right in DIRECTIONS:
                passed = []
                for r, c in ray(self.board, row, column, down, right):
                    if self.board[r][c] == 0:
                        break
                    if self.board[r][c] == 1 + player:
                        discs += passed
                        break
                    passed.append((r, c))
        return discs

    def disc_moves(self, player):
        squares = range(self.size**2)
        return [square for square in squares if self.flips(*divmod(square, self.size), player)]

    def legal(self):
        if self.over():
            return []
        return self.disc_moves(self.player) or [self.size**2]

    def play(self, action):
        if action != self.size**2:
            row, column = divmod(action, self.size)
            for r, c in [*self.flips(row, column, self.player), (row, column)]:
                self.board[r][c] = 1 + self.player
        self.player = 1 - self.player

    def over(self):
        return not self.disc_moves(0) and not self.disc_moves(1)

    def result(self):
        mine = sum(row.count(1 + self.player) for row in self.board)
        other = sum(row.count(2 - self.player) for row in self.board)
        return (mine > other) - (mine < other)


class NaiveSnort:
    """Snort: no piece may be next to an opponent's piece; a player who cannot move has lost."""

    def __init__(self, side):
        self.board = [[0] * side for _ in range(side)]
        self.player = 0

    def legal(self):
        side = len(self.board)
        squares = []
        for row in range(side):
            for column in range(side):
                steps = [(-1, 0), (1, 0), (0, -1), (0, 1)]
                beside = [(row + down, column + right) for down, right in steps]
                pieces = [self.board[r][c] for r, c in beside if 0 <= r < side and 0 <= c < side]
                if self.board[row][column] == 0 and 2 - self.player not in pieces:
                    squares.append(row * side + column)
        return squares

    def play(self, action):
        self.board[action // len(self.board)][action % len(self.board)] = 1 + self.player
        self.player = 1 - self.player

    def over(self):
        return not self.legal()

    def result(self):
        return -1


class NaivePegSolitaire:
    """Peg solitaire on a triangle: jump over a peg into an empty hole; few pegs are to be left."""

    player = 0

    def __init__(self, side):
        self.board = [[1 if column <= row else 3 for column in range(side)] for row in range(side)]
        self.board[0][0] = 0
        steps = [(-1, -1), (-1, 0), (0, -1), (0, 1), (1, 0), (1, 1)]
        holes = [(row, column) for row in range(side) for column in range(row + 1)]
        self.jumps = [
            [(row + n * down, column + n * right) for n in range(3)]
            for row, column in holes
            for down, right in steps
            if (row + 2 * down, column + 2 * right) in holes
        ]

    def legal(self):
        pegs = [[self.board[row][column] for row, column in jump] for jump in self.jumps]
        return [action for action, found in enumerate(pegs) if found == [1, 1, 0]]

    def play(self, action):
        for (row, column), peg in zip(self.jumps[action], (0, 0, 1)):
            self.board[row][column] = peg

    def over(self):
        return not self.legal()

    def result(self):
        num_pegs = sum(row.count(1) for row in self.board)
        return np.float32(1 - 2 * (num_pegs - 1) / 9)  # 1 peg: 1, 10 pegs: -1


class PythonTwin:
    """A position of a game in plain Python, with the methods of the other naive games."""

    def __init__(self, position):
        self._position = position
        self.over, self.result, self.play = position.is_over, position.result, position.step

    @property
    def board(self):
        return self._position.cells().tolist()

    @property
    def player(self):
        return self._position.player_to_move()

    def legal(self):
        return [] if self.over() else self._position.legal_actions()


def naive_twin(name):
    """Return the naive game of a name that `alphazero.own_games.registry.make_game` takes."""
    if name == "tic_tac_toe":
        return NaiveGomoku(3, 3, 3)
    if name == "connect_four":
        return NaiveConnectX(6, 7, 4)
    if name.startswith("connect_x:"):
        return NaiveConnectX(*map(int, name.partition(":")[2].split("x")))
    if name.startswith("gomoku"):
        sizes = [*map(int, (name.partition(":")[2] or "15x15").split("x")), 5]
        return NaiveGomoku(*sizes[:3])
    if name.startswith("othello"):
        return NaiveOthello(int(name.partition(":")[2] or 8))
    if name.endswith("snort.py"):
        return NaiveSnort(5)
    if name.endswith("peg_solitaire.py"):
        return NaivePegSolitaire(5)
    if name.endswith("breakthrough.py"):
        return PythonTwin(python_breakthrough())
    raise ValueError(f"{name} has no naive twin")


def replayed(name, actions):
    """Return the naive game of a name after some actions."""
    twin = naive_twin(name)
    for action in actions:
        twin.play(action)
    return twin


def naive_apply_symmetries(chosen, game, planes, action_weights, legal_action_mask):
    """Return rows under symmetries in a pass of numpy for each array."""
    flat = planes.reshape(*planes.shape[:2], -1)
    shown = np.take_along_axis(flat, game.cell_symmetries[chosen][:, None], axis=2).reshape(
        planes.shape
    )
    actions = game.action_symmetries[chosen]
    return (
        shown,
        np.take_along_axis(action_weights, actions, axis=1),
        np.take_along_axis(legal_action_mask, actions, axis=1),
    )


def naive_deviation(answers, other_answers, legal_action_mask):
    """Return (mean KL divergence, mean absolute value error) of two evaluators' answers."""
    divergences, errors = [], []
    for logits, value, other_logits, other_value, mask in zip(
        *answers, *other_answers, legal_action_mask
    ):
        legal = [action for action in range(len(mask)) if mask[action]]
        policies = []
        for row in (logits, other_logits):
            weights = [math.exp(float(row[action])) for action in legal]
            policies.append([weight / sum(weights) for weight in weights])
        divergences.append(sum(p * math.log(p / q) for p, q in zip(*policies)))
        errors.append(abs(float(value) - float(other_value)))
    return sum(divergences) / len(divergences), sum(errors) / len(errors)


def naive_images(planes, cell_symmetries):
    """Return the images of one position's planes, [C, H, W], under each symmetry."""
    flat = planes.reshape(len(planes), -1)
    return [flat[:, cells].reshape(planes.shape) for cells in cell_symmetries]


class NaiveCache:
    """An unbounded cache: a dictionary from a position's canonical image to the answer for it."""

    def __init__(self, evaluator, cell_symmetries, action_symmetries):
        self.evaluator, self.cells, self.actions = evaluator, cell_symmetries, action_symmetries
        self.known, self.num_lookups, self.num_misses = {}, 0, 0

    def evaluate(self, planes):
        """Return (logits, values, the rows that were evaluated)."""
        logits, values, evaluated = [], [], []
        for number, row in enumerate(planes):
            forms = [image.tobytes() for image in naive_images(row, self.cells)]
            form = min(forms)
            actions = self.actions[forms.index(form)]
            if form not in self.known:
                evaluated.append(number)
                own_logits, own_values = self.evaluator.evaluate(row[None])
                self.known[form] = [own_logits[0][action] for action in actions], own_values[0]
            answer, value = self.known[form]
            own = [0.0] * len(answer)
            for place, action in enumerate(actions):
                own[action] = answer[place]
            logits.append(own)
            values.append(value)
        self.num_lookups += len(planes)
        self.num_misses += len(evaluated)
        return np.array(logits, np.float32), np.array(values, np.float32), evaluated

    def clear(self):
        self.known = {}
