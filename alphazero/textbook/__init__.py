"""UCT and AlphaZero in plain Python, written to be read and learned from.

In reading order:

- `game`: the methods that a game must define; `PlainGame` and `NotebookGame` adapt other games
- `minimax`: the result of perfect play, and counts of move sequences and games, by enumeration
- `uct`: Monte Carlo tree search with UCB1 and rollouts, on a tree or on a table of positions
- `evaluators`: priors and values of positions from rollouts, a network or a table of samples
- `alphazero`: search with an evaluator in place of rollouts (PUCT), and self-play
- `drawing`: draws a search tree as text
- `play`: plays one game between searches, people or other functions that choose moves

`Uct` and `AlphaZero` can be imported from this package. Nothing is compiled and nothing needs
torch. `alphazero.search` runs the same searches in compiled kernels, about a hundred times as fast;
its tests compare the results with those of this package. docs/textbook.md is a guided tour.
"""

from alphazero.textbook.alphazero import AlphaZero
from alphazero.textbook.uct import Uct

__all__ = ["AlphaZero", "Uct"]
