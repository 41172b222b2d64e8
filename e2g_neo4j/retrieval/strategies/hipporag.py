"""`hipporag`: rank windows by PageRank from the entities of the question and of the nearest sentences.

This is the retrieval of HippoRAG 2 (arXiv 2502.14802). There, facts are triples that a chat model has extracted, and a
chat model filters those nearest to the question. Here they are sentences, and only the option `llm` filters them; if
the model keeps none, the nearest windows are returned, as there. Up to five entities of the facts are seeds of
PageRank, and so are all passages, by their cosine. Here all entities of the facts are seeds, and those of the question,
as in the first HippoRAG (arXiv 2405.14831); passages are windows; entities are connected by windows only; and PageRank
runs on a part of the graph (`e2g_neo4j.retrieval.passage_graph`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from e2g_neo4j.models.chat.until_usable import TRIES
from e2g_neo4j.models.entities.extraction_codec import decode, own_sentences_before_list
from e2g_neo4j.retrieval.chat_calls import ChatCalls, relevant_numbers, relevant_schema
from e2g_neo4j.retrieval.passage_graph import Node, pagerank, rank_passages, read_passage_graph
from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.retrieval.query import Query, Ranking
from e2g_neo4j.retrieval.sentences import HUB, Entity, Sentence, cosines, entities_of
from e2g_neo4j.retrieval.strategies.dense import dense
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.runtime.requests import Embed, Operation, read_each
from e2g_neo4j.types.ties import best_first

ENTRY = 20
"""Nearest windows, in whose chunks the nearest sentences are looked for."""

SENTENCES = 20
"""Nearest sentences whose entities are read. Not every sentence mentions one."""

FACTS = 5
"""Sentences whose entities are seeds: the nearest that mention an entity."""

CALLS = TRIES
"""Maximum calls of the chat model for a question: all sentences are shown in one."""

PASSAGES = 0.1
"""Weight of the nearest window as a seed, in relation to the entities. It is .05 in HippoRAG 2. On MuSiQue, .2 found as
much, .4 .02 less R@5."""


Fact: TypeAlias = tuple[str, Sentence, float]
"""A sentence with its corpus and its cosine."""


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
    if query.chat is not None:
        facts = yield from choose_facts(query.question, query.chat, facts)
        if not facts:
            return (yield from dense(query))
    seeds = entity_seeds(reached, entities, told, {(corpus, sentence) for corpus, sentence, _ in facts})
    degrees = {(corpus, one.key): one.degree for corpus, of in reached.items() for one in of}
    weights = {corpus: {key: seed for (of, key), seed in seeds.items() if of == corpus} for corpus in entities}
    graph = yield from read_passage_graph(query, vector, weights)
    return rank_passages(graph, pagerank(graph, degrees, seeds, PASSAGES * graph.cosines_from_0_to_1()))


def choose_facts(question: str, chat: ChatCalls, facts: Sequence[Fact]) -> Operation[list[Fact]]:
    """Have the chat model choose the facts that help to answer a question. All are kept if it cannot.

    Args:
        chat: The chat model. It is told what came of it.
        facts: Sentences with their corpora and cosines.
    """
    texts = yield from sentence_texts(facts)
    readable = [fact for fact in facts if fact[:2] in texts]
    if not readable:
        chat.told.append("No sentence near the question mentions an entity: windows are ranked by vector.")
        return []
    parse = partial(relevant_numbers, items=len(readable))
    shown = [texts[fact[:2]] for fact in readable]
    kept = yield from chat.ask("filter_sentences", question, shown, relevant_schema(len(shown)), parse, most=CALLS)
    if kept is None:
        chat.fall_back("the sentences are not filtered")
        return list(facts)
    otherwise = "" if kept else ": windows are ranked by vector"
    chat.told.append(f"The chat model kept {len(kept)} of the {len(readable)} nearest sentences{otherwise}.")
    return [readable[number - 1] for number in sorted(kept)]


def sentence_texts(facts: Iterable[Fact]) -> Operation[dict[tuple[str, Sentence], str]]:
    """Read the texts of sentences. Those of chunks that are gone are left out."""
    chunks: defaultdict[str, set[str]] = defaultdict(set)
    for corpus, (chunk, _), _ in facts:
        chunks[corpus].add(chunk)
    parameters = {corpus: {"chunks": sorted(ids)} for corpus, ids in chunks.items()}
    found: dict[tuple[str, Sentence], str] = {}
    for row in (yield from read_each("query/chunk_sentences", parameters)):
        sentences = decode(row["notes"]).sentences
        for number, at in enumerate(own_sentences_before_list(sentences, tuple(row["own"]))):
            span = sentences[at]
            found[row["corpus"], (row["chunk"], number)] = " ".join(row["text"][span.start : span.end].split())
    return found


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


HIPPORAG = Strategy(
    name="hipporag",
    summary="Windows by PageRank from the entities of the question and of the nearest sentences.",
    source="HippoRAG 2 (arXiv 2502.14802)",
    ranked_by="PageRank from entities of the question and of the nearest sentences",
    needs={"vector", "entities", "sentence_vectors"},
    calls_model=True,
    rank_windows=hipporag,
)
