"""The statements of a corpus.

They depend on the visible graph, on the graph documents that were added and on the replies of the chat model alone, and
all of these are kept. So only text that is new is paid for.
"""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, TypeAlias

from e2g_neo4j.errors import ConfigurationError, CorpusNotFoundError, InputError
from e2g_neo4j.graph.lease import write_locked
from e2g_neo4j.indexing.asking import SummaryCache, ask_about, read_replies
from e2g_neo4j.indexing.graph_schema import GraphSchema
from e2g_neo4j.indexing.layer import Layer, Making, NotMadeError, read_state, with_usage
from e2g_neo4j.indexing.statements.added import AddedText, chunk_ids, claims_of, key_of, place, read_added
from e2g_neo4j.indexing.statements.chat import LEVEL, NO_SCHEMA, StatementExtractor
from e2g_neo4j.indexing.statements.chunks import ChunkParts, entity_of, read_chunks, texts_of
from e2g_neo4j.indexing.statements.replies import Claim, ParsedReply, parse
from e2g_neo4j.indexing.typed.layer import count_outside
from e2g_neo4j.models.embedding.windows import embed_long
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.batched import split_batches
from e2g_neo4j.runtime.requests import GetExecutor, Operation, Read
from e2g_neo4j.types.graph import GraphDocument
from e2g_neo4j.types.reports import GraphDocumentReport, LayerReport, Progress, ReportKind, TokenUsage

ROWS = 200
"""Statements that are embedded, and written in one transaction."""

Aliases: TypeAlias = Mapping[str, Mapping[str, str]]
"""Document → name → entity."""

Added: TypeAlias = Mapping[str, Sequence[Claim]]
"""Text of a part → what was added about it."""


@dataclass(slots=True)
class Found:
    """The statements of a corpus.

    Attributes:
        rows: by id, the rows of `statements/stage` without vectors.
        unreadable: the number of parts whose reply says nothing that can be read.
        unmatched: the number of statements whose subject is no entity that the chunk mentions.
        without_object: the number of statements whose object is no entity that the chunk mentions.
    """

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    unreadable: int = 0
    unmatched: int = 0
    without_object: int = 0


def add(
    models: Models, corpus: str, documents: Sequence[GraphDocument], progress: Progress
) -> Operation[GraphDocumentReport]:
    """Keep what graph documents state about their texts, and make the statements of the corpus again.

    What was added about the same texts before is replaced. Texts that the corpus does not have are kept too, for the
    time when it has them.

    Raises:
        NotFoundError: the corpus has no documents.
        InputError: the corpus has text that no chat model has read yet, or others change the corpus all the time. The
            graph documents are kept.
    """
    named = {id for document in documents for id in chunk_ids(document)}
    texts = (yield from texts_of(corpus, named)) if named else {}
    claims: defaultdict[str, dict[Claim, None]] = defaultdict(dict)
    invalid = 0
    for document in documents:
        said = claims_of(document)
        invalid += said.count(None)
        of_chunk = next((texts[id] for id in chunk_ids(document) if id in texts), None)
        text = of_chunk or (document.source.page_content if document.source else "")
        claims[" ".join(text.split())] |= dict.fromkeys(claim for claim in said if claim)
    added = [AddedText.of(text, tuple(stated)) for text, stated in claims.items()]

    chunks = yield from read_chunks(models, corpus, [])
    placed = place(chunks, added)
    found = _collect_statements(chunks, {}, placed.claims, (yield from _aliases(corpus)))
    rows = [
        {"key": key_of(corpus, text), "text": one.dump()}
        for text, one in zip(claims, added, strict=True)
        if one.characters
    ]
    for batch in split_batches(rows, ROWS):
        yield write_locked("statements/add", corpus, rows=batch)
    try:
        report = yield from STATEMENTS.attempt(Making(STATEMENTS, models, corpus, progress))
    except NotMadeError as error:
        raise InputError(f"The graph documents are kept, but {error}") from None
    return GraphDocumentReport(
        graph_documents=len(documents),
        not_found=sum(len(one.claims) for one in placed.missing),
        invalid=invalid,
        unmatched=found.unmatched,
        without_object=found.without_object,
        added=len(found.rows),
        statements=report.total,
    )


