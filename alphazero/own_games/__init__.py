"""Make games by name: games of this package, games that users define, and games of other libraries.

registry        makes a game from its name: a game of this package or of another library, the path
                of a game file, or `module:Class`
python_game     wraps games written in plain Python, storing their positions as rows of bytes
notebook_form   adapts games written in the form of the notebooks in docs/notebooks.md
adapters        wrap games from OpenSpiel, PettingZoo and pgx
game_file       runs the file or imports the module that a game's name refers to
checked_game    loads users' games and checks their rules before they are played
checks          the laws that game rules must obey, and a search for positions that break them
rule_check      runs that search in a separate process
rules_digest    detects whether a game's rules have changed since a run was stored
"""
