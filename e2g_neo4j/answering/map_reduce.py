"""Answer a question by map-reduce, as GraphRAG's global search does ("From Local to Global", arXiv 2404.16130).

Text is read in batches. From each, the chat model takes points with a score of their importance and the passages that
support them (map). The most important points become the answer (reduce). `map_reduce` reads the passages that a mode
finds, `all_text` the windows of all documents in reading order, each character once: the condition TS of that paper.
`global_search` reads the reports of communities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from e2g_neo4j.answering.evidence import FACTS, Calls, facts_within_budget, too_small
from e2g_neo4j.answering.points import Batches, answer_of, batches_of, choose_points, map_batches
from e2g_neo4j.errors import QueryError
from e2g_neo4j.retrieval.filters import find_documents
from e2g_neo4j.retrieval.options import check_question
from e2g_neo4j.retrieval.passages import ScoredNode, passage_of, read_windows
from e2g_neo4j.retrieval.where import Condition
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import Emit, Operation, Read
from e2g_neo4j.types.results import Answer, Evidence, Passage, Point

BATCHES = 8
"""Batches that the evidence has without `k` and `tokens`, about."""

MAP = "map.txt"
"""The prompt for points."""


def map_reduce(evidence: Evidence, calls: Calls) -> Operation[Answer]:
    """Ask the chat model for points of the evidence, batch by batch, then for an answer from the points.

    There are at most `settings.map_calls` batches. Of more evidence, the best passages are read.

    Raises:
        ModelError: The model failed, or no passage fits its context.
        UnusableReplyError: The model sent no usable reply to any batch, or no answer.
    """
    question = evidence.stand_alone
    budget = calls.budget(MAP, question)
    facts = facts_within_budget(evidence.facts, int(FACTS * budget), calls.model)
    batches = batches_of(evidence.passages, facts, budget, calls.model, calls.settings.map_calls)
    if evidence.passages and not batches.given:
        raise too_small(budget)
    points, failed = yield from map_batches(calls, MAP, question, batches)
    kept, above = choose_points(points, question, calls)
    told = [f"Map-reduce: points above 0: {above}, batches: {len(batches)}, points in the answer: {len(kept)}."]
    if batches.left_out:
        told.append(f"Parts of passages that did not fit: {batches.left_out}.")
    if failed:
        told.append(describe_failures(failed))
    evidence = replace(evidence, reason=" ".join([evidence.reason, *told]))
    return (yield from answer_of(kept, evidence, batches.given, calls))


def describe_failures(failed: int) -> str:
    """Tell how many batches gave no points, because no reply was usable."""
    return f"Batches that are left out, because the chat model sent no usable points: {failed}."


WINDOWS_READ = 1_000
"""Windows that one statement reads."""

COARSE = 2
"""A corpus with this many times more tokens than may be read is refused before its text is read. The tokens are those
of the embedding model, and the chat model may count fewer."""


def all_text(evidence: Evidence, where: Sequence[Condition], calls: Calls) -> Operation[Answer]:
    """Emit what will be read, ask the chat model for points of all text, batch by batch, then for an answer from them.

    The evidence that is given has the question and the corpora, and no passages.

    Raises:
        NotFoundError: A corpus has no documents.
        QueryError: There are more batches than `settings.map_calls`.
        ModelError: The model failed, or no text fits its context.
        UnusableReplyError: The model sent no usable reply to any batch, or no answer.
    """
    question = evidence.question
    check_question(question)
    filter = yield from find_documents(where, evidence.corpora)
    budget = calls.budget(MAP, question)
    if budget <= 0:
        raise too_small(budget)
    documents = {corpus: list(one.ids) for corpus, one in filter.by_corpus.items()}
    passages = yield from read_all(documents, calls.settings.map_calls, budget)
    batches = batches_of(passages, (), budget, calls.model, None)
    if len(batches) > calls.settings.map_calls:
        raise too_much(len(batches), calls.settings.map_calls, budget)
    told = [
        *([filter.reason] if where else []),
        f"All text: documents: {filter.left}. {batches.describe_batches('text')}",
    ]
    yield Emit(replace(evidence, reason=" ".join(told)))

    points, failed = yield from map_batches(calls, MAP, question, batches)
    fitting, above = choose_points(points, question, calls)
    kept, given = renumber_points(fitting, batches)
    told.append(f"Points above 0: {above}, points in the answer: {len(kept)}.")
    if batches.left_out:
        told.append(f"Passages that did not fit: {batches.left_out}.")
    if failed:
        told.append(describe_failures(failed))
    return (yield from answer_of(kept, replace(evidence, reason=" ".join(told), passages=given), given, calls))


def too_much(batches: int, most: int, budget: int) -> QueryError:
    """Return the error for more text than may be read."""
    return QueryError(
        f"All text is about {batches} batches of {budget} tokens, with a call of the chat model each, and "
        f"E2G_MAP_CALLS allows {most}. Increase it, or E2G_EVIDENCE_TOKENS if the context of the model allows that, or "
        "ask about some documents with --where, or choose another method."
    )


def read_all(documents: Mapping[str, Sequence[str]], most: int, budget: int) -> Operation[list[Passage]]:
    """Read the windows of documents in reading order.

    Raises:
        QueryError: There is far more text than fits into `most` batches of `budget` tokens.
    """
    passages: list[Passage] = []
    tokens = 0
    windows: dict[str, list[str]] = {}
    for corpus, ids in documents.items():
        rows = yield Read("query/reading_order", {"corpus": corpus, "ids": ids})
        tokens += sum(row["tokens"] for row in rows)
        windows[corpus] = [window for row in rows for window in row["windows"]]
    if tokens > COARSE * most * budget:
        raise too_much(-(-tokens // budget), most, budget)
    for corpus, ids in windows.items():
        rows = []
        for batch in split_batches(ids, WINDOWS_READ):
            texts = yield from read_windows(batch, [corpus])
            rows += [texts[id] for id in batch if id in texts]
        passages += [passage_of(ScoredNode(row, 0.0)) for row in without_overlaps(rows)]
    return passages


def without_overlaps(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield windows without what the windows before have already."""
    document, end = "", 0
    for row in rows:
        if row["document_id"] != document:
            document, end = row["document_id"], 0
        rest = row["text"][max(end - row["start"], 0) :]
        text = rest.lstrip()
        if text:
            yield {**row, "text": text, "start": row["start"] + len(row["text"]) - len(text)}
        end = max(end, row["end"])


def renumber_points(points: Sequence[Point], batches: Batches) -> tuple[list[Point], tuple[Passage, ...]]:
    """Return points with new numbers, and the passages that they cite, which have these numbers in reading order."""
    used = sorted({number for point in points for number in point.passages})
    numbers = {number: new for new, number in enumerate(used, 1)}
    renumbered = [replace(point, passages=tuple(map(numbers.__getitem__, point.passages))) for point in points]
    return renumbered, tuple(batches.given[number - 1] for number in used)
