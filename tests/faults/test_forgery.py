"""Files that are damaged are refused in one line, or the run goes on as it was.

Bit rot: bits are flipped, files truncated, emptied, swapped, missing, or something else lies in
their place. A checksum finds all that, so what is read is what was written, or nothing. Nothing
that a stored file names or holds is ever run, even with the right checksum.
"""

import collections
import contextlib
import hashlib
import json
import pickle
import resource
import shutil
import tempfile
from pathlib import Path
from unittest import mock

import damage
import numpy as np
import pytest
from damage import PLACES, cuts, flips, forge, pickled, put, swap, write
from harness import main, run, tell
from make_evaluation_set import main as make_evaluation_set
from run_samples import TINY
from wrong_inputs import INSIDE

from alphazero.cli import train
from alphazero.config.settings import from_stored
from alphazero.evaluation.exact.set_file import read_set
from alphazero.evaluation.ratings import RatingFile
from alphazero.network.weights import load_network, network_game, network_info
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import InputError
from alphazero.storage.checkpoint import load_state
from alphazero.storage.run_folder import RunFolder
from alphazero.training.settings import TrainSettings, check_run

pytestmark = pytest.mark.xdist_group("forgery")

STATE, PREVIOUS = "state.safetensors", "state.previous.safetensors"
GAMES, NETWORK = "games/000003.safetensors", "networks/000003.safetensors"
SETTINGS = ["pit.every=2", "pit.acceptance=0", "run.num_iterations=3"]
RATINGS = {
    "format": "alphazero-ratings-1",
    "game": "tic_tac_toe",
    "opening_plies": 2,
    "networks": {"a": {"iteration": 1, "elapsed_s": 3.5}},
    "ratings": [{"player": "a", "elo": 10.0, "elo_stderr": None}],
    "matches": [],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of three iterations, with everything that its folder may hold."""
    root = tmp_path_factory.mktemp("runs")
    words = ["game=tic_tac_toe", *TINY, *SETTINGS, f"run.root={root}", "run.name=run"]
    run(["train", *words]).assert_ok()
    path = root / "tic_tac_toe" / "run"
    words = ["game=tic_tac_toe", "num_positions=9", f"out={path}/set.csv"]
    assert make_evaluation_set(words) == 0
    (path / "ratings.json").write_text(json.dumps(RATINGS))
    shutil.copytree(path, path.parent / "other")
    return path


@pytest.fixture(scope="module", autouse=True)
def little_memory():
    """Refuse more than two gigabytes of further memory: a forged size must not be believed."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + (2 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def damaged(folder, damages):
    """Yield a damaged copy of a folder; a failure tells how it was damaged."""
    with tempfile.TemporaryDirectory() as parent:
        copy = Path(shutil.copytree(folder, Path(parent) / "game" / "run"))
        try:
            for one in damages:
                damage.apply(copy, one)
            yield copy
        except BaseException as error:
            error.add_note(f"damaged by {str(damages)[:300]}")
            raise


def resumed(folder, damages):
    """Resume a damaged run; return a digest of what is restored and how many notices were given.

    The digest is "refused" if it is refused in one line.
    """
    found = []

    def note(trainer, *_):
        found.append((digest_of(restored_by(trainer)), len(trainer.store.notices)))
        return 0

    with damaged(folder, damages) as copy, mock.patch.object(train, "_run", note):
        ended = run(["train", f"resume={copy}", "run.num_iterations=4"])
        if ended.status:
            ended.assert_refused()
            return "refused", 0
        ended.assert_ok()
        return found[0]


def restored_by(trainer):
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


def digest_of(value):
    """Return a digest of nested data with arrays; NaN is a value as any other."""
    if isinstance(value, dict):
        value = [(str(key), digest_of(value[key])) for key in sorted(value, key=str)]
    elif isinstance(value, (list, tuple)):
        value = list(map(digest_of, value))
    elif isinstance(value, np.ndarray):
        value = value.dtype, value.shape, value.tobytes()
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


# --- bit rot --------------------------------------------------------------------------------------


def read_network(path):
    return [*load_network(path), network_game(path), network_info(path)]


def read_config(path):
    settings = from_stored(TrainSettings, RunFolder(path.parent).read_config(), path)
    check_run(settings)
    return str(settings)


def read_evaluation_set(path):
    read = read_set(path, make_game("tic_tac_toe"))
    return [list(read.moves), read.action_scores, list(read.sources)]


READERS = {
    STATE: load_state,
    GAMES: load_state,
    NETWORK: read_network,
    "config.yaml": read_config,
    "metrics.jsonl": lambda path: RunFolder(path.parent).read_metrics(),
    "set.csv": read_evaluation_set,
    "ratings.json": lambda path: str(RatingFile.read(path)),
}


@pytest.mark.parametrize("name", READERS)
def test_what_a_damaged_file_holds_is_never_believed(name, folder, amount, tmp_path):
    path, read = folder / name, READERS[name]
    cases = flips(path, amount(20, 100_000), amount(20, 2_000)) + cuts(path, amount(10, 300))
    cases += [[put, path.name, place] for place in PLACES]
    if name == "config.yaml":  # it takes some milliseconds to read
        cases = [*flips(path, amount(20, 1_500), 0), *cuts(path, amount(5, 60))]
    shutil.copy(path, tmp_path)
    whole, found = digest_of(read(path)), collections.Counter()
    for case in cases:
        with damaged(tmp_path, [case]) as copy:
            try:
                value = digest_of(read(copy / path.name))
            except InputError as error:
                message = str(error)
                assert path.name in message and "\n" not in message, message
                assert not INSIDE.search(message), message
                found["refused"] += 1
                continue
            assert path.suffix != ".safetensors"
            # The checksum of a config begins it; without its mark, the text is read as it is.
            assert name != "config.yaml" or value == whole
            found["read"] += 1
    assert found["refused"]
    tell(name, found)


def damages_of_a_run(folder, amount):
    """Return damages of every file of a run, one for each case."""
    found = [[put, ".lock", place] for place in PLACES if place != "missing"]
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        found += [[put, name, place] for place in PLACES]
        for kind, _, *more in flips(path, 1, amount(1, 8)) + cuts(path, 1)[-amount(1, 4) :]:
            found.append([kind, name, *more])
    found += [[swap, STATE, PREVIOUS], [swap, PREVIOUS, STATE], [swap, STATE, NETWORK]]
    for place in ("games", "networks"):
        for new, old in ((3, 2), (3, 1), (2, 3), (1, 2)):
            found.append([swap, f"{place}/00000{new}.safetensors", f"00000{old}.safetensors"])
    return [*found, [swap, NETWORK, "../" + GAMES]]


@pytest.mark.slow
def test_a_damaged_run_goes_on_as_it_was_or_from_the_state_before(folder, amount):
    (newest, _), (older, _) = resumed(folder, []), resumed(folder, [[put, STATE, "missing"]])
    assert newest != older
    known = {(newest, False): "as it was", (newest, True): "as it was, with a note"}
    known |= {(older, True): "from the state before", (older, False): "an older state"}
    cases, kinds = damages_of_a_run(folder, amount), collections.defaultdict(list)
    for case in amount(cases[::13], cases):
        seen, num_notices = resumed(folder, [case])
        kinds[seen if seen == "refused" else known[seen, num_notices > 0]].append(case)
    tell("a run", {kind: len(found) for kind, found in kinds.items()})
    assert kinds["an older state"] in ([], [[swap, STATE, PREVIOUS]])
    # The window of both states needs the games of the first two iterations.
    # Both texts are written again, which a folder in their place does not allow.
    texts = {"config.yaml", "versions.json"}
    may = texts | {"games/000001.safetensors", "games/000002.safetensors"}
    assert {name for _, name, *_ in kinds["refused"]} <= may


# --- commands that read the files of a run --------------------------------------------------------


def list_runs(words):
    """Print what the page shows of the runs below a folder."""
    from alphazero.web.catalogue import Catalogue
    from alphazero.web.run_charts import RunCharts

    catalogue = Catalogue(Path(words[1]))
    charts = RunCharts(catalogue)
    plain = charts.list_runs()
    runs = [charts.show_run(found["id"]) for found in plain["runs"]]
    print(json.dumps([plain, runs, catalogue.describe()], allow_nan=False))
    return 0


RESUME = "train resume={folder} run.num_iterations=4"
MATCH = "match game=tic_tac_toe a={folder} b=random num_games=2 num_simulations=2 device=cpu"
EVALUATE = "evaluate player=random baseline={folder} set=set.csv num_simulations=2 device=cpu"
PLOT, LIST_RUNS = "plot run={folder}", "list_runs {folder}/../.."
COMMANDS = [MATCH, EVALUATE, PLOT, LIST_RUNS]


def run_on(folder, damages, command) -> str:
    """Run a command on a damaged copy of a run, which works or is refused in one line."""
    with damaged(folder, damages) as copy:
        call = list_runs if command == LIST_RUNS else main
        ended = run(command.format(folder=copy).split(), cwd=copy, call=call)
        if ended.status:
            ended.assert_refused()
            return "refused"
        ended.assert_ok()
        return "ended"


# --- canaries -------------------------------------------------------------------------------------


def traps(folder, marker):
    """Return damages that would make the file ``marker`` if anything in them were run."""
    make = f"open({marker!r}, 'w')"
    code = f"import builtins\nbuiltins.{make}\n\n\nclass Game:\n    pass\n"
    yaml = (folder / "config.yaml").read_text().partition("\n")[2]  # without the checksum
    apply = f"!!python/object/apply:builtins.open [{marker!r}, w]"
    target = f"_target_: builtins.open\n  file: {marker}\n  mode: w"
    texts = [
        apply,
        f"{yaml}extra: {apply}\n",
        yaml.replace("kind: resnet", "kind: evil:Network"),
        yaml.replace("name: tic_tac_toe", "name: evil.py"),
        yaml.replace("name: tic_tac_toe", "name: evil:Game"),
        yaml.replace("name: tic_tac_toe", target),
        yaml.replace("seed: 0", "seed: ${oc.env:ALPHAZERO_SEED}"),
        yaml.replace("seed: 0", f"seed: ${{eval:{make}}}"),
    ]
    assert yaml not in texts
    found = [[write, "config.yaml", text] for text in texts]
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        found += [[pickled, name, marker, protocol] for protocol in (0, 4)]
    found += [
        [write, "rules.py", code],
        [forge, NETWORK, "game", "evil.py"],
        [forge, NETWORK, "game", "evil:Game"],
        [forge, NETWORK, "network", {"kind": "evil:Network"}],
        [forge, NETWORK, "info", {"recipe": [f"$({make})", "evil.py"]}],
    ]
    return [[[write, "evil.py", code], trap] for trap in found]


def test_nothing_that_a_stored_file_holds_is_run(folder, amount, tmp_path):
    marker = tmp_path / "it was run"
    cases = [(trap, RESUME) for trap in traps(folder, str(marker))]
    cases += [(trap, words) for trap in traps(folder, str(marker)) for words in COMMANDS]
    tell("traps", collections.Counter(run_on(folder, *case) for case in cases[:: amount(29, 3)]))
    assert not marker.exists()
    damage.apply(tmp_path, [pickled, "x", str(marker), 4])  # the trap works
    pickle.loads((tmp_path / "x").read_bytes()).close()
    assert marker.exists()
