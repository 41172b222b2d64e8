"""Turn ranked nodes into passages: drop duplicates, merge consecutive chunks or windows of a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, TypeAlias

from e2g_neo4j.retrieval.excerpts import make_excerpt, term_weights
from e2g_neo4j.runtime.requests import Operation, read_each
from e2g_neo4j.types.documents import Span
from e2g_neo4j.types.results import Pair, Passage, Reference, TextNode
from e2g_neo4j.types.ties import best_first

TokenSpans: TypeAlias = Callable[[str], Sequence[Span]]
"""Returns the character span of each token of a text."""

TIE = 1e-5
"""Scores of a vector or full-text index that differ by at most this are ties. The statements round to this."""

_LETTER = re.compile(r"\w")
_PART_OF_WORD = re.compile(r"(?<!\w)\w{1,40}\Z")
"""Longer runs of letters are text without spaces, such as Chinese, and are cut anywhere."""


@dataclass(frozen=True, slots=True)
class ScoredNode:
    """A row of `passages.cypher`, `nearest.cypher` or `windows.cypher`, with its score, the pairs it contains, what
    each signal contributes to its score, and what refers to its document."""

    row: dict[str, Any]
    score: float
    pairs: tuple[Pair, ...] = ()
    signals: dict[str, float] = field(default_factory=dict)
    referred: Reference | None = None


def read_windows(ids: Sequence[str], corpora: Sequence[str]) -> Operation[dict[str, dict[str, Any]]]:
    """Return the windows of `windows.cypher` by id, each with its chunk and document, without those that are gone."""
    rows = yield from read_each("query/windows", {corpus: {"ids": list(ids)} for corpus in corpora})
    return {window["id"]: row | window | {"level": 0} for row in rows for window in row["windows"]}


def read_chunks(ids: Sequence[str], corpora: Sequence[str]) -> Operation[dict[str, dict[str, Any]]]:
    """Return the rows of `passages.cypher` by id, without those whose document was replaced meanwhile."""
    rows = yield from read_each("query/passages", {corpus: {"ids": list(ids)} for corpus in corpora})
    return {row["id"]: row for row in rows}


def top_k(rows: Iterable[dict[str, Any]], k: int) -> list[ScoredNode]:
    """Return the k rows with the highest scores. Ties are sorted by id."""
    by_id = sorted(rows, key=lambda row: row["id"])
    return [ScoredNode(by_id[i], by_id[i]["score"]) for i in best_first([row["score"] for row in by_id], TIE)[:k]]


def fit_nodes(
    ranked: Sequence[ScoredNode], tokens: int, token_spans: TokenSpans, *, skip: bool = False
) -> list[ScoredNode]:
    """Return the first nodes that fit a budget. The first one that does not fit is truncated at the end of a word.

    Args:
        ranked: Nodes, best first.
        token_spans: Returns the span of each token of a text.
        skip: Whether later nodes that fit are returned instead of the truncated one. If none fits, the first is
            truncated.
    """
    kept: list[ScoredNode] = []
    left = tokens
    for node in drop_duplicates(ranked):
        spans = token_spans(node.row["text"])
        if len(spans) <= left:
            kept.append(node)
            left -= len(spans)
            continue
        if skip:
            continue
        if text := _until(node.row["text"], spans[left][0]):
            shorter = {"text": text} if node.row["level"] else {"text": text, "end": node.row["start"] + len(text)}
            kept.append(replace(node, row=node.row | shorter))
        break
    return kept if kept or not skip else fit_nodes(ranked, tokens, token_spans)


def _until(text: str, end: int) -> str:
    """Return the beginning of a text, without the part of a word at its end."""
    before = text[:end]
    return (_PART_OF_WORD.sub("", before) if _LETTER.match(text, end) else before).rstrip()


def passages(ranked: Sequence[ScoredNode], question: str = "") -> tuple[Passage, ...]:
    """Merge ranked nodes into passages. A passage has the rank of its best node.

    Nodes with the text of a better node are dropped. Chunks or windows of a document that overlap or touch become one
    passage, with the overlap only once, all pairs, and score, page, heading and excerpt of the best of them.

    Args:
        ranked: Nodes, best first.
        question: The question that excerpts are to answer.
    """
    unique = drop_duplicates(ranked)
    order = {node.row["id"]: position for position, node in enumerate(unique)}

    runs: list[list[ScoredNode]] = []
    place = itemgetter("document_id", "level", "start")
    for node in sorted(unique, key=lambda node: place(node.row)):
        if runs and _follows(runs[-1], node.row):
            runs[-1].append(node)
        else:
            runs.append([node])
    runs.sort(key=lambda run: min(order[node.row["id"]] for node in run))
    weights = term_weights(question, [node.row["text"] for node in unique])
    return tuple(_merge_run(run, min(run, key=lambda node: order[node.row["id"]]), weights) for run in runs)


def drop_duplicates(ranked: Sequence[ScoredNode]) -> list[ScoredNode]:
    """Return the nodes without those that have the text of a better one, or none."""
    unique: dict[str, ScoredNode] = {}
    for node in ranked:
        if node.row["text"]:  # empty if an adopted text node was deleted
            unique.setdefault(node.row["text"], node)
    return list(unique.values())


def _follows(run: Sequence[ScoredNode], row: dict[str, Any]) -> bool:
    first = run[0].row
    same = row["document_id"] == first["document_id"] and row["level"] == first["level"] == 0
    return bool(same and row["start"] <= max(node.row["end"] for node in run))


def _merge_run(run: Sequence[ScoredNode], best: ScoredNode, weights: Mapping[str, float]) -> Passage:
    passage, shown = passage_of(run[0]), passage_of(best)
    for node in run[1:]:
        following = passage_of(node)
        passage = replace(
            passage,
            text=passage.text + following.text[passage.end - following.start :],  # one may contain the other
            end=max(passage.end, following.end),
            text_node=_extend(passage.text_node, following.text_node),
            nodes=tuple(dict.fromkeys(passage.nodes + following.nodes)),
            pairs=passage.pairs + tuple(pair for pair in following.pairs if pair not in passage.pairs),
        )
    excerpt = make_excerpt(shown.text, weights, shown.start)
    if shown.level:  # the text of a summary has no place in the document
        excerpt = replace(excerpt, start=shown.start, end=shown.end)
    return replace(
        passage,
        score=shown.score,
        signals=shown.signals,
        referred=shown.referred,
        page=shown.page,
        heading=shown.heading,
        excerpt=excerpt,
    )


def _extend(first: TextNode | None, last: TextNode | None) -> TextNode | None:
    return replace(first, end=max(first.end, last.end)) if first and last else None


def passage_of(node: ScoredNode) -> Passage:
    """Return a node as a passage."""
    row = node.row
    text_node = None
    end = row["end"]
    if adopted := row.get("text_node"):  # its text may have changed since it was indexed
        begin, end = row["start"] - adopted["begins"], row["start"] + len(row["text"])
        text_node = TextNode(adopted["element_id"], adopted["key"], begin, begin + len(row["text"]))
    return Passage(
        text=row["text"],
        document=row["document"],
        source=row["source"],
        start=row["start"],
        end=end,
        score=node.score,
        signals=node.signals,
        referred=node.referred,
        corpus=row["corpus"],
        level=row["level"],
        nodes=(row.get("chunk", row["id"]),),
        path=tuple(row["path"]),
        pairs=node.pairs,
        page=row["page"] or None,
        heading=row["heading"] or None,
        text_node=text_node,
        document_id=row["document_id"],
    )
