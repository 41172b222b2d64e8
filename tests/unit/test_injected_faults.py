"""The list of faults fits the program: scripts/inject_faults.py can put in each of them, and run its test."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_fault_can_be_put_in_and_has_a_test() -> None:
    faults = tomllib.loads((ROOT / "tests" / "faults.toml").read_text(encoding="utf-8"))["fault"]
    wrong = []
    for fault in faults:
        occurrences = (ROOT / fault["file"]).read_text(encoding="utf-8").count(fault["find"])
        file, _, name = re.sub(r"\[.*", "", fault["found_by"]).partition("::")
        tested = f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")
        if occurrences != 1 or fault["find"] == fault["replace"] or not tested:
            wrong.append((fault["about"], occurrences, fault["found_by"] if not tested else ""))
    assert not wrong
    assert len({fault["about"] for fault in faults}) == len(faults)
