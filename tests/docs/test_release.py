"""A release: its version and address are the same everywhere, and its files are complete."""

import contextlib
import re
import tomllib
from pathlib import Path

import package_readme
import pytest
import release_check
import yaml
from release_check import ReleaseError

ROOT = Path(__file__).parents[2]
if not (ROOT / ".git").exists():
    pytest.skip("a release is made from a clone", allow_module_level=True)
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
ADDRESS = PROJECT["urls"]["Repository"]
TAG = f"v{PROJECT['version']}"
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))
JOBS = WORKFLOW["jobs"]


# --- version and address --------------------------------------------------------------------------


def test_the_citation_has_the_version_the_date_and_the_address_of_the_release():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    heading = f"## {PROJECT['version']} - {citation['date-released']}\n"
    assert citation["version"] == PROJECT["version"] and citation["repository-code"] == ADDRESS
    assert heading in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize(
    "tag, address, wrong",
    [
        (None, None, False),
        (TAG, ADDRESS, False),
        (TAG, None, False),
        ("v9.9.9", ADDRESS, True),
        (PROJECT["version"], ADDRESS, True),
        (TAG, f"{ADDRESS}-fork", True),
    ],
)
def test_the_tag_and_the_address_of_the_project_alone_are_released(tag, address, wrong):
    with pytest.raises(ReleaseError) if wrong else contextlib.nullcontext():
        assert release_check.check_source(PROJECT, tag, address) is None


# --- README ---------------------------------------------------------------------------------------


def test_relative_links_and_pictures_become_absolute_ones():
    text = "![a\nb](docs/c.png) [d](e.md#f) [g](https://h.example/i) [j](#k) `l](m`"
    assert package_readme.with_absolute_links(text, "https://x.example/y", "v1") == (
        "![a\nb](https://x.example/y/raw/v1/docs/c.png) [d](https://x.example/y/blob/v1/e.md#f) "
        "[g](https://h.example/i) [j](#k) `l](m`"
    )


# --- the oldest versions --------------------------------------------------------------------------


def requirements_of_users():
    extras = PROJECT["optional-dependencies"]
    chosen = [words for extra, words in extras.items() if extra not in ("test", "docs")]
    return [*PROJECT["dependencies"], *sum(chosen, [])]


def test_the_page_on_installation_has_the_bounds_of_the_project():
    page = " ".join((ROOT / "docs" / "install.md").read_text("utf-8").split())
    named = re.findall(r"([a-z-]+) (\d+(?:\.\d+)+)", page.split("oldest version allowed")[1][:160])
    assert len(named) == 5
    assert {f"{name}>={version}" for name, version in named} <= {*requirements_of_users()}
    above = re.findall(r"(\S+?)<([\d.]+)", "\n".join(requirements_of_users()))
    assert above and all(f"{name} below {version}" in page for name, version in above)


def test_a_version_has_the_same_lower_bound_everywhere():
    everything = [*PROJECT["dependencies"], *sum(PROJECT["optional-dependencies"].values(), [])]
    bounds = {re.match(r"[^<>=;]+>=[\d.]+|", words)[0] for words in everything} - {""}
    names = [bound.partition(">=")[0] for bound in bounds]
    assert sorted(names) == sorted(set(names))


def test_the_oldest_versions_are_tried_with_every_extra_that_needs_no_gpu():
    from alphazero.cli.doctor import EXTRAS  # imports torch

    tried = PROJECT["optional-dependencies"].keys() - set(release_check.NOT_TRIED)
    assert tried | {"cuda"} == EXTRAS.keys()
    printed = "".join(f"extra {extra:<14} works\n" for extra in sorted(tried))
    release_check.check_extras(printed, sorted(tried))
    with pytest.raises(ReleaseError):
        release_check.check_extras(printed.replace("web            works", "web  fails"), ["web"])


# --- the workflow ---------------------------------------------------------------------------------


def test_nothing_is_published_before_every_check_has_passed():
    publishing = [name for name, job in JOBS.items() if "write" in str(job.get("permissions"))]
    assert publishing == ["publish"] and WORKFLOW["permissions"] == {"contents": "read"}
    assert set(JOBS["publish"]["needs"]) == set(JOBS) - {"publish"}
    assert WORKFLOW[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads `on` as True


def test_the_tag_is_checked_on_every_python_that_the_package_names():
    check = JOBS["check"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert check["strategy"]["matrix"]["python"] == named
    assert set(check["env"]) == {"RELEASE_TAG", "RELEASE_ADDRESS"}
    assert any("make release-check" in step.get("run", "") for step in check["steps"])


# --- the container --------------------------------------------------------------------------------
