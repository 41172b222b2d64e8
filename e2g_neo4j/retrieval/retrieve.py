"""Retrieval: find the evidence for a question in one of the modes (`e2g_neo4j.retrieval.strategies`).

`retrieve` is an operation without I/O, which the sync and async clients execute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from neo4j.vector import Vector

from e2g_neo4j.errors import ConfigurationError, CorpusChangedError, QueryError, did_you_mean
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.models.entities.extraction import extract, unwrap_lines
from e2g_neo4j.models.entities.keywords import Terms, capital_runs, find_terms, keywords, name_candidates
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.retrieval.chat_calls import ChatCalls
from e2g_neo4j.retrieval.explain import explanation_of, join_explanations
from e2g_neo4j.retrieval.filters import Filter, find_documents
from e2g_neo4j.retrieval.history import StandAlone, make_stand_alone
from e2g_neo4j.retrieval.linking import Linked, join_absences, leave_out, link
from e2g_neo4j.retrieval.lucene import terms_of, word_statistics, words_of
from e2g_neo4j.retrieval.options import FilledOptions, RetrievalOptions, check_question
from e2g_neo4j.retrieval.passages import TokenSpans
from e2g_neo4j.retrieval.query import Query
from e2g_neo4j.retrieval.requirements import (
    Group,
    OtherModelsError,
    check_corpora,
    group_corpora,
    learn_models,
    merge_by_rank,
    out_of_date,
    read_corpora,
    remember_models,
)
from e2g_neo4j.retrieval.selection import Selection
from e2g_neo4j.retrieval.strategy import Strategy
from e2g_neo4j.retrieval.windows import Budget
from e2g_neo4j.runtime.cypher import split_suffix
from e2g_neo4j.runtime.requests import Chat, Embed, Operation, Request, Rows, map_requests, read_each, reads_of
from e2g_neo4j.runtime.tracing import span
from e2g_neo4j.types.chat import ChatUsage, StreamingChatModel
from e2g_neo4j.types.documents import Span
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.graph import NOUN
from e2g_neo4j.types.results import Evidence, Fact, Pair, Passage

TRIES = 4
"""How often a question is processed again because a corpus turns out to be made with other models."""

MAX_FACTS = 25
"""Maximum number of facts in the evidence."""

LONGEST_VALUE = 200
"""Maximum characters of a property of a fact, or of a list of values."""

LEAST_DIMENSIONS = 32
"""A list of at least so many numbers is taken for an embedding."""

TOLD_ABSENCES = 3
"""Maximum number of pairs of which the reason says that no passage mentions them together."""

TOLD_LOSSES = 10
"""Maximum number of parts of files of which the reason says that they were not read."""


def retrieve(
    models: Models,
    question: str,
    corpora: Sequence[str],
    options: RetrievalOptions,
    chat_model: StreamingChatModel | None = None,
    rewriter: StreamingChatModel | None = None,
) -> Operation[Evidence]:
    """Find the evidence for a question. `E2G.retrieve` executes this operation.

    Which models a corpus was made with is known from questions before. Otherwise, it is assumed that they are those of
    the settings. If the first read tells otherwise, the question is processed again.

    Args:
        models: The models that process the question.
        corpora: The corpora to search.
        chat_model: The chat model for the option `llm`. Default: that of the models.
        rewriter: The chat model that rewrites a question with earlier turns. Default: that of `llm`, if it is set.

    Raises:
        QueryError: The question or an option is invalid.
        ConfigurationError: The option `llm` is set, but no chat model is configured.
        ModelError: The chat model failed.
        NotFoundError: A corpus has no documents.
        FingerprintError: The models of a corpus are not available.
    """
    filled = options.fill(models.settings)
    check_question(question)  # before spaCy processes it
    chat = None
    if filled.llm:
        if (model := chat_model or models.chat_model) is None:
            raise ConfigurationError(
                "The option llm needs a chat model, but none is configured: set E2G_CHAT_MODEL, or leave out llm."
            )
        chat = ChatCalls(model, models.settings.prompts)
    if not models.are_loaded:
        yield from learn_models(models, corpora)
    for _ in range(TRIES):
        groups = group_corpora(models, corpora)
        try:
            with span("e2g.retrieve", {"e2g.mode": filled.mode, "e2g.k": filled.k}) as opened:
                alone, used = StandAlone(question), ChatUsage()
                if filled.history:
                    model = rewriter or (chat.model if chat else None)
                    calls = ChatCalls(model, models.settings.prompts, used) if model else None
                    alone = yield from make_stand_alone(question, filled.history, groups[0].models.nlp, calls)
                asked = parse_question(alone.question, groups, embed="vector" in filled.strategy.needs)
                spans = partial(_token_spans, groups[0])
                search = Search(alone.question, asked, filled, spans, models.settings.reranker, chat, used)
                evidence = yield from map_requests(search.find_evidence(), search.change, search.receive)
                opened.set_attribute("e2g.route", evidence.route)
                opened.set_attribute("e2g.passages", len(evidence.passages))
                return replace(
                    evidence,
                    question=question,
                    searched_as=alone.question if alone.question != question else "",
                    reason=f"{evidence.reason} {alone.note}" if alone.note else evidence.reason,
                    round_trips=search.round_trips,
                    calls=used.calls,
                    prompt_tokens=used.prompt_tokens,
                    completion_tokens=used.completion_tokens,
                )
        except OtherModelsError as error:
            remember_models(models, error.rows)
    raise CorpusChangedError(", ".join(corpora), TRIES, "the question was asked")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to corpora of the same models, processed by these models.

    Attributes:
        names: Keys of the question's entities.
        other_names: Keys of other words of the question, which count if they are names of entities of the corpus.
        keywords: Returns the keywords of the question: by key, how it spells them.
        terms: Returns the terms of the question as the published code of E²GraphRAG takes them.
        types: The types of the names.
        made_with: The fingerprint of the models.
        embed: The embedding of the question, which has been started.
        proper: Names that may be a part of the name of an entity, or have typing errors. The pipeline takes those with
            terms for no names.
    """

    names: Sequence[str]
    other_names: Sequence[str]
    keywords: Callable[[], Mapping[str, str]]
    terms: Callable[[], Terms]
    types: Mapping[str, str]
    made_with: Fingerprint
    group: Group
    embed: Embed | None = None
    proper: Mapping[str, Sequence[str]] = field(default_factory=dict)


