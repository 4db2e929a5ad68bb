"""Stored measurements: what is damaged, edited or of another version is measured anew."""

import dataclasses

import pytest

from alphazero.inference.measurements import read_measurement, write_measurement


@dataclasses.dataclass
class Speed:
    """A measurement."""

    fastest: list[str]
    speeds: dict[str, float]


SPEED = Speed(["torch", "float32"], {"a": 3, "b": 0.5, "most": float("inf")})


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: "[]",
        lambda text: text[:-20],
        lambda text: text.replace("0.5", "0.6"),
        lambda text: text.partition("\n")[2],
        lambda text: "\xff",
    ],
)
def test_a_damaged_or_edited_file_is_no_measurement(tmp_path, damage):
    path = tmp_path / "speed.json"
    write_measurement(path, SPEED)
    path.write_bytes(damage(path.read_text()).encode("latin-1"))
    assert read_measurement(path, Speed) is None


def test_a_measurement_of_other_fields_is_none(tmp_path):
    write_measurement(tmp_path / "speed.json", SPEED)
    other = dataclasses.make_dataclass("Other", ["fastest"])
    assert read_measurement(tmp_path / "speed.json", other) is None


def test_a_measurement_is_found_again(tmp_path):
    path = tmp_path / "cache" / "speed.json"
    write_measurement(path, SPEED)
    assert read_measurement(path, Speed) == SPEED


def test_a_folder_that_cannot_be_written_has_no_measurement(tmp_path):
    (tmp_path / "file").write_text("")
    write_measurement(tmp_path / "file" / "speed.json", SPEED)
    assert read_measurement(tmp_path / "file" / "speed.json", Speed) is None
