"""Random small libraries for property tests, and the same libraries in the package's own types."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from naive import NaiveChunk, NaiveDocument, NaiveSentence, NaiveSummary
from neo4j import Driver

from e2g_neo4j import database
from e2g_neo4j.cooccurrence import edges, mentions
from e2g_neo4j.model import Chunk, Extraction, Sentence, SourceDocument, Summary, Vectors, Window
from e2g_neo4j.writing import IndexedDocument, publish, stage

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

DIMENSIONS = 8
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
    """A document of one chunk whose sentences mention the given names."""
    text, found = text_of(sentences, [" "] * len(sentences))
    return NaiveDocument(id, text, found, (NaiveChunk(f"{id}-c0", 0, 0, len(text), (1.0,) * DIMENSIONS),), ())


@st.composite
def texts(draw: st.DrawFn, names: tuple[str, ...] = NAMES) -> tuple[str, tuple[NaiveSentence, ...]]:
    """A text of one to twelve sentences, each with none to four occurrences of entities, some of them repeated.

    Short sentences make graphs with long paths.
    """
    longest = draw(st.integers(1, 4))
    number = draw(st.integers(1, 12))
    sentence = st.lists(st.sampled_from(names), min_size=min(2, longest), max_size=longest) | st.just([])
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
    """One to three documents with chunks, trees of two or three children a node, and vectors that no two nodes share.

    Sometimes two documents have the same text.
    """
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    documents = []
    written = draw(st.lists(texts(names), min_size=1, max_size=3))
    if draw(st.booleans()):
        written.append(written[0])
    for number, (text, sentences) in enumerate(written):
        longest = max(sentence.end - sentence.start for sentence in sentences)
        windows = draw(spans(len(text), longest))
        chunks = tuple(
            NaiveChunk(f"d{number}-c{index}", index, start, end, _vector(random))
            for index, (start, end) in enumerate(windows)
        )
        summaries = _tree(f"d{number}", chunks, draw(st.integers(2, 3)), random)
        documents.append(NaiveDocument(f"d{number}", text, sentences, chunks, tuple(summaries)))
    return documents


def _vector(random: np.random.Generator) -> tuple[float, ...]:
    return tuple(float(x) for x in random.standard_normal(DIMENSIONS).astype(np.float32))


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
    return [
        Chunk(chunk.id, chunk.index, document.chunk_text(chunk), chunk.start, chunk.end, tokens=chunk.end - chunk.start)
        for chunk in document.chunks
    ]


def extraction_of(document: NaiveDocument, chunk: NaiveChunk) -> Extraction:
    """What a perfect pipeline finds in the text of a chunk: sentences cut off where the text is."""
    sentences = []
    for sentence in document.sentences:
        start, end = max(sentence.start, chunk.start), min(sentence.end, chunk.end)
        if start < end:
            whole = [name for name, place in sentence.occurrences if start <= place and place + len(name) <= end]
            sentences.append(Sentence(start - chunk.start, end - chunk.start, tuple(dict.fromkeys(whole))))
    return Extraction(tuple(sentences), document.counts(chunk))


def windows_of(document: NaiveDocument) -> list[Window]:
    """Each chunk in two halves."""
    found = []
    for chunk in document.chunks:
        middle = (chunk.start + chunk.end) // 2
        for number, (start, end) in enumerate([(chunk.start, middle), (middle, chunk.end)]):
            found.append(Window(f"{chunk.id}-w{number}", chunk.id, number, document.text[start:end], start, end))
    return found


def indexed(document: NaiveDocument, corpus: str, *, dimensions: int = DIMENSIONS) -> IndexedDocument:
    """The document as indexing hands it to writing. Its title and source are made of its id."""
    chunks = chunks_of(document)
    title, source, sha256 = f"Title of {document.id}", f"{document.id}.txt", f"sha of {document.text}"
    return IndexedDocument(
        document=SourceDocument(document.id, corpus, title, source, document.text, sha256),
        chunks=chunks,
        summaries=[
            Summary(summary.id, summary.level, summary.index, summary.text, len(summary.text), summary.children)
            for summary in document.summaries
        ],
        mentions=mentions(chunks, [extraction_of(document, chunk) for chunk in document.chunks]),
        windows=windows_of(document),
        chunk_vectors=padded([chunk.vector for chunk in document.chunks], dimensions),
        window_vectors=padded([chunk.vector for chunk in document.chunks for _ in range(2)], dimensions),
        summary_vectors=padded([summary.vector for summary in document.summaries], dimensions),
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


def few_examples(count: int) -> settings:
    """Of a property on the server. A failing example is shown as found: making it smaller would take minutes."""
    return settings(
        max_examples=count,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


def write(driver: Driver, corpus: str, library: Sequence[NaiveDocument]) -> None:
    """Index a library as the program does: staged, then published."""
    documents = [indexed(document, corpus, dimensions=REAL_DIMENSIONS) for document in library]
    for request in stage(corpus, documents):
        database.write(driver, "neo4j", request)
    delta = edges(one.mentions for one in documents)
    database.write(driver, "neo4j", publish(corpus, documents, replaced=[], orphans=[], delta=delta))


def remove(driver: Driver, corpora: Sequence[str]) -> None:
    driver.execute_query("MATCH (n) WHERE n.corpus IN $corpora DETACH DELETE n", corpora=list(corpora))
