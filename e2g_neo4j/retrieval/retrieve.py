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

from e2g_neo4j.errors import ConfigurationError, CorpusNotFoundError, QueryError
from e2g_neo4j.graph.fingerprint import check_model_name
from e2g_neo4j.models.entities.extraction import extract, unwrapped
from e2g_neo4j.models.entities.keywords import keywords
from e2g_neo4j.models.entities.name_candidates import name_candidates
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.retrieval.explain import (
    auto_reason,
    global_reason,
    local_reason,
    origins_told,
    relations_told,
    with_chat,
    with_filter,
    with_reranker,
    without_entities_reason,
)
from e2g_neo4j.retrieval.facts import MAX_FACTS, fact_of
from e2g_neo4j.retrieval.filters import Filter, find_documents
from e2g_neo4j.retrieval.lucene import words_of
from e2g_neo4j.retrieval.modes.e2g import candidates, global_nodes, local_nodes, pairs_within_hops, select_chunks
from e2g_neo4j.retrieval.options import (
    FULLTEXT_MODES,
    GRAPH_MODES,
    LAYERS,
    NEED_VECTOR,
    FilledOptions,
    Mode,
    RetrievalOptions,
    check_question,
)
from e2g_neo4j.retrieval.passages import TokenSpans
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.rankings import CHUNK_RANKINGS, NODE_RANKINGS, WINDOW_RANKINGS
from e2g_neo4j.retrieval.selection import Selection
from e2g_neo4j.retrieval.synonyms import entities_of, first_keywords, match_keywords, matches_told
from e2g_neo4j.retrieval.windows import Budget
from e2g_neo4j.retrieval.word_statistics import terms_of, word_statistics
from e2g_neo4j.runtime.requests import Chat, Embed, Operation, Read, read_each
from e2g_neo4j.runtime.tracing import span
from e2g_neo4j.types.chat import ChatUsage, StreamingChatModel
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.near_names import did_you_mean
from e2g_neo4j.types.results import Evidence, Fact, Round, Route

MAX_ENTITIES = 24
"""Maximum number of entities of a question that are considered, names before nouns, the rarest first. This limits the
pairs to 276."""

MAX_MEANINGS = 3
"""Maximum number of entities that a name may resolve to as an alias, in addition to the entity of that name."""

_LAYERS = {
    "communities": "communities",
    "clusters": "clusters",
    "entity_vectors": "vectors of entities",
    "statements": "statements",
}
"""The names of layers in messages."""

_ENRICH = {"statements": "e2g enrich --with statements"}
"""The commands that make layers, if they are not `e2g enrich`."""


def retrieve(
    models: Models,
    question: str,
    corpora: Sequence[str],
    options: RetrievalOptions,
    chat_model: StreamingChatModel | None = None,
) -> Operation[Evidence]:
    """Find the evidence for a question. `E2G.retrieve` executes this operation.

    Args:
        models: The models that process the question.
        question: The question.
        corpora: The corpora to search.
        options: The retrieval options.
        chat_model: The chat model for the option `llm`. Default: that of the models.

    Raises:
        QueryError: The question or an option is invalid.
        ConfigurationError: The option `llm` is set, but no chat model is configured.
        ModelError: The chat model failed.
        NotFoundError: A corpus has no documents.
        FingerprintError: The index was made with other models.
    """
    filled = options.filled(models.settings)
    check_question(question)  # before spaCy processes it
    chat = _chat_calls(models, chat_model) if filled.llm else None
    yield from check_model_name(models)
    embed = Embed(question)
    if filled.mode in NEED_VECTOR:  # computed while spaCy processes the question and the database looks up entities
        embed = replace(embed, vector=models.vector(embed))
    doc = models.nlp(unwrapped(question))
    names = list(extract(doc).counts)
    operation = find_evidence(
        question,
        corpora=corpora,
        names=names,
        other_names=name_candidates(doc, names),
        keywords=keywords(doc) if filled.mode == "synonyms" else None,
        made_with=models.fingerprint,
        options=filled,
        token_spans=lambda text: models.embedder.token_spans(text),  # loaded only for a budget in tokens
        reranker=models.settings.reranker,
        chat=chat,
    )
    attributes = {"e2g.mode": filled.mode, "e2g.k" if filled.k else "e2g.tokens": filled.k or filled.tokens or 0}
    with span("e2g.retrieve", attributes) as opened:
        evidence = yield from _counted(operation, embed)
        opened.set_attribute("e2g.route", evidence.route)
        opened.set_attribute("e2g.passages", len(evidence.passages))
    return evidence


