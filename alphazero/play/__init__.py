"""Play: people at a terminal, and other programs over JSON lines. See docs/PLAY.md."""
