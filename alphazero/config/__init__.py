"""Settings: declared in code, read from command lines and files, checked once."""
