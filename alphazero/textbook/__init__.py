"""UCT and AlphaZero in plain Python, to learn from.

In the order to read:

- `game`: what a game must define; `PlainGame` and `NotebookGame` show other games that way
- `minimax`: perfect play and counting positions, by full enumeration
- `uct`: Monte Carlo tree search with UCB1 and rollouts, on a tree or on a table of positions
- `alphazero`: the search with an evaluator in place of rollouts (PUCT), and a game of self-play
- `proofs`: the same search with results that follow from finished games, as `alphazero.search` has
- `drawing`: a tree as text, and as a graph for Graphviz
- `play`: a game between any choosers of moves, people included

`Uct` and `AlphaZero` can be imported from here. Nothing is compiled and nothing needs torch.
`alphazero.search` computes the same with kernels, some hundred times as fast; its tests compare it
with this package. docs/textbook.md walks through all of it.
"""

from alphazero.textbook.alphazero import AlphaZero
from alphazero.textbook.uct import Uct

__all__ = ["AlphaZero", "Uct"]
