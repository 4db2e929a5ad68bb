"""Build a release, check it, and use it as a stranger would: `make release-check`.

In: the tracked files of this clone. Out: dist/, with the sdist and the wheel, and build/release/,
with what else belongs to a release: the shipped networks, an SBOM, checksums, notes. Nothing is
published. With the oldest Python of pyproject.toml, the oldest versions that it allows are tried,
too: on Linux a download of some 3 GB, which uv keeps.

RELEASE_TAG and RELEASE_ADDRESS, which .github/workflows/release.yml sets, are the tag to release
and the address of its repository; both must be those of pyproject.toml.
"""

import contextlib
import email
import email.message
import hashlib
import html.parser
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
RELEASE = ROOT / "build" / "release"
EXTRAS = "web"  # as in the Dockerfile
#: What a stranger tries first. `prove` fails unless the trained player is perfect.
COMMANDS = (
    "--help",
    "doctor",
    "train game=tic_tac_toe seed=1 run.name=first",
    "prove player=checkpoints/tic_tac_toe/first num_simulations=100",
    "match game=connect_four a=best b=uct:100 num_games=2",
    "export network=best game=connect_four format=kaggle output=submission.py",
)
#: What is tried with the oldest versions; `doctor` imports the extras.
OLDEST_COMMANDS = (
    "alphazero train experiment=dummy_run run.name=oldest",
    "alphazero match game=connect_four a=best b=uct:100 num_games=2",
    "alphazero export network=best game=connect_four output=network.onnx",
    "alphazero plot what=run run=latest output=run.png",
    "tensorboard --inspect --logdir checkpoints",
)
#: Extras for those who work on this project, and the one that needs a GPU.
NOT_TRIED = ("test", "docs", "cuda")
START_S = 600  # until the server answers; kernels are compiled first


class ReleaseError(Exception):
    """A reason not to release, as one sentence."""


