"""Games: their rules, and the batched view of them that search, self-play and matches use.

rules           what a game must define, for one position at a time; compiled
batched_game    the same operations on arrays of positions: the interface of every other package
registry        games by name: ours, PettingZoo's, and files of your own (docs/ADD_A_GAME.md)
connect_x, connect_x_large, othello, tic_tac_toe    the rules of one game each
python_game     the batched view of positions that are Python objects
pettingzoo_game PettingZoo environments as games
symmetry, text  permutation tables of boards; reading what a person types
"""
