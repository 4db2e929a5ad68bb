"""The scripts that measure workers answer --help and refuse wrong settings in one line."""

import importlib
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.mark.parametrize(
    "script, words, status, named",
    [
        ("worker_speed", ["--help"], 0, "unit_s=5"),
        ("worker_speed", ["kinds=foo"], 2, "foo"),
    ],
)
def test_scripts_have_help_and_refuse_wrong_settings(
    script, words, status, named, monkeypatch, capsys
):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    assert importlib.import_module(script).main(words) == status
    printed = capsys.readouterr()
    assert named in (printed.err if status else printed.out)
