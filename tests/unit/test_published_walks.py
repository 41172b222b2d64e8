"""Modes `hipporag` and `linear` beside how the published code of HippoRAG 2 and LinearRAG ranks passages.

Their pages say what differs. The constants and rules that differ are set to the published ones here. Recorded by
scripts/record_hipporag.py and scripts/record_linearrag.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest
from math import exp, hypot, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from operations import outcome

from e2g_neo4j.retrieval.passage_graph import PassageGraph, pagerank, rank_passages, read_passage_graph
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.sentences import Sentence
from e2g_neo4j.retrieval.strategies import hipporag, linear
from e2g_neo4j.retrieval.windows import Window
from e2g_neo4j.runtime.requests import Embed, Operation

DATA = Path(__file__).parents[1] / "data"
HIPPORAG = json.loads((DATA / "hipporag.json").read_text(encoding="utf-8"))
LINEARRAG = json.loads((DATA / "linearrag.json").read_text(encoding="utf-8"))

QUESTION = [1.0, 0.0]
SEEDS = 5
"""Entities of facts that are seeds in HippoRAG 2."""


def vector(x: int) -> list[int]:
    return [x, round((127**2 - x**2) ** 0.5)]


def cosine(x: int) -> float:
    """The cosine of this vector with the question."""
    return x / hypot(*vector(x))


def drive(operation: Any, replies: Mapping[str, Callable[..., Any]]) -> Any:

    def reply(request: Any) -> Any:
        return QUESTION if isinstance(request, Embed) else replies[request.statement](**request.parameters)

    return outcome(operation, reply)


class Library:
    """Passages with their nearness, and sentences with theirs and the names in them: chunks of one window each, as the
    statements return them."""

    def __init__(self, passages: Sequence[Mapping[str, Any]], sentences: str) -> None:
        self.near = [cosine(passage["near"]) for passage in passages]
        self.vectors = [np.array([vector(x) for x, *_ in passage[sentences]], np.int8) for passage in passages]
        self.names = [[names for _, *names in passage[sentences]] for passage in passages]
        self.counts = [{name: sum(name in one for one in of) for one in of for name in one} for of in self.names]
        self.entities = sorted({name for counts in self.counts for name in counts})
        self.replies: dict[str, Callable[..., Any]] = {
            "query/sentence_vectors": self.sentence_vectors,
            "query/activate": self.activate,
            "query/entity_windows": self.entity_windows,
            "query/dense": self.dense,
        }

    def of(self, sentence: Sentence) -> list[str]:
        chunk, number = sentence
        return self.names[int(chunk)][number]

    def sentence_vectors(self, **_: Any) -> list[dict[str, Any]]:
        return [{"chunk": f"{at}", "vectors": rows.tobytes()} for at, rows in enumerate(self.vectors)]

    def activate(self, names: list[str], known: list[str], sentences: Any, nearest: int, **_: Any) -> Any:
        told: dict[str, list[int]] = {name: [] for name in names}
        for at, one in enumerate(sentences):
            for name in self.of((one["chunk"], one["number"])):
                told.setdefault(name, []).append(at)
        entities, read = [], set()
        for name in sorted(told.keys() - set(known)):
            chunks = [at for at, counts in enumerate(self.counts) if name in counts]
            degree = sum(1 + log(self.counts[at][name]) for at in chunks)
            mentions = []
            if nearest and (not told[name] or any(sentences[at]["passes"] for at in told[name])):
                mentions = [[f"{at}", [n for n, of in enumerate(self.names[at]) if name in of]] for at in chunks]
                read |= set(chunks)
            entities.append([name, len(chunks), degree, told[name], mentions])
        return [{"entities": entities, "vectors": [[f"{at}", self.vectors[at].tobytes()] for at in sorted(read)]}]

    def entity_windows(self, keys: list[str], **_: Any) -> list[dict[str, Any]]:
        return [
            self.row(at)
            | {
                "windows": [
                    [
                        0,
                        near,
                        sum(1 + log(count) for count in counts.values()),
                        [[place, counts[key]] for place, key in enumerate(keys) if key in counts],
                    ]
                ]
            }
            for at, (near, counts) in enumerate(zip(self.near, self.counts, strict=True))
        ]

    def dense(self, **_: Any) -> list[dict[str, Any]]:
        return [self.row(at) | {"scores": [[0, (1 + near) / 2]]} for at, near in enumerate(self.near)]

    def row(self, at: int) -> dict[str, Any]:
        return {"chunk": f"{at}", "document": "d", "index": at, "tokens": 9, "shares": [1.0], "persistence": 0.3}


def assert_ranked_by(scores: Sequence[float], found: Sequence[tuple[Window, float]]) -> None:
    """The order is that of the published scores, but for equals."""
    assert {window.chunk for window, _ in found} == {f"{at}" for at in range(len(scores))}
    published = [scores[int(window.chunk)] for window, _ in found]
    assert published == pytest.approx(sorted(scores, reverse=True), abs=1e-8)


# --- hipporag ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", HIPPORAG, ids=lambda case: f"{len(case['kept'])}-facts")
def test_hipporag_ranks_as_published(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """With passages as seeds of .05, five entities, and all others in the graph. No entity is in two facts of a
    passage, no triple is an edge, and cosines of facts go from 0 to 1, so that scaling them changes nothing."""
    library = Library(case["passages"], "facts")

    def kept(question: str, chat: object, facts: list[Any]) -> Operation[list[Any]]:
        yield from ()
        return [facts[at] for at in case["kept"]]

    def seeds(*given: Any) -> Any:
        return dict(nlargest(SEEDS, entity_seeds(*given).items(), key=lambda one: one[1]))

    def whole_graph(query: Query, near: Sequence[float], weights: Any) -> Any:
        return read_passage_graph(query, near, {"c": dict.fromkeys(library.entities, 1.0)})

    entity_seeds = hipporag.entity_seeds
    monkeypatch.setattr(hipporag, "PASSAGES", 0.05)
    monkeypatch.setattr(hipporag, "SENTENCES", 99)
    monkeypatch.setattr(hipporag, "entity_seeds", seeds)
    monkeypatch.setattr(hipporag, "choose_facts", kept)
    monkeypatch.setattr(hipporag, "read_passage_graph", whole_graph)
    chat: Any = object()
    query = Query("?", ["c"], 200, {"c": []}, chat=chat)
    found = drive(hipporag.hipporag(query), library.replies)
    assert_ranked_by(case["scores"], found)
    if case["kept"]:
        assert [score for _, score in found] == pytest.approx(sorted(case["scores"], reverse=True), abs=1e-8)


def test_the_cases_of_hipporag_cover_its_rules() -> None:
    kept = []
    for case in HIPPORAG:
        facts = sorted((fact for passage in case["passages"] for fact in passage["facts"]), reverse=True)
        kept.append([facts[at] for at in case["kept"]])
    entities = [len({name for _, *names in facts for name in names}) for facts in kept]
    assert sum(count == 0 for count in entities) > 1, "no fact is left"
    assert sum(0 < count <= SEEDS for count in entities) > 5
    assert sum(count > SEEDS for count in entities) > 5, "not all are seeds"


# --- linear ------------------------------------------------------------------------------------------


@pytest.fixture
def as_published(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The constants of LinearRAG's command. No cosine is subtracted."""
    monkeypatch.setattr(linear, "THRESHOLD", 0.4)
    monkeypatch.setattr(linear, "COSINE", 2)
    monkeypatch.setattr(linear, "PRIOR", 1e12)
    return monkeypatch