def plan(
    models: Models, corpus: str, reports: ReportKind | None = None, schema: GraphSchema | None = None
) -> Operation[LayerReport]:
    """Estimate what the chat model would cost; nothing if all statements are of added graph documents.

    Raises:
        NotFoundError: The corpus has no documents.
        ConfigurationError: No chat model is configured.
    """
    state = yield from read_state(corpus)
    if not state["found"]:
        raise CorpusNotFoundError(corpus)
    extractor = _require_extractor(models, state, schema or GraphSchema.load(state["graph_schema"]))
    if extractor is None:
        return LayerReport()
    chunks = yield from read_chunks(models, corpus, [extractor.name])
    placed = place(chunks, (yield from read_added(corpus)))
    replies = yield from _read_cache(corpus, chunks)
    missing = _find_missing(chunks, replies, placed.claims)
    usage = TokenUsage(remembered=_count_cached(chunks, missing, placed.claims))
    extractor.estimate(missing.values(), models.embedder.token_spans, usage)
    return with_usage(models, usage)


def _check(models: Models, corpus: str, reports: ReportKind | None) -> Operation[None]:
    _require_extractor(models, (yield from read_state(corpus)), NO_SCHEMA)


def _require_extractor(models: Models, state: Mapping[str, Any], schema: GraphSchema) -> StatementExtractor | None:
    """Return the extractor of the configured chat model. None without one, if all statements of the corpus are of added
    graph documents; else raises ConfigurationError."""
    extractor = StatementExtractor.of(models, schema)
    if extractor is None and state["statement_models"] != []:
        raise ConfigurationError(
            "Statements are extracted by a chat model, and none is configured: set E2G_CHAT_MODEL, such as ollama:NAME."
        )
    return extractor


def _extractors(making: Making) -> tuple[list[str], StatementExtractor | None]:
    """Return the names of the extractors whose replies count, and the one to ask, which is the last.

    In an update, the replies of former ones count too. If no chat model has ever made statements of the corpus, none
    does then.
    """
    before: list[str] = making.state["statement_models"] or []
    asks = making.meter and (making.asked or before)
    extractor = StatementExtractor.of(making.models, making.schema) if asks else None
    if extractor is None:
        return before, None
    others = [] if making.asked else [name for name in before if name != extractor.name]
    return [*others, extractor.name], extractor


def _make(making: Making) -> Operation[LayerReport]:
    """Make statements. Those of another run that are published meanwhile are compared, because they may be of graph
    documents that were added after these were read."""
    models, corpus = making.models, making.corpus
    names, extractor = _extractors(making)
    [stored] = yield Read("statements/stored", {"corpus": corpus})  # before what was added is read
    chunks = yield from read_chunks(models, corpus, names)
    claims = place(chunks, (yield from read_added(corpus))).claims
    replies = yield from _read_cache(corpus, chunks)
    missing = _find_missing(chunks, replies, claims) if names else {}
    making.remember(LEVEL, _count_cached(chunks, missing, claims) if names else 0)
    if missing and extractor is None:
        raise NotMadeError(
            f"the corpus {corpus!r} has text that no chat model has read yet. Run `e2g enrich --with statements "
            f"--corpus {shlex.quote(corpus)}`, which makes their statements too."
        )
    if missing and extractor is not None:
        execute = (yield GetExecutor()).execute
        ask_about(extractor, list(missing.items()), SummaryCache(execute, corpus), making.used, making.show)
        replies |= yield from read_replies(corpus, missing)
    found = _collect_statements(chunks, replies, claims, (yield from _aliases(corpus)))
    ids = set(stored["ids"])
    new = [row for id, row in found.rows.items() if id not in ids]
    yield from making.begin()
    for batch in split_batches(new, ROWS):
        vectors = embed_long(models.embedder, [row["text"] for row in batch]).tolist()
        yield from making.stage([{**row, "embedding": vector} for row, vector in zip(batch, vectors, strict=True)])
        making.show("embedding statements", making.staged, len(new))
    changed = ids != found.rows.keys()
    outdated = sorted(ids - found.rows.keys())
    given = making.given_schema
    set_schema = [("typed/set_schema", {"corpus": corpus, "graph_schema": given.dump()})] if given else []
    yield from making.publish(*set_schema, models=names, outdated=outdated, changed=changed, stored=stored["ids"])
    report = LayerReport(
        total=len(found.rows),
        made=len(new),
        unreadable=found.unreadable,
        unmatched=found.unmatched,
        outside=count_outside(found.rows.values(), making.schema),
    )
    return with_usage(models, making.usage_of(LEVEL), report)


