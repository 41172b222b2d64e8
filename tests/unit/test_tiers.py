"""What does not run is said, and what is required is there or the run fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tiers
from tiers import Part, few_of, missing

TESTS = Path(__file__).parents[1]
SUITE = """
import pytest
from tiers import need

@pytest.mark.parametrize("number", range(3))
def test_of_a_part(number):
    need("nothing")

@pytest.mark.by_turns(2)
@pytest.mark.parametrize("number", range(2))
def test_of_a_day(number):
    pass

@pytest.mark.full
def test_of_two_tiers():
    pass

@pytest.mark.long
def test_of_the_full_tier():
    pass

@pytest.fixture
def scratch():
    pass

def test_of_two_tiers_by_its_fixture(scratch):
    pass

def test_of_all_tiers():
    pass
"""
RUN = {"fast": 2, "every": 4, "full": 6}
CONFTEST = """
import tiers
from tiers import pytest_collection_modifyitems, pytest_sessionstart, pytest_terminal_summary

tiers.PARTS["nothing"] = tiers.Part(False, "a program that nobody has", "make nothing")
"""


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a suite of its own with the hooks of this one."""
    (folder / "test_it.py").write_text(SUITE)
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text(f"[pytest]\npythonpath = {TESTS}\nmarkers =\n  by_turns\n  full\n  long\n")
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("E2G_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "xdist", *arguments]
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return subprocess.run(command, cwd=folder, env={**ours, **environment}, capture_output=True, text=True)


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize("tier", ["fast", "every", "full"])
def test_what_did_not_run_is_said_once_before_the_last_line(tmp_path: Path, tier: str, workers: str) -> None:
    done = run(tmp_path, "-n", workers, E2G_TEST_TIER=tier)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("3 tests: needs a program that nobody has: make nothing\n") == 1
    assert done.stdout.count(": make test-all") == (tier != "full")
    assert done.stdout.count(": make test-every") == (tier == "fast")
    assert f"{RUN[tier]} passed, 3 skipped" in done.stdout.strip().splitlines()[-1]


def test_tests_of_a_named_file_need_no_tier(tmp_path: Path) -> None:
    done = run(tmp_path, "-n", "0", "test_it.py")
    assert "5 passed, 3 skipped, 1 deselected" in done.stdout.strip().splitlines()[-1]


def test_few_of_chooses_others_on_another_day_and_all_in_the_full_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    points = list(range(40))
    monkeypatch.setattr(tiers, "FULL", False)
    chosen = {}
    for day in range(60):
        monkeypatch.setattr(tiers, "DAY", day)
        chosen[day] = few_of(points, 5)
        assert chosen[day] == few_of(points, 5) == sorted(set(chosen[day]))
        assert len(chosen[day]) == 5
    assert set().union(*chosen.values()) == set(points)
    assert few_of(points[:3], 5) == points[:3]
    monkeypatch.setattr(tiers, "FULL", True)
    assert few_of(points, 5) == points


def test_required_parts_that_are_missing_or_unknown_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "PARTS", {"here": Part(True, "A", "a"), "away": Part(False, "B", "make b")})
    assert missing("") == missing("here") == []
    assert missing("here, away") == ["E2G_TEST_REQUIRE: B is missing. Add it with `make b`."]
    assert missing("other") == ["E2G_TEST_REQUIRE: unknown part 'other'. Known: here, away."]


def test_an_unknown_tier_ends_the_run_at_once(tmp_path: Path) -> None:
    done = run(tmp_path, "-n", "0", E2G_TEST_TIER="all")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "no tier 'all': choose among fast, rest, every, full" in done.stderr
    assert "passed" not in done.stdout


def test_a_run_without_a_required_part_ends_at_once(tmp_path: Path) -> None:
    done = run(tmp_path, "-n", "2", E2G_TEST_REQUIRE="nothing")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "a program that nobody has is missing" in done.stderr
    assert "passed" not in done.stdout
