"""Golden files: what users saw when they were written, in tests/golden.

E2G_TEST_GOLDEN=write writes them anew instead of comparing.
"""

from __future__ import annotations

import os
from difflib import unified_diff
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
LINES_SHOWN = 80


def check(name: str, found: str) -> None:
    """Compare a text to its golden file, or write that."""
    file = GOLDEN / name
    if os.environ.get("E2G_TEST_GOLDEN") == "write":
        file.write_text(found, encoding="utf-8")
        return
    golden = file.read_text(encoding="utf-8")
    if found == golden:
        return
    lines = list(unified_diff(golden.splitlines(), found.splitlines(), f"golden/{name}", "now", lineterm="", n=1))
    if len(lines) > LINES_SHOWN:
        lines[LINES_SHOWN:] = [f"… and {len(lines) - LINES_SHOWN} more lines"]
    lines.append("If this change is intended, write the file anew: E2G_TEST_GOLDEN=write")
    pytest.fail("\n".join(lines), pytrace=False)
