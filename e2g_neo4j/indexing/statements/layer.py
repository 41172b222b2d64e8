"""Make the statements of a corpus, and keep them up to date.

What is written depends on the visible graph and on the replies of the chat model alone, and these are cached. So after
any updates the statements are those of a fresh corpus, and only text that is new is paid for. New statements are staged
in bounded transactions, and published in one transaction, if the corpus has not changed meanwhile. Statements that are
the same are kept, with their vectors.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, TypeAlias
from uuid import uuid4

from e2g_neo4j.errors import ConfigurationError, CorpusNotFoundError, InputError
from e2g_neo4j.graph.writer import purge
from e2g_neo4j.indexing.statements.chat import LEVEL, REPLY_TOKENS, StatementExtractor, keys_of
from e2g_neo4j.indexing.statements.entities import entity_of
from e2g_neo4j.indexing.statements.parts import parts
from e2g_neo4j.indexing.statements.replies import Claim, parse
from e2g_neo4j.indexing.summaries.cache import SummaryCache
from e2g_neo4j.models.chat.usage import UsageMeter, cost
from e2g_neo4j.models.embedding.windows import embed_long
from e2g_neo4j.models.entities.extraction_codec import decode
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.runtime.batched import batched
from e2g_neo4j.runtime.requests import GetExecutor, Operation, Read, Write
from e2g_neo4j.types.reports import Progress, StatementReport, TokenUsage

CHUNKS_READ = 200
"""Chunks that one statement reads."""

REPLIES_READ = 500
"""Cached replies that one statement reads."""

ROWS = 200
"""Statements that are embedded, and written in one transaction."""

ATTEMPTS = 5
"""How often statements are made again because the corpus has changed meanwhile."""

Aliases: TypeAlias = Mapping[str, Mapping[str, str]]
"""Document → name → entity."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a chunk: its text, and the keys of the cache under which a reply to it may be found."""

    text: str
    keys: Sequence[str]


@dataclass(frozen=True, slots=True)
class ChunkParts:
    """A chunk with the entities that it mentions, and its parts."""

    id: str
    document: str
    entities: frozenset[str]
    parts: Sequence[Part]


@dataclass(slots=True)
class Found:
    """The statements of a corpus.

    Attributes:
        rows: by id, the rows of `statements/stage` without vectors.
        unreadable: the number of parts whose reply says nothing that can be read.
        unmatched: the number of statements whose subject is no entity that the chunk mentions.
    """

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    unreadable: int = 0
    unmatched: int = 0


def enrich(models: Models, corpus: str, meter: UsageMeter, progress: Progress) -> Operation[StatementReport]:
    """Make the statements of a corpus, or make those again that have changed.

    Raises:
        NotFoundError: the corpus has no documents.
        ConfigurationError: no chat model is configured.
        BudgetError: the budget is used up. The replies so far are cached.
        InputError: others change the corpus all the time.
    """
    extractor = required_extractor(models)
    report = yield from _attempted(models, corpus, [extractor.name], extractor, meter, progress)
    if report is None:
        raise AssertionError("replies are missing that were asked for")
    return report


def update(
    models: Models, corpus: str, progress: Progress | None = None, meter: UsageMeter | None = None
) -> Operation[None]:
    """Bring the statements of a corpus up to date, if it has any.

    Without a chat model or a meter, nothing is asked for. If the reply to some text is not cached then, the statements
    stay as they are, which `e2g doctor` reports.

    Args:
        models: the models.
        corpus: the corpus.
        progress: called with the stage and its progress.
        meter: counts the use of the chat model.
    """
    [state] = yield Read("statements/state", {"corpus": corpus})
    if state["statements"] is None or state["statements"] == state["revision"]:
        return
    extractor = extractor_of(models) if meter else None
    names = list(state["models"])
    if extractor:  # the last one is asked
        names = [*(name for name in names if name != extractor.name), extractor.name]
    show = progress or (lambda stage, done, total: None)
    yield from _attempted(models, corpus, names, extractor, meter or UsageMeter(), show)


def plan(models: Models, corpus: str) -> Operation[StatementReport]:
    """Estimate what `enrich` would cost.

    Raises:
        NotFoundError: the corpus has no documents.
        ConfigurationError: no chat model is configured.
    """
    [state] = yield Read("statements/state", {"corpus": corpus})
    if not state["found"]:
        raise CorpusNotFoundError(corpus)
    extractor = required_extractor(models)
    settings = models.settings
    chunks = yield from _chunks(models, corpus, [extractor.name])
    replies = yield from _cached(corpus, chunks, use=False)
    missing = _missing(chunks, replies)
    usage = TokenUsage(remembered=len({part.text for chunk in chunks for part in chunk.parts}) - len(missing))
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