def parse_question(question: str, groups: Sequence[Group], *, embed: bool) -> list[Asked]:
    """Process a question, and start to embed it. Groups with the same pipeline share what it finds."""
    # computed while spaCy processes the question and the database looks up entities
    started = [Embed(question, one.models.vector(Embed(question))) if embed else None for one in groups]
    first: dict[str, Asked] = {}
    asked = []
    for group, embedding in zip(groups, started, strict=True):
        models = group.models
        if models.pipeline_id not in first:
            doc = models.nlp(unwrap_lines(question))
            extraction = extract(doc)
            names = list(extraction.counts)
            others = name_candidates(doc, names)
            types = {key: max(counts, key=counts.__getitem__) for key, counts in extraction.types.items()}
            words, terms = partial(keywords, doc), partial(find_terms, doc)
            proper: dict[str, Sequence[str]] = {
                entity_key(run, doc.lang_): terms_of([run]) for run in capital_runs(doc)
            }
            proper |= {key: () for key in names if types[key] != NOUN}
            first[models.pipeline_id] = Asked(
                names, others, words, terms, types, models.fingerprint, group, proper=proper
            )
        same = first[models.pipeline_id]
        asked.append(replace(same, made_with=models.fingerprint, group=group, embed=embedding))
    return asked


@dataclass(slots=True)
class Search:
    """The search for the evidence of a question that stands alone.

    Attributes:
        asked: The question to corpora of one set of models or several, whose rankings are merged by rank.
        used: What the calls of the chat model used so far.
        round_trips: How many reads there were so far.
        ranking: The corpora that are being ranked, with their models.
    """

    question: str
    asked: Sequence[Asked]
    options: FilledOptions
    token_spans: TokenSpans
    reranker: str | None = None
    chat: ChatCalls | None = None
    used: ChatUsage = field(default_factory=ChatUsage)
    round_trips: int = 0
    ranking: Asked | None = None

    def change(self, request: Request) -> Request:
        """Count the round trips of a request, and have the models of the corpora execute those of a ranking."""
        self.round_trips += len(reads_of(request))
        return self.ranking.group.change(request, self.ranking.embed) if self.ranking else request

    def receive(self, request: Request, reply: Any) -> Any:
        """Count the calls of the chat model."""
        if isinstance(request, Chat):
            self.used.add(reply)
        return reply

    def find_evidence(self) -> Operation[Evidence]:
        """Filter the documents, rank what the corpora have, and read the passages."""
        options, strategy = self.options, self.options.strategy
        corpora = [corpus for one in self.asked for corpus in one.group.corpora]
        budget = Budget(options.k, options.tokens)
        selection = Selection(self.question, corpora, budget, options.unit, self.token_spans, self.reranker)
        filter = None
        if options.where:
            filter = yield from find_documents(options.where, corpora)
        if filter and not filter.left:
            return _no_evidence(selection, options, filter)
        queries: list[Query] = []
        rankings: list[Sequence[Any]] = []
        rows: list[Rows] = []
        for one in self.asked:  # one after the other, because they share the calls that the chat model may have
            self.ranking = one
            query, found = yield from read_query(one, selection, options, filter, self.chat)
            ranking: Sequence[Any] = yield from _rank(strategy, query, selection)
            queries.append(query)
            rankings.append(ranking)
            rows.append(found)
        self.ranking = None
        pairs = {chunk: found for query in queries for chunk, found in query.linked.pairs_by_chunk.items()}
        passages = yield from _passages(strategy, selection, merge_by_rank(rankings), pairs)
        entities = {corpus: keys for query in queries for corpus, keys in query.entities.items()}
        facts = yield from read_facts(options.relationship_types, entities)
        notes = [note for those in rows for note in out_of_date(strategy, those)]
        notes += [*(self.chat.told if self.chat else ()), *([filter.reason] if filter else [])]
        notes += [f"The reranker {self.reranker} has ordered the passages."] if self.reranker else []
        if not passages or any(query.linked.unknown for query in queries):  # what was not read may have what is absent
            unread = [loss for those in rows for row in those for loss in row.get("unread") or ()]
            notes += [f"Not read: {'; '.join(unread[:TOLD_LOSSES])}."] if unread else []
        return _evidence(strategy, queries, passages, facts, notes)


