"""What the pyproject files of the distributions promise: one version, exact pins, the same terms."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PROJECTS = {
    path.parent: tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    for path in [ROOT / "pyproject.toml", *sorted(ROOT.glob("raxis-*/pyproject.toml"))]
}
NAMES = [project["name"] for project in PROJECTS.values()]
EACH_PROJECT = pytest.mark.parametrize(("directory", "project"), PROJECTS.items(), ids=NAMES)


def requirements(project: dict[str, Any]) -> list[Requirement]:
    extras = project.get("optional-dependencies", {}).values()
    return [Requirement(line) for lines in [project["dependencies"], *extras] for line in lines]


def test_the_framework_the_cpu_device_and_their_umbrella_exist() -> None:
    assert {"raxis", "raxis-core", "raxis-cpu"} <= set(NAMES)


def test_all_distributions_carry_one_version() -> None:
    assert len({project["version"] for project in PROJECTS.values()}) == 1


@EACH_PROJECT
def test_first_party_requirements_are_pinned_to_the_version(directory: Path, project: dict[str, Any]) -> None:
    first_party = [each for each in requirements(project) if each.name.split("-")[0] == "raxis"]
    assert [str(each.specifier) for each in first_party] == [f"=={project['version']}"] * len(first_party)


def test_every_extra_names_the_same_torch() -> None:
    pins = {str(each) for each in requirements(PROJECTS[ROOT]) if each.name == "torch"}
    assert pins == {"torch==2.13.0"}


def test_the_umbrella_pulls_core_and_cpu_and_no_extra_pulls_both_cuda_plugins() -> None:
    project = PROJECTS[ROOT]
    assert [Requirement(line).name for line in project["dependencies"]] == ["raxis-core", "raxis-cpu"]
    extras = project["optional-dependencies"]
    assert extras["cuda12"] == [f"raxis-cuda12=={project['version']}"]
    assert extras["cuda13"] == [f"raxis-cuda13=={project['version']}"]
    [everything] = [Requirement(line) for line in extras["all"]]
    assert everything.extras == set(extras) - {"all", "cuda12", "cuda13"}


def test_core_depends_on_four_packages() -> None:
    names = {each.name for each in requirements(PROJECTS[ROOT / "raxis-core"])}
    assert names == {"importlib-metadata", "ml_dtypes", "numpy", "pluggy"}


@EACH_PROJECT
def test_terms_are_the_same_everywhere(directory: Path, project: dict[str, Any]) -> None:
    umbrella = PROJECTS[ROOT]
    for key in ("license", "license-files", "requires-python", "authors"):
        assert project[key] == umbrella[key]
    assert (directory / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
