"""Games: their rules, and the batched view of them that search, self-play and matches use.

rules           what a game must define, for one position at a time; compiled
batched_game    the same operations on arrays of positions: the interface of every other package
connect_x, connect_x_large, othello, tic_tac_toe    the rules of one game each
appearance      how a game looks, as far as its rules say
symmetry, square_names, text    tables of turned boards; names of squares; reading what is typed

Names, and games that users bring: `alphazero.own_games`.
"""
