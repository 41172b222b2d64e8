"""What entities are: counted by hand on three short texts, under every change of a corpus."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from libraries import remove
from neo4j import Driver

from e2g_neo4j import E2G, AsyncE2G
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import InputError, QueryError
from e2g_neo4j.models.entities.pipeline import BUNDLED, load_pipeline
from e2g_neo4j.types.documents import SourceDocument
from e2g_neo4j.types.graph import EntityInfo

DOCUMENTS = {
    "Castle": (
        "Jonathan Harker travelled from London to the castle. Harker met Count Dracula in the castle. "
        "Jonathan Harker wrote a letter. Mr. Harker slept badly."
    ),
    "London": ("Mina Murray waited in London. The letter from the castle came to London. Paris is far from London."),
    "Troy": "Paris loved Helen. Young Paris smiled. Then Paris spoke to Helen and Paris laughed.",
}

TYPES = {
    "jonathan harker": ("person", {"person": 4}),
    "london": ("place", {"place": 4}),
    "paris": ("person", {"person": 4, "place": 1}),
    "castle": ("noun", {"noun": 3}),
    "helen": ("person", {"person": 2}),
    "letter": ("noun", {"noun": 2}),
    "count dracula": ("person", {"person": 1}),
    "mina murray": ("person", {"person": 1}),
}


@pytest.fixture
def corpus(corpus: str, driver: Driver) -> Iterator[str]:
    yield corpus
    remove(driver, [corpus, f"{corpus}-2"])


def library(corpus: str, **texts: str) -> list[SourceDocument]:
    return [from_text(text, corpus=corpus, source=title, title=title) for title, text in (texts or DOCUMENTS).items()]


def types(listed: list[EntityInfo]) -> dict[str, tuple[str | None, dict[str, int]]]:
    return {one.key: (one.type, one.types) for one in listed}


def test_types_are_counted_under_changes_splits_and_imports(client: E2G, corpus: str, tmp_path: Path) -> None:
    client.index(library(corpus), corpus=corpus)
    assert types(client.entities(corpus=corpus)) == TYPES

    client.split("Harker", corpus=corpus)
    split = TYPES | {"jonathan harker": ("person", {"person": 3}), "harker": ("person", {"person": 1})}
    assert types(client.entities(corpus=corpus)) == split
    client.join("Harker", corpus=corpus)
    assert types(client.entities(corpus=corpus)) == TYPES

    client.export_corpus(tmp_path / "archive", corpus=corpus)
    client.import_corpus(tmp_path / "archive", corpus=f"{corpus}-2")
    assert types(client.entities(corpus=f"{corpus}-2")) == TYPES

    client.index(library(corpus, Troy="Helen waited."), corpus=corpus)
    assert types(client.entities("paris", corpus=corpus)) == {"paris": ("place", {"place": 1})}
    assert types(client.entities("helen", corpus=corpus)) == {"helen": ("person", {"person": 1})}
    client.delete(["London"], corpus=corpus)
    assert types(client.entities("castle", corpus=corpus)) == {"castle": ("noun", {"noun": 2})}
    assert types(client.entities("london", corpus=corpus)) == {"london": ("place", {"place": 1})}
    assert client.entities("paris", corpus=corpus) == []


def test_entities_of_a_type_are_listed_by_both_clients_and_the_command(
    client: E2G, corpus: str, output: Callable[..., str]
) -> None:
    client.index(library(corpus), corpus=corpus)
    for type in ("person", "place", "noun"):
        listed = client.entities(corpus=corpus, type=type)
        assert types(listed) == {key: one for key, one in TYPES.items() if one[0] == type}
    with pytest.raises(QueryError, match="'organisation'"):
        client.entities(corpus=corpus, type="organisation")

    async def places() -> list[EntityInfo]:
        async with AsyncE2G() as same:
            return await same.entities(corpus=corpus, type="place")

    assert asyncio.run(places()) == client.entities(corpus=corpus, type="place")

    def run(*arguments: str) -> str:
        return output(*arguments, "--corpus", corpus)

    lines = run("entities", "--type", "noun").splitlines()
    assert [line.split() for line in lines] == [
        ["entity", "type", "mentions", "chunks", "documents", "also", "written"],
        ["castle", "noun", "3", "2", "2"],
        ["letter", "noun", "2", "2", "2"],
    ]
    [paris] = json.loads(run("entities", "paris", "--json"))
    assert (paris["type"], paris["types"]) == ("person", {"person": 4, "place": 1})
    assert "helen (person)" in run("query", "Did Helen see the castle?", "--explain")
    assert "castle (noun)" in run("query", "Did Helen see the castle?", "--explain")


def test_only_entities_of_a_type_are_linked(client: E2G, corpus: str, driver: Driver) -> None:
    client.index(library(corpus), corpus=corpus)
    label = f"Node{corpus.replace('-', '')}"
    driver.execute_query(f"UNWIND ['Paris', 'London', 'Helen'] AS name CREATE (:{label} {{name: name}})")
    try:
        report = client.link(corpus=corpus, label=label, name="name")
        assert {one.key for one in report.links} == {"paris", "london", "helen"}
        report = client.link(corpus=corpus, label=label, name="name", type="person")
        assert ({one.key for one in report.links}, report.entities, report.removed) == ({"paris", "helen"}, 5, 1)
        with pytest.raises(InputError, match=r"No entity of .* has the type 'planet'.*e2g entities"):
            client.link(corpus=corpus, label=label, name="name", type="planet")
        assert client.links(corpus=corpus) == {label: 2}
    finally:
        driver.execute_query(f"MATCH (n:{label}) DETACH DELETE n")


def test_labels_of_another_pipeline_are_types(environment: object, corpus: str) -> None:
    nlp = load_pipeline(str(BUNDLED))  # not the one that other tests share
    ruler: Any = nlp.add_pipe("entity_ruler", before="ner")
    ruler.add_patterns([{"label": "SHIP", "pattern": "Demeter"}])
    with E2G(nlp=nlp) as client:
        text = "The Demeter left Varna. In London the Demeter was a wreck. A wreck is a wreck."
        client.index(library(corpus, Ship=text), corpus=corpus)
        assert types(client.entities(corpus=corpus, type="ship")) == {"demeter": ("ship", {"ship": 2})}
        assert client.retrieve("What of the Demeter?", corpus=corpus).entity_types == {"demeter": "ship"}
