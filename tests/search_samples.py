"""Searches as the tests set them up."""

from alphazero.search.uct.search import UctSearch, UctSettings


def make_uct(game, seed=0, **settings) -> UctSearch:
    """Return a UCT search with these `UctSettings`."""
    return UctSearch(game, UctSettings(**settings), seed)
