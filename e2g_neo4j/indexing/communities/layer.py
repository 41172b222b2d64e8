"""Make the communities of a corpus, and keep them up to date.

What is written depends on the visible graph alone, and on the replies of a chat model if it writes the reports, which
are cached. So communities after any updates are those of a fresh corpus. New ones are staged in bounded transactions,
and published in one transaction, if the corpus has not changed meanwhile. A community whose members and report are the
same is kept, with its vector.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np

from e2g_neo4j.errors import ConfigurationError, CorpusChangedError, CorpusNotFoundError
from e2g_neo4j.graph.writer import ROWS, purge
from e2g_neo4j.indexing.communities.chat import LEVEL, ReportWriter
from e2g_neo4j.indexing.communities.hierarchy import communities
from e2g_neo4j.indexing.communities.nodes import Report, hash_of, sentence_texts
from e2g_neo4j.indexing.communities.reports import SentenceEntities, choose_sentences, titles
from e2g_neo4j.indexing.communities.writing import (
    Replies,
    RepliesMissingError,
    Written,
    asking,
    estimating,
    write_reports,
)
from e2g_neo4j.indexing.sentence_vectors import embed_missing, mean_by_length
from e2g_neo4j.models.chat.usage import UsageMeter, cost
from e2g_neo4j.models.embedding.quantised import dequantised
from e2g_neo4j.models.embedding.windows import embed_long
from e2g_neo4j.models.entities.extraction_codec import decode, own_sentences_before_list
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.batched import batched
from e2g_neo4j.runtime.requests import Operation, Read, Write
from e2g_neo4j.types.reports import EnrichReport, Progress, ReportKind, ReportUsage, TokenUsage

ENTITIES_READ = 500
"""Entities whose edges one statement reads."""

CHUNKS_READ = 200
"""Chunks whose mentions one statement reads."""

REPORTS = 100
"""Reports that are written in one transaction."""

DIGITS = 6
"""Weights are rounded to as many digits: after updates, their last bits depend on the order of additions."""

ATTEMPTS = 5
"""How often communities are made again because the corpus has changed meanwhile."""


def enrich(
    models: Models,
    corpus: str,
    progress: Progress | None,
    reports: ReportKind | None = None,
    meter: UsageMeter | None = None,
) -> Operation[EnrichReport]:
    """Make the communities of a corpus, or make those again that have changed.

    Args:
        models: the models.
        corpus: the corpus.
        progress: called with the stage and its progress.
        reports: who writes the reports. None: the same as before; at first they are extractive.
        meter: counts the use of the chat model. Without it, the chat model is not used.

    Raises:
        NotFoundError: the corpus has no documents.
        ConfigurationError: a chat model is to write the reports, and none is configured.
        BudgetError: the budget is used up. The replies so far are cached.
        CorpusChangedError: others change the corpus all the time.
    """
    if reports == "llm":
        required_writer(models)
    try:
        return (yield from _attempted(models, corpus, progress, reports, meter))
    except RepliesMissingError:
        raise ConfigurationError(
            f"A chat model writes the reports of the corpus {corpus!r}, and none is configured: set E2G_CHAT_MODEL, "
            "such as ollama:NAME, or run `e2g enrich --with communities --reports extractive "
            f"--corpus {corpus}`."
        ) from None


def update(
    models: Models, corpus: str, progress: Progress | None = None, meter: UsageMeter | None = None
) -> Operation[None]:
    """Bring the communities of a corpus up to date, if it has any.

    If a chat model writes the reports, but there is none or no meter, nothing is asked for. If a report is not cached
    then, the communities stay as they are, which `e2g doctor` reports.
    """
    [state] = yield Read("communities/state", {"corpus": corpus})
    if state["communities"] is not None and state["communities"] != state["revision"]:
        with suppress(RepliesMissingError):
            yield from _attempted(models, corpus, progress, None, meter)


def plan(models: Models, corpus: str, reports: ReportKind | None) -> Operation[ReportUsage | None]:
    """Estimate what a chat model would cost that writes the reports; None if they are extractive.

    Raises:
        ConfigurationError: a chat model is to write the reports, and none is configured.
    """
    [state] = yield Read("communities/state", {"corpus": corpus})
    names, writer = _writers(models, state, reports, UsageMeter())
    if not names:
        return None
    writer = writer or required_writer(models)
    usage = TokenUsage()
    ask = estimating(writer, models.embedder.token_spans, usage)
    usage.remembered = (yield from _reports(corpus, names, ask)).cached
    return _usage(models, usage)


def required_writer(models: Models) -> ReportWriter:
    """Return the writer of reports of the configured chat model. Raises ConfigurationError without one."""
    if models.chat_model is None:
        raise ConfigurationError(
            "A chat model is to write the reports, and none is configured: set E2G_CHAT_MODEL, such as ollama:NAME."
        )
    settings = models.settings
    return ReportWriter(models.chat_model, prompts=settings.prompts, concurrency=settings.llm_concurrency)


def _writers(
    models: Models, state: Mapping[str, Any], reports: ReportKind | None, meter: UsageMeter | None
) -> tuple[list[str], ReportWriter | None]:
    """Return the names of the writers whose reports count, and the one to ask, which is the last. Without names, the
    reports are extractive."""
    if reports == "llm":
        writer = required_writer(models)
        return [writer.name], writer
    before: list[str] = [] if reports == "extractive" else state["report_models"] or []
    if not before or meter is None or models.chat_model is None:
        return before, None
    writer = required_writer(models)
    return [*(name for name in before if name != writer.name), writer.name], writer


def _attempted(
    models: Models, corpus: str, progress: Progress | None, reports: ReportKind | None, meter: UsageMeter | None
) -> Operation[EnrichReport]:
    """Make communities until the corpus does not change meanwhile. Raises RepliesMissingError."""
    show = progress or (lambda stage, done, total: None)
    used = meter or UsageMeter()
    for attempt in range(ATTEMPTS):
        [state] = yield Read("communities/state", {"corpus": corpus})
        if not state["found"]:
            raise CorpusNotFoundError(corpus)
        yield from purge(corpus)  # also counts edges: of all documents that this revision has
        yield from embed_missing(models.embedder, corpus, progress)
        names, writer = _writers(models, state, reports, meter)
        written = yield from _reports(corpus, names, asking(corpus, writer, used, show))
        for _ in range(0 if attempt else written.cached):
            used.remembered(LEVEL)
        if (report := (yield from _stored(models, corpus, state, written.reports, names, show))) is not None:
            yield from purge(corpus)
            if not names:
                return report
            usage = used.levels.get(LEVEL, TokenUsage())
            return replace(report, reports=_usage(models, usage, written.unreadable))
    raise CorpusChangedError(corpus, ATTEMPTS, "its communities were made", "communities")


def _stored(
    models: Models,
    corpus: str,
    state: Mapping[str, Any],
    reports: Sequence[Report],
    names: Sequence[str],
    show: Progress,
) -> Operation[EnrichReport | None]:
    """Stage and publish communities. Return None if the corpus is not at this revision any more."""
    [rows] = yield Read("communities/stored", {"corpus": corpus})
    stored = {row["id"]: row["sha256"] for row in rows["communities"]}
    new = [report for report in reports if stored.get(report.id) != report.sha256]
    kept = sorted(stored.keys() & {report.id for report in reports} - {report.id for report in new})
    written = set(rows["reports"])
    made = sum(report.report_sha256 not in written for report in new)
    run = uuid4().hex
    yield Write((("index/lock_corpus", {"corpus": corpus}), ("communities/discard", {"corpus": corpus})))
    held = {"corpus": corpus, "run": run, "revision": state["revision"], "made_from": state["communities"]}
    staged = 0
    for batch in batched(new, REPORTS):
        vectors = yield from _vectors(models, corpus, batch)
        if vectors is None:
            return None
        parameters = {"corpus": corpus, "run": run, "rows": _rows(batch, vectors)}
        if not (yield Write((("communities/stage", parameters),), ("communities/hold", {**held, "staged": staged}))):
            return None
        staged += len(batch)
        show("communities", staged, len(new))
    held["staged"] = staged
    members = ({"id": report.id, "entity": entity} for report in new for entity in report.community.members)
    for batch_of_members in batched(members, ROWS):
        parameters = {"corpus": corpus, "run": run, "rows": batch_of_members}
        if not (yield Write((("communities/stage_members", parameters),), ("communities/hold", held))):
            return None
    parents = [{"id": one.id, "parent": _parent(one, reports)} for one in reports]
    revision = {"revision": state["revision"], "models": list(names) or None}
    published = yield Write(
        (
            ("communities/publish", {"corpus": corpus, "run": run, **revision, "kept": kept}),
            ("communities/set_parents", {"corpus": corpus, "rows": parents}),
        ),
        ("communities/hold", held),
    )
    if not published:
        return None
    levels = max((one.community.level for one in reports), default=0)
    return EnrichReport(corpus, communities=len(reports), levels=levels, made=made, kept=len(reports) - made)


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


def _reports(corpus: str, writers: Sequence[str], ask: Replies) -> Operation[Written]:
    """Find communities and make their reports: extractive ones, or by the writers of these names."""
    names, weights = yield from _graph(corpus)
    hierarchy = communities(weights)
    sentences = yield from _sentences(corpus)
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
    if not writers:
        return Written(extractive)
    return (yield from write_reports(corpus, extractive, sentences, weights, writers, ask))


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


def _vectors(models: Models, corpus: str, reports: Sequence[Report]) -> Operation[list[list[float]] | None]:
    """Return the vectors of reports; None if sentences are not stored any more.

    The vector of an extractive report is the mean of those of its sentences, which takes no model. Others are embedded.
    """
    chunks = sorted({one.chunk for report in reports for one in report.sentences})
    rows = yield Read("index/sentence_vectors", {"corpus": corpus, "chunks": chunks})
    stored = {row["chunk"]: dequantised(row["vectors"] or b"", models.embedder.dimensions) for row in rows}
    texts = [report.shown for report in reports if not report.sentences]
    embedded = iter(embed_long(models.embedder, texts).tolist())
    vectors: list[list[float]] = []
    for report in reports:
        quoted = report.sentences
        if any(one.number >= len(stored.get(one.chunk, ())) for one in quoted):
            return None
        own = [stored[one.chunk][one.number] for one in quoted]
        vectors.append(
            mean_by_length(np.stack(own), [one.length for one in quoted]).tolist() if own else next(embedded)
        )
    return vectors


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
            "embedding": vector,
        }
        for report, vector in zip(reports, vectors, strict=True)
    ]


def _parent(report: Report, reports: Sequence[Report]) -> str | None:
    parent = report.community.parent
    return None if parent is None else reports[parent].id


def _usage(models: Models, usage: TokenUsage, unreadable: int = 0) -> ReportUsage:
    price = cost({LEVEL: usage}, models.settings.price_prompt, models.settings.price_completion)
    return ReportUsage(unreadable, usage, price)