def main() -> int:
    """Check everything in turn; return the exit status, 1 if something must not be released."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    os.environ["SOURCE_DATE_EPOCH"] = _output("git", "log", "-1", "--format=%ct").strip()
    try:
        check_source(project, os.environ.get("RELEASE_TAG"), os.environ.get("RELEASE_ADDRESS"))
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            _check(project, Path(folder).resolve())
    except ReleaseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"Version {project['version']} can be released: {DIST}, {RELEASE}")
    return 0


def _check(project: dict[str, Any], folder: Path) -> None:
    with _step("build the sdist and the wheel twice"):
        first = build(folder / "first", umask=0o022)
        second = build(folder / "another" / "place", umask=0o077)
        compare(first, second)
    with _step("check their metadata, and README as an index shows it"):
        _python("-m", "twine", "check", "--strict", *map(str, first))
        wheel = next(path for path in first if path.suffix == ".whl")
        print(check_description(wheel, project))
    with _step("install the wheel into a new environment"):
        python = install(wheel, folder / "environment")
    empty = folder / "empty"
    empty.mkdir()
    use(python.parent / "alphazero", empty, project["version"])
    if project["requires-python"] == f">={sys.version_info[0]}.{sys.version_info[1]}":
        use_oldest(wheel, project, folder)
    else:
        print(f"The oldest versions are not tried: Python {project['requires-python'][2:]} does.")
    with _step("write dist and build/release"):
        write_release(project, first, python)


def check_source(project: dict[str, Any], tag: str | None, address: str | None) -> None:
    """Check that a tag and the address of its repository are those of pyproject.toml.

    Args:
        project: the table `[project]` of pyproject.toml.
        tag: the tag to release; None if this is a rehearsal.
        address: the address of the repository that releases; None if this is a rehearsal.

    Raises:
        ReleaseError: if one of them differs.
    """
    if tag is not None and tag != f"v{project['version']}":
        message = f"the tag is {tag}, but pyproject.toml has the version {project['version']}"
        raise ReleaseError(f"{message}: the tag would be v{project['version']}.")
    stated = project["urls"]["Repository"]
    if address is not None and address != stated:
        message = f"the repository is {address}, but pyproject.toml has Repository = {stated}"
        raise ReleaseError(f"{message}: README's links would lead nowhere.")


def build(folder: Path, umask: int) -> list[Path]:
    """Copy the tracked files to a folder, and build the sdist and, from it, the wheel there.

    Args:
        folder: a folder that does not exist yet.
        umask: the bits that the modes of the copied files lack.

    Returns:
        The sdist and the wheel.
    """
    for name in tracked():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
        (folder / name).chmod((ROOT / name).stat().st_mode & ~umask)
    _python("-m", "build", "--no-isolation", str(folder))
    return sorted((folder / "dist").iterdir())


def tracked() -> list[str]:
    """Return the paths of the files that git tracks, relative to the clone."""
    return [name for name in _output("git", "ls-files", "-z").split("\0") if name]


def compare(first: list[Path], second: list[Path]) -> None:
    """Raise ReleaseError unless two builds have the same names and the same bytes."""
    for one, other in zip(first, second, strict=True):
        if (one.name, one.read_bytes()) != (other.name, other.read_bytes()):
            raise ReleaseError(f"two builds of {one.name} differ: {_difference(one, other)}.")


def _difference(one: Path, other: Path) -> str:
    """Return the names of the files by which two wheels differ; "" for other archives."""
    if one.suffix != ".whl":
        return "their bytes"
    archives = [zipfile.ZipFile(path) for path in (one, other)]
    entries = [{info.filename: info.CRC for info in one.infolist()} for one in archives]
    names = {name for name, _ in entries[0].items() ^ entries[1].items()}
    return ", ".join(sorted(names)) or "dates or modes of files"


# --- README ---------------------------------------------------------------------------------------


class _Links(html.parser.HTMLParser):
    """Collects the targets of a page's links and pictures, and the places to which links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[tuple[str, str]] = []  #: ("a" or "img", target)
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.places.add(found.get("id") or "")
        target = found.get({"a": "href", "img": "src"}.get(tag, ""))
        if target is not None:
            self.targets.append((tag, target))


def check_description(wheel: Path, project: dict[str, Any]) -> str:
    """Render a wheel's description as a package index does, and check its links and pictures.

    The rendered page is kept in build/release/README.html. Links to other hosts are not followed.

    Returns:
        What was checked, as one line.

    Raises:
        ReleaseError: if it cannot be rendered, or a link or picture leads nowhere.
    """
    import readme_renderer.markdown

    rendered = readme_renderer.markdown.render(str(_metadata(wheel).get_payload()))
    if rendered is None:
        raise ReleaseError("README cannot be rendered.")
    RELEASE.mkdir(parents=True, exist_ok=True)
    (RELEASE / "README.html").write_text(rendered, encoding="utf-8")
    links = _Links()
    links.feed(rendered)
    own = f"{project['urls']['Repository']}/"
    broken = [target for tag, target in links.targets if not _resolves(tag, target, own, links)]
    if broken:
        raise ReleaseError(f"links or pictures of README lead nowhere: {', '.join(broken)}.")
    outside = {target for _, target in links.targets if not target.startswith(("#", own))}
    return f"{len(links.targets)} links and pictures resolve; not followed: {sorted(outside)}"


def _resolves(tag: str, target: str, own: str, links: _Links) -> bool:
    """Return whether a link leads to a place of the page, a tracked file, or another host.

    Args:
        tag: "a" or "img".
        target: where the link leads, or the picture's address.
        own: how addresses of this repository begin.
        links: the places of the page.
    """
    if target.startswith("#"):
        return target[1:] in links.places
    if not target.startswith(own):
        return tag == "a" and target.startswith("https://")
    path, _, heading = target.removeprefix(own).split("/", 2)[2].partition("#")
    if path not in tracked():
        return False
    text = (ROOT / path).read_text("utf-8") if heading else ""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return not heading or heading in {_anchor(title) for title in titles}


