"""The example of a cloud cluster, checked by Ray as `ray up` does before it starts anything."""

import copy
from pathlib import Path

import pytest
import yaml

FILE = Path(__file__).parents[2] / "examples" / "ray_cluster_aws.yaml"


@pytest.fixture
def check():
    pytest.importorskip("ray", reason="Ray is not installed")
    from ray.autoscaler._private.util import prepare_config, validate_config

    return lambda config: validate_config(prepare_config(copy.deepcopy(config)))


def test_the_cluster_file_is_one_that_ray_accepts(check):
    config = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    check(config)
    starts = [*config["head_start_ray_commands"], *config["worker_start_ray_commands"]]
    assert all("RAY_AUTH_MODE=token" in line for line in starts if "ray start" in line)
    assert any("[cluster" in line for line in config["setup_commands"])


def test_the_check_finds_a_wrong_key_and_a_missing_type(check):
    config = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    with pytest.raises(Exception, match="max_werkers"):
        check(config | {"max_werkers": 3})
    with pytest.raises(ValueError):
        check(config | {"head_node_type": "haed"})
