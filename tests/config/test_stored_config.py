"""A stored config that is no config is refused at once, whatever its author had in mind."""

import dataclasses

import pytest

from alphazero.config.files import parse_yaml, to_yaml
from alphazero.training.settings import TrainSettings

GAME = "game:\n  name: tic_tac_toe\n"
BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))


@pytest.mark.parametrize(
    "text",
    (
        BOMB,
        "a: &a [*a]",
        "x: " + "[" * 9000,
        "x: " + "{a: " * 4000,
        "x: " + "${" * 900 + "a" + "}" * 900,
        "x: " + "y" * 100_000_000,
        "x: 1" + ":1" * 9000 + ".5",
        "seed: " + "9" * 6000,
        "x: !!python/object/apply:os.system ['touch executed']",
        GAME + GAME,
        "x: ${",
        "x: 'a\0b'",
        "null: 1",
    ),
    ids=lambda text: text[:16],
)
def test_a_stored_config_that_no_run_writes_is_refused(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError):
        parse_yaml(GAME + text)
    assert list(tmp_path.iterdir()) == []


def test_the_settings_of_a_run_are_read_as_they_were_written():
    settings = dataclasses.asdict(TrainSettings())
    assert parse_yaml(to_yaml(settings)) == settings
