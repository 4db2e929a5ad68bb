"""Shell completion, by Hydra's scripts for bash, zsh and fish.

    eval "$(alphazero -sc install=bash)"

The shell then calls ``alphazero -sc query=bash`` with the line typed so far in ``COMP_LINE``. Hydra
knows no commands: here they are completed, and the rest of the line is passed on to Hydra.
"""

import os
import re
import sys
from collections.abc import Collection


def complete(arguments: list[str], commands: Collection[str]) -> None:
    """Print the script that a shell is to run, or what it proposes for the line typed so far.

    Args:
        arguments: Hydra's option for completion and what follows it.
        commands: of the program.
    """
    if any(argument.startswith("query=") for argument in arguments):
        found = re.match(r"\s*(\S+)\s+(\S+)(\s.*)", os.environ.get("COMP_LINE", ""))
        if not found:
            print(" ".join(commands))  # the shell drops those that do not fit
            return
        program, command, rest = found.groups()
        if command != "train":
            return
        os.environ["COMP_LINE"] = program + rest
    import hydra  # takes a second

    from alphazero.config.hydra import CONFIG_NAME, store_schema
    from alphazero.training.run_config import config_folder
    from alphazero.training.settings import TrainSettings

    store_schema(TrainSettings)
    sys.argv[1:] = arguments
    hydra_program = hydra.main(str(config_folder()), CONFIG_NAME, version_base="1.3")
    hydra_program(lambda config: None)()
