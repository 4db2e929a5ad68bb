"""Draw positions in terminals and in image files, and read and write moves as text."""