def _chat_calls(models: Models, chat_model: StreamingChatModel | None) -> ChatCalls:
    model = chat_model or models.chat_model
    if model is None:
        raise ConfigurationError(
            "The option llm needs a chat model, but none is configured: set E2G_CHAT_MODEL, or leave out llm."
        )
    return ChatCalls(model, models.settings.prompts)


def _counted(operation: Operation[Evidence], embed: Embed) -> Operation[Evidence]:
    """Count the round trips of an operation and its calls of the chat model, and reuse an embedding of the question
    that has been started."""
    round_trips = 0
    used = ChatUsage()
    reply: Any = None
    while True:
        try:
            request = operation.send(reply)
        except StopIteration as end:
            evidence: Evidence = end.value
            return replace(
                evidence,
                round_trips=round_trips,
                calls=used.calls,
                prompt_tokens=used.prompt_tokens,
                completion_tokens=used.completion_tokens,
            )
        round_trips += isinstance(request, Read)
        reply = yield embed if request == Embed(embed.text) else request
        if isinstance(request, Chat):
            used.add(reply)


def find_evidence(
    question: str,
    *,
    corpora: Sequence[str],
    names: Sequence[str],
    made_with: Fingerprint,
    options: FilledOptions,
    token_spans: TokenSpans,
    reranker: str | None = None,
    chat: ChatCalls | None = None,
    keywords: Mapping[str, str] | None = None,
    other_names: Sequence[str] = (),
) -> Operation[Evidence]:
    """Find the evidence for a question, with at most three reads per corpus (four in modes `hybrid`, `pagerank` and
    `synonyms`, five in `hipporag`, seven in `linear`), another for facts, another for a filter, and one embedding; in
    `synonyms` another of all keywords. With a chat model, modes need more.

    Several corpora are searched one by one. Paths, pairs and chunks never span two corpora. The results are ranked
    together.

    Args:
        question: The question.
        corpora: The corpora to search.
        names: Keys of the question's entities, found by the models of `made_with`.
        made_with: Fingerprint of the models that processed the question.
        options: The retrieval options.
        token_spans: Returns the span of each token of a text, for a budget in tokens.
        reranker: The name of the reranker, if any.
        chat: The chat model that the mode asks, if the option `llm` is set.
        keywords: For mode `synonyms`, the keywords of the question: by key, how it spells them. Default: the names.
        other_names: Keys of other words of the question, which count if they are names of entities of the corpus.

    Raises:
        NotFoundError: A corpus has no documents.
        QueryError: No document has a property that the filter names.
        FingerprintError: The index was made with other models.
    """
    hops, mode = options.hops, options.mode
    budget = Budget(options.k, options.tokens)
    selection = Selection(question, corpora, budget, options.unit, token_spans, reranker)
    filter = (yield from find_documents(options.where, corpora)) if options.where else None
    if filter and not filter.left:
        return _nothing(mode, selection, filter)
    documents = filter.by_corpus if filter else None
    query = Query(question, corpora, selection.windows, hops=hops, chat=chat, documents=documents)
    if mode not in GRAPH_MODES:
        given = dict(zip(names, names, strict=True)) if keywords is None else keywords
        return (yield from _without_graph(mode, made_with, selection, query, filter, given))
    terms = terms_of(words_of(question)) if mode in ("auto", "diffusion") else []
    parameters = {
        "names": sorted(set(names)),
        "other_names": list(other_names),
        "limit": MAX_ENTITIES,
        "meanings": MAX_MEANINGS,
        "terms": terms,
    }
    links = yield from read_each("query/link", dict.fromkeys(corpora, parameters))
    _check_indexes(links, made_with)
    entities, ignored, unknown = resolve_entities(names, links, other_names)
    entities_by_corpus = {link["corpus"]: resolve_entities(names, [link], other_names)[0] for link in links}
    distances = [pair for link in links for pair in link["pairs"]]
    pairs = pairs_within_hops(distances, hops)
    shared = [candidate for link in links for candidate in candidates(link, hops)]
    if filter:
        visible = {id for documents in filter.by_corpus.values() for id in documents.ids}
        shared = [candidate for candidate in shared if candidate.place[0] in visible]
    query = replace(query, entities=entities_by_corpus, statistics=word_statistics(links) if terms else None)
    if mode == "lightrag":
        query = replace(query, statements=[link["corpus"] for link in links if link["statements"] is not None])

    route: Route
    used, trace = hops, tuple[Round, ...]()
    if mode != "e2g":
        pairs_by_chunk = {candidate.chunk: candidate.pairs for candidate in shared if candidate.pairs}
        route = "local" if pairs_by_chunk else "global"
        ranked = yield from WINDOW_RANKINGS[mode](query)
        found = yield from selection.of_windows(ranked, pairs_by_chunk)
        reason = auto_reason(mode, entities, distances, pairs, len(pairs_by_chunk), hops)
        if mode == "routes":
            reason = f"{reason} {origins_told(window for window, _ in ranked)}"
        if query.statements:
            reason = f"{reason} {relations_told(corpora, query.statements)}{_behind('statements', links)}"
    else:
        k = selection.chunks
        chosen, used, trace = select_chunks(pairs, shared, k=k, hops=hops)
        if chosen:
            route, reason = "local", local_reason(pairs, trace, used, len(chosen), k)
            ids = [candidate.chunk for candidate, _ in chosen]
            rows = yield from read_each("query/passages", {corpus: {"ids": ids} for corpus in corpora})
            found = yield from selection.of_nodes(local_nodes(chosen, rows))
            pairs = tuple(pair for pair in pairs if pair.hops <= used)
        else:
            route, reason, used = "global", global_reason(entities, distances, pairs, hops), hops
            vector = yield Embed(question)
            nearest_parameters = {
                corpus: {"vector": vector, "k": 2 * k if keys else k, "names": list(keys)}
                for corpus, keys in entities_by_corpus.items()
            }
            rows = yield from query.read_each("nearest", nearest_parameters)
            found = yield from selection.of_nodes(global_nodes(rows, k=k))

    facts: tuple[Fact, ...] = ()
    if options.relationship_types and entities:
        types = list(options.relationship_types)
        fact_parameters = {
            corpus: {"names": list(keys), "types": types, "limit": MAX_FACTS}
            for corpus, keys in entities_by_corpus.items()
        }
        rows = yield from read_each("query/facts", fact_parameters)
        facts = tuple(dict.fromkeys(map(fact_of, rows)))[:MAX_FACTS]
    if options.relationship_types and not facts:
        yield from _check_relationship_types(options.relationship_types, corpora)

    return Evidence(
        question=question,
        corpora=tuple(corpora),
        route=route,
        reason=with_reranker(with_filter(with_chat(reason, chat), filter), reranker),
        entities=entities,
        unknown_entities=unknown,
        ignored_entities=ignored,
        pairs=pairs,
        hops=used,
        passages=found,
        trace=trace,
        mode=mode,
        facts=facts,
        entity_types=entity_types(links),
    )


