"""The laws that the rules of a game must obey, checked in plain Python on random and steered games.

In: a game. Out: the first law that its rules break, and the moves that lead there. Every game file
is checked briefly before it is played; `alphazero.own_games.rule_check` checks for longer.
"""
