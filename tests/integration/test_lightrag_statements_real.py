"""Mode `lightrag` in corpora with statements, on the real server."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from at_server import migrated
from graphs import snapshot
from libraries import MODELS, REAL_DIMENSIONS, driven, padded, performing, small_document, write
from naive import NaiveChunk, NaiveDocument, NaiveSentence, NaiveWindow
from neo4j import Driver
from stated import MODEL, Model, Models

from e2g_neo4j.graph.writer import delete
from e2g_neo4j.indexing.statements.layer import STATEMENTS
from e2g_neo4j.managed_neo4j import Connection
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.retrieval.filters import FilteredDocuments
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import lightrag


def at(cosine: float, id: str, *names: str) -> NaiveDocument:
    """A document of one window with this cosine to (1, 0, …), whose sentence mentions the names."""
    document = small_document(id, names)
    [chunk] = document.chunks
    vector = (cosine, sqrt(1 - cosine**2))
    window = NaiveWindow(chunk.start, chunk.end, vector)
    return replace(document, chunks=(NaiveChunk(chunk.id, 0, chunk.start, chunk.end, vector, (window,)),))


LIBRARY = [
    at(0.9, "d0", "ann", "bob"),
    at(0.3, "d1", "bob", "cid"),
    at(0.5, "d2", "ann", "dan"),
    at(0.7, "d3", "dan", "eve"),
    at(0.4, "d4", "bob", "cid", "bob"),
    at(0.2, "d5", "ann"),
    at(0.1, "d6", "ann", "fay"),
]
TOLD: dict[str, str | list[str]] = {
    "bob cid bob": "NONE",
    "ann bob": "ann | knows | bob | far one || 3",
    "bob cid": "bob | knows | cid | NEAR",
    "ann dan": "ann | meets | dan | far two || 9",
    "dan eve": "dan | is | eve | far three",
    "ann fay": "ann | greets | fay | far four || 10",
    "So ann.": "ann | is | - | NEAR TOO",
}
"""Ann is related to three entities, Bob and Dan to two, the others to one. The statements about Bob and Cid in d1, and
about Ann in d5, are near; the second describes her and is no relation. D4 mentions Bob and Cid, but states nothing."""


@pytest.fixture(autouse=True)
def _bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"NEAREST": 1, "RELATIONS": 2, "CANDIDATES": 2, "WINDOWS_EACH": 1}.items():
        monkeypatch.setattr(lightrag, name, value)


def stated(driver: Driver, corpus: str, told: dict[str, str | list[str]] = TOLD) -> None:
    write(driver, corpus, LIBRARY)
    models: Any = Models(Model(told, f"{MODEL}-{corpus}"))
    driven(performing(driver), STATEMENTS.enrich(models, corpus, None, UsageMeter()))


def ask(
    driver: Driver, corpora: Sequence[str], documents: dict[str, FilteredDocuments] | None = None
) -> tuple[list[str], list[dict[str, Any]]]:
    """The windows, and the rows that they come from, for the entity ann and keywords that are like NEAR (TOO)."""
    perform = performing(driver)
    near, too = MODELS.embedder.embed(["NEAR", "NEAR TOO"])
    query = Query("Who?", corpora, 200, documents=documents, layered=corpora)
    vector = padded([(1.0, 0.0)], REAL_DIMENSIONS)[0].tolist()
    entities = {one: ["ann"] for one in corpora}
    operation = lightrag._rows(query, vector, entities, statement_vector=(near + 0.5 * too).tolist())
    rows = driven(perform, operation)
    return [window.document for window, _ in lightrag.mix_rows(rows)], rows


def test_statements_are_the_relations(driver: Driver, corpora: list[str], corpus: str) -> None:
    """Of Ann's three relations, that to Fay has the lowest degrees, and those to Dan and Bob come by strength.

    By vector d0; by entity Ann, Bob and Cid d0, d2 and d4; by relation d1, as it is new. The rest mentions an end.
    """
    corpora.append(corpus)
    stated(driver, corpus)
    found, [row] = ask(driver, [corpus])
    assert (row["nearest"], row["named"]) == (["d0-c0-w0"], ["ann"])
    assert row["local"] == [["ann", "dan", "d2-c0"], ["ann", "bob", "d0-c0"]]
    assert row["global"] == [["bob", "cid", "d1-c0"]]
    assert found == ["d0", "d1", "d2", "d4", "d3", "d5", "d6"]


def test_hubs_are_only_ends(driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    corpora.append(corpus)
    stated(driver, corpus)
    monkeypatch.setattr(lightrag, "HUB", 1)
    found, [row] = ask(driver, [corpus])
    assert (row["named"], row["local"], row["global"]) == ([], [], [["bob", "cid", "d1-c0"]])
    assert found == ["d0", "d1"]


@pytest.mark.parametrize("overfetch", [0, 1, 1000])
def test_a_filter_leaves_statements_of_its_documents(
    driver: Driver, corpora: list[str], corpus: str, overfetch: int
) -> None:
    """Ann and Bob are related in d0 alone. By vector d2; by entity Ann, Bob and Cid d2, d4, d1; by relation none."""
    corpora.append(corpus)
    stated(driver, corpus)
    found, [row] = ask(driver, [corpus], {corpus: FilteredDocuments(["d1", "d2", "d4", "d5"], overfetch)})
    assert (row["nearest"], row["named"]) == (["d2-c0-w0"], ["ann"])
    assert row["local"] == [["ann", "dan", "d2-c0"]]
    assert row["global"] == [["bob", "cid", "d1-c0"]]
    assert found == ["d2", "d4", "d1", "d5"]
    _, [row] = ask(driver, [corpus], {corpus: FilteredDocuments(["d4", "d6"], overfetch)})
    assert (row["local"], row["global"]) == ([["ann", "fay", "d6-c0"]],) * 2, "however far it is"


def test_statements_of_other_corpora_change_nothing(driver: Driver, corpora: list[str], corpus: str) -> None:
    corpora += [corpus, other := f"{corpus}-other"]
    stated(driver, corpus)
    kept = {corpus: FilteredDocuments(["d1", "d2", "d4", "d5"], 1000)}
    before = ask(driver, [corpus])
    stated(driver, other, {"dan eve": "dan | is | eve | NEAR", "ann dan": "ann | is | dan | NEAR || 10"})
    assert ask(driver, [corpus])[0] == before[0]
    assert ask(driver, [corpus])[1][0]["global"] == [["bob", "cid", "d1-c0"]]
    assert ask(driver, [corpus], kept)[1][0]["global"] == [["bob", "cid", "d1-c0"]]
    assert ask(driver, [other])[1][0]["local"] == [["ann", "dan", "d2-c0"]]


def test_an_older_server_finds_the_same(
    scratch_5_26: Connection, driver: Driver, corpora: list[str], corpus: str
) -> None:
    with migrated(scratch_5_26) as older:
        corpora += [corpus, other := f"{corpus}-other"]
        for one in (older, driver):
            stated(one, corpus)
            stated(one, other)
        found, [row] = ask(older, [corpus])
        now, [same] = ask(driver, [corpus])
        assert found == now == ["d0", "d1", "d2", "d4", "d3", "d5", "d6"]
        assert (row["local"], row["global"]) == (same["local"], same["global"])
        kept = {corpus: FilteredDocuments(["d1", "d2", "d4", "d5"])}
        assert ask(older, [corpus], kept)[0] == ["d2", "d4", "d1", "d5"]
        driven(performing(older), delete(corpus, [one.id for one in LIBRARY]))
        assert snapshot(older, corpus) == ({}, {})


# --- beside LightRAG ---------------------------------------------------------------------------------

PUBLISHED = json.loads((Path(__file__).parents[1] / "data" / "lightrag.json").read_text(encoding="utf-8"))
"""Written by scripts/record_lightrag.py. A chunk is a string of names of a letter each."""

MODES = {"mix": lightrag.MIX, "hybrid": lightrag.HYBRID, "local": lightrag.LOCAL, "global": lightrag.GLOBAL}
CALLED = dict(zip("abcdefghij", ("ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal", "ida", "jon"), strict=True))


def direction(cosine: float) -> list[float]:
    vector: list[float] = padded([(cosine, sqrt(1 - cosine**2))], REAL_DIMENSIONS)[0].tolist()
    return vector


def published_document(case: Mapping[str, Any]) -> NaiveDocument:
    """A chunk of one window for each of the published ones, all of different texts."""
    text, sentences, chunks = "", list[NaiveSentence](), list[NaiveChunk]()
    for number, (names, cosine) in enumerate(zip(case["chunks"], case["cosines"], strict=True)):
        start, occurrences = len(text), []
        text += f"Part {number}:"
        for name in names:
            occurrences.append((CALLED[name], len(text) + 1))
            text += f" {CALLED[name]}"
        text += "."
        sentences.append(NaiveSentence(start, len(text), tuple(occurrences)))
        vector = (cosine, sqrt(1 - cosine**2))
        window = NaiveWindow(start, len(text), vector)
        chunks.append(NaiveChunk(f"d-c{number}", number, start, len(text), vector, (window,)))
    return NaiveDocument("d", text, tuple(sentences), tuple(chunks), ())


def first_chunks(case: Mapping[str, Any]) -> dict[str, int]:
    """The first chunk that mentions each pair."""
    pairs: dict[str, int] = {}
    for number, names in enumerate(case["chunks"]):
        for pair in combinations(names, 2):
            pairs.setdefault("".join(pair), number)
    return pairs


def criteria(case: Mapping[str, Any], pairs: Iterable[str]) -> list[tuple[int, float]]:
    """The degrees of both ends of pairs, and their weights."""
    known = first_chunks(case)
    degrees = Counter(name for pair in known for name in pair)
    weights = [sum(1 / len(names) for names in case["chunks"] if {*pair} <= {*names}) for pair in pairs]
    return [
        (degrees[pair[0]] + degrees[pair[1]], round(weight, 5)) for pair, weight in zip(pairs, weights, strict=True)
    ]


def letters(relation: Sequence[str]) -> str:
    return "".join(sorted(letter for letter, name in CALLED.items() if name in relation[:2]))


@pytest.mark.parametrize("case", PUBLISHED[::15], ids=range(0, len(PUBLISHED), 15))
def test_lightrag_selects_the_same(
    case: dict[str, Any], driver: Driver, corpora: list[str], corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the graph: relations by the degrees of both ends, then by weight; the nearest statements; text of both. Among
    relations that are equal in this, LightRAG takes those that it has read first."""
    limits = {"NEAREST": case["nearest"], "RELATIONS": 40, "CANDIDATES": len(case["near"])}
    for name, value in {**limits, "WINDOWS_EACH": case["each"] / 2}.items():
        monkeypatch.setattr(lightrag, name, value)
    corpora.append(corpus)
    write(driver, corpus, [published_document(case)])
    lines = defaultdict[str, list[str]](list)
    for pair, number in first_chunks(case).items():
        lines[f"Part {number}:"].append(f"{CALLED[pair[0]]} | is with | {CALLED[pair[1]]} | {pair}")
    models: Any = Models(Model({part: "\n".join(some) for part, some in lines.items()}, f"{MODEL}-{corpus}"))
    driven(performing(driver), STATEMENTS.enrich(models, corpus, None, UsageMeter()))
    cosines = {pair: 0.9 - place / 10 for place, pair in enumerate(case["near"])}
    pairs = [*first_chunks(case)]
    rows = [
        {"pair": pair, "weight": weight, "vector": direction(cosines.get(pair, -1))}
        for pair, (_, weight) in zip(pairs, criteria(case, pairs), strict=True)
    ]
    driver.execute_query(
        "UNWIND $rows AS row MATCH (s:Statement {corpus: $corpus, text: row.pair}) "
        "SET s.strength = row.weight, s.embedding = row.vector",
        corpus=corpus,
        rows=rows,
    )
    query, vector = Query("Who?", [corpus], 200), direction(1)
    entities = {corpus: [CALLED[name] for name in case["named"]]}
    [row] = driven(performing(driver), lightrag._rows(query, vector, entities, entry=0))
    local = [*map(letters, row["local"])]
    assert sorted(local) == sorted(case["local"])
    assert criteria(case, local) == criteria(case, case["local"])

    stated = replace(query, layered=[corpus])
    [row] = driven(performing(driver), lightrag._rows(stated, vector, entities, statement_vector=vector))
    local = [*map(letters, row["local"])]
    assert sorted(local) == sorted(case["local"])
    assert criteria(case, local) == criteria(case, case["local"])
    assert [*map(letters, row["global"])] == case["near"]
    for mode, sources in MODES.items():
        expected = case["stated"][mode]
        assert [window.index for window, _ in lightrag.mix_rows([row], sources)][: len(expected)] == expected, mode
