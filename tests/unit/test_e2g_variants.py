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

from e2g_neo4j.models.entities.extraction import extract
from e2g_neo4j.retrieval.linking import Candidate, Linked, candidates, pairs_within_hops
from e2g_neo4j.retrieval.passages import ScoredNode
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.strategies import e2g_normalised
from e2g_neo4j.retrieval.strategies.e2g_code import Terms, by_runs, e2g_code, global_chunks, terms_of
from e2g_neo4j.retrieval.strategies.e2g_normalised import by_shares
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
    query = Query("?", ["c"], case["k"], hops=case["hops"], names=dict.fromkeys(names, "noun"))
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
    terms = question.pop("terms")
    types = extract(Doc(spacy.blank("en").vocab, **question)).types
    found = terms_of({key: max(counts) for key, counts in types.items()})
    assert sorted({*found.parts, *found.wholes}) == terms


# --- e2g_code ----------------------------------------------------------------------------------------


def test_names_are_taken_apart_and_organisations_are_not() -> None:
    names = {"luke farran": "person", "holloway lines": "organisation", "farran": "name", "old salt": "work"}
    assert terms_of({**names, "ship": "noun"}) == Terms(("luke", "farran"), ("holloway lines", "ship"))


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


def test_coverage_and_occurrence_are_shares() -> None:
    """A long chunk mentions the entities more often, but other things more often still."""
    short = Candidate("short", ("d", 0), {"a": 1, "b": 1}, ())
    long = Candidate("long", ("d", 1), {"a": 4, "b": 4}, ())
    wide = Candidate("wide", ("d", 2), {"a": 1, "b": 1, "c": 1}, ())
    score = by_shares({"short": 4, "long": 80, "wide": 30}, 4)
    assert [score(one, ()) for one in (short, long, wide)] == [2 / 4 + 2 / 4, 2 / 4 + 8 / 80, 3 / 4 + 3 / 30]
    assert by_shares({}, 4)(short, ()) == 2 / 4, "a chunk that was replaced"


def test_the_route_is_that_of_the_paper_and_the_order_by_shares() -> None:
    places = enumerate({"long": 9, "short": 1}.items())
    shared = [
        {"chunk": id, "document": "d", "index": at, "counts": [{"entity": name, "count": count} for name in "ab"]}
        for at, (id, count) in places
    ]
    row = {"pairs": [{"a": "a", "b": "b", "hops": 1}], "shared": shared}
    pairs = pairs_within_hops(row["pairs"], 3)
    linked = Linked(("a", "b"), pairs=pairs, shared=candidates(row, 3))
    query = Query("?", ["c"], 2, {"c": ["a", "b"]}, linked=linked)
    replies: dict[str, Callable[..., Any]] = {
        "query/mentions": lambda ids, **_: [{"id": id, "mentions": {"long": 100, "short": 2}[id]} for id in ids],
        "query/passages": lambda ids, **_: [node(id) for id in ids],
    }
    assert [one.row["id"] for one in drive(e2g_normalised.e2g_normalised(query), replies)] == ["short", "long"]
    assert query.explanation.route == "local"


def test_a_high_summary_is_not_first_because_it_is_long() -> None:
    rows = [node("root", level=2, occurrences=30, score=0.9), node("chunk", occurrences=3), node("none", score=0.8)]
    found = e2g_normalised.global_nodes(rows, {"root": 900, "chunk": 30, "none": 9}, k=2)
    assert [one.row["id"] for one in found] == ["chunk", "root"]