def read_query(
    asked: Asked, selection: Selection, options: FilledOptions, filter: Filter | None, chat: ChatCalls | None
) -> Operation[tuple[Query, Rows]]:
    """Read what the corpora have. Return the query to the mode, and the rows that it is made of."""
    strategy, hops, names = options.strategy, options.hops, asked.names
    vectors = asked.group.vectors
    fulltext = split_suffix(vectors)[1]  # words are counted in English indexes alone
    terms = terms_of(words_of(selection.question)) if not fulltext else []
    rows = yield from read_corpora(strategy, names, asked.other_names, terms, asked.group.corpora, proper=asked.proper)
    check_corpora(strategy, rows, asked.made_with, vectors)
    with_entities = "entities" in strategy.needs
    if options.without and with_entities:
        names = [name for name in names if name not in options.without]
        rows = leave_out(rows, options.without)
    linked = link(rows, names, asked.other_names, hops, filter) if with_entities else Linked()
    query = Query(
        selection.question,
        asked.group.corpora,
        selection.windows,
        entities=linked.by_corpus,
        names={key: type for key, type in asked.types.items() if key in names},
        hops=hops,
        statistics=word_statistics(rows) if terms and strategy.takes("full_text") else None,
        chat=chat,
        documents=filter.by_corpus if filter else None,
        layered=[row["corpus"] for row in rows if strategy.layer and row[strategy.layer] is not None],
        fulltext=fulltext,
        without=options.without,
        keywords=asked.keywords,
        terms=asked.terms,
        foreign=not asked.group.models.knows_language,
        linked=linked,
        explanation=explanation_of(strategy, linked, hops, selection.unit),
    )
    return query, rows


def _rank(strategy: Strategy, query: Query, selection: Selection) -> Operation[Any]:
    """Return the ranking of a mode: windows, chunks or nodes."""
    whole = strategy.rank_nodes or (strategy.rank_chunks if selection.unit == "chunk" else None)
    rank: Any = whole or strategy.rank_windows
    ranking: Operation[Any] = rank(replace(query, limit=selection.chunks) if whole else query)
    return ranking


def _token_spans(group: Group, text: str) -> Sequence[Span]:
    """Return the tokens of a text. The embedding model is loaded only for this, for a budget in tokens."""
    return group.models.embedder.token_spans(text)


