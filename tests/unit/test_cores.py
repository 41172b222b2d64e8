"""The number of cores follows the CPU limit of a container."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2g_neo4j.runtime import threads as module
from e2g_neo4j.runtime.threads import cores


@pytest.fixture
def cgroup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(module, "CGROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    cores.cache_clear()
    yield tmp_path
    cores.cache_clear()


@pytest.mark.parametrize(("limit", "expected"), [("max 100000\n", 8), ("150000 100000\n", 2), ("1000 100000\n", 1)])
def test_the_limit_of_version_2(cgroup: Path, limit: str, expected: int) -> None:
    (cgroup / "cpu.max").write_text(limit)
    assert cores() == expected


@pytest.mark.parametrize(("quota", "expected"), [("-1\n", 8), ("300000\n", 3)])
def test_the_limit_of_version_1(cgroup: Path, quota: str, expected: int) -> None:
    (cgroup / "cpu").mkdir()
    (cgroup / "cpu" / "cpu.cfs_quota_us").write_text(quota)
    (cgroup / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert cores() == expected


def test_no_limit(cgroup: Path) -> None:
    assert cores() == 8
