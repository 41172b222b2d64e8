"""Print on a terminal: text from documents and servers made safe, tables, and JSON."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic_core import to_jsonable_python
from rich import markup
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

T = TypeVar("T")

out = Console(highlight=False, soft_wrap=True)

LEGIBLE = 14
"""Characters of a column that can still be read."""

_NEW_LINES = re.compile(r"\r\n|[\r\v\f]")
_CONTROLS = re.compile(  # C0 except tab and line feed, DEL, C1; bidirectional controls
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


def neutral(text: str) -> str:
    """Escape control characters, for example as `\\u001b`, so that the text cannot control a terminal.

    rich strips only five of them (`rich.control.strip_control_codes`), but not ESC, C1 and bidirectional overrides.
    Cypher and JSON read the escape as the character.
    """
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", _NEW_LINES.sub("\n", text))


def escape(text: str) -> str:
    """Escape control characters and the markup of rich."""
    return markup.escape(neutral(text))


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


def table(out: Console, columns: Sequence[str], rows: Sequence[Sequence[Any]], empty: str = "") -> None:
    """Print rows of plain values, numbers on the right; or `empty` if there are none."""
    if not rows:
        out.print(empty)
        return
    right = [isinstance(value, int) for value in rows[0]]
    drawn = new_table(columns, right)
    for row in rows:
        drawn.add_row(*(escape(str(value)) for value in row))
    draw(out, drawn)


def new_table(columns: Sequence[str], right: Sequence[bool]) -> Table:
    """Return an empty table. Columns for which `right` holds are aligned to the right."""
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for column, is_right in zip(columns, right, strict=True):
        drawn.add_column(escape(column), justify="right" if is_right else "left", overflow="fold")
    return drawn


def draw(out: Console, table: Table) -> None:
    """Print a table. Cells are folded on a terminal; where it is too narrow for that, each row is a list of its cells.
    In a file, each row is one line."""
    cells = [[column.header, *column.cells] for column in table.columns]
    legible = (max(Measurement.get(out, out.options, cell).minimum for cell in column) for column in cells)
    if not out.is_terminal:
        table.width = Measurement.get(out, out.options.update(max_width=sys.maxsize), table).maximum
    elif sum(min(width, LEGIBLE) + 2 for width in legible) > out.width:
        heads, *rows = zip(*cells, strict=True)
        for row in rows:
            out.print(*(f"[bold]{head}[/bold] {cell}" for head, cell in zip(heads, row, strict=True)), "", sep="\n")
        return
    out.print(table, soft_wrap=False, crop=False)


def plural(number: int, noun: str, several: str = "") -> str:
    """Return a number with a noun, such as "1 chunk" or "2 entities"."""
    return f"{number} {noun}" if number == 1 else f"{number} {several or noun + 's'}"
