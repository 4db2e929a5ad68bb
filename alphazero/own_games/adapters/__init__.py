"""Adapters for games from other libraries: OpenSpiel, PettingZoo and pgx.

Each adapter makes a `Game` from the name that the library gives the game or environment. It imports
the library only when a game is made.
"""
