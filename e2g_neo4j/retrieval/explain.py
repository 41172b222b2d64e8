"""Explain the route of a question in words."""

from __future__ import annotations

from collections.abc import Sequence

from e2g_neo4j.retrieval.linking import Linked
from e2g_neo4j.retrieval.query import Explanation, Query
from e2g_neo4j.retrieval.strategy import Strategy


def explanation_of(strategy: Strategy, linked: Linked, hops: int, unit: str) -> Explanation:
    """Return what the evidence says unless the mode changes it."""
    if "entities" not in strategy.needs:
        ranked = f"all {strategy.nodes}" if strategy.ranks == "nodes" else f"{unit}s"
        unused = "the question's entities" if strategy.layer in strategy.needs else "entities"
        reason = f"Mode {strategy.name} does not use {unused}: {ranked} are ranked by {strategy.ranked_by}."
        return Explanation(reason=reason)
    return Explanation(
        route="local" if linked.pairs_by_chunk else "global",
        reason=with_entities_reason(strategy, linked, hops),
        entities=linked.entities,
        unknown_entities=linked.unknown,
        ignored_entities=linked.ignored,
        pairs=linked.pairs,
        hops=hops,
        notes=[f"Read as: {'; '.join(linked.readings)}."] if linked.readings else [],
    )


def join_explanations(queries: Sequence[Query]) -> Explanation:
    """Return one explanation of several queries, each to corpora of other models."""
    if len(queries) == 1:
        return queries[0].explanation
    told = [query.explanation for query in queries]
    resolved = {name for query in queries for name in query.linked.resolved}
    reasons = [f"{', '.join(query.corpora)}: {query.explanation.reason}" for query in queries]
    entities = tuple(dict.fromkeys(key for one in told for key in one.entities))
    return Explanation(
        route="local" if any(one.route == "local" for one in told) else told[0].route,
        reason=" ".join(reasons),
        notes=[
            *(note for one in told for note in one.notes),
            f"These corpora were made with {len(queries)} sets of models: their rankings are merged by rank.",
        ],
        entities=entities,
        unknown_entities=tuple(
            dict.fromkeys(
                name for one in told for name in one.unknown_entities if name not in entities and name not in resolved
            )
        ),
        ignored_entities=tuple(dict.fromkeys(key for one in told for key in one.ignored_entities)),
        pairs=tuple(dict.fromkeys(pair for one in told for pair in one.pairs)),
        hops=max(one.hops for one in told),
        trace=tuple(round for one in told for round in one.trace),
    )


def with_entities_reason(strategy: Strategy, linked: Linked, hops: int) -> str:
    """Explain the route of the modes with pairs of entities, and by what the text is ranked."""
    by = strategy.ranked_by
    if shared := len(linked.pairs_by_chunk):
        joined = f"{count_of(len(linked.pairs), 'pair')} of entities within {count_of(hops, 'hop')}"
        return f"{joined} share {count_of(shared, 'chunk')}; {by} rank the text."
    return f"{why_global(linked, hops)}: {by} rank the text."


def why_global(linked: Linked, hops: int) -> str:
    """Tell why no chunk mentions a pair of the question's entities."""
    entities, pairs = linked.entities, linked.pairs
    if not entities:
        return "The question names no entity of this corpus"
    if len(entities) == 1:
        return f"The question names only one known entity ({entities[0]}), so there is no pair"
    if pairs:
        return f"{count_of(len(pairs), 'pair')} of entities within {count_of(hops, 'hop')} share no chunk"
    closest = min((pair["hops"] for pair in linked.distances), default=None)
    distance = f"the closest two are {closest} apart" if closest else "no path connects any two"
    return f"No pair of the {len(entities)} known entities is within {count_of(hops, 'hop')} ({distance})"


def count_of(number: int, noun: str) -> str:
    """Return a number with a noun, such as "1 pair" or "2 pairs"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