@pytest.mark.parametrize("case", LINEARRAG, ids=lambda case: f"{case['rounds']}-rounds")
def test_linear_activates_as_published(case: dict[str, Any], as_published: pytest.MonkeyPatch) -> None:
    """The same sentences pass on the same scores. There the scores of an entity are summed, and the last counts for
    passages; here the highest counts."""
    passed: list[dict[Sentence, float]] = []

    def noted(*given: Any) -> dict[Sentence, float]:
        passed.append(next_sentences(*given))
        return passed[-1]

    next_sentences = linear.next_sentences
    as_published.setattr(linear, "STEPS", case["rounds"])
    as_published.setattr(linear, "next_sentences", noted)
    library = Library(case["passages"], "sentences")
    active, _ = drive(linear.activate(Query("?", ["c"], 200, {"c": case["seeds"]}), QUESTION), library.replies)

    reached: dict[str, list[tuple[int, float]]] = {name: [(1, 1.0)] for name in case["seeds"]}
    for step, sentences in enumerate(passed, 2):
        for sentence, score in sentences.items():
            for name in library.of(sentence):
                reached.setdefault(name, []).append((step, score))
    sums = {name: sum(score for _, score in of) for name, of in reached.items()}
    assert sums == pytest.approx(case["weights"], abs=1e-5)
    last = {name: (of[-1][1], of[-1][0]) for name, of in reached.items()}
    again: Any = {name: (pytest.approx(score, abs=1e-5), step) for name, (score, step) in case["active"].items()}
    assert last == again
    first = {("c", name): (max(s for at, s in of if at == of[0][0]), of[0][0]) for name, of in reached.items()}
    assert active == first


@pytest.mark.parametrize("case", LINEARRAG, ids=lambda case: f"{case['rounds']}-rounds")
def test_linear_ranks_what_is_active_as_published(case: dict[str, Any], as_published: pytest.MonkeyPatch) -> None:
    """With all entities in the graph. An edge weighs there by the share that an entity has of the mentions of a
    passage, here by 1 + ln(sentences)."""
    library = Library(case["passages"], "sentences")
    every = {"c": dict.fromkeys(library.entities, 1.0)}
    graph = drive(read_passage_graph(Query("?", ["c"], 200), QUESTION, every), library.replies)
    active = {("c", name): (score, step) for name, (score, step) in case["active"].items()}
    own = [{node: count for node, count in of.items() if node in active} for of in graph.mentions]
    part = PassageGraph(graph.windows, graph.cosines, graph.degrees, own)
    seeds = linear.PASSAGES * linear.window_seeds(part, active)
    assert seeds.tolist() == pytest.approx(case["windows"], abs=1e-6)

    shares = [{node: 100 * count / sum(of.values()) for node, count in of.items()} for of in graph.mentions]
    as_counts: Any = [{node: exp(share - 1) for node, share in of.items()} for of in shares]
    walked = PassageGraph(graph.windows, graph.cosines, [sum(of.values()) for of in shares], as_counts)
    degrees = {("c", name): sum(of.get(("c", name), 0.0) for of in shares) for name in library.entities}
    of_entities = {("c", name): weight for name, weight in case["weights"].items()}
    found = rank_passages(walked, pagerank(walked, degrees, of_entities, seeds))
    assert [score for _, score in found] == pytest.approx(sorted(case["scores"], reverse=True), abs=1e-6)
    assert_ranked_by(case["scores"], found)


def test_the_cases_of_linear_cover_its_rules() -> None:
    assert {case["rounds"] for case in LINEARRAG} == {1, 2, 3}
    assert {step for case in LINEARRAG for _, step in case["active"].values()} == {2, 3, 4}
    counts = [Library(case["passages"], "sentences").counts for case in LINEARRAG]
    assert any(count > 1 for of in counts for one in of for count in one.values()), "several sentences with an entity"
