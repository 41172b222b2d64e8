"""A span of a document's text, from chunks that overlap, touch or lie apart, and from the user's own nodes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from at_server import settings_of
from libraries import remove
from neo4j import Driver

from e2g_neo4j import E2G
from e2g_neo4j.cli.setup import LIBRARY
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.errors import InputError, NotFoundError, QueryError
from e2g_neo4j.graph import catalog
from e2g_neo4j.runtime.requests import Read
from e2g_neo4j.types.reports import DocumentText

WORDS = ("Ada", "Otto", "light😀house", "the", "of", "e\u0301toile", "𝔊reat", "灯塔", "rang.\n\n", "bell.", "and")


@pytest.fixture(params=[(60, 15), (60, 0)], ids=["overlapping", "apart"])
def e2g(request, neo4j_connection, monkeypatch) -> Iterator[E2G]:
    monkeypatch.setenv("E2G_WORKERS", "1")
    size, overlap = request.param
    settings = settings_of(neo4j_connection, chunk_tokens=size, chunk_overlap=overlap)
    with E2G(settings=settings) as e2g:
        yield e2g


def span(e2g: E2G, corpus: str, document: str, start: int = 0, end: int | None = None) -> DocumentText:
    return e2g.runner.run(catalog.text(corpus, document, start, end))


def invented(seed: int) -> str:
    drawn = random.Random(seed)
    return "\n".join(" ".join(drawn.choices(WORDS, k=12)) for _ in range(60)) + "\n"


def blank(text: str) -> str:
    """A text in which one white space is like another."""
    return "".join("\n" if character.isspace() else character for character in text)


def test_every_span_is_a_slice_of_the_text(e2g: E2G, corpus: str, driver: Driver) -> None:
    texts = {f"{seed}.txt": invented(seed) for seed in range(2)} | {
        path.name: path.read_text("utf-8") for path in sorted(LIBRARY.glob("*.txt"))[:1]
    }
    e2g.index([from_text(text, corpus=corpus, source=name) for name, text in texts.items()], corpus=corpus)
    drawn = random.Random(7)
    for document in e2g.documents(corpus):
        text = texts[document.source]
        assert document.chunks > 3
        spans = [(0, len(text)), *(sorted(drawn.sample(range(len(text) + 1), 2)) for _ in range(25))]
        for start, end in spans:
            found = span(e2g, corpus, document.id, start, end)
            assert (found.start, found.end, found.characters) == (start, end, len(text))
            assert blank(found.text) == blank(text[start:end])
            if e2g.settings.chunk_overlap:
                assert found.text.rstrip("\n") == text[start:end].rstrip("\n")
        whole = span(e2g, corpus, document.id)
        assert (whole.title, whole.source, whole.end) == (document.title, document.source, len(text))
        assert span(e2g, corpus, document.id, 0, 10**30) == whole
        refused: list[tuple[int, int | None]] = [(-1, 5), (5, 5), (6, 5), (len(text), None), (10**30, None)]
        for start, until in refused:
            with pytest.raises(InputError, match="no part of it"):
                span(e2g, corpus, document.id, start, until)
    with pytest.raises(NotFoundError, match="no document with the id 'nothing'"):
        span(e2g, corpus, "nothing")
    with pytest.raises(NotFoundError, match="holds no document: index"):
        span(e2g, f"{corpus}-not", "nothing")
    remove(driver, [corpus])


def test_the_text_of_an_adopted_document_is_that_of_its_nodes(e2g: E2G, corpus: str, driver: Driver) -> None:
    texts = ["Ada Lund 😀 rang the bell.", "  Otto Vinge 𝔊 heard it.\n", "灯塔 The light went out."]
    rows = [{"id": f"{corpus}-{number}", "order": number, "text": text} for number, text in enumerate(texts)]
    driver.execute_query("UNWIND $rows AS row CREATE (n:McpNote) SET n = row", rows=rows)
    try:
        e2g.adopt(corpus=corpus, label="McpNote", order="order")
        [document] = e2g.documents(corpus)
        whole = "\n\n".join(texts)
        for start in range(0, len(whole), 3):
            for end in (start + 1, start + 20, len(whole)):
                assert span(e2g, corpus, document.id, start, end).text == whole[start:end]
        driver.execute_query("MATCH (n:McpNote {order: 1}) SET n.text = 'Another.'")
        assert span(e2g, corpus, document.id, 0, 10).text == whole[:10]
        with pytest.raises(InputError, match="have changed since they were adopted"):
            span(e2g, corpus, document.id)
        driver.execute_query("MATCH (n:McpNote {order: 1}) DETACH DELETE n")
        with pytest.raises(InputError, match="have changed since they were adopted"):
            span(e2g, corpus, document.id)
    finally:
        remove(driver, [corpus])
        driver.execute_query("MATCH (n:McpNote) DETACH DELETE n")


def test_what_names_one_document_reads_few(e2g: E2G, corpus: str, driver: Driver) -> None:
    """However many there are, and whatever their properties are."""
    rows: list[int] = []

    class Observer:
        def on_request(self, request: Any) -> None: ...

        def on_result(self, request: Any, result: Any) -> None:
            if isinstance(request, Read) and result and "properties" in result[0]:
                rows.append(len(result))

    sources = ["first.txt", *(f"folder/{number}.txt" for number in range(20))]
    documents = [
        from_text("Ada Lund met Otto Vinge.", corpus=corpus, source=one, title="Log" if "/" in one else "First")
        for one in sources
    ]
    e2g.index(documents, corpus=corpus)
    try:
        calls: list[Callable[[str], Any]] = [
            lambda name: e2g.text(name, corpus=corpus),
            lambda name: e2g.references(name, corpus=corpus),
            lambda name: e2g.split("Ada Lund", corpus=corpus, document=name),
        ]
        for call in calls:
            with e2g.runner.observe(Observer()):
                for name in ("First", "first.txt", "folder/7.txt", "7.txt", documents[3].id):
                    call(name)
                with pytest.raises(QueryError, match="Several documents"):
                    call("Log")
                with pytest.raises(NotFoundError):
                    call("Nobody")
        assert max(rows) <= 6
        split = {one.title: one.name for one in e2g.merges("ada lund", corpus=corpus)}
        assert split == {"First": "Ada Lund", "Log": "Ada Lund"}
        assert len(e2g.merges(corpus=corpus, limit=2)) == 2
        spelled = "SET e.forms = [i IN range(1, 30) | 'Vinge ' + i], e.form_counts = range(1, 30)"
        driver.execute_query(f"MATCH (e:Entity {{corpus: $corpus, key: 'otto vinge'}}) {spelled}", corpus=corpus)
        [vinge] = e2g.entities("otto vinge", corpus=corpus)
        assert len(vinge.forms) == 20
    finally:
        remove(driver, [corpus])