def _anchor(title: str) -> str:
    """Return the name under which a heading can be linked."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_string(archive.read(name).decode())


# --- use ------------------------------------------------------------------------------------------


def install(wheel: Path, folder: Path) -> Path:
    """Install a wheel into a new virtual environment; return the environment's interpreter."""
    _python("-m", "venv", str(folder))
    python = _interpreter(folder)
    what = ["-c", str(ROOT / "constraints.txt"), f"{wheel}[{EXTRAS}]"]
    _run(str(python), "-m", "pip", "install", "-q", "--no-compile", *what)
    return python


def _interpreter(folder: Path) -> Path:
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def use_oldest(wheel: Path, project: dict[str, Any], folder: Path) -> None:
    """Install a wheel with the oldest versions that pyproject.toml allows, and use it.

    Args:
        wheel: the wheel.
        project: the table `[project]` of pyproject.toml.
        folder: a folder for the environment and the files that the commands write.

    Raises:
        ReleaseError: if a command fails, or an extra does not work.
    """
    extras = sorted(project["optional-dependencies"].keys() - set(NOT_TRIED))
    python, versions = _interpreter(folder / "oldest"), str(folder / "oldest.txt")
    uv = ("-m", "uv", "-q")
    with _step("install the wheel with the oldest versions that pyproject.toml allows"):
        _python(*uv, "venv", "--python", sys.executable, str(folder / "oldest"))
        where = ("--python", str(python))
        chosen = [word for extra in extras for word in ("--extra", extra)]
        lowest = ("--resolution", "lowest-direct", *where, *chosen, "-o", versions)
        _python(*uv, "pip", "compile", str(ROOT / "pyproject.toml"), *lowest)
        named = f"{wheel}[{','.join(extras)}]"
        _python(*uv, "pip", "install", *where, "-c", versions, named)
    empty = folder / "empty_oldest"
    empty.mkdir()
    options = _where(empty)
    with _step("alphazero doctor: every extra works"):
        printed = _run(str(python.parent / "alphazero"), "doctor", **options)
        check_extras(printed, extras)
    for command in OLDEST_COMMANDS:
        with _step(command):
            program, *arguments = command.split()
            _run(str(python.parent / program), *arguments, **options)


def check_extras(printed: str, extras: list[str]) -> None:
    """Raise ReleaseError unless each extra works, by what `alphazero doctor` has printed."""
    for extra in extras:
        if not re.search(rf"^extra {extra} +works$", printed, re.MULTILINE):
            raise ReleaseError(f"with the oldest versions, the extra {extra} does not work.")


def _where(folder: Path) -> dict[str, Any]:
    """Return the options with which a command runs in a folder, without compiled kernels."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    return {"cwd": folder, "env": environment | {"ALPHAZERO_CACHE_DIR": str(folder / "kernels")}}


def use(alphazero: Path, folder: Path, version: str) -> None:
    """Run the commands that a stranger tries first, as a user without compiled kernels.

    Args:
        alphazero: the installed command.
        folder: an empty folder outside the clone, in which the commands run.
        version: the version that the command should print.

    Raises:
        ReleaseError: if a command fails or answers something else.
    """
    where = _where(folder)
    printed = _run(str(alphazero), "--version", **where).strip()
    if printed != version:
        raise ReleaseError(f"alphazero --version prints {printed} instead of {version}.")
    for command in COMMANDS:
        with _step(f"alphazero {command}"):
            _run(str(alphazero), *command.split(), **where)
    with _step("alphazero engine: one request"):
        request = json.dumps({"game": "connect_four", "moves": [3, 3], "num_simulations": 50})
        answer = json.loads(_run(str(alphazero), "engine", **where, input=request + "\n"))
        if answer.get("move") not in range(7):
            raise ReleaseError(f"alphazero engine answers {answer}.")
    with _step("alphazero serve: up, one request, down"):
        serve(alphazero, where)


def serve(alphazero: Path, where: dict[str, Any]) -> None:
    """Start the server, wait until it answers a request for a network's move, and stop it.

    Raises:
        ReleaseError: if it does not answer, or ends with an error.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(alphazero), "serve", f"port={port}", "open=false"]
    server = subprocess.Popen(command, **where, stdout=subprocess.DEVNULL)
    try:
        answer = _ask_for_move(f"http://127.0.0.1:{port}/api/move", server)
        if answer.get("type") != "move":
            raise ReleaseError(f"alphazero serve answers {answer}.")
        server.terminate()
        status = server.wait(START_S)
        if status != 0 and os.name != "nt":  # there, a process that is terminated ends with 1
            raise ReleaseError(f"alphazero serve ended with status {status}.")
    finally:
        server.kill()


