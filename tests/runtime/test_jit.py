"""The cache of compiled kernels: which sources name it, and that it holds our kernels only."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from alphazero.runtime import jit

PACKAGE = Path(jit.__file__).parents[1]


def test_every_file_that_defines_compiled_code_is_a_source():
    defining = {
        path
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^@(njit|rules\.implement|overload)\b", path.read_text(), re.MULTILINE)
    }
    assert len(defining) > 12
    assert defining <= set(jit.kernel_sources())


def test_files_that_kernels_never_see_are_no_sources():
    named = {path.relative_to(PACKAGE).as_posix() for path in jit.kernel_sources()}
    assert not {name for name in named if name.startswith(("cli/", "training/", "evaluation/"))}


@pytest.fixture
def package(tmp_path):
    """Return a copy of the package's sources."""
    copy = tmp_path / "alphazero"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*.pyc", "__pycache__"))
    return copy


def test_an_edit_of_a_kernel_source_alone_renames_the_cache(package):
    sources = ["solvers/alpha_beta.py", "runtime/bits.py", "games/othello.py", "search/uct/tree.py"]
    for edited in (*sources, "cli/play.py", "training/trainer.py"):
        before = jit._digest(package)
        jit._digest.cache_clear()
        with open(package / edited, "a") as file:
            file.write("\n# edited\n")
        assert (jit._digest(package) != before) == (edited in sources)


def test_a_file_that_only_a_kernel_imports_is_a_source(package):
    (package / "search" / "constants.py").write_text("LIMIT = 3\n")
    with open(package / "search" / "puct.py", "a") as file:
        file.write("\nfrom alphazero.search.constants import (\n    LIMIT,\n)\n")
    assert package / "search" / "constants.py" in jit.kernel_sources(package)


IMPORTED = """
import os
import numba
before, environment = numba.config.CACHE_DIR, dict(os.environ)
import alphazero
from alphazero.search import batched_search
from alphazero.search.tree import backward
assert numba.config.CACHE_DIR == before == ""
assert dict(os.environ) == environment

@numba.njit(cache=True)
def users_own(x):
    return x + 1

print(users_own._cache.cache_path)
print(backward._cache.cache_path)
"""


def test_importing_changes_neither_the_users_cache_nor_the_environment(tmp_path):
    script = tmp_path / "users_script.py"
    script.write_text(IMPORTED)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_"))}
    found = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, env=environment
    )
    users, ours = found.stdout.split()
    assert Path(users).parent == tmp_path
    assert Path(ours).is_relative_to(jit.cache_directory())


def test_the_first_compilation_is_announced_once_and_only_if_something_is_compiled(tmp_path):
    code = (
        "from alphazero.runtime import jit, random_generators as g; import numpy as np\n"
        "jit.announce_first_compilation()\n"
        "for size in (3, 4): g.random_below(np.array([1], np.uint64), size)\n"
        "g.random_below(np.array([1], np.uint64), 2.0)\n"
    )
    environment = os.environ | {"ALPHAZERO_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", code]
    for num_lines in (1, 0):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stderr.count("\n") == num_lines
