"""Adapters for games from other libraries: OpenSpiel, PettingZoo and pgx.

In: the library's name for a game. Out: a `Game`. Each adapter imports its library only when the
first of its games is made.
"""
