"""Play games at the terminal (docs/PLAY.md) or through a JSON-lines engine (docs/engine.md)."""
