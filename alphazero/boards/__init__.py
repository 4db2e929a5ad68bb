"""Draw positions in terminals and pictures, and read and write moves as text."""
