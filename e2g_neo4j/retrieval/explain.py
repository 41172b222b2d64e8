"""Explain the route of a question in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.retrieval.filters import Filter
from e2g_neo4j.retrieval.options import LAYERS, Mode, Unit
from e2g_neo4j.retrieval.windows import Window
from e2g_neo4j.types.results import Pair, Round

RANKED_BY: Mapping[Mode, str] = {
    "auto": "vectors, words and entities",
    "diffusion": "vectors and entities",
    "routes": "vectors, entities and documents",
    "lightrag": "turns of vectors, entities and relations",
    "pagerank": "relations of entities that have most PageRank",
    "hipporag": "PageRank from entities of the question and of the nearest sentences",
    "linear": "PageRank from entities that sentences connect with the question",
    "dense": "vector",
    "fulltext": "the full-text index",
    "hybrid": "vectors and full text together",
    "tree": "vector",
    "communities": "turns of the communities that are nearest by vector",
    "lazy": "tests of the nearest ones, community by community",
    "vector_context": "relations of the nearest entities and by vector",
    "synonyms": "relations of the entities that keywords match and by vector",
    "graphrag_local": "statements about the entities of the nearest statements",
    "raptor": "vector",
}
"""By what each mode ranks text. `e2g` selects chunks instead."""

_NODES: Mapping[Mode, str] = {"tree": "all chunks and summaries", "raptor": "all chunks and clusters"}
"""What the modes rank that rank nodes of a tree."""


def local_reason(pairs: Sequence[Pair], trace: Sequence[Round], used: int, kept: int, k: int) -> str:
    """Explain the local route of mode `e2g`."""
    near = [pair for pair in pairs if pair.hops <= used]
    counted = {entry.hops: entry.candidates for entry in trace}[used]
    reason = f"{_count(len(near), 'pair')} of entities within {_count(used, 'hop')} share {_count(counted, 'chunk')}"
    if counted > kept:
        reason += f"; the best {kept} by entities and occurrences are kept (k={k})"
    return reason + "."


def auto_reason(
    mode: Mode,
    entities: Sequence[str],
    linked: Sequence[dict[str, Any]],
    pairs: Sequence[Pair],
    shared: int,
    hops: int,
) -> str:
    """Explain the route of the modes with pairs of entities, and by what the text is ranked."""
    by = RANKED_BY[mode]
    if shared:
        joined = f"{_count(len(pairs), 'pair')} of entities within {_count(hops, 'hop')}"
        return f"{joined} share {_count(shared, 'chunk')}; {by} rank the text."
    return f"{_why_global(entities, linked, pairs, hops)}: {by} rank the text."


def without_entities_reason(mode: Mode, unit: Unit) -> str:
    """Explain the modes that do not use the entities of the question."""
    ranked = _NODES.get(mode, f"{unit}s")
    if mode == "synonyms":
        return f"Mode {mode} does not use pairs of entities: {ranked} are ranked by {RANKED_BY[mode]}."
    unused = "the question's entities" if mode in LAYERS else "entities"
    return f"Mode {mode} does not use {unused}: {ranked} are ranked by {RANKED_BY[mode]}."


def origins_told(windows: Iterable[Window]) -> str:
    """Count the windows that mode `routes` has ranked by how they were found."""
    counts = Counter(window.origin for window in windows)
    return (
        f"Windows found: {counts['vector']} by vector, {counts['question']} by entities of the question, "
        f"{counts['seed']} by entities of the nearest windows, {counts['neighbour']} by neighbours of these entities."
    )


def relations_told(corpora: Sequence[str], with_statements: Collection[str]) -> str:
    """Tell in which corpora mode `lightrag` takes statements as relations."""
    where = f" of {', '.join(with_statements)}" if len(with_statements) < len(corpora) else ""
    return f"Relations are the statements{where}."


def global_reason(entities: Sequence[str], linked: Sequence[dict[str, Any]], pairs: Sequence[Pair], hops: int) -> str:
    """Explain the global route of mode `e2g`."""
    why = f"{_why_global(entities, linked, pairs, hops)}: all chunks and summaries are searched by vector"
    return f"{why}; those that mention the entities most come first." if entities else f"{why}."


def with_chat(reason: str, chat: ChatCalls | None) -> str:
    """Add to a reason what the chat model contributed, or why it did not."""
    return " ".join([reason, *(chat.told if chat else ())])


def with_filter(reason: str, filter: Filter | None) -> str:
    """Add to a reason how many documents the filter leaves, if there is one."""
    return f"{reason} {filter.reason}" if filter else reason


def with_reranker(reason: str, reranker: str | None) -> str:
    """Add to a reason that a reranker has ordered the passages, if one is configured."""
    return f"{reason} The reranker {reranker} has ordered the passages." if reranker else reason


def _why_global(entities: Sequence[str], linked: Sequence[dict[str, Any]], pairs: Sequence[Pair], hops: int) -> str:
    if not entities:
        return "The question names no entity of this corpus"
    if len(entities) == 1:
        return f"The question names only one known entity ({entities[0]}), so there is no pair"
    if pairs:
        return f"{_count(len(pairs), 'pair')} of entities within {_count(hops, 'hop')} share no chunk"
    closest = min((pair["hops"] for pair in linked), default=None)
    distance = f"the closest two are {closest} apart" if closest else "no path connects any two"
    return f"No pair of the {len(entities)} known entities is within {_count(hops, 'hop')} ({distance})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
