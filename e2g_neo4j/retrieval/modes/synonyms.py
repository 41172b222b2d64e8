"""`synonyms`: windows that mention entities of the question, under these or similar names, with their neighbours.

This is LlamaIndex' LLMSynonymRetriever for property graphs, without the model: there, a chat model writes keywords and
synonyms, which are looked up as ids of nodes; the relations of these nodes and their text are the result. Here the
keywords are the nouns, names and noun phrases of the question, and synonyms are entities whose names are near by vector
(`e2g_neo4j.retrieval.synonyms`). As in mode `vector_context`, relations are co-occurrences, their text is each window
that mentions both ends, and windows are ranked by their own vectors too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from e2g_neo4j.retrieval.modes.auto import HUB
from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.retrieval.query import Query, RankedWindows, Ranking
from e2g_neo4j.retrieval.windows import Window, windows_of
from e2g_neo4j.runtime.requests import Embed
from e2g_neo4j.types.ties import best_first

NEIGHBOURS = 10
"""Relations of an entity: those with other entities of the question, then those with the greatest weight."""

LIMIT = 200
"""Windows by relations that are read, and at least as many by vector."""

RELATION = 0.03
"""Weight of the relations of a window, in relation to its own vector. With more, R@25 on MuSiQue rises and MRR falls:
.798 and .830 with .02, .814 and .824 with .03, .821 and .800 with .05, .831 and .778 with .1."""


def synonyms(query: Query) -> Ranking:
    """Rank windows, best first."""
    vector = yield Embed(query.question)
    constants = {"vector": vector, "neighbours": NEIGHBOURS, "hub": HUB, "limit": max(query.limit, LIMIT)}
    keys = {corpus: list(scores_of(query, corpus)) for corpus in query.corpora}
    parameters = {corpus: {**constants, "keys": keys[corpus]} for corpus in query.corpora}
    rows = yield from query.read_each("relations", parameters)
    return ranked(rows, {corpus: scores_of(query, corpus) for corpus in query.corpora})[: query.limit]


def scores_of(query: Query, corpus: str) -> dict[str, float]:
    """Return the entities of the question in a corpus with the score of their best match."""
    scores: dict[str, float] = {}
    for one in query.matches.get(corpus, ()):
        scores[one.entity] = max(one.score, scores.get(one.entity, 0.0))
    return scores


def ranked(rows: Iterable[Mapping[str, Any]], scores: Mapping[str, Mapping[str, float]]) -> RankedWindows:
    """Rank the windows of rows of `relations.cypher`.

    The score of a relation is the mean of its two ends, 0 for an end that the question does not mean. The score of a
    window is its own, (1 + cosine) / 2, plus RELATION times that of its best relation, if it mentions any.

    Args:
        rows: The rows.
        scores: Per corpus, the scores of the entities of the question.
    """
    found: list[tuple[Window, float]] = []
    for row in rows:
        of_entities = scores[row["corpus"]]
        relations = [sum(of_entities.get(key, 0.0) for key in pair) / 2 for pair in row["relations"]]
        for candidate in sorted(row["candidates"], key=lambda one: (one["document"], one["index"])):
            windows = windows_of(candidate)
            for one in sorted(candidate["windows"], key=lambda one: one["number"]):
                best = max((relations[at] for at in one["relations"]), default=0.0)
                found.append((windows[one["number"]], one["score"] + RELATION * best))
    return [found[at] for at in best_first([score for _, score in found], TIE)]
