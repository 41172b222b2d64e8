"""Mode `synonyms` on the real server: what matches a keyword, and how relations rank windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

import pytest
from at_server import migrated
from hypothesis import given
from hypothesis import strategies as st
from libraries import (
    MODELS,
    NAMES,
    REAL_DIMENSIONS,
    bounded,
    driven,
    few_examples,
    find_evidence,
    padded,
    performing,
    side_by_side,
    small_document,
    staging,
    vectors,
    write,
)
from naive import AmbiguousError, NaiveDocument, cosine, edges_of, windows
from neo4j import Driver
from operations import outcome

from e2g_neo4j.indexing.vector_layers import ENTITIES
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.retrieval.filters import FilteredDocuments
from e2g_neo4j.retrieval.options import RetrievalOptions
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import synonyms as mode
from e2g_neo4j.retrieval.strategies.synonyms import Match, match_keywords
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import Embed, EmbedAll, Operation
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.fingerprint import Fingerprint

T = TypeVar("T")

SHIP = [
    small_document("d0", ["doctor", "ship"], ["chronometer", "ship"]),
    small_document("d1", ["company", "companion"], ["van helsing", "ship"]),
]


def near(name: str, other: str, score: float) -> list[float]:
    """A vector that has this score with the name and is otherwise like another text."""
    a, b = (MODELS.embedder.embed([one])[0] for one in (name, other))
    b = b - (a @ b) * a
    b /= (b @ b) ** 0.5
    share = 2 * score - 1
    vector: list[float] = (share * a + (1 - share**2) ** 0.5 * b).tolist()
    return vector


def run(driver: Driver, operation: Operation[T], vectors: Mapping[str, Sequence[float]]) -> T:
    """The result of an operation, where the vectors of texts are given."""
    perform = performing(driver)

    def vector_of(text: str) -> list[float]:
        return list(vectors[text]) if text in vectors else MODELS.embedder.embed([text])[0].tolist()

    def reply(request: Any) -> Any:
        if isinstance(request, Embed):
            return vector_of(request.text)
        return [vector_of(text) for text in request.texts] if isinstance(request, EmbedAll) else perform(request)

    result: T = outcome(operation, reply)
    return result


def match(
    driver: Driver, corpus: str, keywords: Sequence[str], vectors: Mapping[str, Sequence[float]] | None = None
) -> list[tuple[str, str, str]]:
    operation = match_keywords({key: key for key in keywords}, [corpus])
    found = run(driver, operation, vectors or {})
    return [(one.keyword, one.entity, one.by) for one in found[corpus]]


def enriched(driver: Driver, corpus: str) -> None:
    driven(performing(driver), ENTITIES.enrich(MODELS, corpus, None))


def check_matches(driver: Driver, corpus: str) -> None:
    write(driver, corpus, SHIP)
    write(driver, f"{corpus}-other", [small_document("d0", ["physician", "companies"])])
    for request in staging(corpus, [small_document("d2", ["physician", "companies"])], "a run"):
        database.write(driver, "neo4j", request)
    for one in (corpus, f"{corpus}-other"):
        enriched(driver, one)
    alias = (
        "MATCH (e:Entity {corpus: $corpus, key: 'van helsing'}) CREATE (:Alias {corpus: $corpus, key: 'helsing', "
        "name: 'Helsing'})-[:ALIAS_OF {corpus: $corpus, document: 'd1', count: 1}]->(e)"
    )
    driver.execute_query(alias, corpus=corpus)
    assert match(driver, corpus, ["van helsing", "helsing", "companies", "nobody"]) == [
        ("van helsing", "van helsing", "key"),
        ("helsing", "van helsing", "alias"),
        ("companies", "company", "form"),
    ]
    above, below = (near("doctor", "physician", mode.THRESHOLD + more) for more in (0.01, -0.01))
    assert match(driver, corpus, ["physician"], {"physician": above}) == [("physician", "doctor", "vector")]
    assert match(driver, corpus, ["physician"], {"physician": below}) == []
    assert match(driver, f"{corpus}-other", ["doctor", "ship"]) == []


def test_a_keyword_matches_by_key_alias_form_and_vector(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, f"{corpus}-other"]
    check_matches(driver, corpus)


def test_only_keywords_that_were_looked_up_are_unknown(
    driver: Driver, made_with: Fingerprint, corpora: list[str], corpus: str
) -> None:
    corpora.append(corpus)
    write(driver, corpus, SHIP)
    enriched(driver, corpus)
    keywords = {name: name for name in ("ship", *(f"zz{number}" for number in range(20)))}
    options = RetrievalOptions(mode="synonyms").fill(Settings())
    operation = find_evidence(
        "Who?",
        corpora=[corpus],
        names=[],
        made_with=made_with,
        options=options,
        token_spans=lambda text: [],
        keywords=lambda: keywords,
    )
    found = run(driver, operation, {})
    assert found.entities == ("ship",)
    assert found.unknown_entities == tuple(keywords)[1 : mode.MAX_KEYWORDS]


def test_5_26_matches_the_same(scratch_5_26: Connection, corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with migrated(scratch_5_26) as driver:
        monkeypatch.setattr(mode, "CANDIDATES", 2)  # the index finds those of the other corpus first
        check_matches(driver, corpus)
        write(driver, f"{corpus}-twins", [small_document(f"d{n}", [f"twin{n}"]) for n in range(3)])
        driver.execute_query(
            "MATCH (e:Entity {corpus: $corpus}) SET e.embedding = $vector, e.embedded_name = e.name",
            corpus=f"{corpus}-twins",
            vector=MODELS.embedder.embed(["doctor"])[0].tolist(),
        )
        assert match(driver, corpus, ["doc"], {"doc": MODELS.embedder.embed(["doctor"])[0].tolist()}) == [
            ("doc", "doctor", "vector")
        ]
        found = run(driver, mode.by_relations(Query("Who?", [corpus], 10), {}), {})
        assert {window.id for window, _ in found} == {"d0-c0-w0", "d1-c0-w0"}


def test_windows_with_relations_of_matches_come_first(
    driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All windows have the same vector. A relation of two entities of the question counts more than one of one."""
    corpora.append(corpus)
    documents = [
        small_document("d0", ["dan", "eve"]),
        small_document("d1", ["ann", "bob"], ["ann", "bob"]),
        small_document("d2", ["ann", "cid"]),
        small_document("d3", ["ann"]),
    ]
    write(driver, corpus, documents)
    matches = {corpus: (Match("a", "ann", "key", 1.0), Match("c", "cid", "vector", 0.95))}

    def ids(limit: int = 10, only: Sequence[str] | None = None) -> list[str]:
        documents = None if only is None else {corpus: FilteredDocuments(only)}
        found = run(driver, mode.by_relations(Query("Who?", [corpus], limit, documents=documents), matches), {})
        return [window.document for window, _ in found]

    assert ids() == ["d2", "d1", "d0", "d3"]
    assert ids(2) == ["d2", "d1"]
    assert ids(only=["d0", "d1", "d3"]) == ["d1", "d0", "d3"]
    assert ids(1, only=["d3"]) == ["d3"]
    monkeypatch.setattr(mode, "NEIGHBOURS", 1)  # that of ann with cid, although bob has more weight
    assert ids() == ["d2", "d0", "d1", "d3"]
    monkeypatch.setattr(mode, "HUB", 2)  # ann is in three chunks
    assert ids() == ["d0", "d1", "d2", "d3"]


