"""Retrieval: find the evidence for a question in one of the modes (`e2g_neo4j.retrieval.strategies`).

`retrieve` is an operation without I/O, which the sync and async clients execute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.graph.fingerprint import check_model_name
from e2g_neo4j.models.entities.extraction import extract, unwrapped
from e2g_neo4j.models.entities.keywords import keywords
from e2g_neo4j.models.entities.name_candidates import name_candidates
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.retrieval.explain import explanation_of
from e2g_neo4j.retrieval.facts import read_facts
from e2g_neo4j.retrieval.filters import Filter, find_documents
from e2g_neo4j.retrieval.history import make_stand_alone
from e2g_neo4j.retrieval.linking import Linked, leave_out, link
from e2g_neo4j.retrieval.lucene import words_of
from e2g_neo4j.retrieval.options import FilledOptions, RetrievalOptions, check_question
from e2g_neo4j.retrieval.passages import TokenSpans
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.requirements import check_corpora, out_of_date, read_corpora
from e2g_neo4j.retrieval.selection import Selection
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.retrieval.windows import Budget
from e2g_neo4j.retrieval.word_statistics import terms_of, word_statistics
from e2g_neo4j.runtime.requests import Chat, Embed, Operation, Read
from e2g_neo4j.runtime.tracing import span
from e2g_neo4j.types.chat import ChatUsage, StreamingChatModel
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.graph import NOUN
from e2g_neo4j.types.results import Evidence, Fact, Passage

TOLD_ABSENCES = 3
"""Maximum number of pairs of which the reason says that no passage mentions them together."""


def retrieve(
    models: Models,
    question: str,
    corpora: Sequence[str],
    options: RetrievalOptions,
    chat_model: StreamingChatModel | None = None,
    rewriter: StreamingChatModel | None = None,
) -> Operation[Evidence]:
    """Find the evidence for a question. `E2G.retrieve` executes this operation.

    Args:
        models: The models that process the question.
        question: The question.
        corpora: The corpora to search.
        options: The retrieval options.
        chat_model: The chat model for the option `llm`. Default: that of the models.
        rewriter: The chat model that rewrites a question with earlier turns. Default: that of `llm`, if it is set.

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
    operation = _search(models, question, corpora, filled, chat, rewriter or (chat.model if chat else None))
    attributes: dict[str, str | int] = {
        "e2g.mode": filled.mode,
        "e2g.k" if filled.k else "e2g.tokens": filled.k or filled.tokens or 0,
    }
    with span("e2g.retrieve", attributes) as opened:
        evidence = yield from _counted(operation)
        opened.set_attribute("e2g.route", evidence.route)
        opened.set_attribute("e2g.passages", len(evidence.passages))
    return evidence


def _search(
    models: Models,
    question: str,
    corpora: Sequence[str],
    options: FilledOptions,
    chat: ChatCalls | None,
    rewriter: StreamingChatModel | None,
) -> Operation[Evidence]:
    """Make the question stand alone, process it, and find its evidence."""
    calls = ChatCalls(rewriter, models.settings.prompts) if rewriter else None
    asked = yield from make_stand_alone(question, options.history, models.nlp, calls)
    embed = Embed(asked.question)
    if "vector" in options.strategy.needs:
        # computed while spaCy processes the question and the database looks up entities
        embed = replace(embed, vector=models.vector(embed))
    doc = models.nlp(unwrapped(asked.question))
    extraction = extract(doc)
    names = list(extraction.counts)
    operation = find_evidence(
        asked.question,
        corpora=corpora,
        names=names,
        types={key: max(counts, key=counts.__getitem__) for key, counts in extraction.types.items()},
        other_names=name_candidates(doc, names),
        keywords=lambda: keywords(doc),
        made_with=models.fingerprint,
        options=options,
        token_spans=lambda text: models.embedder.token_spans(text),  # loaded only for a budget in tokens
        reranker=models.settings.reranker,
        chat=chat,
    )
    evidence = yield from _embedded_once(operation, embed)
    if asked.question != question:
        evidence = replace(evidence, question=question, searched_as=asked.question)
    return replace(evidence, reason=f"{evidence.reason} {asked.note}") if asked.note else evidence


def _chat_calls(models: Models, chat_model: StreamingChatModel | None) -> ChatCalls:
    model = chat_model or models.chat_model
    if model is None:
        raise ConfigurationError(
            "The option llm needs a chat model, but none is configured: set E2G_CHAT_MODEL, or leave out llm."
        )
    return ChatCalls(model, models.settings.prompts)


def _embedded_once(operation: Operation[Evidence], embed: Embed) -> Operation[Evidence]:
    """Reuse an embedding of the question that has been started."""
    reply: Any = None
    while True:
        try:
            request = operation.send(reply)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        reply = yield embed if request == Embed(embed.text) else request


