"""Writing to the real server: documents appear whole, are replaced whole, and leave nothing behind."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
from graphs import Found, snapshot
from hypothesis import given
from hypothesis import strategies as st
from libraries import (
    REAL_DIMENSIONS,
    documents_of,
    driven,
    few_examples,
    forms_of,
    libraries,
    long_document,
    of_corpus,
    padded,
    performing,
    published,
    remove,
    small_document,
    staging,
    types_of,
    write,
)
from naive import NaiveDocument, edges_of, persistence, weight
from neo4j import Driver

from e2g_neo4j.errors import DatabaseError
from e2g_neo4j.graph import writer
from e2g_neo4j.graph.writer import delete
from e2g_neo4j.models.words import terms
from e2g_neo4j.retrieval.lucene import terms_of
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Read, Write


def of_type(relationships: Found, kind: str) -> Found:
    """By the ids or names of both ends."""
    return {(key[1], key[4]): properties for key, properties in relationships.items() if key[2] == kind}


def windows_of(document: NaiveDocument) -> list[tuple[str, str, str]]:
    """Id, chunk and text of each window."""
    return [
        (f"{chunk.id}-w{number}", chunk.id, document.text[one.start : one.end])
        for chunk in document.chunks
        for number, one in enumerate(chunk.windows)
    ]


def asked(driver: Driver, corpus: str, names: list[str]) -> list[Any]:
    """What the queries of retrieval, and the counts, see of a corpus: link, passages, windows, nearest and stats."""
    unit = padded([[1.0] * 8], REAL_DIMENSIONS)[0].tolist()
    chunks = [f"d{document}-c{index}" for document in range(5) for index in range(20)]
    windows = [f"{chunk}-w{number}" for chunk in chunks for number in range(3)]
    requests = [
        Read(
            "query/link",
            {
                "corpus": corpus,
                "names": names,
                "other_names": [],
                "proper": [],
                "limit": 3,
                "meanings": 3,
                "terms": terms_of(names),
            },
        ),
        Read("query/passages", {"corpus": corpus, "ids": chunks}),
        Read("query/windows", {"corpus": corpus, "ids": windows}),
        Read("query/nearest", {"corpus": corpus, "vector": unit, "k": 1000, "names": names}),
        Read("query/stats", {"corpus": corpus}),
    ]
    link, passages, found, nearest, stats = (database.read(driver, "neo4j", request) for request in requests)
    del link[0]["made_with"]  # the server's, not the corpus'
    link[0]["words"] = of_corpus(link[0]["words"])
    for listed in (link[0]["named"], link[0]["pairs"], link[0]["shared"], passages, found, nearest):
        listed.sort(key=str)
    for row in link[0]["shared"]:
        row["counts"].sort(key=str)
    return [link, passages, found, nearest, stats]


# --- what is written ---------------------------------------------------------------------------------


@few_examples(12)
@given(libraries())
def test_the_graph_is_the_one_that_the_documents_say(driver: Driver, library: list[NaiveDocument]) -> None:
    corpus = uuid4().hex
    try:
        write(driver, corpus, library)
        nodes, relationships = snapshot(driver, corpus)
        [stats] = database.read(driver, "neo4j", Read("query/stats", {"corpus": corpus}))
    finally:
        remove(driver, [corpus])

    expected = edges_of(library)
    assert of_type(relationships, "CO_OCCURS") == {
        pair: {"count": count, "weight": round(weight, 9)} for pair, (count, weight) in expected.items()
    }
    counts = {(name, chunk.id): n for d in library for chunk in d.chunks for name, n in d.counts(chunk).items()}
    mentions = of_type(relationships, "FROM_CHUNK")
    assert {pair: properties["count"] for pair, properties in mentions.items()} == counts
    assert of_type(relationships, "CHILD_OF").keys() == {
        (child, s.id) for d in library for s in d.summaries for child in s.children
    }
    assert of_type(relationships, "NEXT_CHUNK").keys() == {(a.id, b.id) for d in library for a, b in pairwise(d.chunks)}
    assert of_type(relationships, "PART_OF").keys() == {(id, chunk) for d in library for id, chunk, _ in windows_of(d)}
    assert of_type(relationships, "FROM_DOCUMENT").keys() == {(chunk.id, d.id) for d in library for chunk in d.chunks}
    sentences = {
        (name, chunk.id): [window.get(name, 0) for window in d.sentences_of(chunk)]
        for d in library
        for chunk in d.chunks
        for name in d.counts(chunk)
    }
    assert {pair: properties["windows"] for pair, properties in mentions.items()} == sentences
    assert nodes["Corpus", ""] == {
        "chunks": sum(len(d.chunks) for d in library),
        "windows": sum(len(chunk.windows) for d in library for chunk in d.chunks),
    }
    of_windows = Counter(term for d in library for _, _, text in windows_of(d) for term in set(terms(text)))
    assert {key[1]: one["windows"] for key, one in nodes.items() if key[0] == "Term"} == of_windows
    for document in library:
        written = nodes["Document", document.id]
        vectors = [window.vector for chunk in document.chunks for window in chunk.windows]
        assert (written["state"], written["chunks"], written["windows"]) == (
            "ready",
            len(document.chunks),
            len(vectors),
        )
        assert written["persistence"] == pytest.approx(persistence(vectors), abs=1e-4)
        for chunk in document.chunks:
            properties = nodes["Chunk", chunk.id]
            assert properties["text"] == document.text[properties["start"] : properties["end"]]
            shares = [(window.end - window.start) / (chunk.end - chunk.start) for window in chunk.windows]
            assert properties["window_shares"] == pytest.approx(shares)
            assert properties.get("page") == document.page(chunk.start, chunk.end)
            assert properties.get("heading") == document.heading(chunk.start, chunk.end)
            spans = [(window.start, window.end) for window in chunk.windows]
            none = [""] * len(spans)
            assert properties.get("window_pages", none) == [document.page(*span) or "" for span in spans]
            assert properties.get("window_headings", none) == [document.heading(*span) or "" for span in spans]
            weights = [weight(window) for window in document.sentences_of(chunk)]
            assert properties["window_weights"] == pytest.approx(weights if any(weights) else [])
            assert properties["embedding"] == pytest.approx(padded([chunk.vector], REAL_DIMENSIONS)[0].tolist())
        for id, _, text in windows_of(document):
            assert nodes["Window", id]["text"] == text
        for summary in document.summaries:
            properties = nodes["Summary", summary.id]
            assert (properties["text"], properties["level"]) == (summary.text, summary.level)
            assert properties["embedding"] == pytest.approx(padded([summary.vector], REAL_DIMENSIONS)[0].tolist())
    names = {name for name, _ in counts}
    for name in names:
        forms = sum(
            (Counter(forms_of(d, c).get(name) or {name: d.counts(c).get(name, 0)}) for d in library for c in d.chunks),
            Counter[str](),
        )
        often = sorted(forms, key=lambda form: (-forms[form], form.isupper(), form))
        entity = nodes["Entity", name]
        assert (entity["name"], entity["forms"]) == (often[0], often)
        assert entity["form_counts"] == [forms[form] for form in often]
        types = sum((Counter(types_of(d, c).get(name, {})) for d in library for c in d.chunks), Counter[str]())
        ordered = sorted(types, key=lambda type: (-types[type], type == "name", type))
        assert (entity["types"], entity["type_counts"]) == (ordered, [types[type] for type in ordered])
        names_of_it = [type for type in ordered if type != "noun"]
        assert entity["type"] == ("noun" if types["noun"] > types.total() / 2 else names_of_it[0])
    assert {key[-1] for key in nodes if key[0] == "Entity"} == names
    assert stats == {
        "documents": len(library),
        "chunks": sum(len(d.chunks) for d in library),
        "summaries": sum(len(d.summaries) for d in library),
        "levels": max((s.level for d in library for s in d.summaries), default=0),
        "entities": len(names),
        "co_occurrences": len(expected),
        "mentions": len(counts),
        "communities": 0,
        "clusters": 0,
        "entity_vectors": 0,
        "statements": 0,
        "characters": sum(len(d.text) for d in library),
        "tokens": sum(chunk.end - chunk.start for d in library for chunk in d.chunks),
    }


@few_examples(12)
@given(libraries(), libraries(), st.booleans())
def test_replacing_documents_leaves_the_graph_of_a_fresh_write(
    driver: Driver, old: list[NaiveDocument], new: list[NaiveDocument], twice: bool
) -> None:
    """Documents d0, d1, … of the first library get the text of those of the second; the rest stay."""
    edited, fresh = uuid4().hex, uuid4().hex
    replacing = new[: len(old)]
    try:
        write(driver, edited, old)
        if twice:  # there and back again: whatever weights drift by must not add up
            write(driver, edited, replacing)
            write(driver, edited, old)
        write(driver, edited, replacing)
        write(driver, fresh, [*replacing, *old[len(replacing) :]])
        assert snapshot(driver, edited) == snapshot(driver, fresh)
    finally:
        remove(driver, [edited, fresh])


def test_an_entity_and_an_edge_go_with_the_last_document_that_has_them(
    driver: Driver, corpora: list[str], corpus: str
) -> None:
    corpora.append(corpus)
    """Bob is mentioned nowhere any more, and no sentence has cid and dan."""
    first = [small_document("d0", ["ann", "bob"], ["cid", "dan"]), small_document("d1", ["ann", "cid"], ["dan"])]
    write(driver, corpus, first)
    write(driver, corpus, [small_document("d0", ["ann"])])
    nodes, relationships = snapshot(driver, corpus)
    assert {key[-1] for key in nodes if key[0] == "Entity"} == {"ann", "cid", "dan"}
    assert list(of_type(relationships, "CO_OCCURS")) == [("ann", "cid")]


def test_more_rows_than_a_batch_holds_are_all_written(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = [small_document(f"d{n}", ["ann", "bob", "cid", f"n{n}"], ["ann", f"n{n}"]) for n in range(5)]
    corpora += [corpus, f"{corpus}-whole"]
    write(driver, f"{corpus}-whole", library)
    monkeypatch.setattr(writer, "NODE_ROWS", 2)
    monkeypatch.setattr(writer, "CHUNK_ROWS", 2)
    monkeypatch.setattr(writer, "CHUNKS_READ", 2)
    monkeypatch.setattr(writer, "ROWS", 3)
    write(driver, corpus, library)
    assert snapshot(driver, corpus) == snapshot(driver, f"{corpus}-whole")


# --- what is not visible -----------------------------------------------------------------------------


@few_examples(12)
@given(libraries(), libraries())
def test_staged_documents_are_invisible_until_they_are_published(
    driver: Driver, old: list[NaiveDocument], new: list[NaiveDocument]
) -> None:
    """After every transaction of a stage, queries still see the old versions, and nothing but them."""
    corpus = uuid4().hex
    names = sorted({name for d in [*old, *new] for sentence in d.sentences for name, _ in sentence.occurrences})
    try:
        write(driver, corpus, old)
        before = asked(driver, corpus, names)
        for request in staging(corpus, new):
            database.write(driver, "neo4j", request)
            assert asked(driver, corpus, names) == before
    finally:
        remove(driver, [corpus])


def test_a_first_document_that_is_only_staged_makes_no_corpus(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    for request in staging(corpus, [small_document("d0", ["ann", "bob"])]):
        database.write(driver, "neo4j", request)
    [link], passages, windows, nearest, [stats] = asked(driver, corpus, ["ann", "bob"])
    assert (link["found"], link["named"], passages, windows, nearest) == (False, [], [], [], [])
    assert set(stats.values()) == {0}
    listed = database.read(driver, "neo4j", Read("query/documents", {"corpus": corpus}))
    # There is no such run: what it had begun has failed.
    assert [(row["state"], row["visible"], row["chunks"]) for row in listed] == [("failed", False, 0)]


# --- what an interrupted run leaves ------------------------------------------------------------------


@few_examples(12)
@given(libraries(), libraries(), st.integers(1, 8), st.booleans())
def test_a_run_after_an_interrupted_one_leaves_the_graph_of_a_fresh_write(
    driver: Driver, lost: list[NaiveDocument], library: list[NaiveDocument], steps: int, later: bool
) -> None:
    """A stage stops after any of its transactions; the documents come again, with other text or as new versions."""
    edited, fresh = uuid4().hex, uuid4().hex
    lost = lost[: len(library)]
    try:
        if later:
            write(driver, edited, library)
        for request, _ in zip(staging(edited, lost), range(steps), strict=False):
            database.write(driver, "neo4j", request)
        write(driver, edited, library)
        write(driver, fresh, library)
        assert snapshot(driver, edited) == snapshot(driver, fresh)
    finally:
        remove(driver, [edited, fresh])


def test_a_publication_that_fails_changes_nothing(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora.append(corpus)
    write(driver, corpus, [small_document("d0", ["ann", "bob"])])
    library = [small_document("d0", ["cid", "dan"])]
    for request in staging(corpus, library):
        database.write(driver, "neo4j", request)
    before = snapshot(driver, corpus, exact=True)
    request = published(corpus, "a run", documents_of(corpus, library))
    broken = Write((*request.statements, ("index/publish_documents", {"corpus": corpus})), request.condition)
    with pytest.raises(DatabaseError, match="rows"):
        database.write(driver, "neo4j", broken)
    assert snapshot(driver, corpus, exact=True) == before


@few_examples(12)
@given(libraries(), st.data())
def test_a_deletion_is_seen_at_once_and_removed_in_batches(
    driver: Driver, library: list[NaiveDocument], data: st.DataObject
) -> None:
    """First it looks how large they are; after the transaction that follows queries see what is left, and after the
    last there is nothing else."""
    corpus, fresh = uuid4().hex, uuid4().hex
    names = sorted({name for d in library for sentence in d.sentences for name, _ in sentence.occurrences})
    going = data.draw(st.sets(st.sampled_from([d.id for d in library]), min_size=1))
    left = [d for d in library if d.id not in going]
    try:
        write(driver, corpus, library)
        if left:
            write(driver, fresh, left)
        before, expected = asked(driver, corpus, names), asked(driver, fresh, names)
        operation: Any = delete(corpus, sorted(going))
        request = operation.send(None)
        for _ in going:
            rows = database.write(driver, "neo4j", request)
            assert asked(driver, corpus, names) == before
            request = operation.send(rows)
        while True:
            rows = database.write(driver, "neo4j", request)
            assert asked(driver, corpus, names) == expected
            try:
                request = operation.send(rows)
            except StopIteration:
                break
        assert snapshot(driver, corpus) == snapshot(driver, fresh)
    finally:
        remove(driver, [corpus, fresh])


# --- documents with more edges than a transaction takes ----------------------------------------------


def weights(driver: Driver, corpus: str) -> dict[tuple[str, str], float]:
    query = "MATCH (a:Entity {corpus: $corpus})-[r:CO_OCCURS]->(b) RETURN a.key, b.key, r.weight"
    return {(a, b): weight for a, b, weight in driver.execute_query(query, corpus=corpus).records}


def test_edges_of_a_long_document_are_counted_and_withdrawn_some_at_a_time(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it comes, changes and goes. What is left is the graph of a fresh write."""
    names = ["harker", "mina", "élise"]
    short = small_document("d0", names)
    sentences = [[names[i % 3], names[i % 2], f"n{i}"] for i in range(120)]
    versions = [[], [long_document("long", sentences)], [long_document("long", [["new"], *sentences[60:]])]]
    fresh = [f"{corpus}-{number}" for number in range(len(versions))]
    corpora += [corpus, *fresh]
    for name, version in zip(fresh, versions, strict=True):
        write(driver, name, [short, *version])
    monkeypatch.setattr(writer, "CHUNKS_AT_ONCE", 2)
    monkeypatch.setattr(writer, "CHUNKS_READ", 1)
    changed = []
    original = database.write

    def counting(driver: Driver, name: str, request: Write) -> Any:
        before = weights(driver, corpus)
        rows = original(driver, name, request)
        after = weights(driver, corpus)
        changed.append(sum(before.get(pair) != after.get(pair) for pair in before.keys() | after.keys()))
        return rows

    monkeypatch.setattr(database, "write", counting)
    write(driver, corpus, [short])
    for name, version in zip(fresh[1:], versions[1:], strict=True):
        write(driver, corpus, version)
        assert snapshot(driver, corpus) == snapshot(driver, name)
    driven(performing(driver), delete(corpus, ["long"]))
    assert snapshot(driver, corpus) == snapshot(driver, fresh[0])
    chunks = max(len(one.chunks) for version in versions for one in version)
    assert len(weights(driver, fresh[1])) / chunks < max(changed) < len(weights(driver, fresh[1])) / 2