def _ask_for_move(url: str, server: subprocess.Popen) -> dict[str, Any]:
    """Return the last JSON line of the answer to a request, as soon as the server accepts it.

    Raises:
        ReleaseError: if the server ends, or accepts no request in time.
    """
    player = {"id": "best", "num_simulations": 50}
    data = json.dumps({"game": "connect_four", "moves": "4", "player": player}).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    end = time.monotonic() + START_S
    while server.poll() is None and time.monotonic() < end:
        with contextlib.suppress(OSError):  # refused, or too late
            with urllib.request.urlopen(request, timeout=START_S) as answer:
                return json.loads(answer.read().splitlines()[-1])
        time.sleep(0.2)
    raise ReleaseError("alphazero serve does not answer.")


# --- the release ----------------------------------------------------------------------------------


def write_release(project: dict[str, Any], built: list[Path], python: Path) -> None:
    """Write dist/ and build/release/.

    Args:
        project: the table `[project]` of pyproject.toml.
        built: the sdist and the wheel.
        python: the interpreter of the environment in which the wheel was tried; the SBOM lists what
            is installed there.
    """
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob("alphazero_selfplay-*"):
        old.unlink()
    packages = [Path(shutil.copy(path, DIST)) for path in built]
    networks = (ROOT / "checkpoints" / "best").glob("*.safetensors")
    others = [Path(shutil.copy(path, RELEASE)) for path in sorted(networks)]
    sbom = RELEASE / "sbom.cdx.json"
    about = ("--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible")
    _python("-m", "cyclonedx_py", "environment", *about, "-o", str(sbom), str(python))
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in (*packages, *others, sbom)
    ]
    (RELEASE / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    (RELEASE / "NOTES.md").write_text(notes(project["version"]), encoding="utf-8")


def notes(version: str) -> str:
    """Return a version's section of CHANGELOG.md, without its heading.

    Raises:
        ReleaseError: if there is none.
    """
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    found = re.search(rf"^## {re.escape(version)} - .*\n((?:(?!## ).*\n)*)", text, re.MULTILINE)
    if found is None:
        raise ReleaseError(f"CHANGELOG.md has no section '## {version} - DATE'.")
    return found[1].strip() + "\n"


# --- processes ------------------------------------------------------------------------------------


@contextlib.contextmanager
def _step(text: str) -> Iterator[None]:
    start = time.monotonic()
    print(f"{text} ...", flush=True)
    yield
    print(f"    {time.monotonic() - start:.1f} s", flush=True)


def _python(*arguments: str) -> str:
    return _run(sys.executable, *arguments)


def _output(*command: str) -> str:
    return _run(*command, cwd=ROOT)


def _run(*command: str, **options: Any) -> str:
    """Run a command and return what it printed.

    Raises:
        ReleaseError: if its exit status is not 0; the message ends with what it printed.
    """
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, **options)
    if done.returncode:
        message = f"'{' '.join(command)}' ended with status {done.returncode}"
        raise ReleaseError(f"{message}:\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