STATEMENTS = Layer(
    "statements", "statements", "its statements were made", _make, check=_check, plan=plan, staged="StagedStatement"
)


def _read_cache(corpus: str, chunks: Sequence[ChunkParts]) -> Operation[dict[str, str]]:
    """Read the cached replies to the parts of chunks, by key."""
    return read_replies(corpus, dict.fromkeys(key for chunk in chunks for part in chunk.parts for key in part.keys))


def _find_missing(chunks: Sequence[ChunkParts], replies: Mapping[str, str], added: Added) -> dict[str, str]:
    """Return the texts to ask about, each once, by the key under which the reply will be cached."""
    return {
        part.keys[-1]: part.text
        for chunk in chunks
        for part in chunk.parts
        if part.text not in added and replies.keys().isdisjoint(part.keys)
    }


def _count_cached(chunks: Sequence[ChunkParts], missing: Mapping[str, str], added: Added) -> int:
    """Return the number of texts whose reply is cached."""
    return len({part.text for chunk in chunks for part in chunk.parts} - added.keys()) - len(missing)


def _aliases(corpus: str) -> Operation[Aliases]:
    aliases: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for row in (yield Read("statements/aliases", {"corpus": corpus})):
        aliases[row["document"]][row["name"]] = row["entity"]
    return aliases


def _collect_statements(
    chunks: Sequence[ChunkParts], replies: Mapping[str, str], added: Added, aliases: Aliases
) -> Found:
    """Return the statements about chunks: of each part those that were added, else those in the reply to it.

    The first name of an extractor that has a reply counts. Without any, nothing is stated.
    """
    found = Found()
    for chunk in chunks:
        for part in chunk.parts:
            claims = added.get(part.text)
            if claims is None:
                reply = next((replies[key] for key in part.keys if key in replies), None)
                parsed = ParsedReply((), nothing=True) if reply is None else parse(reply)
                found.unreadable += not parsed.usable
                claims = parsed.claims
            for claim in claims:
                row = _row(chunk, claim, aliases.get(chunk.document, {}))
                if row is None:
                    found.unmatched += 1
                else:
                    found.rows[row["id"]] = row
                    found.without_object += bool(claim.object) and row["object"] is None
    return found


def _row(chunk: ChunkParts, claim: Claim, aliases: Mapping[str, str]) -> dict[str, Any] | None:
    """Return a statement; None if its subject is no entity.

    If only the object is none, or is the subject, the statement describes its subject.
    """
    subject, object = (
        next(filter(None, (entity_of(name, chunk.entities, aliases) for name in names)), None)
        for names in ((claim.subject, *claim.subject_names), (claim.object, *claim.object_names))
    )
    if subject is None:
        return None
    object = None if object == subject else object
    held = {**asdict(claim), "keywords": list(claim.keywords), "subject": subject, "object": object}
    del held["subject_names"], held["object_names"]
    held |= {name: held[name] or None for name in ("subject_type", "object_type", "status", "period")}
    held["object_type"] = held["object_type"] if object else None
    digest = sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()[:16]
    return {**held, "id": f"{chunk.id}-r{digest}", "chunk": chunk.id}
