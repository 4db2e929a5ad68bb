"""Check, in plain Python, that the rules of a game obey the laws that every game must obey.

laws      checks the laws that concern one position, one step or one symmetry
twins     compares the game with a second version of its rules
report    searches short, random and steered games for a broken law, and summarizes these games
"""
