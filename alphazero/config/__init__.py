"""Settings: typed declarations, and how values are read and checked.

Values come from command lines and config files.
"""
