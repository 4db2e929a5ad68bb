"""Make games by name: games of this package, games that users define, and games of other libraries.

registry        resolves a name: a game of this package or of a library, a file, `module:Class`
python_game     games in plain Python, and how their positions become rows of numbers
notebook_form   games in the form of the notebooks in docs/notebooks.md
adapters        games from OpenSpiel, PettingZoo and pgx
game_file       runs the file or imports the module that a game's name refers to
checked_game    loads users' games and checks their rules before they are played
checks          the laws that game rules must obey, and the search for a broken law
rule_check      runs that search in a separate process
rules_digest    detects whether a game's rules have changed since a run was stored
"""
