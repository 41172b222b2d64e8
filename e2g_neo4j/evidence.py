"""From ranked nodes to passages: duplicates dropped, consecutive chunks of a document merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from e2g_neo4j.model import Pair, Passage


@dataclass(frozen=True, slots=True)
class Ranked:
    """A row of `passages.cypher` or `nearest.cypher` with its score and the pairs that led to it."""

    row: dict[str, Any]
    score: float
    pairs: tuple[Pair, ...] = ()


def passages(ranked: Sequence[Ranked]) -> tuple[Passage, ...]:
    """Make passages of nodes that come best first; a passage stands where its best node stood.

    Nodes whose text was there before are dropped. Chunks that follow each other in a document become one
    passage: their text without the overlap twice, the best of their scores, and the pairs of all.
    """
    unique: dict[str, Ranked] = {}
    for node in ranked:
        unique.setdefault(node.row["text"], node)
    order = {node.row["id"]: position for position, node in enumerate(unique.values())}

    runs: list[list[Ranked]] = []
    by_place = sorted(unique.values(), key=lambda node: _place(node.row))
    for node in by_place:
        if runs and _follows(runs[-1][-1].row, node.row):
            runs[-1].append(node)
        else:
            runs.append([node])
    runs.sort(key=lambda run: min(order[node.row["id"]] for node in run))
    return tuple(_merged(run) for run in runs)


def _place(row: dict[str, Any]) -> tuple[str, int, int]:
    return row["document_id"], row["level"], row["index"]


def _follows(before: dict[str, Any], row: dict[str, Any]) -> bool:
    document, level, index = _place(before)
    return level == 0 and _place(row) == (document, level, index + 1)


def _merged(run: Sequence[Ranked]) -> Passage:
    passage = _passage(run[0])
    for node in run[1:]:
        following = _passage(node)
        passage = replace(
            passage,
            text=_joined(passage, following),
            end=following.end,
            score=max(passage.score, following.score),
            nodes=passage.nodes + following.nodes,
            pairs=passage.pairs + tuple(pair for pair in following.pairs if pair not in passage.pairs),
            page=_span(passage.page, following.page),
        )
    return passage


def _joined(before: Passage, following: Passage) -> str:
    """The text of two neighbouring chunks. Between chunks that do not overlap only white space can lie."""
    shared = before.end - following.start
    if shared < 0:
        return before.text + " " * -shared + following.text
    return before.text + following.text[shared:]


def _passage(node: Ranked) -> Passage:
    row = node.row
    return Passage(
        text=row["text"],
        document=row["document"],
        source=row["source"],
        start=row["start"],
        end=row["end"],
        score=node.score,
        level=row["level"],
        nodes=(row["id"],),
        path=tuple(row["path"]),
        pairs=node.pairs,
        page=row["page"],
        heading=row["heading"],
    )


def _span(first: str | None, last: str | None) -> str | None:
    """The pages of a merged passage: "3" and "4-5" make "3-5"."""
    if first is None or last is None:
        return first or last
    start, end = first.split("-")[0], last.split("-")[-1]
    return start if start == end else f"{start}-{end}"
