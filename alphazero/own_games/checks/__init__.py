"""The laws that the rules of a game obey, checked on random and steered games in plain Python.

In: a game. Out: the first law that its rules break, and the moves that lead there. `laws` is what
every game file undergoes before it is played; `alphazero.own_games.rule_check` looks for longer.
"""
