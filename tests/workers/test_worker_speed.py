"""`scripts/worker_speed.py`: its help, and a wrong setting."""

import pytest
import worker_speed


@pytest.mark.parametrize(
    "words, status, named", [(["--help"], 0, "unit_s=5"), (["kinds=foo"], 2, "foo")]
)
def test_help_is_printed_and_a_wrong_setting_refused(words, status, named, capsys):
    assert worker_speed.main(words) == status
    printed = capsys.readouterr()
    assert named in (printed.err if status else printed.out)
