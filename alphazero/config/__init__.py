"""Typed settings: declare them, read them from command lines and files, and check their values."""
