"""Every command that writes files, in its smallest form."""

import importlib
from dataclasses import dataclass
from pathlib import Path

from stored_runs import SMALLEST, Scenario, run_in

RUN = Scenario("resume")
_NETWORK = "networks/000002.safetensors"
_QUICK = ["num_simulations=2", "engine=torch"]


@dataclass(frozen=True)
class Command:
    """A command, run in a folder that holds the stored run of `RUN`.

    Attributes:
        words: those of the command line; RUN stands for the run's folder.
        output: what it writes: a file, or a folder that ends in "/"; below the folder.
        before: the words of commands that run first, undisturbed.
        trains: whether it writes a run, of which stored iterations stay.
        is_quick: whether it takes less than a second from the start.
    """

    name: str
    words: tuple[str, ...]
    output: str = ""
    before: tuple[tuple[str, ...], ...] = ()
    trains: bool = False
    is_quick: bool = False

    def words_in(self, root: Path) -> list[str]:
        return _in(self.words, root)

    def words_before(self, root: Path) -> list[list[str]]:
        return [_in(words, root) for words in self.before]


def _in(words, root: Path) -> list[str]:
    return [word.replace("RUN", str(run_in(root))) for word in words]


_SET = ("make_evaluation_set", "game=tic_tac_toe", "num_positions=4", "out=set.csv")
_RATE = ("rate", "run=RUN", "players=[random]", "anchor=random", "num_games=4")
_RATE += ("games_per_match=4", "num_networks=1", *_QUICK)
COMMANDS = [
    Command("train", ("train", *SMALLEST, "run.root=new", "run.name=a", "run.num_iterations=2"),
            "new/", trains=True, is_quick=True),
    Command("resume", ("train", "resume=RUN", "run.num_iterations=4"), trains=True, is_quick=True),
    Command("match", ("match", "game=tic_tac_toe", "a=random", "b=random", "num_games=2",
            "json=match.json"), "match.json", is_quick=True),
    Command("make_evaluation_set", _SET, "set.csv"),
    Command("evaluate", ("evaluate", f"player=RUN/{_NETWORK}", "baseline=random", "set=set.csv",
            "json=accuracy.json", "plot=accuracy.png", *_QUICK), "accuracy.json", (_SET,)),
    Command("rate", _RATE),
    Command("plot_run", ("plot", "run=RUN", "output=run.png"), "run.png"),
    Command("plot_position", ("plot", "what=position", "game=tic_tac_toe", "player=random",
            "output=position.svg"), "position.svg"),
    Command("plot_game", ("plot", "what=game", "game=tic_tac_toe", "first=random", "second=random",
            "output=game.gif"), "game.gif"),
    Command("export", ("export", f"network=RUN/{_NETWORK}", "output=out.onnx"), "out.onnx"),
    Command("new_game", ("new_game", "my_game"), "my_game/", is_quick=True),
    Command("check_game", ("check_game", "game=tic_tac_toe", "num_positions=100",
            "json=check.json"), "check.json"),
]  # fmt: skip


def import_all(names: list[str]) -> int:
    """Import modules in the process that forks children: they then need not."""
    for name in names:
        importlib.import_module(name)
    return 0
