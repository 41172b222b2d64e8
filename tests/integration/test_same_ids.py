"""Two corpora whose documents, chunks and entities have the same ids: no statement reads or writes the other one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from graphs import snapshot
from libraries import (
    MODELS,
    REAL_DIMENSIONS,
    driven,
    long_document,
    padded,
    performing,
    remove,
    small_document,
    staging,
    write,
)
from naive import NaiveDocument
from neo4j import Driver
from stated import Model, Models

from e2g_neo4j.graph import writer
from e2g_neo4j.graph.lease import fail
from e2g_neo4j.graph.writer import delete
from e2g_neo4j.indexing import merge_overrides
from e2g_neo4j.indexing.clusters.layer import CLUSTERS
from e2g_neo4j.indexing.communities.layer import COMMUNITIES
from e2g_neo4j.indexing.descriptions import DESCRIPTIONS
from e2g_neo4j.indexing.entity_linking import unlink
from e2g_neo4j.indexing.graph_schema import GraphSchema
from e2g_neo4j.indexing.statements.layer import STATEMENTS
from e2g_neo4j.indexing.typed.layer import TYPED
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.cypher import Variant, folder, load
from e2g_neo4j.runtime.requests import Write

pytestmark = pytest.mark.by_turns(2)

READS = sorted(
    f"{path.parent.name}/{path.stem}"
    for kind in (
        "query",
        "index",
        "layers",
        "communities",
        "clusters",
        "entities",
        "descriptions",
        "statements",
        "typed",
        "link",
        "adopt",
        "reindex",
        "references",
    )
    for path in (folder("cypher") / kind).glob("*.cypher")
    if "$corpus" in path.read_text(encoding="utf-8") and "// →" in path.read_text(encoding="utf-8")
    if path.stem not in ("hold", "vectors", "cached", "reports")  # depend on numbers and hashes of a corpus
    and path.stem not in ("beside", "graph_names", "tied_entities")  # ask for them, or for what is of the user
)
"""Statements that give something back. Some also take a lock, or documents for a run."""

VARIANTS = [
    (name, variant)
    for name in READS
    for variant in (Variant.SEARCH, Variant.FILTERED)
    if variant is Variant.SEARCH or load(name, variant) != load(name)
]

WITH_WORDS = {"query/fulltext", "query/fulltext_chunks", "query/signals"}

CONDITIONS = {
    *("adopt/is_left", "adopt/may_adopt"),
    *("index/hold_documents", "index/hold_version", "index/is_large", "index/needs_purge"),
    *("reindex/missing_windows", "reindex/missing_texts", "reindex/has_unused"),
}
"""Statements that give a row where something holds: of the other corpus it does, of this one it does not."""

WORD = f"ann{uuid4().hex}"
"""A name that is in both corpora and in no other."""

SUFFIX = "_0123abcd"
"""Of the vectors of a further model."""

NAMES = [WORD, "bob", "cid", "mr harker", "jonathan harker"]
_RANDOM = Random(7)
LONG = [["jonathan harker", WORD], *(_RANDOM.choices(NAMES[:4], k=_RANDOM.randint(1, 4)) for _ in range(200))]


def library(*more: str) -> list[NaiveDocument]:
    """Two documents: one of a chunk; one of several with summaries and with a name that stands for another."""
    return [
        small_document("d0", [WORD, "bob", *more], ["cid"]),
        long_document("long", [[*names, *more] for names in LONG]),
    ]


def theirs() -> list[NaiveDocument]:
    """Texts, names and edges that `library` has not, under the same ids as far as they do not come from the text."""
    return [*library("zed"), small_document("d1", [WORD, "cid", "zed"])]


def parameters(corpus: str, linked: str) -> dict[str, Any]:
    """Of all statements above, by name."""
    return {
        "corpus": corpus,
        "names": NAMES,
        "titles": ["title of d0", "title of d1"],
        "terms": [WORD, "bob"],
        "type": None,
        "limit": 100,
        "meanings": 3,
        "proper": [{"name": "bobb", "words": [["bobb", "bobb~1", "bobb~1"]], "terms": []}],
        "k": 100,
        "forms": 3,
        "similar": 3,
        "threshold": 0.9,
        "keywords": [{"key": WORD, "stem": WORD, "vector": padded([[1.0] * 8], REAL_DIMENSIONS)[0].tolist()}],
        "vector": padded([[1.0] * 8], REAL_DIMENSIONS)[0].tolist(),
        "statement_vector": padded([[1.0] * 8], REAL_DIMENSIONS)[0].tolist(),
        "ids": [f"d{n}-c0" for n in range(2)] + [f"d{n}-c0-w0" for n in range(2)] + ["d0", "d1", "long"],
        "types": ["KNOWS"],
        "document": "long",
        "documents": ["d0", "long"],
        "overfetch": 2,
        "name_words": [WORD, "mr", "bob"],
        "wholes": ["bob", "ann"],
        "people": ["person", "name", "noun"],
        "members": 3,
        "level": 1,
        "without": [],
        "where": [],
        "key": "mr harker",
        "label": linked,
        "labels": [linked],
        "name": "name",
        "aliases": None,
        "linked": ["1"],
        "version": "1",
        "after": "",
        "best": 10,
        "windows": 200,
        "nearest": 20,
        "relations": 40,
        "depth": 20,
        "matches": 2_000,
        "seeds": 3,
        "seed_words": 0.0,  # as scores do, which windows are the best by words depends on all corpora
        "temperature": 0.25,
        "own": 0.3,
        "active": 50,
        "reach": 2000,
        "hub": 1000,
        "entry": 20,
        "candidates": 100,
        "neighbours": 10,
        "compared": 100,
        "by_name": True,
        "unknown": [{"key": "anne", "vector": padded([[1.0] * 8], REAL_DIMENSIONS)[0].tolist()}],
        "around": 200,
        "sample": 250,
        "tested": 100,
        "keys": NAMES,
        "scores": [[0.1] * number for number in range(len(NAMES))],
        "weights": [1.0] * len(NAMES),
        "known": ["cid"],
        "sentences": [{"chunk": "d0-c0", "number": number, "passes": True} for number in range(2)],
        "decay": 0.5,
        "chunks": [f"d{n}-c0" for n in range(2)],
        "run": "theirs",
        "apart": None,
        "told": [WORD],
        "a": WORD,
        "b": "bob",
        "hops": 3,
        "pairs": [{"a": WORD, "b": "bob"}],
        "start": 0,
        "end": 1000,
        "spans": [{"chunk": "d0-c0", "start": 0, "end": 100}, {"chunk": "d1-c0", "start": 0, "end": 100}],
        "sha256": f"sha of {theirs()[1].text}",
        "adopted": False,
        "adopts": "{}",
        "most": len(library()[1].chunks),
        "other_names": [],
        "overrides": [["cid", "", "d0: cid, Title of d0"], ["mr harker", ""]],
        "state": None,
        "newest": True,
        "only": False,
        "community": "above",
    }


OF_ONE: dict[str, dict[str, Any]] = {
    "references/titles": {"words": ["title"]},
    "references/sources": {"sources": ["d0.txt", "d1.txt"]},
    "index/known_files": {"sources": ["d0.txt"], "folders": ["d"]},
    "query/aliases": {"key": None, "document": None},
    "query/entity_card": {"key": "bob"},
    "query/neighbourhood": {"key": "bob"},
    "query/document_page": {"after": "d0"},
    "query/documents_called": {"name": "d0", "path": "/d0"},
    "reindex/document_windows": {"after": -1},
}
"""Parameters of single statements, which are called like others of other statements."""


def fill(driver: Driver, corpus: str, documents: list[NaiveDocument], label: str) -> None:
    """Documents, of which one is being indexed anew; nodes that wait to be removed; a name kept apart; links."""
    write(driver, corpus, documents)
    driver.execute_query("MATCH (d:Document {corpus: $corpus, id: 'd0'}) SET d.meta_year = 1", corpus=corpus)
    driver.execute_query("MATCH (d:Document {corpus: $corpus, id: 'd1'}) SET d.meta_theirs = 1", corpus=corpus)
    perform = performing(driver)
    driven(perform, merge_overrides.split("mr harker", corpus=corpus))
    driven(perform, merge_overrides.split("cid", "d0", corpus=corpus))
    driver.execute_query(
        "MATCH (e:Entity {corpus: $corpus}) "
        "CREATE (e)-[:REFERS_TO {method: 'exact', score: 1.0}]->(:$($label) {name: e.key})"
        "-[:KNOWS]->(:$($label) {name: $corpus})",
        corpus=corpus,
        label=label,
    )
    driver.execute_query(
        "MATCH (e:Entity {corpus: $corpus, key: 'bob'}) MERGE (a:Alias {corpus: $corpus, key: 'bobby', name: 'Bobby'}) "
        "CREATE (a)-[:ALIAS_OF {corpus: $corpus, document: 'long', count: 1, form: 'Bobby', why: 'Told.'}]->(e)",
        corpus=corpus,
    )
    driven(perform, COMMUNITIES.enrich(MODELS, corpus, None))
    driven(perform, CLUSTERS.enrich(MODELS, corpus, None))
    stating: Any = Models(Model({WORD: f"{WORD} | knows | bob | They know.\n{WORD} | is | - | There is one."}))
    driven(perform, STATEMENTS.enrich(stating, corpus, None, UsageMeter()))
    driven(perform, DESCRIPTIONS.enrich(MODELS, corpus, None))
    driven(perform, TYPED.enrich(stating, corpus, schema=GraphSchema().with_prefix("E2G_")))


def complete(driver: Driver, corpus: str, label: str) -> None:
    """Add a record of models, a community in another, a reference to a document, and names of linked nodes."""
    driver.execute_query(
        "CREATE (:E2GIndex {name: 'e2g/' + $corpus, corpus: $corpus, embedding_model: $corpus, dimensions: 8, "
        "pooling: 'mean', spacy_model: 'en', vectors: ''})",
        corpus=corpus,
    )
    driver.execute_query(
        "MATCH (m:Community {corpus: $corpus}) WITH m ORDER BY m.id LIMIT 1 "
        "CREATE (m)-[:PARENT]->(a:Community {corpus: $corpus, id: 'above', level: 2, title: 'All', text: 'All.', "
        "entities: 9}) SET a.embedding = m.embedding",
        corpus=corpus,
    )
    driver.execute_query(
        "MATCH (c:Chunk {corpus: $corpus, document: 'long'}), (d:Document {corpus: $corpus, id: 'd0'}) "
        "WITH c, d ORDER BY c.index LIMIT 1 SET c:UnlinkedChunk "
        "CREATE (c)-[:REFERS_TO {kind: 'title', text: 'd0', windows: [0]}]->(d)",
        corpus=corpus,
    )
    know_names(driver, corpus, label)


def know_names(driver: Driver, corpus: str, label: str) -> None:
    driver.execute_query(
        "CREATE (n:E2GLinkedNames {corpus: $corpus, label: $label, names: [$corpus]}) "
        "SET n.type = '', n.version = '1', n.changed = []",
        corpus=corpus,
        label=label,
    )


def unfinish(driver: Driver, corpus: str) -> None:
    """Leave what interrupted runs leave."""
    for request in staging(corpus, [small_document("d0", [WORD, "eve"])], "theirs"):
        database.write(driver, "neo4j", request)
    driver.execute_query(
        "MATCH (c:Chunk {corpus: $corpus, document: 'long'}) WHERE c.index < 2 SET c:UncountedChunk", corpus=corpus
    )
    driver.execute_query(
        "CREATE (:E2GRetired {corpus: $corpus, id: 'a'})-[:OLD]->(:E2GRetired {corpus: $corpus, id: 'b'}), "
        "(:E2GRetired {corpus: $corpus, id: 'alone'}), (:OutdatedCommunity {corpus: $corpus, report_sha256: ''}), "
        "(:StagedCommunity {corpus: $corpus, run: 'theirs', id: ''}), "
        "(:OutdatedCluster {corpus: $corpus, text_sha256: ''}), "
        "(:StagedCluster {corpus: $corpus, run: 'theirs', id: ''}), "
        "(:StagedStatement {corpus: $corpus, run: 'theirs', id: ''}), "
        "(:Chunk {corpus: $corpus, id: 'bare', text: 'Bare.'}), "
        "(:Summary {corpus: $corpus, id: 'bare', text: 'Bare.'})",
        corpus=corpus,
    )


def compared(value: Any) -> Any:
    """Without what is about the whole index: scores, and how many windows of all corpora contain a word."""
    if isinstance(value, dict):
        whole = ("made_with", "index_windows")
        return {key: compared(one) for key, one in value.items() if "score" not in key and key not in whole}
    if isinstance(value, list):
        return sorted((compared(one) for one in value), key=str)
    return value


@pytest.fixture
def two(driver: Driver) -> Iterator[tuple[str, str]]:
    corpora = uuid4().hex, uuid4().hex
    yield corpora
    remove(driver, corpora)


@pytest.fixture(scope="module")
def answers(driver: Driver) -> dict[tuple[str, Variant], tuple[Any, Any]]:
    """What each statement gives back, before there is another corpus and after."""
    mine, other = uuid4().hex, uuid4().hex
    label = f"Linked {mine}"
    given = parameters(mine, label)

    def read(name: str, variant: Variant) -> Any:
        """In a transaction that is rolled back."""
        # A question's words alone, without the corpus: the statement itself has to keep to it.
        given["words"] = f"text:{WORD}" if name in WITH_WORDS else "harker"
        filled = given | OF_ONE.get(name, {})
        text = load(name, variant)
        wanted = {one: filled[one] for one in set(re.findall(r"\$(\w+)", text))}
        with driver.session() as session, session.begin_transaction() as transaction:
            return compared(transaction.run(text, wanted).data())

    try:
        fill(driver, mine, library(), label)
        complete(driver, mine, label)
        communities = "MATCH (m:Community {corpus: $corpus}) RETURN collect(m.id) AS ids"
        ids = driver.execute_query(communities, corpus=mine).records[0]["ids"]
        given["ids"] += ids
        given["points"] = [{"number": 0, "reports": ids, "vector": given["vector"]}]
        before = {one: read(*one) for one in VARIANTS}
        fill(driver, other, theirs(), label)
        complete(driver, other, label)
        unfinish(driver, other)
        return {one: (before[one], read(*one)) for one in VARIANTS}
    finally:
        remove(driver, [mine, other])
        driver.execute_query("MATCH (n:$($label)) DETACH DELETE n", label=label)
        driver.execute_query("MATCH (n:E2GIndex) WHERE n.corpus IN $corpora DELETE n", corpora=[mine, other])


@pytest.mark.parametrize("read", VARIANTS, ids=lambda read: f"{read[0]}-{read[1].name.lower()}")
def test_what_is_read_stays_when_another_corpus_comes(
    read: tuple[str, Variant], answers: dict[tuple[str, Variant], tuple[Any, Any]]
) -> None:
    before, after = answers[read]
    assert after == before
    assert bool(before) == (read[0] not in CONDITIONS)


def reindexed(driver: Driver, corpus: str) -> Iterator[Write]:
    """What gives all nodes of a corpus vectors of a further model, and takes them away."""
    nodes = driver.execute_query(
        "MATCH (n:Window|Chunk|Summary|Community|Cluster|Statement {corpus: $corpus}) RETURN labels(n)[0] AS label, "
        "n.id AS id, coalesce(n.report_sha256, n.text_sha256, '') AS version",
        corpus=corpus,
    ).records
    rows = [{**row.data(), "embedding": padded([[1.0] * 8], REAL_DIMENSIONS)[0].tolist()} for row in nodes]
    spreads = [{"document": id, "persistence": 0.5} for id in ("d0", "d1", "long")]
    model = {"embedding_model": "m", "dimensions": 8, "pooling": "mean", "spacy_model": "en", "vectors": SUFFIX}
    for name, parameters in (
        ("set_vectors", {"rows": rows, "notes_of": "embedding"}),
        ("set_persistence", {"rows": spreads}),
        ("switch", {**model, "unsuffixed": False, "added": "", "removed": SUFFIX}),
        ("remove_vectors", {"limit": 1_000}),
        ("forget_unused", {"removed": ""}),
        ("add_unused", {"added": SUFFIX}),
    ):
        yield Write(((f"reindex/{name}", {"corpus": corpus, **parameters}),), vectors=SUFFIX)


def test_what_is_written_leaves_another_corpus_as_it_is(
    driver: Driver, two: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every statement that writes, in the life of a corpus; the other one has the same ids in every state there is."""
    mine, other = two
    sent: set[str] = set()

    def noted(name: str, *variant: Variant) -> str:
        sent.add(name)
        return load(name, *variant)

    fill(driver, other, theirs(), f"Linked {mine}")
    know_names(driver, other, f"Linked {mine}")
    unfinish(driver, other)
    before = snapshot(driver, other, exact=True)
    monkeypatch.setattr(database, "load", noted)
    perform = performing(driver)

    def unharmed(step: str) -> None:
        assert snapshot(driver, other, exact=True) == before, step

    for at_once in (1_000, 0):
        monkeypatch.setattr(writer, "CHUNKS_AT_ONCE", at_once)
        fill(driver, mine, library(), f"Linked {mine}")
        unharmed("indexed and split")
        driven(perform, merge_overrides.join("mr harker", corpus=mine))
        unharmed("joined again")
        for request in staging(mine, library("dan"), "lost"):
            perform(request)
        unharmed("staged")
        perform(fail(mine, ["d0"], ValueError("Too long.")))
        unharmed("failed")
        added, longer = [["dan"]] * 7, [["dan", "eve"]] * 7
        write(driver, mine, [small_document("d0", [WORD]), long_document("long", [*LONG[:7], *added, *LONG[7:]])])
        unharmed("replaced")
        write(driver, mine, [long_document("long", [*LONG[:7], *longer, *LONG[7:]])])
        unharmed("replaced again")
        properties = [{"id": "d0", "properties": {"meta_a": 1}}]
        perform(Write((("index/set_properties", {"corpus": mine, "rows": properties}),)))
        unharmed("properties set")
        assert driven(perform, unlink(mine, None))
        unharmed("unlinked")
        for request in reindexed(driver, mine):
            perform(request)
            unharmed(request.statements[0][0])
        driven(perform, delete(mine, ["d0"]))
        unharmed("a document deleted")
        driven(perform, delete(mine, ["long"]))
        unharmed("all deleted")
        assert snapshot(driver, mine) == ({}, {})
    written = {
        f"{kind}/{path.stem}"
        for kind in ("index", "reindex")
        for path in (folder("cypher") / kind).glob("*.cypher")
        if "$corpus" in path.read_text(encoding="utf-8")
    }
    elsewhere = {"index/cache_summary", "index/set_fingerprint", "index/set_override", "reindex/hold"}
    assert written - sent - set(READS) <= elsewhere, "which have tests in e2e"
