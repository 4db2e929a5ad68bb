"""The rules of games, and the batched interface through which all other packages use them.

rules           the functions of a single position that a game must define; they are compiled
batched_game    the same operations on arrays of positions: the interface for all other packages
connect_x, connect_x_large, gomoku, othello, othello_large, tic_tac_toe    one game each
appearance      how a game looks when drawn: its title, sides, piece colours and style of board
symmetry        permutation tables of board symmetries
square_names    names of squares and moves, such as d3 and a2a3
text            parsing of numbers and boards that people type

`alphazero.own_games` finds games by name and loads games that users define.
"""
