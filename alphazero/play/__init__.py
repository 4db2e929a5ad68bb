"""Games at the terminal (docs/PLAY.md) and a JSON-lines engine (docs/engine.md)."""
