"""Let commands run without measurements: these are slow, and no two machines are alike."""


def patch_measurements(patch):
    """Let networks play with torch in float32, and with exact leaves very near the end.

    The rules of game files are tried briefly. Nothing is printed of kernels that are compiled, so
    that standard error is that of the command.

    Args:
        patch: has a `setattr`, as `pytest.MonkeyPatch` has.
    """
    from alphazero.inference import fastest_engine
    from alphazero.inference.engines.engine import REFERENCE
    from alphazero.own_games import checked_game
    from alphazero.players import exact_leaves
    from alphazero.runtime import jit

    patch.setattr(fastest_engine, "candidates", lambda *_: [REFERENCE])
    patch.setattr(fastest_engine, "has_other_engines", lambda _: False)
    speed = exact_leaves.LeafSpeed([1.0] * 6, 1e7, 1e4)
    patch.setattr(exact_leaves, "leaf_speed", lambda *_: speed)
    patch.setattr(exact_leaves, "known_speed", lambda _: speed)
    patch.setattr(checked_game, "_SECONDS", 0.2)
    patch.setattr(jit, "announce_first_compilation", lambda: None)
