"""The output of `--json`."""

from __future__ import annotations

import json
from typing import Any


def print_json(value: Any) -> None:
    """Print one JSON document to standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=2))
