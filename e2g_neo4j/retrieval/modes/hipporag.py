"""`hipporag`: rank windows by PageRank from the entities of the question and of the nearest sentences.

This is the retrieval of HippoRAG 2 (arXiv 2502.14802) without a chat model. There, facts are triples that a model has
extracted, and a model filters those nearest to the question. Here they are sentences, and none is filtered. Their
entities are seeds of PageRank, and so are all passages, by their cosine. Here entities of the question are seeds too,
as in the first HippoRAG (arXiv 2405.14831); passages are windows; entities are connected by windows only; and PageRank
runs on a part of the graph (`e2g_neo4j.retrieval.passage_graph`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from e2g_neo4j.retrieval.passage_graph import Node, pagerank, ranked, read_passage_graph
from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.retrieval.query import Query, Ranking
from e2g_neo4j.retrieval.sentences import HUB, Entity, Sentence, cosines, entities_of
from e2g_neo4j.runtime.requests import Embed
from e2g_neo4j.types.ties import best_first

ENTRY = 20
"""Nearest windows, in whose chunks the nearest sentences are looked for."""

SENTENCES = 20
"""Nearest sentences whose entities are read. Not every sentence mentions one."""

FACTS = 5
"""Sentences whose entities are seeds: the nearest that mention an entity."""

PASSAGES = 0.1
"""Weight of the nearest window as a seed, in relation to the entities. It is .05 in HippoRAG 2. On MuSiQue, .2 found as
much, .4 .02 less R@5."""


def hipporag(query: Query) -> Ranking:
    """Rank windows by PageRank, best first.

    Raises:
        QueryError: The sentences of a corpus have no vectors.
    """
    entities = query.entities
    vector = yield Embed(query.question)
    rows = yield from query.read_each(
        "sentence_vectors", {corpus: {"vector": vector, "entry": ENTRY} for corpus in entities}
    )
    found = [
        (row["corpus"], sentence, cosine)
        for row in rows
        for sentence, cosine in cosines(vector, row["corpus"], [(row["chunk"], row["vectors"])]).items()
    ]
    nearest = [found[at] for at in best_first([cosine for _, _, cosine in found], TIE)[:SENTENCES]]
    told = {corpus: [(sentence, cosine) for of, sentence, cosine in nearest if of == corpus] for corpus in entities}
    parameters = {
        corpus: {
            "vector": vector,
            "names": list(names),
            "known": [],
            "sentences": [{"chunk": chunk, "number": number, "passes": False} for (chunk, number), _ in told[corpus]],
            "nearest": 0,
            "hub": HUB,
        }
        for corpus, names in entities.items()
    }
    reached = {row["corpus"]: entities_of(row) for row in (yield from query.read_each("activate", parameters))}
    facts = [
        (corpus, sentence, cosine)
        for corpus, sentence, cosine in nearest
        if any(told[corpus][at][0] == sentence for one in reached[corpus] for at in one.told)
    ][:FACTS]
    seeds = entity_seeds(reached, entities, told, {(corpus, sentence) for corpus, sentence, _ in facts})
    degrees = {(corpus, one.key): one.degree for corpus, of in reached.items() for one in of}
    weights = {corpus: {key: seed for (of, key), seed in seeds.items() if of == corpus} for corpus in entities}
    graph = yield from read_passage_graph(query, vector, weights)
    return ranked(graph, pagerank(graph, degrees, seeds, PASSAGES * graph.cosines_from_0_to_1()))


def entity_seeds(
    reached: Mapping[str, Iterable[Entity]],
    named: Mapping[str, Sequence[str]],
    told: Mapping[str, Sequence[tuple[Sentence, float]]],
    facts: set[tuple[str, Sentence]],
) -> dict[Node, float]:
    """Return the weights of entities as seeds: the mean cosine of the facts that mention the entity, plus 1 if the
    question names it, divided by the number of chunks that mention it.

    Args:
        reached: Entities per corpus.
        named: Per corpus, the entities that the question names.
        told: Per corpus, sentences with their cosines. `Entity.told` counts them.
        facts: The sentences that count.
    """
    seeds: defaultdict[Node, float] = defaultdict(float)
    for corpus, entities in reached.items():
        for one in entities:
            near = [told[corpus][at][1] for at in one.told if (corpus, told[corpus][at][0]) in facts]
            weight = (sum(near) / len(near) if near else 0.0) + (one.key in named[corpus])
            if weight > 0:
                seeds[corpus, one.key] = weight / one.chunks
    return dict(seeds)
