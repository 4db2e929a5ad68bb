"""Games of other libraries: OpenSpiel, PettingZoo and pgx.

In: a game's name there. Out: a `Game`. Each library is imported by the one module that needs it,
when its first game is made.
"""
