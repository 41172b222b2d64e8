"""The results of commands: as JSON with `--json`, else as text."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic_core import to_jsonable_python
from rich.console import Console

from e2g_neo4j.cli.options import out

T = TypeVar("T")


def print_json(value: Any) -> None:
    """Print one JSON document to standard output. Dataclasses are objects."""
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(to_jsonable_python(value), ensure_ascii=ascii_only, indent=2))


def print_result(result: T, show: Callable[[Console, T], None], *, as_json: bool) -> None:
    """Print a result as JSON, or with `show`."""
    if as_json:
        print_json(result)
    else:
        show(out, result)
