"""The reranker, and how retrieval uses it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from operations import outcome
from tiny_models import write_cross_encoder, write_embedder

from e2g_neo4j.errors import ModelError
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.models.reranking import Reranker
from e2g_neo4j.retrieval.options import Unit
from e2g_neo4j.retrieval.passages import ScoredNode
from e2g_neo4j.retrieval.selection import CANDIDATE_WINDOWS, CANDIDATES, CHARACTERS, Selection, rerank
from e2g_neo4j.retrieval.windows import WINDOWS_PER_CHUNK, Budget, Window
from e2g_neo4j.runtime.requests import Operation, Rerank
from e2g_neo4j.runtime.runner import AsyncRunner, Runner
from e2g_neo4j.settings import Settings
from e2g_neo4j.types.results import Passage

WORDS = [
    "what",
    "colour",
    "has",
    "the",
    "whale",
    "is",
    "blue",
    "red",
    "fish",
    "swims",
    "in",
    "cold",
    "sea",
    "a",
    "letter",
    "came",
]
QUESTION = "what colour has the whale"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    return write_cross_encoder(folder / "cross-encoder", WORDS)


# --- the model ---------------------------------------------------------------------------------------


def test_texts_with_more_words_of_the_question_score_higher(model: Path) -> None:
    texts = ["red fish swims", "the letter came", "the whale is blue", "the whale has a colour"]
    scores = Reranker(str(model)).rerank(QUESTION, texts)
    assert scores == sorted(scores)
    assert len(set(scores)) == 4
    assert Reranker(str(model)).rerank(QUESTION, []) == []


def test_the_best_part_of_a_long_text_counts(model: Path) -> None:
    reranker = Reranker(str(model))
    [short, end, nothing] = reranker.rerank(
        QUESTION,
        ["the whale has a colour", "red fish swims " * 400 + "the whale has a colour", "red fish swims " * 400],
    )
    assert end == pytest.approx(short, abs=0.05)
    assert nothing < end - 0.05


def test_a_question_longer_than_the_model_is_cut(model: Path) -> None:
    [good, bad] = Reranker(str(model)).rerank("whale " * 600, ["whale " * 300, "fish " * 300])
    assert good > bad


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("embedder", r"is not a cross-encoder.*another kind of model.*E2G_RERANKER"),
        ("labels", r"is not a cross-encoder.*returns 3 scores.*E2G_RERANKER"),
        ("missing", r"Cannot load the reranker.*not found.*E2G_RERANKER"),
    ],
)
def test_what_is_no_cross_encoder_is_refused(folder: Path, kind: str, message: str) -> None:
    made = {
        "embedder": lambda: write_embedder(folder / "embedder", WORDS),
        "labels": lambda: write_cross_encoder(folder / "labels", WORDS, labels=3),
        "missing": lambda: folder / "nothing",
    }
    with pytest.raises(ModelError, match=message):
        Reranker(str(made[kind]()))


# --- the runners -------------------------------------------------------------------------------------


def one_request() -> Operation[tuple[list[float], str]]:
    scores: list[float] = yield Rerank(QUESTION, ("red fish", "the whale"))
    return scores, threading.current_thread().name


def test_both_runners_rerank_in_a_thread_of_its_own(model: Path) -> None:
    models = Models(Settings(reranker=str(model)))
    nothing: Any = None

    async def connect() -> Any:
        return None

    scores, _ = Runner(nothing, "neo4j", models).run(one_request())
    again, _ = asyncio.run(AsyncRunner(connect, "neo4j", models).ask(one_request()))
    assert scores[0] < scores[1]
    assert again == pytest.approx(scores)
    assert any(thread.name.startswith("e2g-reranking") for thread in threading.enumerate())


# --- retrieval ---------------------------------------------------------------------------------------


def nodes(texts: Sequence[str]) -> list[ScoredNode]:
    return [ScoredNode({"id": str(number), "text": text}, score=-number) for number, text in enumerate(texts)]


def ordered(ranked: Sequence[ScoredNode], scores: Sequence[float]) -> tuple[list[str], tuple[str, ...]]:
    """The ids of the result, and the texts that were reranked."""
    operation: Any = rerank(QUESTION, ranked)
    request = next(operation)
    assert isinstance(request, Rerank)
    assert request.question == QUESTION
    with pytest.raises(StopIteration) as end:
        operation.send(list(scores))
    found: list[ScoredNode] = end.value.value
    assert [node.score for node in found] == pytest.approx(sorted((node.score for node in found), reverse=True))
    return [node.row["id"] for node in found], request.texts


def test_nodes_are_ordered_by_the_reranker() -> None:
    assert ordered(nodes("abc"), [0.1, 0.9, 0.5]) == (["1", "2", "0"], ("a", "b", "c"))


def test_ties_keep_the_order_of_the_mode_and_empty_texts_are_left_out() -> None:
    assert ordered(nodes(["a", "", "b", "c"]), [0.5, 0.5 + 1e-8, 0.5]) == (["0", "2", "3"], ("a", "b", "c"))


def test_only_so_much_text_is_reranked_and_the_rest_follows() -> None:
    long = "x" * (CHARACTERS // 2)
    ids, texts = ordered(nodes([long, long, "c", "d"]), [0.2, 0.4])
    assert (ids, len(texts)) == (["1", "0", "2", "3"], 2)
    assert ordered(nodes([long * 3, "b"]), [0.2])[0] == ["0", "1"]


def test_nothing_is_not_reranked() -> None:
    operation: Any = rerank(QUESTION, [])
    with pytest.raises(StopIteration) as end:
        next(operation)
    assert end.value.value == []


# --- selection ---------------------------------------------------------------------------------------


def selection(budget: Budget, unit: Unit = "window", reranker: str | None = "a model") -> Selection:
    return Selection(QUESTION, ["c"], budget, unit, lambda text: [(0, 1)] * len(text), reranker)


def row(chunk: str, index: int, **more: Any) -> dict[str, Any]:
    place = {"index": index, "level": 0, "document_id": "d", "document": "D", "source": "d.txt", "corpus": "c"}
    return {"id": chunk, **place, "path": [], "page": "", "heading": "", "start": 1000 * index, **more}


def driven(operation: Any, scores: dict[str, float]) -> tuple[tuple[Passage, ...], list[str]]:
    """The passages, and what was requested. A window is a chunk with one text, its id; so is a chunk."""
    requested: list[str] = []

    def text_of(id: str) -> dict[str, Any]:
        chunk = id.partition("-w")[0]
        text = {"text": id, "start": 1000 * int(chunk[1:]), "end": 1000 * int(chunk[1:]) + len(id)}
        return {**row(chunk, int(chunk[1:]), **text), "chunk": chunk, "windows": [{"id": id, **text}]}

    def reply(request: Any) -> list[Any]:
        if isinstance(request, Rerank):
            requested.append("rerank")
            return [scores[text] for text in request.texts]
        requested.append(request.statement)
        return [text_of(id) for id in request.parameters["ids"]]

    return outcome(operation, reply), requested


WINDOWS = [(Window(f"c{3 * n}", 0, "d", 3 * n, True, 1.0, 100.0, 0.0), -float(n)) for n in range(6)]
BETTER_LAST = {f"c{3 * n}{end}": float(n) for n in range(6) for end in ("-w0", "")}


@pytest.mark.parametrize(("unit", "end"), [("window", "-w0"), ("chunk", "")])
def test_windows_and_chunks_are_chosen_by_the_reranker(unit: Unit, end: str) -> None:
    found, requested = driven(selection(Budget(2), unit).of_windows(WINDOWS), BETTER_LAST)
    assert [(passage.text, passage.score) for passage in found] == [(f"c15{end}", 5.0), (f"c12{end}", 4.0)]
    assert requested == ["query/windows" if unit == "window" else "query/passages", "rerank"]
    found, requested = driven(selection(Budget(2), unit, None).of_windows(WINDOWS), {})
    assert [passage.text for passage in found] == [f"c0{end}", f"c3{end}"]
    assert "rerank" not in requested


def test_a_reranker_gets_more_candidates_than_are_returned() -> None:
    assert (selection(Budget(2)).windows, selection(Budget(2)).chunks) == (CANDIDATE_WINDOWS, CANDIDATES)
    assert (selection(Budget(99)).windows, selection(Budget(99)).chunks) == (99 * WINDOWS_PER_CHUNK, 99)
    assert (selection(Budget(2), reranker=None).windows, selection(Budget(2), reranker=None).chunks) == (24, 2)
