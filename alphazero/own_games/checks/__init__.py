"""Check, in plain Python, that the rules of a game obey the laws that every game must obey.

laws      the laws of a single position and of a single step
twins     plays a second version of the same rules alongside the first
report    searches random and steered games for a broken law, and summarizes the games
"""
