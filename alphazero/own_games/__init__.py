"""Games by name, and games from users: their classes and files, and games of libraries.

registry        what a name means: a game of this package, a library's, a file, `module:Class`
python_game     games in plain Python, and how their positions become rows of numbers
notebook_form   games in the form of the published notebook
adapters        games of OpenSpiel, PettingZoo and pgx
game_file       runs the file or imports the module that a name stands for
checked_game    checks rules before they are played; rule_errors writes its messages
checks          the laws that rules must obey, and the search for a broken one
rule_check      the check in a separate process, also against a second version of the rules
rules_digest    whether the rules of a stored run have changed since
"""
