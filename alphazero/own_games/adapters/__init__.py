"""Games of other libraries: OpenSpiel, PettingZoo and pgx.

In: the name of a library's game. Out: a `Game`. One module imports each library, when its first
game is made.
"""
