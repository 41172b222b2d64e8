"""Random small libraries for property tests, and the same libraries in the package's own types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from re import finditer
from threading import Event
from types import ModuleType, SimpleNamespace
from typing import Any, TypeVar
from uuid import uuid4
from zlib import crc32

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from naive import NaiveChunk, NaiveDocument, NaiveSentence, NaiveSummary, NaiveWindow
from neo4j import Driver
from operations import outcome
from tiers import at_length

from e2g_neo4j.errors import MigrationError
from e2g_neo4j.graph import conversations, keys, schema, task_leases, tasks
from e2g_neo4j.graph.lease import Lease
from e2g_neo4j.graph.rows import EmbeddedChunk, IndexedDocument, StoredDocument, mentions_hash
from e2g_neo4j.graph.tasks import Upload
from e2g_neo4j.graph.writer import Staging, claim, decrement_ahead, load_stored, publish, purge
from e2g_neo4j.indexing.chunking import chunk
from e2g_neo4j.indexing.cooccurrence import mentions
from e2g_neo4j.indexing.merge_overrides import read_overrides, update_linked_names
from e2g_neo4j.indexing.name_merging import apply_merges, find_merges, name_counts
from e2g_neo4j.indexing.references import update_references
from e2g_neo4j.indexing.topic_persistence import Persistence
from e2g_neo4j.models.embedding.base import normalise, quantise
from e2g_neo4j.models.entities.extraction_codec import encode, own_sentences_before_list
from e2g_neo4j.models.entities.keywords import Terms
from e2g_neo4j.retrieval import retrieve
from e2g_neo4j.retrieval.options import FilledOptions
from e2g_neo4j.retrieval.passages import TokenSpans
from e2g_neo4j.runtime import database
from e2g_neo4j.runtime.requests import (
    Embed,
    EmbedAll,
    Execute,
    Executor,
    GetExecutor,
    Operation,
    Read,
    ReadAll,
    Rows,
    Write,
)
from e2g_neo4j.types.documents import Chunk, Section, SourceDocument, Span, Vectors
from e2g_neo4j.types.fingerprint import Fingerprint
from e2g_neo4j.types.graph import NOUN, Extraction, Sentence, Summary
from e2g_neo4j.types.languages import name_words
from e2g_neo4j.types.mentions import ChunkMentions, NameMerge, Overrides
from e2g_neo4j.types.results import Evidence
from e2g_neo4j.types.sections import around

T = TypeVar("T")

NAMES = (
    "count dracula",
    "harker",
    "mina_harker",
    "mina",
    "harker_mina",
    'the "elder"',
    "o'neill",
    "`n`",
    "back\\slash",
    "élise",
)
"""Names in which joining, splitting or quoting would go wrong."""

PEOPLE = ("jonathan harker", "mr harker", "mina harker", "lucy westenra", "miss lucy")
"""Names of people, some of which stand for others where a document makes that clear."""

DIMENSIONS = 8
MOST_READS = {"hybrid": 4, "e2g_normalised": 4, "pagerank": 4, "synonyms": 4, "hipporag": 5, "linear": 7}
"""Round trips of modes that may take more than three. `linear` rarely takes more than five."""
"""Of the vectors below; whoever needs longer ones pads with zeros, which changes no cosine."""


def text_of(sentences: Sequence[Sequence[str]], gaps: Sequence[str]) -> tuple[str, tuple[NaiveSentence, ...]]:
    """A text whose sentences mention the given names, each followed by its gap."""
    text = ""
    found = []
    for mentioned, gap in zip(sentences, gaps, strict=True):
        start = len(text)
        occurrences = []
        text += "So"
        for name in mentioned:
            text += " "
            occurrences.append((name, len(text)))
            text += name
        text += "."
        found.append(NaiveSentence(start, len(text), tuple(occurrences)))
        text += gap
    return text.rstrip(), tuple(found)


def small_document(id: str, *sentences: Sequence[str]) -> NaiveDocument:
    """A document of one chunk and one window whose sentences mention the given names."""
    text, found = text_of(sentences, [" "] * len(sentences))
    vector = (1.0,) * DIMENSIONS
    chunk = NaiveChunk(f"{id}-c0", 0, 0, len(text), vector, (NaiveWindow(0, len(text), vector),))
    return NaiveDocument(id, text, found, (chunk,), ())


def sections_of(text: str, sentences: Sequence[NaiveSentence]) -> tuple[tuple[str, str, int], ...]:
    """A page each 150 characters, and about every fourth sentence a heading, which ones its text decides."""
    pages = [("page", str(number + 1), start) for number, start in enumerate(range(0, len(text), 150))]
    headings = [("heading", text[one.start : one.end][:30], one.start) for one in sentences]
    headings = [heading for heading in headings if crc32(heading[1].encode()) % 4 == 0]
    return tuple(sorted([*pages, *headings], key=lambda section: section[2]))


@st.composite
def texts(draw: st.DrawFn, names: tuple[str, ...] = NAMES) -> tuple[str, tuple[NaiveSentence, ...]]:
    """A text of one to twelve sentences, each with none to four occurrences of entities, some of them repeated.

    Short sentences make graphs with long paths.
    """
    longest = draw(st.integers(1, 4))
    number = draw(st.integers(1, 12))
    some = st.lists(st.sampled_from(names), min_size=min(2, longest), max_size=longest)
    none: list[str] = []
    sentence = some | st.just(none)
    sentences = draw(st.lists(sentence, min_size=number, max_size=number))
    gaps = st.sampled_from([" ", "\n\n"])
    return text_of(sentences, draw(st.lists(gaps, min_size=len(sentences), max_size=len(sentences))))


@st.composite
def spans(draw: st.DrawFn, length: int, longest: int) -> list[tuple[int, int]]:
    """Windows over a text, cut anywhere, each at least `longest` characters of it shared with the next."""
    overlap = longest + draw(st.integers(0, 10))
    size = overlap + max(draw(st.integers(1, 40)), length // 12)
    windows = []
    start = 0
    while start + size < length:
        windows.append((start, start + size))
        start += size - overlap
    windows.append((start, length))
    return windows


@st.composite
def libraries(draw: st.DrawFn, names: tuple[str, ...] = NAMES) -> list[NaiveDocument]:
    """One to three documents with chunks of one to three windows, trees of two or three children a node, and vectors
    that no two nodes share.

    Sometimes two documents have the same text.
    """
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    documents = []
    written = draw(st.lists(texts(names), min_size=1, max_size=3))
    if draw(st.booleans()):
        written.append(written[0])
    for number, (text, sentences) in enumerate(written):
        longest = max(sentence.end - sentence.start for sentence in sentences)
        cut = draw(spans(len(text), longest))
        chunks = tuple(
            NaiveChunk(f"d{number}-c{index}", index, start, end, _vector(random), _parts(random, start, end))
            for index, (start, end) in enumerate(cut)
        )
        summaries = _tree(f"d{number}", chunks, draw(st.integers(2, 3)), random)
        sections = sections_of(text, sentences)
        documents.append(NaiveDocument(f"d{number}", text, sentences, chunks, tuple(summaries), sections))
    return documents


class LongDocument(NaiveDocument):
    """One that the program's own chunker cut: ids and vectors come from the text, as they do of a real document."""


