"""The rules of games, and the batched interface through which all other packages use them.

rules           the functions of a single position that a game must define; they are compiled
batched_game    the same operations on arrays of positions: the interface for all other packages
connect_x, connect_x_large, othello, tic_tac_toe    the rules of one game each
appearance      how a game looks: names, colours and board
symmetry, square_names, text    permutation tables, names of squares, parsing of typed input

`alphazero.own_games` finds games by name and loads games that users define.
"""
