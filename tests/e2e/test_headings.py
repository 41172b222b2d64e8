"""A passage is cited with the heading that its text stands under."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from at_server import settings_of
from libraries import remove
from neo4j import Driver

from e2g_neo4j import E2G
from e2g_neo4j.integrations.langchain import E2GRetriever
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.runtime.cypher import load

pytestmark = pytest.mark.full

QUESTION = "Who repaired the chronometer?"


def section(thing: str, sentences: int = 24) -> str:
    """A heading and what stands under it: a chunk holds several of these, and a window none whole."""
    text = " ".join(f"The {thing} was carried ashore by boat number {n} and cleaned again." for n in range(sentences))
    return f"## {thing.title()}\n\nSilas Gedge repaired the {thing}. {text}\n\n"


CATALOGUE = "# Catalogue\n\n" + "".join(map(section, ("bell", "lamp", "chronometer", "compass"))) + section("flag", 99)


@pytest.fixture
def client(neo4j_connection: Connection, driver: Driver, corpus: str) -> Iterator[E2G]:
    settings = settings_of(neo4j_connection, workers=1)
    with E2G(settings=settings) as client:
        yield client
    remove(driver, [corpus])


def under(text: str, start: int, end: int) -> str | None:
    """The heading that most characters of a text stand under."""
    marks = [(found.start(), found[1]) for found in re.finditer(r"(?m)^#+ (.+)$", text)]
    labels = [next((label for begin, label in reversed(marks) if begin <= place), None) for place in range(start, end)]
    return max(labels, key=labels.count)


def windows(driver: Driver, corpus: str) -> list[tuple[int, int, str]]:
    rows = driver.execute_query(
        "MATCH (w:Window {corpus: $corpus})-[:PART_OF]->(c) RETURN w.start AS start, w.end AS end, "
        "c.window_headings[w.index] AS heading ORDER BY start",
        corpus=corpus,
    ).records
    return [(row["start"], row["end"], row["heading"]) for row in rows]


def test_passages_windows_and_retrievers_tell_the_heading_of_the_text(
    client: E2G, driver: Driver, corpus: str, tmp_path: Path
) -> None:
    file = tmp_path / "catalogue.md"
    file.write_text(CATALOGUE)
    client.index([file], corpus=corpus)
    written = windows(driver, corpus)
    assert len({heading for *_, heading in written}) == 5
    assert [heading for *_, heading in written] == [under(CATALOGUE, start, end) for start, end, _ in written]

    [passage, *_] = client.retrieve(QUESTION, corpus=corpus, k=1).passages
    assert "repaired the chronometer" in passage.text
    shown = passage.excerpt
    assert shown is not None
    assert passage.heading in {
        heading for start, end, heading in written if start <= shown.start and shown.end <= end
    }, "that of the window that is shown"
    query = "MATCH (c:Chunk {corpus: $corpus, id: $id}) RETURN c.start AS start"
    [chunk] = driver.execute_query(query, corpus=corpus, id=passage.nodes[0]).records
    assert passage.heading != under(CATALOGUE, chunk["start"], chunk["start"] + 1), "that of the chunk's start"
    [found, *_] = E2GRetriever(client=client, corpus=corpus, k=1).invoke(QUESTION)
    assert found.metadata["heading"] == passage.heading

    rows = driver.execute_query(
        f"MATCH (node:Chunk|Window {{corpus: $corpus}}) WITH node, 1.0 AS score {load('interop/retrieval_query')}",
        corpus=corpus,
        limit=99,
    ).records
    told = [row["metadata"] for row in rows]
    assert len(told) > len(written)
    assert [one["heading"] for one in told] == [under(CATALOGUE, one["start"], one["end"]) for one in told]


def test_an_edit_moves_the_headings_of_chunks_that_stay(
    client: E2G, driver: Driver, corpus: str, tmp_path: Path
) -> None:
    """The heading that a text stands under may be far before it, in another chunk."""
    file = tmp_path / "catalogue.md"
    long = CATALOGUE + section("anchor", 299)
    file.write_text(long)
    client.index([file], corpus=corpus)
    edited = long.replace("## Anchor", "## Iron anchor")
    file.write_text(edited)
    report = client.index([file], corpus=corpus)
    assert report.kept > 1
    written = windows(driver, corpus)
    assert sum(heading == "Iron anchor" for *_, heading in written) > 5
    assert [heading for *_, heading in written] == [under(edited, start, end) for start, end, _ in written]
