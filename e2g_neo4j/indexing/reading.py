"""Read texts: extract their entities, and compute the vectors of their windows and sentences."""

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
