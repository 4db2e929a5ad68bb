"""What commands print: help, progress bars, tables and boards. Nothing here computes results."""
