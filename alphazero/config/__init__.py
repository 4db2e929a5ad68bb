"""Typed settings: how they are declared, read from command lines and files, and checked."""
