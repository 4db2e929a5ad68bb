"""Let commands run quickly and alike on every machine."""


def patch_measurements(patch):
    """Let networks play with torch in float32.

    The rules of game files are tried briefly. Nothing is printed of kernels that are compiled, so
    that standard error is that of the command.

    Args:
        patch: has a `setattr`, as `pytest.MonkeyPatch` has.
    """
    from alphazero.inference.engines.registry import EngineChoice, preferred_engine
    from alphazero.own_games import checked_game
    from alphazero.players import network
    from alphazero.runtime import jit

    def torch_unless_named(wanted, device, network_kind):
        is_open = wanted.engine == "auto"
        precision = "float32" if wanted.precision == "auto" else wanted.precision
        return (
            EngineChoice("torch", precision)
            if is_open
            else preferred_engine(wanted, device, network_kind)
        )

    patch.setattr(network, "preferred_engine", torch_unless_named)
    patch.setattr(checked_game, "_SECONDS", 0.2)
    patch.setattr(jit, "announce_first_compilation", lambda: None)
