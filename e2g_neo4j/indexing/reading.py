"""Read texts: extract their entities, and compute the vectors of their windows and sentences, in a thread ahead of the
one that writes what was found."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from e2g_neo4j.models.embedding.base import Embedder
from e2g_neo4j.models.embedding.windows import Embedded, embed_with_parts
from e2g_neo4j.models.entities.extraction import extract_all
from e2g_neo4j.types.documents import Span
from e2g_neo4j.types.graph import Extraction

if TYPE_CHECKING:
    from spacy.language import Language


import time
from collections.abc import Callable
from contextlib import suppress
from queue import Full, Queue
from threading import Event, Thread
from typing import Self

from e2g_neo4j.types.documents import Chunk

Found: TypeAlias = tuple[Extraction, Embedded]


Text: TypeAlias = tuple[str, bool]
"""A text, and whether vectors of its sentences are needed."""


def read_texts(nlp: Language, embedder: Embedder, texts: Sequence[Text], workers: int) -> Iterator[Found]:
    """Yield what is found in each text, in order. spaCy runs ahead of the embedding model."""
    extractions: deque[Extraction] = deque()

    def with_sentences() -> Iterator[tuple[str, list[Span]]]:
        extracted = extract_all(nlp, [text for text, _ in texts], workers)
        for (text, parted), extraction in zip(texts, extracted, strict=True):
            extractions.append(extraction)
            yield text, [(one.start, one.end) for one in extraction.sentences] if parted else []

    for embedded in embed_with_parts(embedder, with_sentences()):
        yield extractions.popleft(), embedded


AHEAD = 64
"""Maximum number of results that wait to be taken."""

_LOOK = 0.2
"""Seconds after which the thread checks whether it should end."""


class ReadAhead:
    """A context manager that processes chunks in order, in a thread. `take` returns the results.

    Args:
        chunks: the chunks to process.
        found: what is found in each of them, in order. It is computed in the thread.
        progress: called in the thread, once for each chunk. `take` raises its exceptions.
    """

    def __init__(self, chunks: Sequence[Chunk], found: Iterator[Found], progress: Callable[[], None]) -> None:
        self._chunks, self._in_all, self._progress = chunks, found, progress
        self._found: Queue[tuple[str, Found] | BaseException] = Queue(AHEAD)
        self._ended = Event()
        self._thread = Thread(target=self._work, name="e2g-reading", daemon=True)
        self.seconds = 0.0
        """How long the models have worked."""

    def __enter__(self) -> Self:
        if self._chunks:
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        if self._chunks:
            self._thread.join(10.0)  # it ends after the current batch of texts

    def take(self, chunk: Chunk) -> Found:
        """Return the results of a chunk, and drop those of chunks before it. Raises exceptions of the models."""
        while True:
            found = self._found.get()
            if isinstance(found, BaseException):
                raise found
            if found[0] == chunk.id:
                return found[1]

    def _work(self) -> None:
        try:
            began = time.perf_counter()
            for chunk, found in zip(self._chunks, self._in_all, strict=True):
                self.seconds += time.perf_counter() - began
                self._progress()
                self._put((chunk.id, found))
                began = time.perf_counter()
                if self._ended.is_set():
                    return
        except BaseException as error:
            self._put(error)

    def _put(self, found: tuple[str, Found] | BaseException) -> None:
        while not self._ended.is_set():
            with suppress(Full):
                self._found.put(found, timeout=_LOOK)
                return
