"""What the clients send to Neo4j, seen where the driver takes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import neo4j
import pytest

from e2g_neo4j.runtime.cypher import folder

RUNNERS = (
    neo4j.Session,
    neo4j.AsyncSession,
    neo4j.Transaction,
    neo4j.AsyncTransaction,
    neo4j.ManagedTransaction,
    neo4j.AsyncManagedTransaction,
)


@dataclass
class Sent:
    """Texts of Cypher, and the access modes of the sessions that were opened, in order."""

    statements: list[str] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)


@contextmanager
def recorded() -> Iterator[Sent]:
    """Every statement that any driver of this process is given meanwhile."""
    sent = Sent()

    def recording(original: Any) -> Any:
        def run(self: Any, query: Any, parameters: Any = None, **more: Any) -> Any:
            sent.statements.append(query.text if isinstance(query, neo4j.Query) else query)
            return original(self, query, parameters, **more)

        return run

    def opening(original: Any) -> Any:
        def session(self: Any, **options: Any) -> Any:
            sent.modes.append(options.get("default_access_mode", neo4j.WRITE_ACCESS))
            return original(self, **options)

        return session

    with pytest.MonkeyPatch.context() as patch:
        for runner in RUNNERS:
            patch.setattr(runner, "run", recording(runner.run))
        for driver in (neo4j.Driver, neo4j.AsyncDriver):
            patch.setattr(driver, "session", opening(driver.session))
        yield sent


def files() -> set[str]:
    """The statements in `cypher` without their headers, and with the fragments that they include: for all documents, or
    for those of a filter."""
    place = folder("cypher")
    paths = [path for path in place.rglob("*.cypher") if "fragments" not in path.parts]
    return {with_fragments(text_of(path), kinds) for path in paths for kinds in (("",), ("filtered", ""))}


def text_of(path: Path) -> str:
    text = path.read_bytes().decode()
    while text.startswith("//") and not text.startswith("// include:"):
        text = text.partition("\n")[2]
    return text.removesuffix("\n")


def with_fragments(text: str, kinds: tuple[str, ...]) -> str:
    lines: list[str] = []
    first: list[str] = []
    for line in text.split("\n"):
        before, include, what = line.partition("// include: ")
        if not include:
            lines.append(line)
            continue
        name, *renamed = what.split(", ")
        paths = [folder("cypher") / "fragments" / kind / f"{name}.cypher" for kind in kinds]
        fragment = with_fragments(text_of(next(path for path in paths if path.exists())), kinds)
        for pair in renamed:
            new, _, old = pair.partition(" for ")
            fragment = fragment.replace(old, new)
        for one in fragment.splitlines():
            (first if one == "CYPHER 25" else lines).append(one if one == "CYPHER 25" else before + one)
    return "\n".join(first[:1] + lines)
