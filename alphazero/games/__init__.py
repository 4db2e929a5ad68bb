"""Games: their rules, and the batched interface that search, self-play and matches use.

rules           the functions of one position that a game must define, compiled
batched_game    the same operations on arrays of positions: the interface for all other packages
connect_x, connect_x_large, othello, tic_tac_toe    the rules of one game each
appearance      how a game looks
symmetry, square_names, text    permutation tables, names of squares, typed numbers and boards

`alphazero.own_games` looks games up by name and loads users' games.
"""
