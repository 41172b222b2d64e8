"""Input and interface of summarisers."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from e2g_neo4j.types.documents import Chunk, SourceDocument, Vectors
from e2g_neo4j.types.graph import Sentence


@dataclass(frozen=True, slots=True)
class SummaryInput:
    """A text to summarise, or a summary.

    Attributes:
        sentences: its sentences, with offsets into `text`.
        vectors: a row for each sentence.
        counts: for each entity, the number of sentences of the document that mention it, in all text that is covered.
        level: the level of the node that is written from the text.
    """

    text: str
    sentences: tuple[Sentence, ...] = ()
    vectors: Vectors | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    level: int = 1

    def pack(self) -> bytes:
        """Serialise everything but the text, the vectors in half precision. Empty without vectors."""
        if self.vectors is None:
            return b""
        sentences = [(sentence.start, sentence.end, sentence.entities) for sentence in self.sentences]
        notes = zlib.compress(json.dumps([sentences, sorted(self.counts.items())]).encode())
        return len(notes).to_bytes(4, "big") + notes + self.vectors.astype(np.float16).tobytes()

    @classmethod
    def unpack(cls, text: str, packed: bytes) -> SummaryInput:
        """Undo `pack`."""
        if not packed:
            return cls(text)
        end = 4 + int.from_bytes(packed[:4], "big")
        sentences, counts = json.loads(zlib.decompress(packed[4:end]))
        vectors = np.frombuffer(packed[end:], np.float16).astype(np.float32).reshape(len(sentences), -1)
        return cls(
            text, tuple(Sentence(start, last, tuple(names)) for start, last, names in sentences), vectors, dict(counts)
        )


class Summariser(Protocol):
    """Writes the nodes of summary trees, one text per call, from several threads."""

    @property
    def name(self) -> str:
        """A name that differs between summarisers that would write different summaries."""

    @property
    def concurrency(self) -> int:
        """The maximum number of concurrent calls."""

    @property
    def needs_sentences(self) -> bool:
        """Whether it needs the sentences of a text and their vectors."""

    def summarise(self, prose: SummaryInput) -> SummaryInput:
        """Return a summary, with its sentences if the summariser knows them. Raises ModelError."""


@dataclass(frozen=True, slots=True)
class TreeInput:
    """The input of a summary tree: a document and its chunks in reading order.

    `known` has the text and notes of stored summaries by `Summary.made_of`. They are reused.
    """

    document: SourceDocument
    chunks: Sequence[Chunk]
    known: Mapping[str, tuple[str, bytes]] = field(default_factory=dict)
