"""From ranked nodes to passages: duplicates dropped, consecutive chunks or windows of a document merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from e2g_neo4j.model import Pair, Passage, TextNode


@dataclass(frozen=True, slots=True)
class Ranked:
    """A row of `passages.cypher`, `nearest.cypher` or `windows.cypher` with its score and the pairs behind it."""

    row: dict[str, Any]
    score: float
    pairs: tuple[Pair, ...] = ()
    share: float = 1.0
    """How much of a chunk it is."""


def best(rows: Iterable[dict[str, Any]], k: int) -> list[Ranked]:
    """The k rows of the highest score; ties by id."""
    return [Ranked(row, row["score"]) for row in sorted(rows, key=lambda row: (-row["score"], row["id"]))[:k]]


ROUND = 5
"""Chunks' worth of windows that are merged into passages together."""


def passages_of_windows(ranked: Sequence[Ranked]) -> tuple[Passage, ...]:
    """Make passages of windows that come best first, five chunks' worth after the other.

    A window never moves up among better ones of an earlier round by standing beside them, so that whoever reads the
    first n passages has read the best.
    """
    found: list[Passage] = []
    turn: list[Ranked] = []
    held = 0.0
    for window in _without_repetitions(ranked):
        if turn and held + window.share > ROUND + 1e-9:
            found += passages(turn)
            turn, held = [], 0.0
        turn.append(window)
        held += window.share
    return (*found, *passages(turn))


def passages(ranked: Sequence[Ranked]) -> tuple[Passage, ...]:
    """Make passages of nodes that come best first; a passage stands where its best node stood.

    Nodes whose text was there before are dropped. Chunks or windows of a document that overlap or touch become one
    passage: their text without the overlap twice, the best of their scores, and the pairs of all.
    """
    unique = _without_repetitions(ranked)
    order = {node.row["id"]: position for position, node in enumerate(unique)}

    runs: list[list[Ranked]] = []
    for node in sorted(unique, key=lambda node: _place(node.row)):
        if runs and _follows(runs[-1], node.row):
            runs[-1].append(node)
        else:
            runs.append([node])
    runs.sort(key=lambda run: min(order[node.row["id"]] for node in run))
    return tuple(_merged(run) for run in runs)


def _without_repetitions(ranked: Sequence[Ranked]) -> list[Ranked]:
    unique: dict[str, Ranked] = {}
    for node in ranked:
        if node.row["text"]:  # none is left of a text node of somebody else's that is gone
            unique.setdefault(node.row["text"], node)
    return list(unique.values())


def _place(row: dict[str, Any]) -> tuple[str, int, int]:
    return row["document_id"], row["level"], row["start"]


def _follows(run: Sequence[Ranked], row: dict[str, Any]) -> bool:
    first = run[0].row
    same = row["document_id"] == first["document_id"] and row["level"] == first["level"] == 0
    return bool(same and row["start"] <= max(node.row["end"] for node in run))


def _merged(run: Sequence[Ranked]) -> Passage:
    passage = _passage(run[0])
    for node in run[1:]:
        following = _passage(node)
        passage = replace(
            passage,
            text=_joined(passage, following),
            end=max(passage.end, following.end),
            text_node=_together(passage.text_node, following.text_node),
            score=max(passage.score, following.score),
            nodes=tuple(dict.fromkeys(passage.nodes + following.nodes)),
            pairs=passage.pairs + tuple(pair for pair in following.pairs if pair not in passage.pairs),
            page=_span(passage.page, following.page),
        )
    return passage


def _joined(before: Passage, following: Passage) -> str:
    """The text of two neighbours that overlap or touch; with a long overlap, one may hold the other."""
    return before.text + following.text[before.end - following.start :]


def _together(first: TextNode | None, last: TextNode | None) -> TextNode | None:
    return replace(first, end=max(first.end, last.end)) if first and last else None


def _passage(node: Ranked) -> Passage:
    row = node.row
    text_node = None
    end = row["end"]
    if theirs := row.get("text_node"):  # whose text may have changed since
        begin, end = row["start"] - theirs["begins"], row["start"] + len(row["text"])
        text_node = TextNode(theirs["element_id"], theirs["key"], begin, begin + len(row["text"]))
    return Passage(
        text=row["text"],
        document=row["document"],
        source=row["source"],
        start=row["start"],
        end=end,
        score=node.score,
        corpus=row["corpus"],
        level=row["level"],
        nodes=(row.get("chunk", row["id"]),),
        path=tuple(row["path"]),
        pairs=node.pairs,
        page=row["page"],
        heading=row["heading"],
        text_node=text_node,
    )


def _span(first: str | None, last: str | None) -> str | None:
    """The pages of a merged passage: "3" and "4–5" make "3–5"."""
    if first is None or last is None:
        return first or last
    start, end = first.split("–")[0], last.split("–")[-1]
    return start if start == end else f"{start}–{end}"
