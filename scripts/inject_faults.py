"""Put the faults of tests/faults.toml into a copy of the project, one at a time, and say whether its test finds each.

    python scripts/inject_faults.py [WORD …]

Words choose the faults that have one of them in their file, test or description. First, all of their tests have to pass
without a fault, and to belong to the fast tier on every day. A fault whose test needs a Neo4j server takes about half a
minute, any other a few seconds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]

DAYS = ("0", "1")
"""Tests that run by turns in the fast tier are left out on one of these days."""

NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "site")

FAILED = 1
"""The exit code of pytest if tests fail. Others mean that none was run."""


def run(folder: Path, *arguments: str, day: str = "0") -> subprocess.CompletedProcess[str]:
    """Run pytest in a copy of the project, without compiled files: faults are put in faster than times differ."""
    ours = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "E2G_TEST_TIER": "fast", "E2G_TEST_DAY": day}
    command = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, env={**os.environ, **ours}, capture_output=True, text=True)


def not_fast(folder: Path, tests: Sequence[str]) -> list[str]:
    """Return the tests that the fast tier leaves out on some day."""
    days = [run(folder, "--collect-only", day=day).stdout.splitlines() for day in DAYS]
    return [test for test in tests if not all(any(line.startswith(test) for line in lines) for lines in days)]


def outcome(folder: Path, fault: dict[str, str]) -> str:
    """Return what the test of a fault says of it."""
    file = folder / fault["file"]
    text = file.read_text(encoding="utf-8")
    if text.count(fault["find"]) != 1:
        return "the text no longer occurs once"
    file.write_text(text.replace(fault["find"], fault["replace"]), encoding="utf-8")
    try:
        code = run(folder, fault["found_by"]).returncode
    finally:
        file.write_text(text, encoding="utf-8")
    return {0: "NOT FOUND", FAILED: "found"}.get(code, f"pytest ended with {code}")


def main(words: Sequence[str]) -> int:
    """Print a line for each fault. Return 1 if one was not found, or a test fails without any."""
    faults = tomllib.loads((ROOT / "tests" / "faults.toml").read_text(encoding="utf-8"))["fault"]
    told = ("file", "found_by", "about")
    chosen = [one for one in faults if not words or any(word in one[name] for word in words for name in told)]
    tests = list(dict.fromkeys(one["found_by"] for one in chosen))
    with tempfile.TemporaryDirectory(prefix="e2g-faults-") as name:
        folder = Path(name)
        shutil.copytree(ROOT, folder, ignore=NOT_COPIED, dirs_exist_ok=True)
        slow = not_fast(folder, tests)
        for test in slow:
            print(f"not in the fast tier: {test}")
        before = run(folder, *tests)
        if before.returncode:
            print(before.stdout[-5000:])
            return 1
        missed = 0
        for fault in chosen:
            said = outcome(folder, fault)
            missed += said != "found"
            print(f"{said}: {fault['about']} ({fault['file']}; {fault['found_by']})", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} faults were found.")
    return int(bool(missed or slow))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
