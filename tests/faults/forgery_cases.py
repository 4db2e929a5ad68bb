"""What the children of `test_forgery.py` and `test_properties.py` call.

Each function takes the words of a command line and returns an exit status, as a command does. Those
that try many cases print one line of JSON for each, [outcome, what was seen]:

    refused   one line of ours; the command line would end with exit status 2
    read      with a digest of what was read
    broken    a traceback, or a message of more than one line

`dump_traceback_later` ends a process that hangs.
"""

import contextlib
import faulthandler
import hashlib
import io
import json
import os
import resource
import shutil
import tempfile
import traceback
from pathlib import Path

import numpy as np
from damage import apply

from alphazero.runtime.errors import InputError

#: What a case may take besides what its process has: a forged size must not be believed.
_MEMORY = 2 << 30
_HANGS_S = 60.0


def command(words):
    """Run a command with little memory."""
    from alphazero.cli import main

    limit_memory()
    return main(words)


def limit_memory():
    """Refuse this process more than `_MEMORY` of further memory."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (size + _MEMORY, resource.RLIM_INFINITY))


def list_runs(words):
    """Print what the page shows of the runs below a folder."""
    from alphazero.play.requests import RunRequest
    from alphazero.web.catalogue import Catalogue
    from alphazero.web.run_charts import RunCharts

    limit_memory()
    catalogue = Catalogue(Path(words[0]))
    charts = RunCharts(catalogue)
    plain = charts.list_runs()
    runs = [charts.show_run(RunRequest(id=run["id"])) for run in plain["runs"]]
    print(json.dumps([plain, runs, catalogue.describe()], allow_nan=False))
    return 0


def train_and_resume(words):
    """Train a tiny run for an iteration, and resume it for another; print how that ended."""
    limit_memory()
    root, *settings = words
    for more in (settings, ["resume=latest", "run.num_iterations=2", "game=tic_tac_toe"]):
        kind, seen = _ended(["train", f"run.root={root}", *more])
        if kind != "ended":
            break
    for path in Path(root).glob("*/*"):
        if not all(_is_finite(path, iteration) for iteration in (1, 2)):
            kind, seen = "broken", "weights that are not finite"
    if kind == "refused" and list(Path(root).rglob("networks")) and "diverged" not in seen:
        kind = "broken"  # it has played, and cannot be resumed
    _print([kind, seen])
    return 0


def read_many(words):
    """Read damaged copies of a file.

    Args:
        words: the function of this module that reads, the file, a JSON file of damages, and the
            number of the first one.
    """
    reader, file, cases, first = words
    limit_memory()
    with tempfile.TemporaryDirectory() as folder:
        for case in json.loads(Path(cases).read_text())[int(first) :]:
            copy = Path(folder) / Path(file).name
            copy.write_bytes(Path(file).read_bytes())
            apply(Path(folder), [case[0], copy.name, *case[1:]])
            _print(_tried(lambda: digest_of(globals()[reader](copy)), copy))  # noqa: B023
            shutil.rmtree(folder)
            os.mkdir(folder)
    return 0


def resume_many(words):
    """Resume damaged copies of a run. One that is not as it was plays an iteration.

    Args:
        words: the run, digests of what may be restored and need not play, separated by commas, a
            JSON file of lists of damages, and the number of the first one.
    """
    from alphazero.cli import train

    run, known, cases, first = words
    limit_memory()
    found = []
    play = train._run

    def note_and_play(trainer, *more):
        found.append([digest_of(_restored(trainer)), len(trainer.notices)])
        return 0 if known == "all" or found[0][0] in known.split(",") else play(trainer, *more)

    train._run = note_and_play
    for damages in json.loads(Path(cases).read_text())[int(first) :]:
        found.clear()
        with tempfile.TemporaryDirectory() as parent:
            copy = Path(parent) / "run"
            shutil.copytree(run, copy)
            for damage in damages:
                apply(copy, damage)
            kind, seen = _ended(["train", f"resume={copy}", "run.num_iterations=4"])
            if kind == "ended":
                kind, seen = ("read", found[0]) if found else ("read", ["finished", 0])
                if not _is_finite(copy):
                    kind, seen = "broken", "weights that are not finite"
        _print([kind, seen])
    return 0


def run_many(words):
    """Run a command on damaged copies of a folder.

    Args:
        words: the folder, a JSON file of lists of damages and, last, a command in which "{folder}"
            is the copy, and the number of the first case.
    """
    folder, cases, first = words
    limit_memory()
    for damages, command in json.loads(Path(cases).read_text())[int(first) :]:
        with tempfile.TemporaryDirectory() as parent:
            copy = Path(parent) / "game" / "run"
            shutil.copytree(folder, copy)
            os.chdir(copy)
            for damage in damages:
                apply(copy, damage)
            _print(_ended(command.format(folder=copy).split()))
            os.chdir("/")
    return 0


def _ended(words):
    """Return how a command ends: refused, ended or broken."""
    from alphazero.cli import main

    error, out = io.StringIO(), io.StringIO()
    faulthandler.dump_traceback_later(_HANGS_S, exit=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            call = {"list_runs": list_runs}.get(words[0])
            status = main(words) if call is None else call(words[1:])
        except BaseException as raised:  # noqa: BLE001
            place = traceback.extract_tb(raised.__traceback__)[-1]
            status = f"{type(raised).__name__}: {raised} ({place.filename}:{place.lineno})"
    faulthandler.cancel_dump_traceback_later()
    text = error.getvalue()
    if status == 2 and text.startswith("error: ") and text.count("\n") == 1:
        return ["refused", text]
    if status == 0 and "Traceback" not in text:
        return ["ended", out.getvalue()]
    return ["broken", f"{status} {text[-500:]}"]


def _is_finite(run, iteration=4):
    """Return whether the network of an iteration, if there is one, can be read."""
    from alphazero.network.weights import load_network

    path = run / "networks" / f"{iteration:06d}.safetensors"
    with contextlib.suppress(InputError):
        load_network(path)
        return True
    return not path.exists()


def _restored(trainer):
    """Return everything by which a run goes on."""
    replay = trainer.replay
    return {
        "iteration": trainer.iteration,
        "learner": trainer.learner.state_dict(),
        "accepted": trainer.gate.accepted,
        "selfplay": trainer.source.state_dict(),
        "replay": replay.state_dict(),
        "window": replay.evenly_spaced(replay.window, replay.window)._asdict(),
    }


# --- readers of files -----------------------------------------------------------------------------


def state(path):
    from alphazero.storage.checkpoint import load_state

    return load_state(path)


def network(path):
    from alphazero.network.weights import load_network, network_game, network_info

    return [*load_network(path), network_game(path), network_info(path)]


def config(path):
    from alphazero.config.settings import from_stored
    from alphazero.storage.run_folder import RunFolder
    from alphazero.training.settings import TrainSettings, check_run

    folder = RunFolder(path.parent)
    settings = from_stored(TrainSettings, folder.read_config(), path)
    check_run(settings)
    return str(settings)


def metrics(path):
    from alphazero.storage.run_folder import RunFolder

    return RunFolder(path.parent).read_metrics()


def evaluation_set(path):
    from alphazero.evaluation.exact.set_file import read_set
    from alphazero.own_games.registry import make_game

    read = read_set(path, make_game("tic_tac_toe"))
    return [list(read.moves), read.action_scores, list(read.sources)]


def ratings(path):
    from alphazero.evaluation.ratings import RatingFile

    return str(RatingFile.read(path))


# --- parts ----------------------------------------------------------------------------------------


def _tried(read, path):
    """Return what became of a case."""
    faulthandler.dump_traceback_later(_HANGS_S, exit=True)
    try:
        return ["read", read()]
    except InputError as error:
        is_line = "\n" not in str(error) and path.name in str(error)
        return ["refused" if is_line else "broken", str(error)]
    except BaseException as error:  # noqa: BLE001
        return ["broken", f"{type(error).__name__}: {error}"]
    finally:
        faulthandler.cancel_dump_traceback_later()


def _print(outcome):
    print(json.dumps(outcome), flush=True)


def digest_of(value):
    """Return a digest of nested data with arrays; NaN is a value as any other."""
    digest = hashlib.sha256()

    def add(one):
        if isinstance(one, dict):
            for key in sorted(one, key=str):
                digest.update(f"{key}:".encode())
                add(one[key])
        elif isinstance(one, (list, tuple)):
            digest.update(b"[")
            for item in one:
                add(item)
        elif isinstance(one, np.ndarray):
            digest.update(f"{one.dtype}{one.shape}".encode() + one.tobytes())
        else:
            digest.update(f"{one!r},".encode())

    add(value)
    return digest.hexdigest()[:16]
