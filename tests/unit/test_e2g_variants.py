"""The variants of mode `e2g` without a database, `e2g_code` beside what the published code of E²GraphRAG selects."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
import spacy
from operations import outcome
from spacy.tokens import Doc

from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.models.entities.keywords import Terms, find_terms
from e2g_neo4j.retrieval.linking import Candidate, Linked, candidates, pairs_within_hops
from e2g_neo4j.retrieval.passages import ScoredNode
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import e2g_normalised
from e2g_neo4j.retrieval.strategies.e2g_code import by_runs, e2g_code, global_chunks
from e2g_neo4j.runtime.requests import Embed
from e2g_neo4j.types.results import Pair

PUBLISHED = json.loads((Path(__file__).parents[1] / "data" / "e2graphrag.json").read_text(encoding="utf-8"))
"""Written by scripts/record_e2graphrag.py."""

GROUP = 5


def node(id: str, *, level: int = 0, occurrences: int = 0, score: float = 0.5) -> dict[str, Any]:
    return {"id": id, "level": level, "occurrences": occurrences, "score": score, "text": f"Text of {id}."}


def drive(operation: Any, replies: Mapping[str, Callable[..., Any]]) -> list[ScoredNode]:

    def reply(request: Any) -> Any:
        return [1.0] if isinstance(request, Embed) else replies[request.statement](**request.parameters)

    return outcome(operation, reply)


# --- the published code ------------------------------------------------------------------------------


class Library:
    """Chunks of sentences of names, as `e2g_code` reads them."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.near: list[str] = case["near"]
        self.counts = {
            f"leaf_{index}": {name: sum(s.count(name) for s in chunk) for s in chunk for name in s}
            for index, chunk in enumerate(case["chunks"])
        }
        self.graph = nx.Graph(
            [pair for chunk in case["chunks"] for sentence in chunk for pair in combinations(set(sentence), 2)]
        )

    def below(self, id: str) -> set[str]:
        """The chunks below a node. Of a summary, the number of its children is that of the tree."""
        if id.startswith("leaf_"):
            return {id}
        level, number = map(int, id.removeprefix("summary_").split("_"))
        covered = GROUP ** (level + 1)
        return {f"leaf_{place}" for place in range(number * covered, (number + 1) * covered)} & self.counts.keys()

    def mentions(self, id: str, names: list[str]) -> int:
        return sum(self.counts[leaf].get(name, 0) for leaf in self.below(id) for name in names)

    def criteria(self, id: str, names: list[str], hops: int) -> tuple[int, int, int]:
        """Terms of near pairs, neighbours with all of them, and their mentions."""
        here = [name for name in names if name in self.counts[id]]
        near = [pair for pair in combinations(here, 2) if nx.shortest_path_length(self.graph, *pair) <= hops]
        terms = {term for pair in near for term in pair}
        place = int(id.removeprefix("leaf_"))
        beside = (self.counts.get(f"leaf_{at}", {}) for at in (place - 1, place + 1))
        return len(terms), sum(terms <= counts.keys() for counts in beside), sum(self.counts[id][one] for one in terms)

    def terms(self, names: list[str]) -> list[dict[str, Any]]:
        shared = []
        for index, (chunk, counts) in enumerate(self.counts.items()):
            here = [{"entity": name, "count": counts[name]} for name in names if name in counts]
            if len(here) > 1:
                shared.append({"chunk": chunk, "document": "d", "index": index, "counts": here})
        pairs = [
            {"a": a, "b": b, "hops": nx.shortest_path_length(self.graph, a, b)}
            for a, b in combinations(sorted(names), 2)
            if {a, b} <= self.graph.nodes and nx.has_path(self.graph, a, b)
        ]
        known = [[name] for name in names if any(name in counts for counts in self.counts.values())]
        return [{"entities": known, "pairs": pairs, "shared": shared}]

    def nearest(self, k: int, names: list[str]) -> list[dict[str, Any]]:
        return [
            node(id, level=id.startswith("summary"), occurrences=self.mentions(id, names), score=1 - place / 100)
            for place, id in enumerate(self.near[:k])
        ]