def _nothing(mode: Mode, selection: Selection, filter: Filter) -> Evidence:
    """Return the evidence if no document meets the conditions."""
    return Evidence(
        question=selection.question,
        corpora=tuple(selection.corpora),
        route="global",
        reason=filter.reason,
        entities=(),
        pairs=(),
        hops=0,
        passages=(),
        mode=mode,
    )


def _without_graph(
    mode: Mode,
    made_with: Fingerprint,
    selection: Selection,
    query: Query,
    filter: Filter | None,
    keywords: Mapping[str, str],
) -> Operation[Evidence]:
    question, corpora, layer = query.question, query.corpora, LAYERS.get(mode)
    terms = terms_of(words_of(question)) if mode in FULLTEXT_MODES else []
    rows = yield from read_each("query/corpus", {corpus: {"terms": terms} for corpus in corpora})
    _check_indexes(rows, made_with)
    for row in rows:
        if row["adopts"] and mode in FULLTEXT_MODES:
            raise QueryError(
                f"The corpus {row['corpus']!r} is adopted, so its texts are not in the full-text index, which mode "
                f"{mode} needs: choose another mode."
            )
        if layer and row[layer] is None:
            raise QueryError(
                f"The corpus {row['corpus']!r} has no {_LAYERS[layer]}, which mode {mode} needs: make them with "
                f"`{_ENRICH.get(layer, 'e2g enrich')} --corpus {row['corpus']}`."
            )
    query = replace(query, statistics=word_statistics(rows))
    reason = without_entities_reason(mode, selection.unit)
    entities, ignored, unknown = tuple[str, ...](), tuple[str, ...](), tuple[str, ...]()
    if mode == "synonyms":
        given, keywords = keywords, first_keywords(keywords)
        ignored = tuple(key for key in given if key not in keywords)
        query = replace(query, matches=(yield from match_keywords(keywords, corpora)))
        entities, unknown = entities_of(query.matches, keywords)
        reason += f" {matches_told(query.matches)}"
    if mode in NODE_RANKINGS:
        nodes = yield from NODE_RANKINGS[mode](replace(query, limit=selection.chunks))
        found = yield from selection.of_nodes(nodes, skip=mode == "raptor")
    elif selection.unit == "chunk" and mode in CHUNK_RANKINGS:
        chunks = yield from CHUNK_RANKINGS[mode](replace(query, limit=selection.chunks))
        found = yield from selection.of_chunks(chunks[: selection.chunks])
    else:
        found = yield from selection.of_windows((yield from WINDOW_RANKINGS[mode](query)))
    if layer:
        reason += _behind(layer, rows)
    return Evidence(
        question=question,
        corpora=tuple(corpora),
        route="global",
        reason=with_reranker(with_filter(with_chat(reason, query.chat), filter), selection.reranker),
        entities=entities,
        unknown_entities=unknown,
        ignored_entities=ignored,
        pairs=(),
        hops=0,
        passages=found,
        mode=mode,
    )


