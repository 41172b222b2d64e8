"""Retrieval of E²GraphRAG (arXiv 2505.24226, "query time"): pairs of the question's entities decide between the local
and the global route.

`retrieve` is an operation without I/O, which the sync and async clients execute. Where the published code differs from
the paper, this follows the paper: hops are edges, not nodes; a summary counts an entity as often as the chunks below it
mention it; summaries are kept in the global evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from e2g_neo4j.errors import CorpusNotFoundError, QueryError
from e2g_neo4j.models.entities.extraction import extract, unwrapped
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.explain import auto_reason, global_reason, local_reason
from e2g_neo4j.retrieval.facts import MAX_FACTS, fact_of
from e2g_neo4j.retrieval.modes.auto import auto
from e2g_neo4j.retrieval.modes.dense import dense
from e2g_neo4j.retrieval.modes.diffusion import diffusion
from e2g_neo4j.retrieval.modes.e2g import candidates, global_passages, local_passages, pairs_within_hops, select_chunks
from e2g_neo4j.retrieval.modes.fulltext import fulltext
from e2g_neo4j.retrieval.modes.hybrid import hybrid
from e2g_neo4j.retrieval.modes.tree import tree
from e2g_neo4j.retrieval.options import GRAPH_MODES, NEED_VECTOR, FilledOptions, Mode, RetrievalOptions, check_question
from e2g_neo4j.retrieval.passages import merge_windows, passages
from e2g_neo4j.runtime.requests import Embed, Operation, Read, read_each
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.results import Evidence, Fact, Round, Route

MAX_ENTITIES = 24
"""Maximum number of entities of a question that are paired, the rarest first. This limits the pairs to 276."""

MAX_MEANINGS = 3
"""Maximum number of entities that a name may resolve to as an alias, in addition to the entity of that name."""

_BASELINES = {
    "dense": (dense, "chunks are ranked by their nearest window"),
    "fulltext": (fulltext, "chunks are ranked by the full-text index"),
    "hybrid": (hybrid, "chunks are ranked by vectors and full text together"),
    "tree": (tree, "all chunks and summaries are ranked by vector"),
}
"""Modes without the entity graph, and how they rank. A new mode is also named in `Mode`, and where they apply in
`NEED_VECTOR` and `GRAPH_MODES`, in `retrieval/options.py`."""


def retrieve(models: Models, question: str, corpora: Sequence[str], options: RetrievalOptions) -> Operation[Evidence]:
    """Find the evidence for a question. `E2G.retrieve` executes this operation.

    Args:
        models: The models that process the question.
        question: The question.
        corpora: The corpora to search.
        options: The retrieval options.

    Raises:
        QueryError: The question or an option is invalid.
        NotFoundError: A corpus has no documents.
        FingerprintError: The index was made with other models.
    """
    filled = options.filled(models.settings)
    check_question(question)  # before spaCy processes it
    embed = Embed(question)
    if filled.mode in NEED_VECTOR:  # computed while spaCy processes the question and the database looks up entities
        embed = replace(embed, vector=models.vector(embed))
    names = list(extract(models.nlp(unwrapped(question))).counts)
    operation = find_evidence(question, corpora=corpora, names=names, made_with=models.fingerprint, options=filled)
    return (yield from _counted(operation, embed))


def _counted(operation: Operation[Evidence], embed: Embed) -> Operation[Evidence]:
    """Count the round trips of an operation, and reuse an embedding of the question that has been started."""
    round_trips = 0
    reply: Any = None
    while True:
        try:
            request = operation.send(reply)
        except StopIteration as end:
            evidence: Evidence = end.value
            return replace(evidence, round_trips=round_trips)
        round_trips += isinstance(request, Read)
        reply = yield embed if request == Embed(embed.text) else request


def find_evidence(
    question: str, *, corpora: Sequence[str], names: Sequence[str], made_with: Fingerprint, options: FilledOptions
) -> Operation[Evidence]:
    """Find the evidence for a question, with at most three reads per corpus, a fourth for facts, and one embedding.

    Several corpora are searched one by one. Paths, pairs and chunks never span two corpora. The results are ranked
    together.

    Args:
        question: The question.
        corpora: The corpora to search.
        names: Keys of the question's entities, found by the models of `made_with`.
        made_with: Fingerprint of the models that processed the question.
        options: The retrieval options.

    Raises:
        NotFoundError: A corpus has no documents.
        FingerprintError: The index was made with other models.
    """
    k, hops, mode = options.k, options.hops, options.mode
    if mode not in GRAPH_MODES:
        return (yield from _without_graph(question, corpora, made_with, k, mode))
    parameters = {"names": sorted(set(names)), "limit": MAX_ENTITIES, "meanings": MAX_MEANINGS}
    links = yield from read_each("query/link", dict.fromkeys(corpora, parameters))
    _check_indexes(links, made_with)
    entities, unknown = resolve_entities(names, links)
    entities_by_corpus = {link["corpus"]: resolve_entities(names, [link])[0] for link in links}
    distances = [pair for link in links for pair in link["pairs"]]
    pairs = pairs_within_hops(distances, hops)
    shared = [candidate for link in links for candidate in candidates(link, hops)]

    route: Route
    used, trace = hops, tuple[Round, ...]()
    if mode != "e2g":
        pairs_by_chunk = {candidate.chunk: candidate.pairs for candidate in shared if candidate.pairs}
        route = "local" if pairs_by_chunk else "global"
        reason = auto_reason(entities, distances, pairs, len(pairs_by_chunk), hops)
        ranking = auto if mode == "auto" else diffusion
        windows = yield from ranking(question, entities=entities_by_corpus, k=k, pairs_by_chunk=pairs_by_chunk)
        merged = merge_windows(windows)
    else:
        chosen, used, trace = select_chunks(pairs, shared, k=k, hops=hops)
        if chosen:
            route, reason = "local", local_reason(pairs, trace, used, len(chosen), k)
            ids = [candidate.chunk for candidate, _ in chosen]
            rows = yield from read_each("query/passages", {corpus: {"ids": ids} for corpus in corpora})
            merged = local_passages(chosen, rows)
            pairs = tuple(pair for pair in pairs if pair.hops <= used)
        else:
            route, reason, used = "global", global_reason(entities, distances, pairs, hops), hops
            vector = yield Embed(question)
            nearest_parameters = {
                corpus: {"vector": vector, "k": 2 * k if keys else k, "names": list(keys)}
                for corpus, keys in entities_by_corpus.items()
            }
            rows = yield from read_each("query/nearest", nearest_parameters)
            merged = global_passages(rows, k=k)

    facts: tuple[Fact, ...] = ()
    if options.relationship_types and entities:
        types = list(options.relationship_types)
        fact_parameters = {
            corpus: {"names": list(keys), "types": types, "limit": MAX_FACTS}
            for corpus, keys in entities_by_corpus.items()
        }
        rows = yield from read_each("query/facts", fact_parameters)
        facts = tuple(dict.fromkeys(map(fact_of, rows)))[:MAX_FACTS]

    return Evidence(
        question=question,
        corpora=tuple(corpora),
        route=route,
        reason=reason,
        entities=entities,
        unknown_entities=unknown,
        pairs=pairs,
        hops=used,
        passages=merged,
        trace=trace,
        mode=mode,
        facts=facts,
    )


def _without_graph(
    question: str, corpora: Sequence[str], made_with: Fingerprint, k: int, mode: Mode
) -> Operation[Evidence]:
    rows = yield from read_each("query/corpus", {corpus: {} for corpus in corpora})
    _check_indexes(rows, made_with)
    for row in rows:
        if row["adopts"] and mode in ("fulltext", "hybrid"):
            raise QueryError(
                f"The corpus {row['corpus']!r} is adopted, so its texts are not in the full-text index, which mode "
                f"{mode} needs: choose auto, e2g, diffusion, dense or tree."
            )
    ranking, explanation = _BASELINES[mode]
    ranked = yield from ranking(question, corpora=corpora, k=k)
    return Evidence(
        question=question,
        corpora=tuple(corpora),
        route="global",
        reason=f"Mode {mode} does not use entities: {explanation}.",
        entities=(),
        pairs=(),
        hops=0,
        passages=passages(ranked),
        mode=mode,
    )


def _check_indexes(rows: Iterable[Mapping[str, Any]], made_with: Fingerprint) -> None:
    for row in rows:
        if not row["found"]:
            raise CorpusNotFoundError(row["corpus"])
        made_with.check(row["made_with"] and Fingerprint(**row["made_with"]))


def resolve_entities(
    names: Sequence[str], links: Iterable[Mapping[str, Any]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Resolve the names of a question to entities.

    Args:
        names: The names, in the order of the question.
        links: Rows of `link.cypher`, one per corpus.

    Returns:
        The entities, in the order of the question, and the names that resolve to none.
    """
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for link in links:
        for row in link["named"]:
            for name in row["names"]:
                by_name[name].append(row["entity"])
    ordered = (key for name in names for key in sorted(by_name[name], key=lambda key: (key != name, key)))
    entities = tuple(dict.fromkeys(ordered))
    return entities, tuple(name for name in dict.fromkeys(names) if not by_name[name])
