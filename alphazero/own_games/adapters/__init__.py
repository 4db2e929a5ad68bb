"""Adapters for games from other libraries: OpenSpiel, PettingZoo and pgx.

Each adapter makes a `Game` from the library's name for it, importing the library only when needed.
"""