def required_extractor(models: Models) -> StatementExtractor:
    """Return the extractor of the configured chat model. Raises ConfigurationError without one."""
    extractor = extractor_of(models)
    if extractor is None:
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
        chunks = yield from _chunks(models, corpus, names)
        replies = yield from _cached(corpus, chunks)
        missing = _missing(chunks, replies)
        texts = {part.text for chunk in chunks for part in chunk.parts}
        for _ in range(0 if attempt else len(texts) - len(missing)):
            meter.remembered(LEVEL)
        if missing and extractor is None:
            return None
        if missing and extractor is not None:
            execute = (yield GetExecutor()).execute
            extractor.ask(list(missing.items()), SummaryCache(execute, corpus), meter, progress)
            replies |= yield from _read(corpus, missing)
        found = _found(chunks, replies, (yield from _aliases(corpus)))
        made = yield from _written(models, corpus, state, names, found, progress)
        if made is not None:
            yield from purge(corpus)
            usage = meter.levels.get(LEVEL, TokenUsage())
            price = cost({LEVEL: usage}, models.settings.price_prompt, models.settings.price_completion)
            return StatementReport(len(found.rows), made, found.unreadable, found.unmatched, usage, price)
    raise InputError(
        f"The corpus {corpus!r} was changed {ATTEMPTS} times while its statements were made. Run `e2g enrich --with "
        f"statements --corpus {corpus}` when nothing is being indexed into it."
    )


def _chunks(models: Models, corpus: str, names: Sequence[str]) -> Operation[list[ChunkParts]]:
    """Read the chunks of a corpus and cut them into parts."""
    found = []
    after = ""
    while rows := (yield Read("statements/chunks", {"corpus": corpus, "after": after, "limit": CHUNKS_READ})):
        for row in rows:
            starts = [sentence.start for sentence in decode(row["notes"]).sentences]
            texts = parts(row["text"], tuple(row["own"]), starts, models.embedder.token_spans)
            found.append(
                ChunkParts(
                    row["chunk"],
                    row["document"],
                    frozenset(row["entities"]),
                    [Part(text, keys_of(names, text)) for text in texts],
                )
            )
        after = rows[-1]["chunk"]
    return found


def _cached(corpus: str, chunks: Sequence[ChunkParts], *, use: bool = True) -> Operation[dict[str, str]]:
    """Read the cached replies to the parts of chunks, by key. With `use`, record that the corpus uses them."""
    keys = dict.fromkeys(key for chunk in chunks for part in chunk.parts for key in part.keys)
    return (yield from _read(corpus, keys, use=use))


def _read(corpus: str, keys: Mapping[str, Any], *, use: bool = False) -> Operation[dict[str, str]]:
    replies: dict[str, str] = {}
    for batch in batched(keys, REPLIES_READ):
        rows = yield Read("statements/cached", {"corpus": corpus, "keys": batch})
        replies |= {row["key"]: row["text"] for row in rows}
        if others := [row["key"] for row in rows if not row["used"]] if use else []:
            yield Write((("statements/use_cached", {"corpus": corpus, "keys": others}),))
    return replies


def _missing(chunks: Sequence[ChunkParts], replies: Mapping[str, str]) -> dict[str, str]:
    """Return the texts to ask about, each once, by the key under which the reply will be cached."""
    return {
        part.keys[-1]: part.text for chunk in chunks for part in chunk.parts if replies.keys().isdisjoint(part.keys)
    }


def _aliases(corpus: str) -> Operation[Aliases]:
    aliases: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for row in (yield Read("statements/aliases", {"corpus": corpus})):
        aliases[row["document"]][row["name"]] = row["entity"]
    return aliases


def _found(chunks: Sequence[ChunkParts], replies: Mapping[str, str], aliases: Aliases) -> Found:
    """Return the statements in the replies to chunks. The first name of an extractor that has a reply counts."""
    found = Found()
    for chunk in chunks:
        for part in chunk.parts:
            parsed = parse(next(replies[key] for key in part.keys if key in replies))
            found.unreadable += not parsed.usable
            for claim in parsed.claims:
                row = _row(chunk, claim, aliases.get(chunk.document, {}))
                if row is None:
                    found.unmatched += 1
                else:
                    found.rows[row["id"]] = row
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
    models: Models, corpus: str, state: Mapping[str, Any], names: Sequence[str], found: Found, progress: Progress
) -> Operation[int | None]:
    """Stage and publish statements. Return the number of new ones; None if the corpus is at another revision."""
    [stored] = yield Read("statements/stored", {"corpus": corpus})
    ids = set(stored["ids"])
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
        if not (yield Write((("statements/stage", parameters),), ("statements/hold", {**held, "staged": staged}))):
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
    published = yield Write((("statements/publish", publication),), ("statements/hold", {**held, "staged": staged}))
    return len(new) if published else None
