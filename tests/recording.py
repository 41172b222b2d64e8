"""What the clients send to Neo4j, seen where the driver takes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import neo4j
import pytest

from e2g_neo4j.runtime.statements import folder

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


def files(kind: str, dimensions: int) -> dict[str, str]:
    """The files of `cypher`, without the comments that they begin with, or of `migrations`, as they are but for the
    length of vectors; by their place below that folder."""
    found = {}
    for path in sorted(folder(kind).rglob("*.cypher")):
        if "lts" in path.parts:  # sent to older servers only
            continue
        text = path.read_bytes().decode().replace("${nm:embedding_dimensions}", str(dimensions))
        while kind == "cypher" and text.startswith("//"):
            text = text.partition("\n")[2]
        found[str(path.relative_to(folder(kind)))] = text.removesuffix("\n")
    return found