def _evidence(
    strategy: Strategy,
    queries: Sequence[Query],
    passages: tuple[Passage, ...],
    facts: tuple[Fact, ...],
    notes: Sequence[str],
) -> Evidence:
    """Return the evidence, with the explanation of the mode and the notes after it."""
    told = join_explanations(queries)
    absences = join_absences([query.linked for query in queries])
    in_text = {name for query in queries for name in query.linked.in_text}
    resolved: dict[str, tuple[str, ...]] = {}
    for name, keys in (item for query in queries for item in query.linked.resolved.items()):
        resolved[name] = tuple(dict.fromkeys((*resolved.get(name, ()), *keys)))
    return Evidence(
        question=queries[0].question,
        corpora=tuple(corpus for query in queries for corpus in query.corpora),
        route=told.route,
        reason=" ".join([told.reason, *told.notes, *notes, *(one.to_sentence() for one in absences[:TOLD_ABSENCES])]),
        entities=told.entities,
        unknown_entities=told.unknown_entities,
        in_text=tuple(name for name in told.unknown_entities if name in in_text),
        resolved=resolved,
        ignored_entities=told.ignored_entities,
        pairs=told.pairs,
        hops=told.hops,
        passages=passages,
        trace=told.trace,
        mode=strategy.name,
        facts=facts,
        entity_types={key: type for query in reversed(queries) for key, type in query.linked.types.items()},
        absences=absences,
    )


def _passages(
    strategy: Strategy, selection: Selection, ranking: Sequence[Any], pairs: Mapping[str, tuple[Pair, ...]]
) -> Operation[tuple[Passage, ...]]:
    """Choose the passages of what was ranked."""
    if strategy.rank_chunks and selection.unit == "chunk":
        return (yield from selection.of_chunks(ranking[: selection.chunks], pairs))
    if strategy.rank_windows:
        return (yield from selection.of_windows(ranking, pairs))
    return (yield from selection.of_nodes(ranking, skip=strategy.skips))


def _no_evidence(selection: Selection, options: FilledOptions, filter: Filter) -> Evidence:
    """Return the evidence if no document meets the conditions."""
    corpora = tuple(selection.corpora)
    return Evidence(selection.question, corpora, "global", filter.reason, (), (), 0, (), mode=options.mode)


def fact_of(row: dict[str, Any]) -> Fact:
    """Convert a row of `facts.cypher`."""
    return Fact(
        subject=row["subject"],
        subject_id=row["subject_id"],
        relationship=row["relationship"],
        object=row["object"],
        object_id=row["object_id"],
        properties={
            name: format_value(value) for name, value in sorted(row["properties"].items()) if not is_vector(value)
        },
        entities=tuple(sorted(set(row["entities"]))),
    )


def is_vector(value: Any) -> bool:
    """Return whether a property is an embedding, which tells nobody anything."""
    numbers = isinstance(value, list) and len(value) >= LEAST_DIMENSIONS
    numbers = numbers and all(isinstance(one, int | float) for one in value)
    return numbers or isinstance(value, Vector)


def format_value(value: Any) -> str:
    """Format a property value, truncated to LONGEST_VALUE characters."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text[:LONGEST_VALUE]


def read_facts(types: Sequence[str], entities: Mapping[str, Sequence[str]]) -> Operation[tuple[Fact, ...]]:
    """Read the facts of these types around entities.

    Args:
        types: Relationship types; without any, there are no facts.

    Raises:
        QueryError: The database does not know one of the types.
    """
    facts: tuple[Fact, ...] = ()
    if types and any(entities.values()):
        parameters = {
            corpus: {"names": list(keys), "types": list(types), "limit": MAX_FACTS} for corpus, keys in entities.items()
        }
        facts = tuple(dict.fromkeys(map(fact_of, (yield from read_each("query/facts", parameters)))))[:MAX_FACTS]
    if types and not facts:
        yield from _check_types(types, list(entities))
    return facts


def _check_types(types: Sequence[str], corpora: Sequence[str]) -> Operation[None]:
    """Raise QueryError if the database does not know one of these types."""
    rows = yield from read_each("query/relationship_types", {corpus: {"types": list(types)} for corpus in corpora})
    for missing in rows[0]["missing"]:
        linked = sorted({type for row in rows for type in row["linked"]})
        raise QueryError(
            f"The database has no relationships of the type {missing!r}.{did_you_mean(missing, linked)} Pass types of "
            "your own graph."
        )
