"""Random small libraries for property tests, and the same libraries in the package's own types."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from naive import NaiveChunk, NaiveDocument, NaiveSentence, NaiveSummary

from e2g_neo4j.cooccurrence import mentions
from e2g_neo4j.model import Chunk, Extraction, Sentence, SourceDocument, Summary, Vectors
from e2g_neo4j.writing import IndexedDocument

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


@st.composite
def texts(draw: st.DrawFn, names: tuple[str, ...] = NAMES) -> tuple[str, tuple[NaiveSentence, ...]]:
    """A text of one to twelve sentences, each with none to four occurrences of entities, some of them repeated."""
    text = ""
    sentences = []
    for mentioned in draw(st.lists(st.lists(st.sampled_from(names), max_size=4), min_size=1, max_size=12)):
        start = len(text)
        occurrences = []
        text += "So"
        for name in mentioned:
            text += " "
            occurrences.append((name, len(text)))
            text += name
        text += "."
        sentences.append(NaiveSentence(start, len(text), tuple(occurrences)))
        text += draw(st.sampled_from([" ", "\n\n"]))
    return text.rstrip(), tuple(sentences)


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
    """Entities of a question, some of them unknown to any library, some of them named twice."""
    return st.lists(st.sampled_from((*NAMES, "nobody", "nowhere")), max_size=6)


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


def indexed(document: NaiveDocument, corpus: str, *, dimensions: int = DIMENSIONS) -> IndexedDocument:
    """The document as indexing hands it to writing. Its title and source are made of its id."""
    chunks = chunks_of(document)
    return IndexedDocument(
        SourceDocument(
            document.id,
            corpus,
            f"Title of {document.id}",
            f"{document.id}.txt",
            document.text,
            f"sha of {document.text}",
        ),
        chunks,
        [
            Summary(summary.id, summary.level, summary.index, summary.text, len(summary.text), summary.children)
            for summary in document.summaries
        ],
        mentions(chunks, [extraction_of(document, chunk) for chunk in document.chunks]),
        padded([chunk.vector for chunk in document.chunks], dimensions),
        padded([summary.vector for summary in document.summaries], dimensions),
    )


def padded(rows: Sequence[Sequence[float]], dimensions: int) -> Vectors:
    """Unit vectors of a given length; zeros at the end change no cosine."""
    vectors = np.zeros((len(rows), dimensions), dtype=np.float32)
    for number, row in enumerate(rows):
        vectors[number, : len(row)] = row
        vectors[number] /= np.linalg.norm(vectors[number])
    return vectors