def pointing(id: str, vector: Sequence[float], *sentences: Sequence[str]) -> NaiveDocument:
    """A small document whose window has a vector of its own."""
    document = small_document(id, *sentences)
    [chunk] = document.chunks
    window = NaiveWindow(chunk.start, chunk.end, tuple(vector))
    return replace(document, chunks=(NaiveChunk(chunk.id, 0, chunk.start, chunk.end, tuple(vector), (window,)),))


def names_in(library: Sequence[NaiveDocument], names: Iterable[str]) -> tuple[str, ...]:
    """Those names, each once, that a library has."""
    mentioned = {name for document in library for chunk in document.chunks for name in document.counts(chunk)}
    return tuple(name for name in dict.fromkeys(names) if name in mentioned)


def long_document(id: str, mentioned: Sequence[Sequence[str]]) -> LongDocument:
    """Sentences of at most four names each, some 64 words a chunk, three nodes to a summary."""
    text, sentences = text_of(mentioned, ["\n\n" if number % 7 == 6 else " " for number in range(len(mentioned))])
    source = SourceDocument(id, "", "", "", text, "")
    cut = chunk(source, lambda part: [found.span() for found in finditer(r"\S+", part)], size=64, overlap=24)
    chunks = tuple(
        NaiveChunk(
            one.id,
            one.index,
            one.start,
            one.end,
            _vector(_seeded(one.id)),
            _parts(_seeded(one.text), one.start, one.end),
        )
        for one in cut
    )
    made: Counter[str] = Counter()

    def name(level: int, children: Sequence[str]) -> str:
        digest = crc32(repr((level, list(children))).encode())
        made[f"{digest}"] += 1
        return f"{id}-s{level}-{digest}-{made[f'{digest}']}"

    summaries: list[NaiveSummary] = []
    below, level = [one.id for one in cut], 1
    while len(below) > 1:
        groups = [below[start : start + 3] for start in range(0, len(below), 3)]
        below = [name(level, group) for group in groups]
        summaries += (
            NaiveSummary(node, level, index, f"Summary {node}.", tuple(group), _vector(_seeded(node)))
            for index, (node, group) in enumerate(zip(below, groups, strict=True))
        )
        level += 1
    return LongDocument(id, text, sentences, chunks, tuple(summaries), sections_of(text, sentences))


