"""Documents and chunks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.types.properties import Properties, check_properties

Vectors: TypeAlias = NDArray[np.float32]
"""Embeddings: an array of shape (n, dimensions) whose rows have length 1."""

Span: TypeAlias = tuple[int, int]
"""The start and end of a part of a text, in characters."""

TokenSpans: TypeAlias = Callable[[str], Sequence[Span]]
"""A function that returns the span of each token of a text, without special tokens."""


@dataclass(frozen=True, slots=True)
class Section:
    """A page, heading or table that starts at character `start` of the document's text. Tables end at empty lines."""

    kind: Literal["page", "heading", "table"]
    label: str
    start: int


@dataclass(frozen=True, slots=True)
class Hyperlink:
    """A link in a document: the span of its text, and where it leads.

    Attributes:
        start: where its text starts in the document's text.
        end: where its text ends in the document's text.
        target: the source that a document has there, with `#` and a fragment if there is one; `wiki:` and the name of a
            page; or `#` and a fragment of the same document.
    """

    start: int
    end: int
    target: str


@dataclass(frozen=True, slots=True)
class StandsFor:
    """A text node of the user's graph that a chunk stands for.

    `node` is its element id. `text` are the names of the properties that hold its text, `key` that of its key.
    """

    node: str
    text: tuple[str, ...]
    key: str


@dataclass(frozen=True, slots=True)
class Cut:
    """A text node of the user's graph as a part of a document.

    Attributes:
        key: the key of the node.
        start: where its text starts in the document's text.
        end: where its text ends in the document's text.
        stands_for: the node.
    """

    key: str
    start: int
    end: int
    stands_for: StandsFor


UPLOAD = "upload:"
"""Sources that begin with this were uploaded. What follows is a name that the sender chose, never a path: nothing looks
for it on the disk."""


WIKI = "wiki:"
"""What the target of a link begins with that names a page of a wiki."""


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document as it was read. Offsets count characters of `text`.

    Attributes:
        id: derived from corpus and source.
        corpus: the corpus that the document belongs to.
        title: the title.
        source: identifies the document in its corpus: the absolute path of its file, or `upload:` and a name, or any
            text for documents that were handed in.
        text: the full text.
        sha256: the hash of `text` in UTF-8, followed by `links` if there are any; of an adopted document, of the keys
            and texts of its nodes.
        sections: pages, headings and tables.
        cuts: the text nodes that an adopted document consists of, empty for other documents.
        properties: properties of the user's, by which questions can be restricted. None: those that are stored, if the
            document is indexed already.
        losses: what its file has and `text` has not, one clause each, such as "2 of 9 pages have no text (3, 7)".
        links: its links, as far as they lead to another document or to a fragment, sorted by where they start.

    Raises:
        InputError: a property is invalid.
    """

    id: str
    corpus: str
    title: str
    source: str
    text: str
    sha256: str
    sections: tuple[Section, ...] = ()
    cuts: tuple[Cut, ...] = ()
    properties: Properties | None = field(default=None, hash=False)
    losses: tuple[str, ...] = ()
    links: tuple[Hyperlink, ...] = ()

    def __post_init__(self) -> None:
        if self.properties is not None:
            object.__setattr__(self, "properties", check_properties(self.properties))

    def with_properties(self, properties: Properties) -> SourceDocument:
        """Return the document with these properties added to its own. Raise InputError if one is invalid."""
        return replace(self, properties={**(self.properties or {}), **properties})


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document: `text == document.text[start:end]`.

    Attributes:
        id: derived from the document, the text and the own text.
        index: the position in the document.
        text: the text. It is not stored if the chunk `stands_for` a text node.
        start: where the text starts in the document.
        end: where the text ends in the document.
        tokens: the length in tokens of the tokenizer in use.
        own: the span of the chunk's own text in the document. Each sentence is attributed to the chunk whose own text
            it starts in, so sentences in an overlap of two chunks are counted once.
        stands_for: the text node of the user's graph that the chunk points to, in an adopted corpus.
        sections: the pages and headings of the document that apply to the text.
        places: the pages and headings of the chunk and its windows as they are stored, if an archive has these instead.
    """

    id: str
    index: int
    text: str
    start: int
    end: int
    tokens: int
    own: Span = (0, sys.maxsize)
    stands_for: StandsFor | None = None
    sections: tuple[Section, ...] = ()
    places: Mapping[str, Any] | None = field(default=None, hash=False)

    @property
    def own_in_text(self) -> Span:
        """The span of its own text in `text`."""
        return self.own[0] - self.start, self.own[1] - self.start


CHUNKER = "content-defined-2"
"""The version of the chunking rules. A document that was chunked by other rules is indexed again."""

ADOPTED = "whole-nodes-1"
"""The same as CHUNKER, for adopted documents, where each text node is a chunk."""


EXTRACTOR = "known-names-3"
"""The version of the rules for entities and for the terms of chunks, followed by `+` and the spaCy pipeline of a
document in another language than its corpus. A document that was read otherwise is indexed again; its vectors and
summaries are kept. The pipeline of the corpus is part of the fingerprint."""


def cut_by(document: SourceDocument) -> str:
    """Return the version of the chunking rules for a document."""
    return ADOPTED if document.cuts else CHUNKER
