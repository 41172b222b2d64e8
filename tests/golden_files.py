"""Golden files: what the program did when they were written, in tests/golden.

E2G_TEST_GOLDEN=write writes them anew instead of comparing.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import astuple
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from graphs import Number, Vector

GOLDEN = Path(__file__).parent / "golden"
LINES_SHOWN = 80
UUID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


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


def check_rows(name: str, rows: list[Any], within: float = 0.01) -> None:
    """As `check`, for JSON values, one per line. Fractions are equal within a tolerance."""
    file = GOLDEN / name
    golden = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    found = near(json.loads(json.dumps(rows)), golden, within)
    check(name, "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in found) + "\n]\n")


def near(found: Any, golden: Any, within: float) -> Any:
    """What was found, with the golden fractions in place of those that are within the tolerance of them."""
    if isinstance(found, dict) and isinstance(golden, dict):
        return {name: near(value, golden.get(name), within) for name, value in found.items()}
    if isinstance(found, list) and isinstance(golden, list):
        padded = golden + [None] * (len(found) - len(golden))
        return [near(value, other, within) for value, other in zip(found, padded, strict=False)]
    is_near = isinstance(found, float) and isinstance(golden, float) and abs(found - golden) <= within
    return golden if is_near else found


def plain(value: Any, numbers: list[float] | None = None) -> Any:
    """A value as JSON without what differs between runs: vectors, what holds them, and random ids. Fractions are moved
    to `numbers`, if given, so that they can be compared within a tolerance."""
    match value:
        case Vector() | Number():
            return "from vectors"
        case [float(), *_] if len(value) > 50:
            return f"vector[{len(value)}]"
        case bytes() | bytearray():
            return "bytes"
        case float():
            if numbers is None:
                return round(value, 9)
            numbers.append(round(value, 3))
            return "number"
        case str():
            return "uuid" if UUID.fullmatch(value) else value
        case dict():
            return {name: plain(value[name], numbers) for name in sorted(value)}
        case list() | tuple():
            return [plain(one, numbers) for one in value]
        case None | bool() | int():
            return value
    return plain(astuple(value), numbers)


def digest(value: Any) -> str:
    """A short hash of a JSON value."""
    return sha256(json.dumps(value).encode()).hexdigest()[:12]
