"""A GTP engine for the tests: naive Othello from the usual starting position, black on e4 and d5.

It plays the first legal square in reading order and refuses illegal moves. It passes by itself, as
some engines do; with `--strict` it waits to be told. With `--dies=N` it ends before its N-th move.
"""

import sys

from naive import NaiveOthello

COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}


class Board(NaiveOthello):
    """Black is player 0, piece 1."""

    def __init__(self, size):
        super().__init__(size)
        low = size // 2 - 1
        self.board[low][low] = self.board[low + 1][low + 1] = 2
        self.board[low][low + 1] = self.board[low + 1][low] = 1


def answer(words, board, strict):
    """Return the text of the answer, None for a refusal, and the board after it."""
    if words[0] == "boardsize":
        return ("", Board(int(words[1]))) if int(words[1]) in (6, 8, 10) else (None, board)
    if words[0] == "clear_board":
        return "", Board(board.size)
    board.player = COLOURS[words[1].lower()]
    if words[0] == "play" and words[2].lower() == "pass":
        return ("" if strict and not board.disc_moves(board.player) else None), board
    if words[0] == "play":
        square = (int(words[2][1:]) - 1) * board.size + ord(words[2][0].lower()) - ord("a")
        if square not in board.disc_moves(board.player):
            return None, board
        board.play(square)
        return "", board
    moves = board.disc_moves(board.player)
    if not moves:
        return "PASS", board
    row, column = divmod(moves[0], board.size)
    return f"{chr(ord('A') + column)}{row + 1}", board


def main():
    board, strict = Board(8), "--strict" in sys.argv
    dies = [int(word.partition("=")[2]) for word in sys.argv if word.startswith("--dies=")]
    num_moves = 0
    for line in sys.stdin:
        num_moves += line.startswith("genmove")
        if num_moves in dies:
            return
        text, board = answer(line.split(), board, strict)
        print("? illegal move\n" if text is None else f"= {text}\n", flush=True)


if __name__ == "__main__":
    main()