def _counted(operation: Operation[Evidence]) -> Operation[Evidence]:
    """Count the round trips of an operation and its calls of the chat model."""
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
        reply = yield request
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
    keywords: Callable[[], Mapping[str, str]] | None = None,
    other_names: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
) -> Operation[Evidence]:
    """Find the evidence for a question. Corpora are searched one by one, and the results are ranked together.

    Args:
        question: The question.
        corpora: The corpora to search.
        names: Keys of the question's entities, found by the models of `made_with`.
        made_with: Fingerprint of the models that processed the question.
        options: The retrieval options.
        token_spans: Returns the span of each token of a text, for a budget in tokens.
        reranker: The name of the reranker, if any.
        chat: The chat model that the mode asks, if the option `llm` is set.
        keywords: Returns the keywords of the question: by key, how it spells them. Default: the names.
        other_names: Keys of other words of the question, which count if they are names of entities of the corpus.
        types: The types of the names. Default: nouns.

    Raises:
        NotFoundError: A corpus has no documents.
        QueryError: No document has a property that the filter names, or a corpus lacks what the mode needs.
        FingerprintError: The index was made with other models.
    """
    strategy, hops = options.strategy, options.hops
    selection = Selection(question, corpora, Budget(options.k, options.tokens), options.unit, token_spans, reranker)
    filter = None
    if options.where or options.until:
        filter = yield from find_documents(options.where, corpora, options.until)
    if filter and not filter.left:
        return _nothing(selection, options, filter)
    terms = terms_of(words_of(question)) if strategy.takes("full_text") else []
    rows = yield from read_corpora(strategy, names, other_names, terms, corpora)
    check_corpora(strategy, rows, made_with)
    if options.without and "entities" in strategy.needs:
        names = [name for name in names if name not in options.without]
        types = {key: type for key, type in (types or {}).items() if key in names}
        rows = leave_out(rows, options.without)
    linked = link(rows, names, other_names, hops, filter) if "entities" in strategy.needs else Linked()
    query = Query(
        question,
        corpora,
        selection.windows,
        entities=linked.by_corpus,
        names=types or dict.fromkeys(names, NOUN),
        hops=hops,
        statistics=word_statistics(rows) if terms else None,
        chat=chat,
        documents=filter.by_corpus if filter else None,
        until=options.until,
        layered=[row["corpus"] for row in rows if strategy.layer and row[strategy.layer] is not None],
        without=options.without,
        keywords=keywords or (lambda: dict(zip(names, names, strict=True))),
        linked=linked,
        explanation=explanation_of(strategy, linked, hops, selection.unit),
    )
    passages = yield from _passages(strategy, query, selection)
    facts = yield from read_facts(options.relationship_types, query.entities)
    notes = [*out_of_date(strategy, rows), *(chat.told if chat else ()), *_notes(filter, reranker)]
    return _evidence(strategy, query, passages, facts, notes)


def _evidence(
    strategy: Strategy, query: Query, passages: tuple[Passage, ...], facts: tuple[Fact, ...], notes: Sequence[str]
) -> Evidence:
    """Return the evidence, with the explanation of the mode and the notes after it."""
    told, absences = query.explanation, query.linked.absences
    return Evidence(
        question=query.question,
        corpora=tuple(query.corpora),
        route=told.route,
        reason=" ".join([told.reason, *told.notes, *notes, *(one.stated() for one in absences[:TOLD_ABSENCES])]),
        entities=told.entities,
        unknown_entities=told.unknown_entities,
        ignored_entities=told.ignored_entities,
        pairs=told.pairs,
        hops=told.hops,
        passages=passages,
        trace=told.trace,
        mode=strategy.name,
        facts=facts,
        entity_types=query.linked.types,
        absences=absences,
    )


def _passages(strategy: Strategy, query: Query, selection: Selection) -> Operation[tuple[Passage, ...]]:
    """Rank, and choose the passages of what was ranked."""
    as_chunks = replace(query, limit=selection.chunks)
    if strategy.rank_chunks and selection.unit == "chunk":
        ranked = yield from strategy.rank_chunks(as_chunks)
        return (yield from selection.of_chunks(ranked[: selection.chunks], query.linked.pairs_by_chunk))
    if strategy.rank_windows:
        windows = yield from strategy.rank_windows(query)
        return (yield from selection.of_windows(windows, query.linked.pairs_by_chunk))
    nodes = (yield from strategy.rank_nodes(as_chunks)) if strategy.rank_nodes else []
    return (yield from selection.of_nodes(nodes, skip=strategy.skips))


def _notes(filter: Filter | None, reranker: str | None) -> list[str]:
    """Tell how many documents the filter leaves, if there is one, and that a reranker has ordered the passages."""
    ordered = [f"The reranker {reranker} has ordered the passages."] if reranker else []
    return [*([filter.reason] if filter else []), *ordered]


def _nothing(selection: Selection, options: FilledOptions, filter: Filter) -> Evidence:
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
        mode=options.mode,
    )