def _behind(layer: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """Tell which corpora have changed since a layer of theirs was made, or nothing."""
    behind = [row["corpus"] for row in rows if row[layer] is False]
    commands = ", ".join(f"`{_ENRICH.get(layer, 'e2g enrich')} --corpus {corpus}`" for corpus in behind)
    return f" The {_LAYERS[layer]} of {', '.join(behind)} are out of date: run {commands}." * bool(behind)


def _check_relationship_types(types: Sequence[str], corpora: Sequence[str]) -> Operation[None]:
    """Raise QueryError if the database does not know one of these types."""
    rows = yield from read_each("query/relationship_types", {corpus: {"types": list(types)} for corpus in corpora})
    for missing in rows[0]["missing"]:
        linked = sorted({type for row in rows for type in row["linked"]})
        raise QueryError(
            f"The database has no relationships of the type {missing!r}.{did_you_mean(missing, linked)} Pass types of "
            "your own graph."
        )


def _check_indexes(rows: Iterable[Mapping[str, Any]], made_with: Fingerprint) -> None:
    for row in rows:
        if not row["found"]:
            raise CorpusNotFoundError(row["corpus"])
        made_with.check(row["made_with"] and Fingerprint(**row["made_with"]))


def entity_types(links: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the known types of the entities in rows of `link.cypher`. The first row with an entity decides."""
    rows = (row for link in reversed(links) for row in link["named"])
    return {row["entity"]: row["type"] for row in rows if row.get("type")}


def resolve_entities(
    names: Sequence[str], links: Sequence[Mapping[str, Any]], candidates: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Resolve the names of a question to entities.

    Args:
        names: The names, in the order of the question.
        links: Rows of `link.cypher`, one per corpus.
        candidates: Other words that may be names.

    Returns:
        The entities, the entities that are not considered because there are too many, and the names that resolve to
        neither, each in the order of the question.
    """
    asked = [*names, *candidates]
    entities = _resolved(asked, (row for link in links for row in link["named"]))
    left = _resolved(asked, (row for link in links for row in link["left"]))
    known = {name for link in links for row in (*link["named"], *link["left"]) for name in row["names"]}
    parts = [f" {name} " for name in known.intersection(candidates)]
    unknown = tuple(
        name
        for name in dict.fromkeys(names)
        if name not in known and not any(part in f" {name} " or f" {name} " in part for part in parts)
    )
    return entities, tuple(key for key in left if key not in entities), unknown


def _resolved(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        for name in row["names"]:
            by_name[name].append(row["entity"])
    ordered = (key for name in names for key in sorted(by_name[name], key=lambda key: (key != name, key)))
    return tuple(dict.fromkeys(ordered))
