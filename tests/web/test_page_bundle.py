"""The committed bundle of the page is the one that its sources build."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "page"
STATIC = ROOT / "alphazero" / "web" / "static"
NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.skipif(not (PAGE / "node_modules").exists(), reason="make page/node_modules")
def test_the_committed_bundle_is_built_from_the_sources(tmp_path):
    """After a change of page/src: `make page`."""
    subprocess.run([NODE, "build.js", str(tmp_path)], cwd=PAGE, check=True)
    built = {path.name for path in tmp_path.iterdir()}
    assert {"page.js", "page.css"} <= built
    for name in built:
        assert (tmp_path / name).read_bytes() == (STATIC / name).read_bytes(), name


def test_the_lock_file_has_the_hash_of_every_package():
    lock = json.loads((PAGE / "package-lock.json").read_text("utf-8"))
    packages = [entry for name, entry in lock["packages"].items() if name]
    assert packages and all(entry["integrity"] for entry in packages)
    assert not any("resolved" in entry for entry in packages)  # no host is named