@pytest.mark.parametrize(
    ("types", "type"),
    [
        ({"noun": 2, "person": 1}, "noun"),
        ({"noun": 1, "person": 1}, "person"),
        ({"noun": 2, "person": 1, "place": 1}, "person"),
        ({"name": 1, "place": 1}, "place"),
        ({"name": 2, "place": 1}, "name"),
        ({"person": 1, "organisation": 1}, "organisation"),
        ({}, None),
    ],
)
def test_the_type_of_an_entity_is_that_of_most_of_its_mentions(
    driver: Driver, corpora: list[str], corpus: str, types: dict[str, int], type: str | None
) -> None:
    corpora.append(corpus)
    driver.execute_query(
        "CREATE (e:Entity {corpus: $corpus, key: 'x'}) WITH e UNWIND [0, 1] AS half "
        "CREATE (e)-[:FROM_CHUNK {count: 1, types: $types[half], type_counts: $counts[half]}]->"
        "(:StagedChunk {corpus: $corpus, id: toString(half), document: 'd'})",
        corpus=corpus,
        types=[list(types)[:1] or None, list(types)[1:] or None],
        counts=[list(types.values())[:1] or None, list(types.values())[1:] or None],
    )
    write = Write((("index/count_mentions", {"corpus": corpus, "rows": [{"document": "d", "chunks": []}]}),))
    performing(driver)(write)
    [row] = driver.execute_query("MATCH (e:Entity {corpus: $corpus}) RETURN e", corpus=corpus).records
    assert row["e"].get("type") == type
    assert dict(zip(row["e"].get("types", []), row["e"].get("type_counts", []), strict=True)) == types