@pytest.mark.parametrize("case", PUBLISHED["cases"], ids=lambda case: case["step"].replace(" ", "-"))
def test_the_published_code_selects_the_same(case: dict[str, Any]) -> None:
    """But for equals, of which each takes others."""
    library, names = Library(case), case["names"]
    query = Query("?", ["c"], case["k"], hops=case["hops"], terms=lambda: Terms(wholes=tuple(names)))
    found = drive(
        e2g_code(query),
        {
            "query/e2g_code": lambda wholes, **_: library.terms(wholes),
            "query/passages": lambda ids, **_: [node(id) for id in ids],
            "query/nearest": lambda k, names, **_: library.nearest(k, names),
        },
    )
    local = case["step"] in ("Local", "EntityAware Filter")
    assert query.explanation.route == ("local" if local else "global")
    chosen = [one.row["id"] for one in found]
    assert len(chosen) == len(set(chosen)) == len(case["chosen"])
    differing = {*chosen}.symmetric_difference(case["chosen"])
    if local:
        assert len({library.criteria(id, names, query.explanation.hops) for id in differing}) <= 1
    else:
        assert len({library.mentions(id, names) for id in differing}) <= 1


def test_the_cases_cover_every_step() -> None:
    steps = [case["step"] for case in PUBLISHED["cases"]]
    assert set(steps) == {"Local", "EntityAware Filter", "Occurrence Rerank", "Global Search"}
    assert min(map(steps.count, steps)) > 5


@pytest.mark.parametrize("question", PUBLISHED["questions"], ids=lambda question: " ".join(question["words"]))
def test_the_published_code_finds_the_same_terms(question: dict[str, Any]) -> None:
    """But for how they are normalised."""
    published = {key for term in question["terms"] if (key := entity_key(term))}
    found = find_terms(Doc(spacy.blank("en").vocab, **{name: question[name] for name in question if name != "terms"}))
    assert {*found.parts, *found.wholes} == published


def test_the_questions_cover_what_is_a_term_and_what_is_not() -> None:
    labels = {label for question in PUBLISHED["questions"] for label in question["ents"]}
    assert len(PUBLISHED["questions"]) == 15
    assert {"B-PERSON", "B-ORG", "B-GPE", "B-LOC", "B-FAC", "B-NORP", "B-EVENT", "B-WORK_OF_ART", "B-DATE"} <= labels
    found = {term for question in PUBLISHED["questions"] for term in question["terms"]}
    assert found.isdisjoint({"mont blanc", "tower bridge", "man", "sea", "end", "night", "pound", "trafalgar"})


# --- e2g_code ----------------------------------------------------------------------------------------


def test_names_are_taken_apart_and_organisations_are_not() -> None:
    """And of a name that is left out, no word is a term."""
    asked: list[Any] = []

    def reply(name_words: list[str], wholes: list[str], **_: Any) -> list[dict[str, Any]]:
        asked.append((name_words, wholes))
        return []

    terms = Terms(("luke", "farran", "ann"), ("holloway lines", "ship"))
    for without in ([], ["luke farran", "ship"]):
        query = Query("?", ["c"], 5, terms=lambda: terms, without=without)
        assert drive(e2g_code(query), {"query/e2g_code": reply, "query/nearest": lambda **_: []}) == []
    assert asked == [(["luke", "farran", "ann"], ["holloway lines", "ship"]), (["ann"], ["holloway lines"])]


def test_neighbours_that_mention_all_terms_count_before_mentions() -> None:
    """At most one on each side, of the same document."""

    def candidate(document: str, index: int, count: int = 1) -> Candidate:
        return Candidate(f"{document}{index}", (document, index), {"a": count, "b": 1}, (Pair("a", "b", 1),))

    alone, first, middle = candidate("d", 9, 50), candidate("d", 0), candidate("d", 1)
    shared = [first, middle, candidate("d", 2), candidate("d", 3), alone, candidate("e", 8), candidate("e", 10)]
    score = by_runs(shared)
    scores = [score(one, one.pairs) for one in (middle, first, alone)]
    assert scores == sorted(set(scores), reverse=True)
    assert score(middle, middle.pairs) == score(shared[2], shared[2].pairs), "the run is not followed any further"
    assert all(2 < one < 3 for one in scores)


def test_only_terms_of_pairs_that_are_left_count() -> None:
    both = Candidate("x", ("d", 0), {"a": 1, "b": 1, "c": 9}, (Pair("a", "b", 1), Pair("b", "c", 2)))
    score = by_runs([both])
    assert 2 < score(both, both.pairs[:1]) < 3 < score(both, both.pairs) < 4


