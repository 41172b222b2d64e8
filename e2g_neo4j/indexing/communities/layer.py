"""The communities of a corpus. One whose members and report are the same is kept, with its vector."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from sys import maxsize
from typing import Any

from e2g_neo4j.errors import ConfigurationError
from e2g_neo4j.graph.writer import ROWS
from e2g_neo4j.indexing.asking import CachedReplies, Replies, ask_model, estimate_usage
from e2g_neo4j.indexing.communities import writing
from e2g_neo4j.indexing.communities.chat import LEVEL, ReportWriter
from e2g_neo4j.indexing.communities.elements import StoredStatement, read_statements, statements_about
from e2g_neo4j.indexing.communities.hierarchy import communities
from e2g_neo4j.indexing.communities.merging import DescriptionMerger, merge_statements
from e2g_neo4j.indexing.communities.reports import (
    Report,
    SentenceEntities,
    choose_covering_sentences,
    choose_sentences,
    sentence_texts,
    titles,
)
from e2g_neo4j.indexing.communities.writing import Written, write_reports
from e2g_neo4j.indexing.graph_schema import GraphSchema
from e2g_neo4j.indexing.layer import Layer, Making, NotMadeError, hash_of, read_state, with_usage
from e2g_neo4j.indexing.statements.replies import STRENGTH
from e2g_neo4j.models.chat.usage import UsageMeter
from e2g_neo4j.models.embedding.windows import embed_long
from e2g_neo4j.models.entities.extraction_codec import decode, own_sentences_before_list
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import Operation, Read
from e2g_neo4j.types.reports import LayerReport, ReportKind, TokenUsage

ENTITIES_READ = 500
"""Entities whose edges one statement reads."""

CHUNKS_READ = 200
"""Chunks whose mentions one statement reads."""

REPORTS = 100
"""Reports that are written in one transaction."""

DIGITS = 6
"""Weights are rounded to as many digits: after updates, their last bits depend on the order of additions."""


def plan(
    models: Models, corpus: str, reports: ReportKind | None = None, schema: GraphSchema | None = None
) -> Operation[LayerReport]:
    """Estimate what a chat model would cost that writes the reports; nothing if they are extractive.

    Raises:
        ConfigurationError: A chat model is to write the reports, and none is configured.
    """
    state = yield from read_state(corpus)
    names, tasks = _tasks(models, state, reports, UsageMeter())
    if not names:
        return LayerReport()
    merger, writer = tasks or _require_tasks(models)
    statements = (yield from read_statements(corpus)) if state["statements"] == state["revision"] else []
    usage = TokenUsage()
    token_spans = models.embedder.token_spans
    writers = _writers(
        corpus,
        names,
        estimate_usage(merger, "description", token_spans, usage),
        estimate_usage(writer, "summary", token_spans, usage),
    )
    usage.remembered = (yield from _reports(corpus, writers, statements)).cached
    return with_usage(models, usage)


def _check(models: Models, corpus: str, reports: ReportKind | None) -> Operation[None]:
    _tasks(models, (yield from read_state(corpus)), reports, UsageMeter())


def _require_tasks(models: Models) -> tuple[DescriptionMerger, ReportWriter]:
    """Return what the configured chat model is asked. Raises ConfigurationError without one."""
    merger, writer = DescriptionMerger.of(models), ReportWriter.of(models)
    if merger is None or writer is None:
        raise ConfigurationError(
            "A chat model is to write the reports, and none is configured: set E2G_CHAT_MODEL, such as ollama:NAME."
        )
    return merger, writer


def _tasks(
    models: Models, state: Mapping[str, Any], reports: ReportKind | None, meter: UsageMeter | None
) -> tuple[list[str], tuple[DescriptionMerger, ReportWriter] | None]:
    """Return the names of the tasks whose replies count, and those to ask, whose names are the last. Without names, the
    reports are extractive."""
    before: list[str] = [] if reports == "extractive" else state["report_models"] or []
    if reports != "llm" and (not before or meter is None or models.chat_model is None):
        return before, None
    tasks = _require_tasks(models)
    new = [task.name for task in tasks]
    return [*([] if reports == "llm" else [name for name in before if name not in new]), *new], tasks


def _writers(corpus: str, names: Sequence[str], merge: Replies, write: Replies) -> tuple[CachedReplies, CachedReplies]:
    """Return the replies with merged descriptions, and those with reports."""
    merger, writer = (
        CachedReplies(corpus, [name for name in names if name.startswith(f"{kind.stage}-")], ask)
        for kind, ask in ((DescriptionMerger, merge), (ReportWriter, write))
    )
    return merger, writer


def _make(making: Making) -> Operation[LayerReport]:
    models, corpus = making.models, making.corpus
    names, tasks = _tasks(models, making.state, making.reports, making.meter)
    statements = yield from _statements(making, written=bool(names))
    ask = [ask_model(corpus, task, making.used, making.show) for task in tasks or (None, None)]
    writers = _writers(corpus, names, *ask) if names else None
    written = yield from _reports(corpus, writers, statements)
    making.remember(LEVEL, written.cached)
    reports = written.reports
    [rows] = yield Read("communities/stored", {"corpus": corpus})
    stored = {row["id"]: row["sha256"] for row in rows["communities"]}
    before = set(rows["reports"])
    new = [report for report in reports if stored.get(report.id) != report.sha256]
    kept = sorted(stored.keys() & {report.id for report in reports} - {report.id for report in new})
    yield from making.begin()
    for batch in split_batches(new, REPORTS):
        yield from making.stage(_rows(batch, embed_long(models.embedder, [report.shown for report in batch]).tolist()))
        making.show("communities", making.staged, len(new))
    members = ({"id": report.id, "entity": entity} for report in new for entity in report.community.members)
    for batch_of_members in split_batches(members, ROWS):
        yield from making.add("stage_members", batch_of_members)
    parents = [{"id": one.id, "parent": _parent(one, reports)} for one in reports]
    yield from making.publish(
        ("communities/set_parents", {"corpus": corpus, "rows": parents}),
        stored=None if making.state["statements"] is None else [one.id for one in statements],
        models=names or None,
        kept=kept,
    )
    report = LayerReport(
        total=len(reports),
        made=sum(report.report_sha256 not in before for report in new),
        levels=max((one.community.level for one in reports), default=0),
        unreadable=written.unreadable,
    )
    return with_usage(models, making.usage_of(LEVEL), report) if names else report


COMMUNITIES = Layer(
    "communities", "communities", "its communities were made", _make, check=_check, plan=plan, staged="StagedCommunity"
)


def _statements(making: Making, *, written: bool) -> Operation[list[StoredStatement]]:
    """Read the statements that communities are made from; none if the corpus does not have this layer.

    Communities with extractive reports are also made from statements that are out of date, and again with new ones.
    """
    state, corpus = making.state, making.corpus
    if state["statements"] is None:
        return []
    if written and state["statements"] != state["revision"]:
        raise NotMadeError(
            f"The reports of the corpus {corpus!r} are made from its statements, which are out of date: run "
            f"`e2g enrich --with statements,communities --corpus {shlex.quote(corpus)}`."
        )
    return (yield from read_statements(corpus))


def _graph(corpus: str) -> Operation[tuple[dict[str, str], dict[tuple[str, str], float]]]:
    """Read the names of the entities, by key, and the weights of their edges."""
    names: dict[str, str] = {}
    weights: dict[tuple[str, str], float] = {}
    after = ""
    while rows := (yield Read("communities/edges", {"corpus": corpus, "after": after, "limit": ENTITIES_READ})):
        for row in rows:
            names[row["key"]] = row["name"]
            weights |= {(row["key"], other): round(weight, DIGITS) for other, weight in row["edges"]}
        after = rows[-1]["key"]
    # An entity may be deleted between two reads: what is made of the rest is not published.
    return names, {pair: weight for pair, weight in weights.items() if weight > 0 and pair[1] in names}


def _reports(
    corpus: str, writers: tuple[CachedReplies, CachedReplies] | None, statements: Sequence[StoredStatement]
) -> Operation[Written]:
    """Find communities and make their reports: extractive ones, or those that a chat model writes.

    It reads statements, which it merges before; sentences of a community about whose members nothing is stated.
    """
    names, weights = yield from _graph(corpus)
    weights = add_strengths(weights, statements, names)
    sentences = yield from _sentences(corpus)
    together: defaultdict[str, set[str]] = defaultdict(set)
    for sentence in sentences:
        together[sentence.chunk].update(sentence.entities)
    hierarchy = communities(weights, [[one.entities for one in sentences], together.values()])
    chosen = list(choose_sentences(hierarchy, sentences, weights))
    texts = yield from sentence_texts(corpus, {(one.chunk, *one.span) for each in chosen for one in each})
    extractive = [
        Report(
            hash_of(str(community.level), *community.members),
            community,
            title,
            " ".join(texts[one.chunk, *one.span] for one in each),
            tuple(dict.fromkeys(one.chunk for one in each)),
            sentences=tuple(each),
        )
        for community, title, each in zip(hierarchy, titles(hierarchy, weights, names), chosen, strict=True)
    ]
    if writers is None:
        return Written(extractive)
    merger, writer = writers
    members = {key: names[key] for community in hierarchy for key in community.members}
    merged, merged_before = yield from merge_statements(statements, members, merger)
    stated = statements_about(hierarchy, merged, names)
    covering = choose_covering_sentences(hierarchy, sentences, weights, maxsize, longest=writing.CHARACTERS)
    covers = [about or cover for about, cover in zip(stated, covering, strict=True)]
    written = yield from write_reports(corpus, extractive, covers, writer)
    return replace(written, cached=merged_before + written.cached)


def add_strengths(
    weights: Mapping[tuple[str, str], float], statements: Iterable[StoredStatement], names: Mapping[str, str]
) -> dict[tuple[str, str], float]:
    """Return the weights of edges with those of what is stated of both ends: a strength of STRENGTH weighs as much as a
    sentence with no other entity twice."""
    found = defaultdict(float, weights)
    for one in statements:
        if one.object is not None and one.object != one.subject and names.keys() >= {one.subject, one.object}:
            found[min(one.entities), max(one.entities)] += one.strength / STRENGTH
    return {pair: round(weight, DIGITS) for pair, weight in found.items()}


def _sentences(corpus: str) -> Operation[list[SentenceEntities]]:
    """Read the sentences of a corpus that have entities."""
    found = []
    after = ""
    while rows := (yield Read("communities/mentions", {"corpus": corpus, "after": after, "limit": CHUNKS_READ})):
        for row in rows:
            entities: defaultdict[int, list[str]] = defaultdict(list)
            for entity, numbers in sorted(row["mentions"]):
                for number in numbers:
                    entities[number].append(entity)
            sentences = decode(row["notes"]).sentences
            for number, at in enumerate(own_sentences_before_list(sentences, tuple(row["own"]))):
                sentence = sentences[at]
                if keys := entities[number]:
                    span = sentence.start, sentence.end
                    place = row["document"], row["index"], row["chunk"]
                    found.append(SentenceEntities(*place, span, tuple(keys), number))
        after = rows[-1]["chunk"]
    return found


def _rows(reports: Sequence[Report], vectors: Sequence[Sequence[float]]) -> list[dict[str, Any]]:
    return [
        {
            "id": report.id,
            "level": report.community.level,
            "title": report.title,
            "text": report.text,
            "rating": report.rating,
            "entities": len(report.community.members),
            "sha256": report.sha256,
            "report_sha256": report.report_sha256,
            "chunks": list(report.chunks),
            "sources": list(report.sources),
            "embedding": vector,
        }
        for report, vector in zip(reports, vectors, strict=True)
    ]


def _parent(report: Report, reports: Sequence[Report]) -> str | None:
    parent = report.community.parent
    return None if parent is None else reports[parent].id