def _seeded(text: str) -> np.random.Generator:
    return np.random.default_rng(crc32(text.encode()))


def sentences_of_names(least: int, most: int) -> st.SearchStrategy[list[list[str]]]:
    """So many sentences; the same few names again and again, so that a change meets old edges, and people so rarely
    that whom a name stands for changes with an edit."""
    numbers = st.tuples(st.integers(least, most), st.integers(0, 2**32 - 1))
    return numbers.map(lambda drawn: _sentences(*drawn))


def _sentences(count: int, seed: int) -> list[list[str]]:
    random = np.random.default_rng(seed)
    pool = (*NAMES * 8, *PEOPLE)
    return [[pool[i] for i in random.integers(0, len(pool), random.integers(0, 5))] for _ in range(count)]


def _vector(random: np.random.Generator) -> tuple[float, ...]:
    return tuple(float(x) for x in random.standard_normal(DIMENSIONS).astype(np.float32))


def _parts(random: np.random.Generator, start: int, end: int) -> tuple[NaiveWindow, ...]:
    """Windows that lie side by side in a chunk, cut anywhere."""
    inside: Any = random.integers(start + 1, end, size=random.integers(0, 3)) if end - start > 1 else []
    borders = [start, *sorted({int(border) for border in inside}), end]
    return tuple(NaiveWindow(first, last, _vector(random)) for first, last in pairwise(borders))


def _tree(document: str, chunks: tuple[NaiveChunk, ...], group: int, random: np.random.Generator) -> list[NaiveSummary]:
    below = [chunk.id for chunk in chunks]
    summaries: list[NaiveSummary] = []
    level = 1
    while len(below) > 1:
        parents = [below[start : start + group] for start in range(0, len(below), group)]
        for index, children in enumerate(parents):
            node = f"{document}-s{level}-{index}"
            alone = level > 1 and len(children) == 1  # repeats the text of the one below, as indexing does
            text = next(s.text for s in summaries if s.id == children[0]) if alone else f"Summary {node}."
            summaries.append(NaiveSummary(node, level, index, text, tuple(children), _vector(random)))
        below = [f"{document}-s{level}-{index}" for index in range(len(parents))]
        level += 1
    return summaries


def questions() -> st.SearchStrategy[list[str]]:
    """Entities of a question: mostly known ones, or any with unknown ones and repetitions among them."""
    known = st.lists(st.sampled_from(NAMES), min_size=2, max_size=4, unique=True)
    return known | known | st.lists(st.sampled_from((*NAMES, "nobody", "nowhere")), max_size=6)


def chunks_wanted() -> st.SearchStrategy[int]:
    """A k that is often less than there are chunks."""
    return st.integers(1, 2) | st.integers(1, 8)


def vectors() -> st.SearchStrategy[list[float]]:
    return st.integers(0, 2**32 - 1).map(lambda seed: list(_vector(np.random.default_rng(seed))))


# --- in the package's types --------------------------------------------------------------------------


def chunks_of(document: NaiveDocument) -> list[Chunk]:
    sections = [
        Section("page" if kind == "page" else "heading", label, start) for kind, label, start in document.sections
    ]
    by_kind = [[one for one in sections if one.kind == kind] for kind in ("page", "heading")]
    return [
        Chunk(
            one.id,
            one.index,
            document.chunk_text(one),
            one.start,
            one.end,
            tokens=one.end - one.start,
            own=(first, min(last, one.end)),
            sections=tuple(section for some in by_kind for section in around(some, one.start, one.end)),
        )
        for one, (first, last) in zip(document.chunks, pairwise(own_borders(document)), strict=True)
    ]


