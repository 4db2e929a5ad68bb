"""Settings: declared in code, read from command lines and files, and checked in one place."""