@few_examples(16, 3)
@given(st.data())
def test_ranking_equals_the_naive_implementation_in_every_corpus(driver: Driver, data: Any) -> None:
    """Three corpora side by side with the same ids and names, each searched as a whole or within some documents."""
    with side_by_side(driver, data) as written:
        for _ in range(3):
            vector = data.draw(vectors(), "vector")
            chosen = {
                corpus: data.draw(st.none() | st.lists(st.sampled_from(library), unique_by=lambda one: one.id))
                for corpus, library in written.items()
            }
            overfetch = data.draw(st.sampled_from([0, 1, 1000]), "overfetch")
            meant = data.draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from([0.9, 1.0]), max_size=3))
            constants = {
                "NEIGHBOURS": data.draw(st.integers(1, 4), "neighbours"),
                "RELATION": data.draw(st.sampled_from([0.05, 0.5]), "relation"),
            }
            for corpus, library in written.items():
                with suppress(AmbiguousError), bounded(mode, constants):
                    only = chosen[corpus]
                    expected = naive(library, library if only is None else only, vector, meant)
                    found = tuple(Match(key, key, "key", score) for key, score in meant.items())
                    query = Query("Who?", [corpus], 200)
                    if only is not None:
                        filtered = FilteredDocuments([one.id for one in only], overfetch)
                        query = replace(query, documents={corpus: filtered})
                    ranked = driven(performing(driver), mode.by_relations(query, {corpus: found}), vector)
                    assert [window.id for window, _ in ranked] == expected


def naive(
    library: list[NaiveDocument], chosen: list[NaiveDocument], vector: list[float], meant: Mapping[str, float]
) -> list[str]:
    """Rank windows of some documents by their own scores, and by the mean of both ends of the relations that they
    mention. Relations are those of the whole library."""
    question = padded([vector], REAL_DIMENSIONS)[0].tolist()
    relations: dict[tuple[str, str], float] = {}
    for key in meant:
        weights = {pair: weight for pair, (_, weight) in edges_of(library).items() if key in pair}
        others = {pair: pair[pair[0] == key] for pair in weights}
        order = sorted(weights, key=lambda pair: (others[pair] not in meant, -round(weights[pair], 6), others[pair]))
        for pair in order[: mode.NEIGHBOURS]:
            relations[pair] = sum(meant.get(end, 0.0) for end in pair) / 2
    places = windows(chosen)
    total = {}
    for id, place in places.items():
        own = (1 + cosine(padded([place.vector], REAL_DIMENSIONS)[0].tolist(), question)) / 2
        mentioned = [score for (a, b), score in relations.items() if place.sentences.get(a) and place.sentences.get(b)]
        total[id] = own + mode.RELATION * max(mentioned, default=0.0)
    values = sorted(total.values())
    if any(1e-9 < b - a < 1e-4 for a, b in pairwise(values)):
        raise AmbiguousError
    in_order = sorted(places, key=lambda id: (places[id].document.id, places[id].position))
    return sorted(in_order, key=lambda id: -round(total[id], 7))
