"""Games by name, and the games that users bring: their classes and files, and those of libraries.

registry        what a name means: a game of this package, a library's, a file, `module:Class`
python_game     what a game in plain Python is, and how its positions become rows of numbers
notebook_form   games in the form of the published notebook as positions
adapters        games of OpenSpiel, PettingZoo and pgx
game_file       running the file or importing the module that a name stands for
checked_game    the check of rules before they are played; rule_errors words what it finds
checks          the laws that rules obey, and the search for one that is broken
rule_check      the check in a process of its own, also of a second version of the rules
rules_digest    whether the rules of a stored run have changed since
"""