def own_borders(document: NaiveDocument) -> list[int]:
    """Where the sentences begin that are each chunk's own: early in what it shares with the one before."""
    shared = [
        max(0, before.end - after.start) // 4 if isinstance(document, LongDocument) else int(before.end > after.start)
        for before, after in pairwise(document.chunks)
    ]
    begins = [one.start + part for one, part in zip(document.chunks[1:], shared, strict=True)]
    return [0, *begins, len(document.text) + 1]


def extraction_of(document: NaiveDocument, chunk: NaiveChunk) -> Extraction:
    """What a perfect pipeline finds in the text of a chunk: sentences cut off where the text is."""
    sentences = []
    for sentence in document.sentences:
        start, end = max(sentence.start, chunk.start), min(sentence.end, chunk.end)
        if start < end:
            whole = [name for name, place in sentence.occurrences if start <= place and place + len(name) <= end]
            sentences.append(Sentence(start - chunk.start, end - chunk.start, tuple(dict.fromkeys(whole))))
    counts = document.counts(chunk)
    people = {name: count for name, count in counts.items() if name in PEOPLE}
    return Extraction(tuple(sentences), counts, forms_of(document, chunk), people, types_of(document, chunk))


def sentences_in(document: NaiveDocument, chunk: NaiveChunk) -> list[NaiveSentence]:
    """The whole sentences of which `extraction_of` has at least a part."""
    return [one for one in document.sentences if one.start < chunk.end and one.end > chunk.start]


def type_of(name: str, place: int) -> str:
    """What a name is at a place of a chunk: people always, others now this, now that."""
    return "person" if name in PEOPLE else ("noun", "name", "place", "noun", "noun")[place % 5]


def types_of(document: NaiveDocument, chunk: NaiveChunk) -> dict[str, Counter[str]]:
    """How often a name has each type in the text of a chunk."""
    found: dict[str, Counter[str]] = {}
    for sentence in document.sentences:
        for name, place in sentence.occurrences:
            if chunk.start <= place and place + len(name) <= chunk.end:
                found.setdefault(name, Counter())[type_of(name, place - chunk.start)] += 1
    return found


def form_of(name: str, place: int) -> str:
    """How a name is written at a place: some always in the same way, others now so, now so."""
    if name in PEOPLE:
        return name.title()
    return (name, name.title(), name.upper())[place % 3] if name in ("harker", "count dracula") else name


def forms_of(document: NaiveDocument, chunk: NaiveChunk) -> dict[str, Counter[str]]:
    """How often each form stands in the text of a chunk, of the names that are not only written as their key."""
    found: dict[str, Counter[str]] = {}
    for sentence in document.sentences:
        for name, place in sentence.occurrences:
            if chunk.start <= place and place + len(name) <= chunk.end:
                found.setdefault(name, Counter())[form_of(name, place)] += 1
    return {name: forms for name, forms in found.items() if set(forms) != {name}}


def mentions_of(document: NaiveDocument, overrides: Overrides | None = None) -> list[ChunkMentions]:
    return mentions(
        chunks_of(document),
        apply_merges([extraction_of(document, chunk) for chunk in document.chunks], merges_of(document, overrides)),
        [[(one.start - chunk.start, one.end - chunk.start) for one in chunk.windows] for chunk in document.chunks],
    )


def merges_of(document: NaiveDocument, overrides: Overrides | None = None) -> list[NameMerge]:
    return find_merges(
        name_counts(extraction_of(document, chunk) for chunk in document.chunks),
        name_words("en"),
        overrides.in_document(document.id) if overrides else {},
        spelled=overrides.spellings_in(document.id) if overrides else {},
    )


@dataclass(frozen=True)
class Staged:
    """A document with all that is staged of it: chunks and summaries that do not stay, vectors in their order."""

    indexed: IndexedDocument
    read: list[EmbeddedChunk]
    mentions: list[ChunkMentions]
    summary_vectors: Vectors

    @property
    def document(self) -> SourceDocument:
        return self.indexed.document


def title_of(document: NaiveDocument) -> str:
    return f"Title of {document.id}"


def name_for_title(document: NaiveDocument) -> str:
    """A title that other documents mention, and that changes with the text."""
    return ("Harker", "Lucy Westenra (person)", "Mina Harker", "Jonathan Harker")[crc32(document.text.encode()) % 4]


