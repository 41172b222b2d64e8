"""What chunks refer to, on the real server."""

from __future__ import annotations

from typing import Any

import libraries
import pytest
from libraries import driven, performing, small_document, write
from neo4j import Driver

from e2g_neo4j.graph.writer import delete
from e2g_neo4j.indexing import references
from e2g_neo4j.indexing.references import update_references
from e2g_neo4j.runtime.requests import Operation, Read, Write


def found(driver: Driver, corpus: str) -> dict[tuple[str, str], tuple[str, list[int]]]:
    """What refers to what, with the words and the windows."""
    rows = driver.execute_query(
        "MATCH (c:Chunk {corpus: $corpus})-[r:REFERS_TO]->(d:Document) "
        "RETURN c.document AS source, d.id AS target, r.text AS text, r.windows AS windows",
        corpus=corpus,
    ).records
    return {(row["source"], row["target"]): (row["text"], row["windows"]) for row in rows}


def titled(patch: pytest.MonkeyPatch, **titles: str) -> None:
    patch.setattr(libraries, "title_of", lambda document: titles[document.id])


def taken(driver: Driver, corpus: str, *ids: str) -> None:
    driven(performing(driver), delete(corpus, list(ids)))
    driven(performing(driver), update_references(corpus))


def test_a_title_is_found_in_texts_before_and_after_it(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora.append(corpus)
    titled(monkeypatch, a="Something else", b="Miss Lucy Westenra (novel)", c="Miss Lucy")
    a, b = small_document("a", ["miss lucy westenra"]), small_document("b", ["ann", "bob"])
    write(driver, corpus, [a])
    assert found(driver, corpus) == {}
    write(driver, corpus, [b])
    assert found(driver, corpus) == {("a", "b"): ("miss lucy westenra", [0])}
    write(driver, corpus, [small_document("c", ["miss lucy westenra"])])
    assert found(driver, corpus).keys() == {("a", "b"), ("c", "b")}, "the longest title alone"
    taken(driver, corpus, "b")
    assert found(driver, corpus) == {("a", "c"): ("miss lucy", [0])}, "the shorter one, and none to itself"
    taken(driver, corpus, "c")
    assert found(driver, corpus) == {}


def test_a_renamed_document_is_referred_to_by_its_new_title(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora.append(corpus)
    titled(monkeypatch, a="A text", b="Mina Harker")
    write(driver, corpus, [small_document("a", ["mina harker"], ["lucy westenra"]), small_document("b", ["ann"])])
    assert found(driver, corpus) == {("a", "b"): ("mina harker", [0])}
    titled(monkeypatch, a="A text", b="Lucy Westenra")
    write(driver, corpus, [small_document("b", ["ann"])])
    assert found(driver, corpus) == {("a", "b"): ("lucy westenra", [0])}


def test_a_title_of_many_documents_refers_to_a_bounded_number_of_them(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora.append(corpus)
    monkeypatch.setattr(references, "MOST_BEARERS", 3)
    monkeypatch.setattr(
        libraries, "title_of", lambda document: "Mina Harker" if document.id.startswith("d") else "Another"
    )
    library = [small_document(name, ["mina harker"]) for name in ("d0", "d1", "d2", "d3", "d4", "d5", "other")]
    write(driver, corpus, library)
    assert {source for source, _ in found(driver, corpus)} == {"other"}, "no text names others by its own title"
    assert len(found(driver, corpus)) == 3
    for number in (0, 1):
        taken(driver, corpus, f"d{number}")
    fresh = f"{corpus}-fresh"
    corpora.append(fresh)
    write(driver, fresh, library[2:])
    assert found(driver, corpus) == found(driver, fresh)


def without_references(corpus: str) -> Operation[None]:
    yield from ()


def test_what_a_killed_run_has_left_is_done_by_the_next(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora.append(corpus)
    titled(monkeypatch, a="A text", b="Mina Harker", c="Another")
    monkeypatch.setattr(libraries, "update_references", without_references)
    write(driver, corpus, [small_document("a", ["mina harker"]), small_document("b", ["ann"])])
    steps = update_references(corpus)
    perform: Any = performing(driver)
    reply = None
    for _ in range(2):  # titles are known, no chunk was read
        reply = perform(steps.send(reply))
    assert found(driver, corpus) == {}
    monkeypatch.undo()
    titled(monkeypatch, c="Another")
    write(driver, corpus, [small_document("c", ["bob"])])
    assert found(driver, corpus) == {("a", "b"): ("mina harker", [0])}


def test_a_change_of_others_meanwhile_begins_it_again(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run publishes a document between a read and the write that depends on it."""
    corpora.append(corpus)
    titled(monkeypatch, a="A text", b="Mina Harker")
    write(driver, corpus, [small_document("a", ["mina harker"])])
    driver.execute_query("MATCH (d:Document {corpus: $corpus}) REMOVE d.title_key", corpus=corpus)
    perform, changed = performing(driver), False

    def interfering(request: Read | Write) -> Any:
        nonlocal changed
        if isinstance(request, Write) and request.statements[0][0] == "references/set_references" and not changed:
            changed = True
            write(driver, corpus, [small_document("b", ["ann"])])
        return perform(request)

    driven(interfering, update_references(corpus))
    assert changed
    assert found(driver, corpus) == {("a", "b"): ("mina harker", [0])}
