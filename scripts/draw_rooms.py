"""Draw the rooms of the package by floor: a room is a folder or module of `e2g_neo4j/`, and stands one floor above the
highest that it imports. What a room is for is the first sentence of its docstring."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

from figure_tables import ROOT, Page, table

PACKAGE = ROOT / "e2g_neo4j"
WIDTH = 64


def rooms(_: str, page: Page) -> str:
    """A picture of the floors, and a table of the rooms."""
    places = {path.stem: path for path in PACKAGE.glob("[a-z]*.py")}
    places |= {path.parent.name: path.parent for path in PACKAGE.glob("*/__init__.py")}
    imports = {name: set(imported_rooms(place)) - {name} for name, place in places.items()}

    @cache
    def floor(name: str) -> int:
        return max((floor(one) + 1 for one in imports[name]), default=0)

    @cache
    def below(name: str) -> set[str]:
        return imports[name].union(*map(below, imports[name]))

    def nearest(name: str) -> list[str]:
        return sorted(imports[name].difference(*map(below, imports[name])))

    names = sorted(places, key=lambda name: (-floor(name), name))
    floors = [f"{number:2} │{'   '.join(some):^{WIDTH}}│" for number, some in groupby(names, floor)]
    picture = "\n".join([f"   ┌{'─' * WIDTH}┐", *floors, f"   └{'─' * WIDTH}┘"])
    rows = [[f"`{name}`", purpose_of(places[name]), ", ".join(nearest(name)) or "–"] for name in names]
    return f"```text\n{picture}\n```\n\n" + table(("room", "what it is for", "stands on"), rows)


def imported_rooms(place: Path) -> Iterator[str]:
    for file in place.rglob("*.py") if place.is_dir() else [place]:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE.name:
                yield from {f"{node.module}.{one.name}".split(".")[1] for one in node.names}


def purpose_of(place: Path) -> str:
    file = place / "__init__.py" if place.is_dir() else place
    docstring = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return " ".join(re.split(r"(?<=\.)\s", docstring, maxsplit=1)[0].split())