def indexed(
    document: NaiveDocument,
    corpus: str,
    *,
    dimensions: int = DIMENSIONS,
    there: StoredDocument | None = None,
    overrides: Overrides | None = None,
) -> Staged:
    """What indexing finds in a document. Its source is made of its id, and its title as `title_of` says."""
    there = there or StoredDocument()
    mentioned = mentions_of(document, overrides)
    staying = {
        one.chunk
        for one in mentioned
        if one.chunk in there.chunks and there.chunks[one.chunk]["told"] == mentions_hash(one)
    }
    new = [(chunk, naive) for chunk, naive in zip(chunks_of(document), document.chunks, strict=True)]
    new = [(chunk, naive) for chunk, naive in new if chunk.id not in staying]
    title, source, sha256 = title_of(document), f"{document.id}.txt", f"sha of {document.text}"
    spread = Persistence()
    spread.add(padded([one.vector for chunk in document.chunks for one in chunk.windows], dimensions))
    return Staged(
        IndexedDocument(
            document=SourceDocument(document.id, corpus, title, source, document.text, sha256),
            chunks=chunks_of(document),
            summaries=[
                Summary(summary.id, summary.level, summary.index, summary.text, len(summary.text), summary.children)
                for summary in document.summaries
            ],
            merges=merges_of(document, overrides),
            windows=spread.windows,
            persistence=spread.value,
            before=there,
            unchanged=staying,
        ),
        read=[
            EmbeddedChunk(
                document.id,
                chunk,
                encode(extraction_of(document, naive)),
                [(one.start - naive.start, one.end - naive.start) for one in naive.windows],
                padded([one.vector for one in naive.windows], dimensions),
                padded([naive.vector], dimensions)[0],
            )
            for chunk, naive in new
        ],
        mentions=[one for one in mentioned if one.chunk not in staying],
        summary_vectors=padded([one.vector for one in document.summaries if one.id not in there.summaries], dimensions),
    )


def padded(rows: Sequence[Sequence[float]], dimensions: int) -> Vectors:
    """Unit vectors of a given length; zeros at the end change no cosine."""
    vectors = np.zeros((len(rows), dimensions), dtype=np.float32)
    for number, row in enumerate(rows):
        vectors[number, : len(row)] = row
        vectors[number] /= np.linalg.norm(vectors[number])
    return vectors


# --- on a real server --------------------------------------------------------------------------------

REAL_DIMENSIONS = 384
"""Of the vector index that the tests' server has."""


