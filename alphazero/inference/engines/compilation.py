"""Report a failure of torch.compile as one error, at the start instead of during a run."""

import numpy as np

from alphazero.inference.engines.engine import Engine
from alphazero.runtime.errors import ConfigError


def check_compiled(engine: Engine, planes: np.ndarray) -> None:
    """Evaluate once, because torch.compile compiles on the first call.

    Raises:
        ConfigError: with the reason, such as a missing compiler.
    """
    try:
        engine.evaluate(planes)
    except ConfigError:
        raise
    except Exception as error:  # torch.compile raises many types, none of them public
        cause = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        reason = f"it needs a C++ compiler and does not work here ({cause})"
        raise ConfigError.of("engine", "torch_compile", ["torch"], reason) from None
