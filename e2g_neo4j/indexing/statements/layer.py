"""Make the statements of a corpus, and keep them up to date.

What is written depends on the visible graph, on the graph documents that were added and on the replies of the chat
model alone, and all of these are kept. So after any updates the statements are those of a fresh corpus, and only text
that is new is paid for. New statements are staged in bounded transactions, and published in one transaction, if the
corpus has not changed meanwhile. Statements that are the same are kept, with their vectors.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, TypeAlias
from uuid import uuid4

from e2g_neo4j.errors import ConfigurationError, CorpusChangedError, CorpusNotFoundError, InputError
from e2g_neo4j.graph.writer import purge
from e2g_neo4j.indexing.asking import ask_about, read_replies
from e2g_neo4j.indexing.statements.added import AddedText, chunk_ids, claims_of, key_of, place, read_added
from e2g_neo4j.indexing.statements.chat import LEVEL, REPLY_TOKENS, StatementExtractor
from e2g_neo4j.indexing.statements.chunks import ChunkParts, read_chunks, texts_of
from e2g_neo4j.indexing.statements.entities import entity_of
from e2g_neo4j.indexing.statements.replies import Claim, parse
from e2g_neo4j.indexing.summaries.cache import SummaryCache
from e2g_neo4j.models.chat.usage import UsageMeter, cost
from e2g_neo4j.models.embedding.windows import embed_long
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.batched import batched
from e2g_neo4j.runtime.requests import GetExecutor, Operation, Read, Write
from e2g_neo4j.types.graph_documents import GraphDocument
from e2g_neo4j.types.reports import GraphDocumentReport, Progress, StatementReport, TokenUsage

ROWS = 200
"""Statements that are embedded, and written in one transaction."""

ATTEMPTS = 5
"""How often statements are made again because the corpus has changed meanwhile."""

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


def enrich(models: Models, corpus: str, meter: UsageMeter, progress: Progress) -> Operation[StatementReport]:
    """Make the statements of a corpus, or make those again that have changed.

    Raises:
        NotFoundError: the corpus has no documents.
        ConfigurationError: no chat model is configured, and not all statements are of added graph documents.
        BudgetError: the budget is used up. The replies so far are cached.
        CorpusChangedError: others change the corpus all the time.
    """
    extractor = yield from required_extractor(models, corpus)
    names = [extractor.name] if extractor else []
    report = yield from _attempted(models, corpus, names, extractor, meter, progress)
    if report is None:
        raise AssertionError("replies are missing that were asked for")
    return report


def update(
    models: Models, corpus: str, progress: Progress | None = None, meter: UsageMeter | None = None
) -> Operation[None]:
    """Bring the statements of a corpus up to date, if it has any.

    Without a chat model or a meter, nothing is asked for. If the reply to some text is not cached then, the statements
    stay as they are, which `e2g doctor` reports. If no chat model has ever made statements of the corpus, none does.

    Args:
        models: the models.
        corpus: the corpus.
        progress: called with the stage and its progress.
        meter: counts the use of the chat model.
    """
    [state] = yield Read("statements/state", {"corpus": corpus})
    if state["statements"] is None or state["statements"] == state["revision"]:
        return
    names = list(state["models"])
    extractor = extractor_of(models) if meter and names else None
    if extractor:  # the last one is asked
        names = [*(name for name in names if name != extractor.name), extractor.name]
    show = progress or (lambda stage, done, total: None)
    yield from _attempted(models, corpus, names, extractor, meter or UsageMeter(), show)


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
    found = _found(chunks, {}, placed.claims, (yield from _aliases(corpus)))
    rows = [
        {"key": key_of(corpus, text), "text": one.dumped()}
        for text, one in zip(claims, added, strict=True)
        if one.characters
    ]
    for batch in batched(rows, ROWS):
        writes = ("index/lock_corpus", {"corpus": corpus}), ("statements/add", {"corpus": corpus, "rows": batch})
        yield Write(writes)
    [state] = yield Read("statements/state", {"corpus": corpus})
    report = yield from _attempted(models, corpus, list(state["models"] or ()), None, UsageMeter(), progress)
    if report is None:
        raise InputError(
            f"The graph documents are kept, but the corpus {corpus!r} has text that no chat model has read yet. Run "
            f"`e2g enrich --with statements --corpus {corpus}`, which makes their statements too."
        )
    return GraphDocumentReport(
        graph_documents=len(documents),
        not_found=sum(len(one.claims) for one in placed.missing),
        invalid=invalid,
        unmatched=found.unmatched,
        without_object=found.without_object,
        added=len(found.rows),
        statements=report.statements,
    )


def plan(models: Models, corpus: str) -> Operation[StatementReport]:
    """Estimate what `enrich` would cost.

    Raises:
        NotFoundError: the corpus has no documents.
        ConfigurationError: no chat model is configured.
    """
    [state] = yield Read("statements/state", {"corpus": corpus})
    if not state["found"]:
        raise CorpusNotFoundError(corpus)
    settings = models.settings
    extractor = yield from required_extractor(models, corpus)
    if extractor is None:
        return StatementReport()
    chunks = yield from read_chunks(models, corpus, [extractor.name])
    placed = place(chunks, (yield from read_added(corpus)))
    replies = yield from _cached(corpus, chunks)
    missing = _missing(chunks, replies, placed.claims)
    usage = TokenUsage(remembered=_remembered(chunks, missing, placed.claims))
    for text in missing.values():
        usage.calls += 1
        usage.prompt_tokens += len(models.embedder.token_spans(extractor.request(text).text))
        usage.completion_tokens += REPLY_TOKENS
    return StatementReport(usage=usage, cost=cost({LEVEL: usage}, settings.price_prompt, settings.price_completion))


def extractor_of(models: Models) -> StatementExtractor | None:
    """Return the extractor of the configured chat model; None without one."""
    if models.chat_model is None:
        return None
    settings = models.settings
    return StatementExtractor(models.chat_model, prompts=settings.prompts, concurrency=settings.llm_concurrency)


def required_extractor(models: Models, corpus: str) -> Operation[StatementExtractor | None]:
    """Return the extractor of the configured chat model. None without one, if all statements of the corpus are of added
    graph documents; else raises ConfigurationError."""
    extractor = extractor_of(models)
    [state] = yield Read("statements/state", {"corpus": corpus})
    if extractor is None and state["models"] != []:
        raise ConfigurationError(
            "Statements are extracted by a chat model, and none is configured: set E2G_CHAT_MODEL, such as ollama:NAME."
        )
    return extractor


def _attempted(
    models: Models,
    corpus: str,
    names: Sequence[str],
    extractor: StatementExtractor | None,
    meter: UsageMeter,
    progress: Progress,
) -> Operation[StatementReport | None]:
    """Make statements until the corpus does not change meanwhile. Return None if replies are missing."""
    for attempt in range(ATTEMPTS):
        yield from purge(corpus)
        [state] = yield Read("statements/state", {"corpus": corpus})
        if not state["found"]:
            raise CorpusNotFoundError(corpus)
        [stored] = yield Read("statements/stored", {"corpus": corpus})  # before what was added is read
        chunks = yield from read_chunks(models, corpus, names)
        claims = place(chunks, (yield from read_added(corpus))).claims
        replies = yield from _cached(corpus, chunks)
        missing = _missing(chunks, replies, claims) if names else {}
        for _ in range(0 if attempt or not names else _remembered(chunks, missing, claims)):
            meter.remembered(LEVEL)
        if missing and extractor is None:
            return None
        if missing and extractor is not None:
            execute = (yield GetExecutor()).execute
            ask_about(extractor, list(missing.items()), SummaryCache(execute, corpus), meter, progress)
            replies |= yield from read_replies(corpus, missing)
        found = _found(chunks, replies, claims, (yield from _aliases(corpus)))
        made = yield from _written(models, corpus, state, names, found, stored["ids"], progress)
        if made is not None:
            yield from purge(corpus)
            usage = meter.levels.get(LEVEL, TokenUsage())
            price = cost({LEVEL: usage}, models.settings.price_prompt, models.settings.price_completion)
            return StatementReport(len(found.rows), made, found.unreadable, found.unmatched, usage, price)
    raise CorpusChangedError(corpus, ATTEMPTS, "its statements were made", "statements")


def _cached(corpus: str, chunks: Sequence[ChunkParts]) -> Operation[dict[str, str]]:
    """Read the cached replies to the parts of chunks, by key."""
    keys = dict.fromkeys(key for chunk in chunks for part in chunk.parts for key in part.keys)
    return (yield from read_replies(corpus, keys))


def _missing(chunks: Sequence[ChunkParts], replies: Mapping[str, str], added: Added) -> dict[str, str]:
    """Return the texts to ask about, each once, by the key under which the reply will be cached."""
    return {
        part.keys[-1]: part.text
        for chunk in chunks
        for part in chunk.parts
        if part.text not in added and replies.keys().isdisjoint(part.keys)
    }


def _remembered(chunks: Sequence[ChunkParts], missing: Mapping[str, str], added: Added) -> int:
    """Return the number of texts whose reply is cached."""
    return len({part.text for chunk in chunks for part in chunk.parts} - added.keys()) - len(missing)


def _aliases(corpus: str) -> Operation[Aliases]:
    aliases: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for row in (yield Read("statements/aliases", {"corpus": corpus})):
        aliases[row["document"]][row["name"]] = row["entity"]
    return aliases


def _found(chunks: Sequence[ChunkParts], replies: Mapping[str, str], added: Added, aliases: Aliases) -> Found:
    """Return the statements about chunks: of each part those that were added, else those in the reply to it.

    The first name of an extractor that has a reply counts. Without any, nothing is stated.
    """
    found = Found()
    for chunk in chunks:
        for part in chunk.parts:
            claims = added.get(part.text)
            if claims is None:
                parsed = parse(next((replies[key] for key in part.keys if key in replies), "NONE"))
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
    subject = entity_of(claim.subject, chunk.entities, aliases)
    if subject is None:
        return None
    object = entity_of(claim.object, chunk.entities, aliases)
    object = None if object == subject else object
    held = {**asdict(claim), "keywords": list(claim.keywords), "subject": subject, "object": object}
    digest = sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()[:16]
    return {**held, "id": f"{chunk.id}-r{digest}", "chunk": chunk.id}


def _written(
    models: Models,
    corpus: str,
    state: Mapping[str, Any],
    names: Sequence[str],
    found: Found,
    stored: Sequence[str],
    progress: Progress,
) -> Operation[int | None]:
    """Stage and publish statements. Return the number of new ones.

    None if the corpus is at another revision, or if another run has published statements meanwhile, perhaps of graph
    documents that were added after these were read.
    """
    ids = set(stored)
    new = [row for id, row in found.rows.items() if id not in ids]
    outdated = sorted(ids - found.rows.keys())
    run = uuid4().hex
    yield Write((("index/lock_corpus", {"corpus": corpus}), ("statements/discard", {"corpus": corpus})))
    held = {"corpus": corpus, "run": run, "revision": state["revision"], "made_from": state["statements"]}
    staged = 0
    for batch in batched(new, ROWS):
        vectors = embed_long(models.embedder, [row["text"] for row in batch]).tolist()
        rows = [{**row, "embedding": vector} for row, vector in zip(batch, vectors, strict=True)]
        parameters = {"corpus": corpus, "run": run, "rows": rows}
        held |= {"staged": staged, "stored": None}
        if not (yield Write((("statements/stage", parameters),), ("statements/hold", held))):
            return None
        staged += len(batch)
        progress("embedding statements", staged, len(new))
    publication = {
        "corpus": corpus,
        "run": run,
        "revision": state["revision"],
        "models": list(names),
        "outdated": outdated,
    }
    held |= {"staged": staged, "stored": list(stored)}
    published = yield Write((("statements/publish", publication),), ("statements/hold", held))
    return len(new) if published else None