def few_examples(count: int, fewer: int | None = None) -> settings:
    """Of a property on the server, below the full tier a quarter, or as many as `fewer` says. A failing example is
    shown as found: making it smaller would take minutes."""
    return settings(
        max_examples=at_length(count, fewer or max(3, count // 4)),
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


def performing(driver: Driver) -> Execute:
    """What does requests to the server."""

    def perform(request: Read | Write) -> Rows:
        if isinstance(request, Read):
            return database.read(driver, "neo4j", request)
        return database.write(driver, "neo4j", request)

    return perform


def driven(perform: Execute, operation: Operation[T], vector: Sequence[float] = ()) -> T:
    """The result of an operation that asks the database, and for vectors of a question, all of which are `vector`."""

    def reply(request: Any) -> Any:
        if isinstance(request, Embed):
            return padded([vector], REAL_DIMENSIONS)[0].tolist()
        if isinstance(request, EmbedAll):
            return padded([vector] * len(request.texts), REAL_DIMENSIONS).tolist()
        if isinstance(request, GetExecutor):
            return Executor(perform, Event())
        if isinstance(request, ReadAll):
            return [perform(one) for one in request.reads]
        assert isinstance(request, (Read, Write))
        return perform(request)

    result: T = outcome(operation, reply)
    return result


def name_vectors(driver: Driver, corpus: str, vectors: Mapping[str, Sequence[float]]) -> None:
    """Write vectors of entities, by key."""
    rows = [{"key": key, "vector": padded([vector], REAL_DIMENSIONS)[0].tolist()} for key, vector in vectors.items()]
    statement = "UNWIND $rows AS row MATCH (e:Entity {corpus: $corpus, key: row.key}) SET e.embedding = row.vector"
    driver.execute_query(statement, corpus=corpus, rows=rows)


def documents_of(corpus: str, library: Sequence[NaiveDocument]) -> list[Staged]:
    return [indexed(document, corpus, dimensions=REAL_DIMENSIONS) for document in library]


def stage(corpus: str, run: str, documents: Sequence[Staged]) -> Iterator[Write]:
    """All that is written of documents before they are published, in the order in which indexing does it."""
    staging = Staging(corpus, run, [one.document.id for one in documents])
    yield staging.begin()
    yield from staging.chunks(one for document in documents for one in document.read)
    yield from staging.mentions([one for document in documents for one in document.mentions])
    vectors = np.concatenate([one.summary_vectors for one in documents])
    yield from staging.summaries([one.indexed for one in documents], vectors)


def published(corpus: str, run: str, documents: Sequence[Staged], overrides: Overrides | None = None) -> Write:
    return publish(corpus, run, [one.indexed for one in documents], overrides=overrides or Overrides(), linked=())


def written(corpus: str, run: str, documents: Sequence[Staged], overrides: Overrides | None = None) -> Operation[bool]:
    """Stage and publish; whether the run held the documents all the while."""
    ahead = decrement_ahead(corpus, run, [one.indexed for one in documents])
    for request in (*stage(corpus, run, documents), *ahead, published(corpus, run, documents, overrides)):
        if not (yield request):
            return False
    return True


def staging(corpus: str, library: Sequence[NaiveDocument], run: str = "a run") -> Iterator[Write]:
    """All that comes before the publication of a library."""
    documents = documents_of(corpus, library)
    yield from claim(corpus, run, [one.document for one in documents])
    yield from stage(corpus, run, documents)


class _HashEmbedder:
    """An embedding model whose vectors have nothing to do with meaning, but are quick, and always the same."""

    name, dimensions, window_tokens = "hash", REAL_DIMENSIONS, 256

    def token_spans(self, text: str) -> list[Span]:
        return [match.span() for match in finditer(r"\S+", text)]

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [np.random.default_rng(crc32(text.encode())).standard_normal(self.dimensions) for text in texts]
        return normalise(np.array(rows, np.float32).reshape(-1, self.dimensions))

    def embed_parts(self, texts: Sequence[str], parts: Sequence[Sequence[Span]]) -> tuple[Vectors, list[Vectors]]:
        return self.embed(texts), [np.empty((len(one), self.dimensions), np.float32) for one in parts]


class _HashModels:
    embedder = _HashEmbedder()
    settings = SimpleNamespace(summary_tokens=40)
    language = "en"


class StubModels(SimpleNamespace):
    """Loaded models that every corpus was made with, as far as a test needs them."""

    are_loaded, pipeline_id = True, "en_test-1"
    fingerprint = Fingerprint("model", 8, "mean", pipeline_id)

    def __init__(self, **more: Any) -> None:
        super().__init__(known={}, **more)

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)

    def of(self, _: object) -> StubModels:
        return self

    def vectors(self, _: object) -> None:
        """Are not started: the request is replied to."""


MODELS: Any = _HashModels()
"""What makes communities and clusters without a real embedding model."""


def dangling(driver: Driver, corpus: str) -> list[str]:
    """Visible communities and clusters that quote or have something that is not visible, and such statements."""
    records = driver.execute_query(
        "MATCH (c:Community {corpus: $corpus}) "
        "WHERE EXISTS { (c)-[:QUOTES]->(n) WHERE NOT n:Chunk } "
        "OR EXISTS { (c)<-[:IN_COMMUNITY]-(n) WHERE NOT n:Entity } "
        "OR c.entities <> COUNT { (c)<-[:IN_COMMUNITY]-() } "
        "RETURN c.id AS id UNION ALL MATCH (c:Cluster {corpus: $corpus}) "
        "WHERE NOT EXISTS { (c)<-[:IN_CLUSTER]-() } OR EXISTS { (c)<-[:IN_CLUSTER]-(n) WHERE NOT n:Chunk|Cluster } "
        "OR c.chunks <> COUNT { MATCH (c)<-[:IN_CLUSTER*1..5]-(n:Chunk) RETURN DISTINCT n } "
        "RETURN c.id AS id UNION ALL MATCH (s:Statement {corpus: $corpus}) "
        "WHERE NOT EXISTS { (s)-[:STATED_IN]->(:Chunk) } OR NOT EXISTS { (s)-[:SUBJECT]->(:Entity) } "
        "OR EXISTS { (s)-[:OBJECT]->(n) WHERE NOT n:Entity } "
        "RETURN s.id AS id",
        corpus=corpus,
    ).records
    return [record["id"] for record in records]


def write(driver: Driver, corpus: str, library: Sequence[NaiveDocument]) -> None:
    """Index a library as the program does, in a run of its own: claimed, staged, then published. Documents that are
    there are replaced."""
    perform = performing(driver)
    with Lease(perform, corpus) as lease:
        for request in claim(corpus, lease.run, [one.document for one in documents_of(corpus, library)]):
            perform(request)
        overrides = driven(perform, read_overrides(corpus))
        given: Any = {"dimensions": REAL_DIMENSIONS, "overrides": overrides}
        documents = [indexed(one, corpus, there=before_of(perform, corpus, one), **given) for one in library]
        assert driven(perform, written(corpus, lease.run, documents, overrides))
        driven(perform, purge(corpus))
        driven(perform, update_linked_names(corpus))
        driven(perform, update_references(corpus))


@contextmanager
def side_by_side(
    driver: Driver,
    data: st.DataObject,
    names: tuple[str, ...] = NAMES,
    write: Callable[[Driver, str, list[NaiveDocument]], None] = write,
) -> Iterator[dict[str, list[NaiveDocument]]]:
    """Three corpora with the same ids of documents and chunks, and the same names, until the block ends."""
    run = uuid4().hex
    written = {f"{run}-{number}": data.draw(libraries(names), f"library {number}") for number in range(3)}
    try:
        for corpus, library in written.items():
            write(driver, corpus, library)
        yield written
    finally:
        remove(driver, list(written))


@contextmanager
def bounded(module: ModuleType, bounds: Mapping[str, Any]) -> Iterator[None]:
    """Other values for the constants of a module, whose names may be in lower case."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in bounds.items():
            patch.setattr(module, name.upper(), value)
        yield


def write_with_sentences(driver: Driver, corpus: str, library: Sequence[NaiveDocument]) -> None:
    """Index a library, and make the vectors of its sentences."""
    write(driver, corpus, library)
    perform = performing(driver)
    [state] = perform(Read("layers/state", {"corpus": corpus}))
    rows = [row for one in library for row in sentence_rows(one)]
    publish = {"corpus": corpus, "layer": "sentence_vectors", "revision": state["revision"]}
    perform(Write((("sentences/set_vectors", {"corpus": corpus, "rows": rows}), ("layers/set_revision", publish))))


def sentence_rows(document: NaiveDocument) -> Iterator[dict[str, Any]]:
    """The vectors of the sentences of a document, as the layer of sentences writes them."""
    for stored, naive in zip(chunks_of(document), document.chunks, strict=True):
        extraction = extraction_of(document, naive)
        every = padded([document.drawn_vector(one) for one in sentences_in(document, naive)], REAL_DIMENSIONS)
        own = own_sentences_before_list(extraction.sentences, stored.own_in_text)
        yield {"chunk": stored.id, "notes": encode(extraction), "vectors": quantise(every[own])}


def before_of(perform: Execute, corpus: str, document: NaiveDocument) -> StoredDocument:
    """What stays of a document. Of one whose ids do not come from its text, nothing."""
    if not isinstance(document, LongDocument):
        return StoredDocument()
    return driven(perform, load_stored(corpus, document.id))


def visible(driver: Driver, corpus: str, *, edges: bool = True) -> Any:
    """What queries and the statistics see, with the edges and the paths along them or without."""
    names = ["ann", "bob", "cid", "dan", "eve"]
    unit = padded([[1.0] * 8], REAL_DIMENSIONS)[0].tolist()
    requests = [
        Read(
            "query/link",
            {
                "corpus": corpus,
                "names": names,
                "other_names": [],
                "proper": [],
                "limit": 9,
                "meanings": 3,
                "terms": names,
            },
        ),
        Read("query/nearest", {"corpus": corpus, "vector": unit, "k": 100, "names": names}),
        Read("query/stats", {"corpus": corpus}),
    ]
    found = [database.read(driver, "neo4j", request) for request in requests]
    found[0][0]["shared"].sort(key=str)
    found[0][0]["pairs"].sort(key=str)
    found[0][0]["words"] = of_corpus(found[0][0]["words"])
    if not edges:
        found[0][0]["pairs"] = found[2][0]["co_occurrences"] = None
    return found


def of_corpus(words: dict[str, Any]) -> Any:
    """The windows of a corpus that contain each term, without those of the other corpora of the server."""
    return words["windows"], {one["term"]: one["windows"] for one in words["terms"]}


def service_life(run: Callable[[Operation[Any]], Any]) -> None:
    """All operations of the service on tasks, keys and conversations in turn, where no other task waits."""
    upload = [Upload(0, "a.txt", [b"text"], "text/plain")]
    parts = run(tasks.add_blobs("first", upload))
    asked: dict[str, Any] = {"idempotency_key": uuid4().hex, "body_sha256": "a"}
    run(tasks.create("first", "index", "novels", "local", {}, parts=parts, **asked))
    run(tasks.blobs("first"))
    run(tasks.part("first", 0, 0))
    run(tasks.list_tasks(["*"]))
    run(tasks.counts())
    run(keys.used_today())
    run(task_leases.put_back(run(task_leases.take_task())))
    claim = run(task_leases.take_task())
    run(task_leases.renew(claim, "reading", 1, 2, 3))
    run(task_leases.remember(claim, {}))
    run(tasks.cancel("first"))
    run(task_leases.fail(claim, "internal", "Broken."))
    run(tasks.retry("first"))
    run(tasks.get("first"))
    run(_write_step("first"))
    run(task_leases.step_done("first", "a"))
    run(task_leases.finish(run(task_leases.take_task()), {}))
    run(tasks.add_blobs("second", upload))
    run(tasks.create("second", "index", "novels", "local", {}, parts=1, **asked))
    run(task_leases.clean_up())
    key, text = run(keys.create("a", ["read"], ["*"]))
    run(keys.verify_key(text))
    run(keys.is_refused(key.id))
    run(keys.list_keys())
    run(keys.any_key())
    run(conversations.put_turn(key.id, "a", 0, {"question": "Who?", "corpora": ["novels"]}))
    run(conversations.list_conversations(key.id))
    run(conversations.read_conversation(key.id, "a"))
    run(conversations.rename_conversation(key.id, "a", "Who?"))
    run(conversations.read_cited([("novels", "a")]))
    run(conversations.delete_conversation(key.id, "a"))
    run(keys.revoke(key.id))
    run(keys.add_usage([{"key": key.id, "requests": 1}]))
    run(keys.usage())


def _write_step(task: str) -> Operation[None]:
    yield Write((), condition=task_leases.do_step(task, "a"))


def remove(driver: Driver, corpora: Sequence[str]) -> None:
    driver.execute_query("MATCH (n) WHERE n.corpus IN $corpora DETACH DELETE n", corpora=list(corpora))


def clear(driver: Driver, dimensions: int = REAL_DIMENSIONS) -> None:
    """No data is left, and no schema but ours for vectors of that length, if it is there: making it takes seconds, and
    planning all statements anew takes more of them."""
    try:
        schema.validate(driver, "neo4j")
    except MigrationError:
        empty(driver)
        return
    lengths = (
        "SHOW INDEXES YIELD type, options WHERE type = 'VECTOR' RETURN options.indexConfig['vector.dimensions'] AS n"
    )
    if {row["n"] for row in driver.execute_query(lengths).records} != {dimensions}:
        empty(driver)
        return
    driver.execute_query("MATCH (n) WHERE NOT n:__Neo4jMigration DETACH DELETE n")
    foreign = "WHERE NOT name STARTS WITH 'e2g_' AND NOT any(label IN labelsOrTypes WHERE label = '__Neo4jMigration')"
    for row in driver.execute_query(f"SHOW CONSTRAINTS YIELD name, labelsOrTypes {foreign}").records:
        driver.execute_query(f"DROP CONSTRAINT `{row['name']}`")
    shown = f"SHOW INDEXES YIELD name, labelsOrTypes, type {foreign} AND type <> 'LOOKUP'"
    for row in driver.execute_query(shown).records:
        driver.execute_query(f"DROP INDEX `{row['name']}`")


def empty(driver: Driver) -> None:
    """Nothing is left in the database, neither data nor schema."""
    driver.execute_query("MATCH (n) DETACH DELETE n")
    for record in driver.execute_query("SHOW CONSTRAINTS YIELD name").records:
        driver.execute_query(f"DROP CONSTRAINT `{record['name']}`")
    for record in driver.execute_query("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'").records:
        driver.execute_query(f"DROP INDEX `{record['name']}`")


def find_evidence(
    question: str,
    *,
    corpora: Sequence[str],
    names: Sequence[str],
    made_with: Fingerprint,
    options: FilledOptions,
    token_spans: TokenSpans,
    keywords: Callable[[], Mapping[str, str]] | None = None,
) -> Operation[Evidence]:
    """Retrieval of a question that is processed already: its names are nouns, and embedding it is left to the test."""
    models = SimpleNamespace(knows_language=True)
    group: Any = SimpleNamespace(models=models, corpora=corpora, vectors="")
    found = keywords or (lambda: dict(zip(names, names, strict=True)))
    terms = partial(Terms, wholes=tuple(names))
    asked = retrieve.Asked(names, (), found, terms, dict.fromkeys(names, NOUN), made_with, group)
    return retrieve.Search(question, [asked], options, token_spans).find_evidence()
