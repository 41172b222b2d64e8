"""Check that the nodes of an import fit together, as questions and updates rely on it, and count its words.

The numbers of words of a corpus influence the ranking of other corpora. So they are never those of an archive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from e2g_neo4j.graph.rows import window_weights
from e2g_neo4j.models.entities.extraction_codec import decode
from e2g_neo4j.models.words import count_terms
from e2g_neo4j.runtime.requests import Execute, Read, Rows
from e2g_neo4j.types.mentions import find_circle

NODES_READ = 200
"""Nodes that one statement compares with their neighbours."""

FAULTS = {
    "archive/wrong_documents": "Document {id!r}: its counts, or the order of its chunks, are not those of its chunks",
    "archive/wrong_chunks": "Chunk {id!r}: it is not in its place in a document",
    "archive/wrong_windows": "Window {id!r}: it is not part of one chunk of its document",
    "archive/wrong_summaries": "Summary {id!r}: it is not in its place in a tree",
    "archive/wrong_entities": "Entity {id!r}: its mentions or edges are not those of an entity",
    "archive/wrong_aliases": "Alias {id!r}: it does not stand for an entity in a document",
    "archive/wrong_communities": "Community {id!r}: its entities, parent or quotations are not those of a community",
    "archive/wrong_clusters": "Cluster {id!r}: its members or document are not those of a cluster",
    "archive/wrong_statements": "Statement {id!r}: it is not about an entity in one chunk",
}
"""By statement, what it finds."""


def fault_of(perform: Execute, corpus: str) -> str:
    """Return which node of an import does not fit to its neighbours, or ""."""
    for statement, fault in FAULTS.items():
        after: str | None = ""
        while after is not None:
            page = {"corpus": corpus, "after": after, "limit": NODES_READ}
            [row] = perform(Read(statement, page))
            if row["wrong"] is not None:
                return fault.format(id=row["wrong"])
            after = row["last"]
    decided = perform(Read("index/overrides", {"corpus": corpus}))
    circle = find_circle({row["key"]: row["into"] for row in decided if row["decided"]})
    return f"Alias {circle[0]!r}: it was merged into names that resolve to it" if circle else ""


def fault_of_chunk(row: Mapping[str, Any]) -> str:
    """Return in what a chunk differs from its windows and mentions, or "".

    Args:
        row: a row of `archive/chunks`.
    """
    windows, start, text = row["windows"], row["start"], row["text"]
    if [one["index"] for one in windows] != list(range(len(row["shares"]))):
        return "its windows are not those of its shares"
    for number, one in enumerate(windows):
        inside = start <= one["start"] <= one["end"] <= row["end"]
        if not inside or one["text"] != text[one["start"] - start : one["end"] - start]:
            return f"its window {number} is not a part of its text"
        if one["id"] != f"{row['chunk']}-w{number}":
            return f"its window {number} has another id"
    lengths = np.array([one["end"] - one["start"] for one in windows], dtype=float)
    if not lengths.sum() or not np.allclose(lengths / lengths.sum(), row["shares"]):
        return "its shares are not those of its windows"
    return _fault_of_mentions(row, len(windows))


def _fault_of_mentions(row: Mapping[str, Any], windows: int) -> str:
    mentions, weights = row["mentions"], row["weights"] or []
    if any(len(one["windows"]) != windows for one in mentions):
        return "a mention has other windows"
    expected = window_weights([one["windows"] for one in mentions])
    if len(weights) != len(expected) or not np.allclose(weights, expected):
        return "the weights of its windows are not those of its mentions"
    sentences = decode(row["notes"]).sentences
    most = len(sentences) + sum(len(one.entities) for one in sentences)  # a list of names has several numbers
    for one in mentions:
        if any(a >= b for a, b in pairwise([-1, *one["sentences"], most])):
            return "a mention is in other sentences"
    return ""


def terms_of(rows: Rows) -> dict[str, Any]:
    """Return the parameters of `archive/count_terms` for rows of `archive/chunks`."""
    chunks, total = [], Counter[str]()
    for row in rows:
        terms = count_terms(window["text"] for window in row["windows"])
        total.update(terms)
        chunks.append({"id": row["chunk"], "terms": list(terms.keys()), "term_windows": list(terms.values())})
    return {"chunks": chunks, "rows": [{"term": term, "windows": windows} for term, windows in sorted(total.items())]}
