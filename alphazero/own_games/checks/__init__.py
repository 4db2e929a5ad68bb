"""Check in plain Python, on random and steered games, that the rules of a game obey its laws.

In: a game. Out: the first law that its rules break, and the moves that lead there. Every game file
is checked briefly before it is played; `alphazero.own_games.rule_check` checks for longer.
"""
