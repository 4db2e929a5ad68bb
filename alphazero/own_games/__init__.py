"""Games by name, and the games that users bring: their classes and files, and those of libraries.

registry        what a name means: a game of this package, a library's, a file, `module:Class`
python_game     the batched view of positions that are Python objects
own_game        objects and classes in plain Python, also in the form of the published notebooks
adapters        games of OpenSpiel, PettingZoo and pgx
game_file       running the file or importing the module that a name stands for
checked_game    the check of rules before they are played; rule_errors words what it finds
checks          the laws that rules obey
rule_check      the same laws, and a second version of the rules, for as long as the user likes
rules_digest    whether the rules of a stored run have changed since
"""
