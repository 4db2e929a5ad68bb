"""Files that are damaged or forged are refused in one line, or the run goes on as it was.

Bit rot: bits are flipped, files truncated, emptied, swapped, missing, or something else lies in
their place. A checksum finds all that, so what is read is what was written, or nothing. Forgery:
the checksum is right and the values are not. Then a run goes on with finite weights, or not at all.
Nothing that a stored file names or holds is ever run.
"""

import collections
import json
import random
import shutil

import damage
import numpy as np
import pytest
from harness import GAME, tell, the_zygote

from alphazero.config.settings import rows
from alphazero.runtime.files import read_safetensors
from alphazero.storage.checkpoint import load_state
from alphazero.training.settings import TrainSettings

pytestmark = pytest.mark.xdist_group("forgery")

STATE, PREVIOUS = "state.safetensors", "state.previous.safetensors"
GAMES, NETWORK = "games/000003.safetensors", "networks/000003.safetensors"
SETTINGS = ["pit.every=2", "pit.acceptance=0", "run.num_iterations=3", "run.sample_game_every=0"]
RATINGS = {
    "format": "alphazero-ratings-1",
    "game": "tic_tac_toe",
    "opening_plies": 2,
    "networks": {"a": {"iteration": 1, "elapsed_s": 3.5}},
    "ratings": [{"player": "a", "elo": 10.0, "elo_stderr": None}],
    "matches": [],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of three iterations, with everything that its folder may hold."""
    root = tmp_path_factory.mktemp("runs")
    zygote = the_zygote()
    zygote.run(["train", *GAME, *SETTINGS, f"run.root={root}", "run.name=run"]).assert_ok()
    path = root / "tic_tac_toe" / "run"
    words = f"make_evaluation_set game=tic_tac_toe num_positions=9 out={path}/set.csv"
    zygote.run(words.split()).assert_ok()
    (path / "ratings.json").write_text(json.dumps(RATINGS))
    shutil.copytree(path, path.parent / "other")
    return path


@pytest.fixture(scope="module")
def restored(run):
    """What is restored of the intact run, and of its previous state: digests."""
    cases = [[], [["place", STATE, "missing"]]]
    (_, newest), (_, older) = tried("resume_many", [run, "all"], cases, run.parent)
    assert newest[1] == 0 and older[1] == 1 and newest[0] != older[0]
    return newest[0], older[0]


def tried(function, words, cases, folder):
    """Return what became of each case; see `forgery_cases`."""
    file = folder / "cases.json"
    file.write_text(json.dumps(cases))
    found = []
    while len(found) < len(cases):
        arguments = [*words, file, len(found)]
        ended = the_zygote().run(arguments, call=f"forgery_cases:{function}", timeout_s=600)
        lines = [json.loads(line) for line in ended.stdout.splitlines() if line[:2] == '["']
        found += lines
        if len(found) < len(cases):  # the process ended in the next case
            found.append(["broken", f"ended with {ended.status}: {ended.stderr[-1500:]}"])
    return found


def told(title, cases, outcomes, kind_of=lambda outcome: outcome[0]):
    """Note what became of the cases; return the cases by outcome."""
    kinds = collections.defaultdict(list)
    for case, outcome in zip(cases, outcomes, strict=True):
        kinds[kind_of(outcome)].append((case, outcome[1]))
    tell(title, {kind: len(cases) for kind, cases in kinds.items()})
    for case, seen in kinds["broken"]:
        print("  broken:", str(case)[:300], seen[:300], seen[-300:])
    return kinds


# --- bit rot --------------------------------------------------------------------------------------


def flips(path, num_header, num_rest):
    """Return flips of a bit of each header byte, or of so many, and of others."""
    size, header = path.stat().st_size, path.stat().st_size
    if path.suffix == ".safetensors":
        header = 8 + int.from_bytes(path.read_bytes()[:8], "little")
    draw = random.Random(path.name)
    places = sorted(draw.sample(range(header), min(num_header, header)))
    places += [draw.randrange(header, size) for _ in range(num_rest)] if size > header else []
    return [["flip", 8 * place + draw.randrange(8)] for place in places]


def cuts(path, number):
    size = path.stat().st_size
    sizes = {0, 1, 7, 8, 9, size - 1, *np.linspace(0, size - 1, number).astype(int).tolist()}
    return [["cut", one] for one in sorted(sizes) if 0 <= one < size]


@pytest.mark.parametrize(
    "reader, name",
    [
        ("state", STATE),
        ("state", PREVIOUS),
        ("state", GAMES),
        ("network", NETWORK),
        ("config", "config.yaml"),
    ],
)
def test_what_a_damaged_file_holds_is_never_believed(reader, name, run, amount, tmp_path):
    path = run / name
    cases = [*flips(path, amount(20, 100_000), amount(20, 2000)), *cuts(path, amount(10, 300))]
    cases += [["place", place] for place in damage.PLACES]
    if reader == "config":  # it takes some milliseconds to read
        cases = [*flips(path, amount(20, 1500), 0), *cuts(path, amount(5, 60))]
    (_, intact), *outcomes = tried("read_many", [reader, path], [["flip", 0], *cases], tmp_path)
    (whole,) = tried("read_many", [reader, path], [["cut", path.stat().st_size]], tmp_path)
    kinds = told(name, cases, outcomes)
    assert not kinds["broken"], kinds["broken"][:5]
    # The checksum of a text begins it; without its mark, the text is read as it is.
    others = [case for case, value in kinds["read"] if reader != "config" or value != whole[1]]
    assert not others, (others, intact)


@pytest.mark.parametrize(
    "reader, name",
    [
        ("metrics", "metrics.jsonl"),
        ("evaluation_set", "set.csv"),
        ("ratings", "ratings.json"),
    ],
)
def test_a_damaged_text_is_read_or_refused_in_one_line(reader, name, run, amount, tmp_path):
    path = run / name
    cases = [*flips(path, amount(60, 3000), 0), *cuts(path, amount(10, 100))]
    cases += [["place", place] for place in damage.PLACES]
    outcomes = tried("read_many", [reader, path], cases, tmp_path)
    kinds = told(name, cases, outcomes)
    assert not kinds["broken"], kinds["broken"][:5]


def damages_of_a_run(run, amount):
    """Return damages of every file of a run, one for each case."""
    found = []
    for path in sorted(path for path in run.rglob("*") if path.is_file()):
        name = path.relative_to(run).as_posix()
        found += [["place", name, place] for place in damage.PLACES]
        found += [[*flip[:1], name, *flip[1:]] for flip in flips(path, 1, amount(1, 8))]
        found += [[*cut[:1], name, *cut[1:]] for cut in cuts(path, 1)[-amount(1, 4) :]]
    found += [["place", ".lock", place] for place in damage.PLACES if place != "missing"]
    found.append(["swap", STATE, PREVIOUS])
    found.append(["swap", PREVIOUS, STATE])
    for folder in ("games", "networks"):
        for new, old in ((3, 2), (3, 1), (2, 3), (1, 2)):
            found.append(["swap", f"{folder}/00000{new}.safetensors", f"00000{old}.safetensors"])
    found.append(["swap", NETWORK, "../" + GAMES])
    found.append(["swap", STATE, NETWORK])
    return found


def test_a_damaged_run_goes_on_as_it_was_or_from_the_state_before(run, restored, amount, tmp_path):
    cases = damages_of_a_run(run, amount)
    if amount(True, False):
        cases = cases[::9]
    newest, older = restored
    known = {(newest, False): "as it was", (newest, True): "as it was, with a note"}
    known |= {(older, True): "from the state before", (older, False): "an older state"}

    def kind_of(outcome):
        kind, seen = outcome
        return known.get((seen[0], seen[1] > 0), "another run") if kind == "read" else kind

    outcomes = tried("resume_many", [run, "all"], [[case] for case in cases], tmp_path)
    kinds = told("a run", cases, outcomes, kind_of)
    for kind in ("broken", "another run"):
        assert not kinds[kind], (kind, kinds[kind][:9])
    assert [case for case, _ in kinds["an older state"]] in ([], [["swap", STATE, PREVIOUS]])
    refused = {case[1] for case, _ in kinds["refused"]}
    # The window of both states needs the games of the first two iterations.
    # Both texts are written again, which a folder in their place does not allow.
    texts = {"config.yaml", "versions.json"}
    assert refused <= texts | {"games/000001.safetensors", "games/000002.safetensors"}


#: Commands that read the files of a run, and what they read.
COMMANDS = {
    "match": "match game=tic_tac_toe a={folder} b=random num_games=2 num_simulations=2 device=cpu",
    "evaluate": "evaluate player=random baseline={folder} set=set.csv num_simulations=2 device=cpu",
    "plot": "plot run={folder}",
    "plot a game": "plot what=game run={folder} output=x.png",
    "list_runs": "list_runs {folder}/../..",
}
#: The files that each command reads, the networks aside.
READ = ["config.yaml", "metrics.jsonl", "versions.json", "ratings.json", "set.csv", GAMES, NETWORK]


@pytest.mark.faults
def test_every_command_refuses_a_damaged_file_in_one_line(run, amount, tmp_path):
    damages = [["place", name, place] for name in READ for place in damage.PLACES]
    for name in READ:
        damages += [[flip[0], name, flip[1]] for flip in flips(run / name, amount(1, 5), 1)]
        damages += [[cut[0], name, cut[1]] for cut in cuts(run / name, 1)[-amount(1, 3) :]]
    cases = [([one], words) for one in damages for words in COMMANDS.values()][:: amount(40, 2)]
    whole = [([], words) for words in COMMANDS.values()]
    intact, outcomes = (tried("run_many", [run], some, tmp_path) for some in (whole, cases))
    assert [kind for kind, _ in intact] == ["ended"] * len(intact), intact
    kinds = told("commands", cases, outcomes)
    assert not kinds["broken"], kinds["broken"][:9]


# --- forgery --------------------------------------------------------------------------------------

ALONE = [["place", PREVIOUS, "missing"]]  # or the state before would take over


def part_of(cases, number, name):
    """Return so many of the cases, drawn without repetition."""
    return random.Random(name).sample(cases, min(number, len(cases)))


@pytest.mark.parametrize("name", [STATE, GAMES])
def test_a_forged_run_goes_on_with_finite_weights_or_not_at_all(
    name, run, restored, amount, tmp_path
):
    cases = damage.forgeries(name, load_state(run / name))
    cases = part_of(cases, amount(20, 150), name)
    forged = [ALONE + [case] if name == STATE else [case] + ALONE for case in cases]
    outcomes = tried("resume_many", [run, restored[0]], forged, tmp_path)
    kinds = told(f"{name} forged", cases, outcomes)
    assert not kinds["broken"], kinds["broken"][:9]


def forged_networks(path):
    metadata, arrays = read_safetensors(path)
    found = []
    for name, array in arrays.items():
        changes = [kind for kind, change in damage.ARRAYS.items() if change(array) is not None]
        found += [("arrays", [name, kind]) for kind in changes]
    for value in (None, "", "x", "chess", "evil.py", "evil:Game", "connect_four", "9" * 100_000):
        found += [(key, value) for key in ("format", "game", "network_", "info_")]
    for key in json.loads(metadata["network"]):
        for value in (*damage.PLAIN, 10**6, 10**9, "evil:Network", [10**9] * 9, "x" * 10_000):
            found.append(("network", {key: value}))
    for key in ("settings", "strength", "exact", "proof", "iteration", "elapsed_s", "run"):
        found += [("info", {key: value}) for value in damage.PLAIN]
    return [["forge network", NETWORK, key, value] for key, value in found]


def test_a_forged_network_plays_or_is_refused(run, amount, tmp_path):
    damages = part_of(forged_networks(run / NETWORK), amount(15, 150), "network")
    words = [COMMANDS["match"], COMMANDS["evaluate"]]
    cases = [([one], words[number % 2]) for number, one in enumerate(damages)]
    outcomes = tried("run_many", [run], cases, tmp_path)
    kinds = told("networks forged", cases, outcomes)
    assert not kinds["broken"], kinds["broken"][:9]


def forged_settings():
    """Return a damage for values of each setting: the borders, beyond them, and other types."""
    found = []
    for row in rows(TrainSettings()):
        numbers = [float(word) for word in row.allowed.split() if word.replace(".", "").isdigit()]
        beyond = [number + change for number in numbers for change in (-1, 0, 1)]
        others = [10**30, "${seed}", "${oc.env:HOME}", {"_target_": "os.system"}, "x" * 9000]
        for value in (*damage.PLAIN, *beyond, *others):
            found.append(["set", "config.yaml", row.key, value])
    return found


def test_forged_settings_are_refused_or_a_run_is_restored(run, amount, tmp_path):
    cases = part_of(forged_settings(), amount(15, 150), "settings")
    outcomes = tried("resume_many", [run, "all"], [[case] for case in cases], tmp_path)
    kinds = told("settings forged", cases, outcomes)
    assert not kinds["broken"], kinds["broken"][:9]


@pytest.mark.faults
def test_forged_metrics_break_neither_a_run_nor_what_shows_it(run, amount, tmp_path):
    keys = list(json.loads((run / "metrics.jsonl").read_text().splitlines()[-1]))
    keys += ["alarms", "exact.accuracy", "strength.score", "pit.score", "proof.num_accurate"]
    changes = [(key, value) for key in keys for value in (*damage.PLAIN, "9" * 9000, "nan")]
    cases = part_of([["metrics", "metrics.jsonl", *one] for one in changes], amount(5, 60), "m")
    outcomes = tried("resume_many", [run, "none"], [[case] for case in cases], tmp_path)
    kinds = told("metrics forged, resumed", cases, outcomes)
    assert not kinds["broken"] and not kinds["refused"], kinds["broken"][:9]
    shown = [COMMANDS["plot"], COMMANDS["list_runs"]]
    cases = [([case], shown[number % 2]) for number, case in enumerate(cases)]
    kinds = told("metrics forged, shown", cases, tried("run_many", [run], cases, tmp_path))
    assert not kinds["broken"], kinds["broken"][:9]


# --- canaries -------------------------------------------------------------------------------------


def traps(run, marker):
    """Return damages that would make the file ``marker`` if anything in them were run."""
    make = f"open({marker!r}, 'w')"
    code = f"import builtins\nbuiltins.{make}\n\n\nclass Game:\n    pass\n"
    yaml = (run / "config.yaml").read_text().partition("\n")[2]  # without the checksum
    texts = [
        f"!!python/object/apply:builtins.open [{marker!r}, w]",
        f"{yaml}extra: !!python/object/apply:builtins.open [{marker!r}, w]\n",
        yaml.replace("kind: resnet", "kind: evil:Network"),
        yaml.replace("name: tic_tac_toe", "name: evil.py"),
        yaml.replace("name: tic_tac_toe", "name: evil:Game"),
        yaml.replace("name: tic_tac_toe", f"_target_: builtins.open\n  file: {marker}\n  mode: w"),
        yaml.replace("seed: 0", "seed: ${oc.env:ALPHAZERO_SEED}"),
        yaml.replace("seed: 0", "seed: ${now:%S}"),
        yaml.replace("seed: 0", f"seed: ${{eval:{make}}}"),
    ]
    assert all(text != yaml for text in texts)
    found = [["write", "config.yaml", text] for text in texts]
    for path in sorted(path for path in run.rglob("*") if path.is_file()):
        name = path.relative_to(run).as_posix()
        found += [["pickle", name, marker, protocol] for protocol in (0, 4)]
    found += [
        ["write", "rules.py", code],
        ["forge network", NETWORK, "game", "evil.py"],
        ["forge network", NETWORK, "game", "evil:Game"],
        ["forge network", NETWORK, "network", {"kind": "evil:Network"}],
        ["forge network", NETWORK, "info", {"recipe": [f"$({make})", "evil.py"]}],
    ]
    return [[["write", "evil.py", code], trap] for trap in found]


def test_nothing_that_a_stored_file_holds_is_run(run, amount, tmp_path):
    marker = tmp_path / "it was run"
    resume = "train resume={folder} run.num_iterations=4"
    commands = [resume, *COMMANDS.values()]
    commands = [words.replace("{other}", str(run.parent / "other")) for words in commands]
    cases = [(trap, words) for trap in traps(run, str(marker)) for words in commands]
    cases = cases[:: amount(29, 3)]
    kinds = told("traps", cases, tried("run_many", [run], cases, tmp_path))
    assert not marker.exists()
    assert not kinds["broken"], kinds["broken"][:9]


def test_a_canary_sings(run, tmp_path):
    marker = tmp_path / "marker"
    damage.apply(tmp_path, ["pickle", "x", str(marker), 4])
    import pickle

    with (tmp_path / "x").open("rb") as file:
        pickle.load(file).close()
    assert marker.exists()