def test_summaries_take_up_places_and_are_left_out() -> None:
    rows = [node("s", level=1, occurrences=9), node("a", occurrences=2), node("b", occurrences=3), node("none")]
    assert [one.row["id"] for one in global_chunks(rows, k=2)] == ["b"]
    assert [one.row["id"] for one in global_chunks(rows, k=9)] == ["b", "a"]
    assert [one.row["id"] for one in global_chunks([node("s", level=1), node("t")], k=2)] == ["s", "t"]


# --- e2g_normalised ----------------------------------------------------------------------------------

GOLD = {
    # "Ann met Bob." Entities: Ann, Bob.
    "short": ({"entities": 2, "matched": 2, "words": 3, "mentions": 2}, 1 + 2 / 3),
    # "Ann saw a ship, a sea and a key. Bob saw Ann." Entities: Ann, ship, sea, key, Bob.
    "crowded": ({"entities": 5, "matched": 2, "words": 12, "mentions": 3}, 2 / 5 + 3 / 12),
    # "Bob, said Ann, Bob, dear Bob, come here to Ann and Cid." Entities: Bob, Ann, Cid.
    "often": ({"entities": 3, "matched": 2, "words": 12, "mentions": 5}, 2 / 3 + 5 / 12),
    # "Ann and Bob slept, and nothing else was told of that long night by anyone." Entities: Ann, Bob, night.
    "long": ({"entities": 3, "matched": 2, "words": 15, "mentions": 2}, 2 / 3 + 2 / 15),
    # "Cid slept." Entities: Cid.
    "other": ({"entities": 1, "matched": 0, "words": 2, "mentions": 0}, 0),
    # "It rained."
    "bare": ({"entities": 0, "matched": 0, "words": 2, "mentions": 0}, 0),
}
"""For a question about Ann and Bob, counted by hand: what chunks have, and coverage plus occurrence."""

BEST_FIRST = ["short", "often", "long", "crowded"]


def gold_rows(ids: list[str], names: list[str], **_: Any) -> list[dict[str, Any]]:
    assert names == ["ann", "bob"]
    return [{"id": id, **GOLD[id][0]} for id in ids if id in GOLD]


@pytest.mark.parametrize("id", GOLD)
def test_coverage_and_occurrence_are_shares_of_what_the_chunk_has(id: str) -> None:
    counts, expected = GOLD[id]
    assert e2g_normalised.coverage_and_occurrence(counts) == pytest.approx(expected)


def test_the_route_is_that_of_the_paper_and_the_order_by_shares() -> None:
    counts = {"crowded": (2, 1), "replaced": (9, 9), "long": (1, 1), "short": (1, 1), "often": (2, 3)}
    shared = [
        {
            "chunk": id,
            "document": "d",
            "index": at,
            "counts": [{"entity": name, "count": count} for name, count in zip(["ann", "bob"], of, strict=True)],
        }
        for at, (id, of) in enumerate(counts.items())
    ]
    row = {"pairs": [{"a": "ann", "b": "bob", "hops": 1}], "shared": shared}
    linked = Linked(("ann", "bob"), pairs=pairs_within_hops(row["pairs"], 3), shared=candidates(row, 3))
    query = Query("?", ["c"], 5, {"c": ["ann", "bob"]}, linked=linked)
    replies: dict[str, Callable[..., Any]] = {
        "query/shares": gold_rows,
        "query/passages": lambda ids, **_: [node(id) for id in ids],
    }
    found = drive(e2g_normalised.e2g_normalised(query), replies)
    assert [one.row["id"] for one in found] == [*BEST_FIRST, "replaced"], "a chunk that was replaced is last"
    assert [one.score for one in found] == pytest.approx([*(GOLD[id][1] for id in BEST_FIRST), 0])
    assert query.explanation.route == "local"


def test_the_global_route_ranks_by_shares_then_by_vector() -> None:
    """A high summary is not first because it is long."""
    near = ["bare", "long", "root", "other", "short"]
    query = Query("?", ["c"], 4, {"c": ["ann", "bob"]})
    root = {"id": "root", "entities": 900, "matched": 2, "words": 90_000, "mentions": 300}
    replies: dict[str, Callable[..., Any]] = {
        "query/shares": lambda **given: [*gold_rows(**given), root],
        "query/nearest": lambda **_: [node(id, score=1 - at / 10) for at, id in enumerate(near)],
    }
    found = drive(e2g_normalised.e2g_normalised(query), replies)
    assert [one.row["id"] for one in found] == ["short", "long", "root", "bare"]
