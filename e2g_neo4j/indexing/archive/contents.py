"""What an archive holds: a ZIP file with a manifest and JSON Lines of what was read, what models found, and what was
decided by hand.

Whatever follows from these, such as mentions, edges, counts and trees, is computed when the archive is imported. An
archive may come from a stranger, who can write anything into it and compute its checksums. So each line is checked for
types, lengths, bounds and finite numbers.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from neo4j.time import DateTime
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from e2g_neo4j.indexing.statements.added import AddedText
from e2g_neo4j.indexing.summaries.tree import tree_widths
from e2g_neo4j.models.entities.extraction_codec import own_sentences_before_list
from e2g_neo4j.types.documents import Vectors
from e2g_neo4j.types.graph import Sentence
from e2g_neo4j.types.properties import check_properties

Format: TypeAlias = Literal["archive", "graphml"]

MANIFEST = "manifest.json"

LONGEST_LINE = 2**24
"""Maximum bytes of a line."""

MOST_BRACKETS = 2**17
"""Maximum number of lists and objects in a line of JSON: each takes twenty times as much memory as text."""

LARGEST_NOTES = 2**24
"""Maximum bytes of a packed extraction once it is unpacked."""

MOST_BLANKS = 2**26
"""Maximum characters of a document that are in none of its chunks: white space."""


# --- types of values ---------------------------------------------------------------------------------

Key = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
Line = Annotated[str, StringConstraints(max_length=10_000)]
Text = Annotated[str, StringConstraints(max_length=2**22)]
Count = Annotated[int, Field(ge=0, le=2**40)]
Texts = Annotated[list[Line], Field(max_length=2**17)]
Names = Annotated[list[Line], Field(max_length=1_000)]
Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Row(BaseModel):
    """A line of a member. Bytes are in base64, and vectors the bytes of their numbers, of 32 bits, little-endian."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, ser_json_bytes="base64", val_json_bytes="base64"
    )

    def check(self, dimensions: int) -> None:
        """Raise ValueError if the values do not fit each other."""


def pack_vectors(rows: Sequence[Sequence[float]]) -> bytes:
    return np.array(rows, "<f4").tobytes()


def unpack_vectors(packed: bytes, dimensions: int) -> Vectors:
    """Return vectors, of shape (n, dimensions). Raises ValueError if the length of one is not that of an embedding."""
    rows = np.frombuffer(packed, "<f4").reshape(-1, dimensions)
    with np.errstate(invalid="ignore"):
        squares = np.square(rows.astype(np.float64)).sum(axis=1)
    _fit(bool(((squares > 1e-6) & (squares < 1e6)).all()), "the length of a vector is not that of an embedding")
    return rows.astype(np.float32)


def check_depth(line: bytes) -> bytes:
    """Return JSON, or raise ValueError if it has too many lists or objects."""
    _fit(line.count(b"[") + line.count(b"{") <= MOST_BRACKETS, f"it has more than {MOST_BRACKETS} lists or objects")
    return line


def _fit(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(what)


# --- documents ---------------------------------------------------------------------------------------


class DocumentRow(Row):
    """A document. If it is not `ready`, it has no chunks yet.

    Attributes:
        properties: those of the user.
        links: start, end and target of each.
        linked: the types of names of linked nodes that are in its text, by spelling.
        claimed: the properties that it gets once what was begun with it succeeds, as JSON.
        chunks: the number of its chunks, which are the next lines of their member.
        summaries: the number of its summaries.
        group_size: how many nodes of its tree a summary covers.
    """

    id: Key
    source: Key
    title: Line | None = None
    ready: bool
    sha256: Line | None = None
    chunker: Line | None = None
    extractor: Line | None = None
    characters: Count = 0
    properties: dict[str, Any] = Field(default_factory=dict)
    losses: Texts = Field(default_factory=list)
    links: Annotated[list[tuple[Count, Count, Line]], Field(max_length=2**16)] = Field(default_factory=list)
    linked: dict[Line, Line] = Field(default_factory=dict)
    work: Literal["pending", "indexing", "failed"] | None = None
    error: Text | None = None
    claimed: Text | None = None
    chunks: Count = 0
    summaries: Count = 0
    group_size: Annotated[int, Field(ge=2, le=2**20)] = 2

    def check(self, dimensions: int) -> None:
        check_properties(self.properties)
        if self.claimed is not None:
            check_properties(TypeAdapter(dict[str, Any]).validate_json(check_depth(self.claimed.encode())))
        complete = None not in (self.title, self.sha256, self.chunker, self.extractor)
        _fit(complete if self.ready else not self.chunks, "the document is not complete, or not ready")


class ChunkRow(Row):
    """A chunk. Spans are relative to its start.

    Attributes:
        start: where its text starts in the document.
        own: the span of its own text.
        notes: its packed extraction.
        windows: the spans of its windows.
        vectors: those of its windows.
        sentence_vectors: those of its own sentences, if the corpus has this layer.
    """

    text: Text
    start: Count
    tokens: Count
    own: tuple[Count, Count]
    page: Line | None = None
    heading: Line | None = None
    window_pages: Texts | None = None
    window_headings: Texts | None = None
    notes: bytes
    windows: Annotated[list[tuple[Count, Count]], Field(min_length=1, max_length=2**16)]
    vectors: bytes
    sentence_vectors: bytes | None = None

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def places(self) -> Mapping[str, Any]:
        """Pages and headings."""
        names = ("page", "heading", "window_pages", "window_headings")
        return {name: getattr(self, name) for name in names}

    def check(self, dimensions: int) -> None:
        length = len(self.text)
        _fit(self.own[0] <= self.own[1] <= length, "property 'own': it is not in the text")
        _fit(all(start < end <= length for start, end in self.windows), "property 'windows': one is not in the text")
        for names in (self.window_pages, self.window_headings):
            _fit(names is None or len(names) == len(self.windows), "its lists of windows have different lengths")
        vectors = unpack_vectors(self.vectors, dimensions)
        _fit(len(vectors) == len(self.windows), "property 'vectors': it has another number of windows")
        sentences = _check_sentences(_unpack(_EXTRACTION, self.notes)[0], length)
        if self.sentence_vectors is not None:
            size = dimensions * len(own_sentences_before_list(sentences, self.own))
            _fit(len(self.sentence_vectors) == size, "property 'sentence_vectors': it has other sentences")


class _Embedded(Row):
    vector: bytes

    def check(self, dimensions: int) -> None:
        _fit(len(unpack_vectors(self.vector, dimensions)) == 1, "property 'vector': it is not one vector")


class SummaryRow(_Embedded):
    """A node of the tree of a document. `made_of` is a hash of what it was made of, `notes` what its parent needs."""

    level: Annotated[int, Field(ge=1, le=50)]
    text: Text
    tokens: Count
    made_of: Line | None = None
    notes: bytes | None = None

    def check(self, dimensions: int) -> None:
        super().check(dimensions)
        _check_summary_notes(self.notes or b"", self.text, dimensions)


@dataclass(frozen=True, slots=True)
class ArchivedDocument:
    """The lines of a document."""

    row: DocumentRow
    chunks: Sequence[ChunkRow]
    summaries: Sequence[SummaryRow]

    def check(self) -> None:
        """Raise ValueError if they do not fit each other."""
        row, chunks, levels = self.row, self.chunks, [one.level for one in self.summaries]
        _fit((len(chunks), len(levels)) == (row.chunks, row.summaries), "lines of the document are missing")
        starts = [chunk.start for chunk in chunks]
        _fit(starts == sorted(starts), "its chunks are not in order")
        _fit(all(chunk.end <= row.characters for chunk in chunks), "a chunk is not in the document")
        blanks = row.characters - sum(len(chunk.text) for chunk in chunks)
        _fit(blanks <= MOST_BLANKS, f"more than {MOST_BLANKS} characters are in no chunk")
        widths = list(tree_widths(len(chunks), row.group_size))
        tree = [level for level, width in enumerate(widths, 1) for _ in range(min(width, len(levels) + 1))]
        _fit(levels == tree, "its summaries are no tree of its chunks")


# --- what else is stored -----------------------------------------------------------------------------


class NameRow(Row):
    """What was decided by hand about a name: it stays apart, or resolves to another, or means a sense in a document."""

    key: Key
    apart: Literal[True] | None = None
    into: Key | None = None
    documents: list[Key] | None = None
    senses: list[Line] | None = None

    def check(self, dimensions: int) -> None:
        _fit(len(self.documents or ()) == len(self.senses or ()), "'documents' and 'senses' have different lengths")


class EntityRow(_Embedded):
    """The vector of the name of an entity."""

    key: Key
    name: Line


class VectorRow(_Embedded):
    """The vector of a text of a layer, by the hash of the text."""

    sha256: Hash


class ReplyRow(Row):
    """A cached reply of a chat model, or what graph documents say about a text. Its key has no word of the corpus."""

    key: Annotated[str, StringConstraints(pattern=r"^(added-)?[0-9a-f]{64}$")]
    text: Text
    model: Line | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    created: Line

    def check(self, dimensions: int) -> None:
        DateTime.from_iso_format(self.created)
        if self.key.startswith("added-"):
            TypeAdapter(AddedText).validate_json(check_depth(self.text.encode()), strict=True)
            AddedText.load(self.text)


MEMBERS: Mapping[str, type[Row]] = {
    "chunks.jsonl": ChunkRow,
    "summaries.jsonl": SummaryRow,
    "documents.jsonl": DocumentRow,
    "names.jsonl": NameRow,
    "entities.jsonl": EntityRow,
    "vectors.jsonl": VectorRow,
    "replies.jsonl": ReplyRow,
}
"""The members, and what their lines are, in the order in which they are written."""


class MadeWith(Row):
    """The fingerprint of the index."""

    embedding_model: str
    dimensions: Annotated[int, Field(ge=1, le=2**14)]
    pooling: str
    spacy_model: str


class Layers(Row):
    """Which layers the corpus has, and the models that wrote them."""

    communities: bool
    clusters: bool
    entity_vectors: bool
    sentence_vectors: bool
    descriptions: bool
    statements: bool
    statement_models: Names | None = None
    report_models: Names | None = None


class Member(Row):
    """The expected size and hash of a member."""

    lines: Count
    bytes: Count
    sha256: Hash


class Manifest(Row):
    """`manifest.json`. The numbers of nodes and relationships are those of the corpus that was exported."""

    format: Literal["e2g-neo4j corpus"] = "e2g-neo4j corpus"
    version: Literal[1] = 1
    corpus: str
    documents: Annotated[int, Field(ge=1)]
    nodes: Count
    relationships: Count
    fingerprint: MadeWith
    layers: Layers
    members: dict[str, Member]


# --- packed values -----------------------------------------------------------------------------------

_Spans = list[tuple[Count, Count, list[Key]]]
_Pairs = list[tuple[Line, Count]]
_PairsByKey = list[tuple[Line, _Pairs]]
_EXTRACTION: TypeAdapter[Any] = TypeAdapter(tuple[_Spans, _Pairs, _PairsByKey, _Pairs, _PairsByKey])
_NOTES: TypeAdapter[Any] = TypeAdapter(tuple[_Spans, _Pairs])


def _check_summary_notes(packed: bytes, text: str, dimensions: int) -> None:
    if packed:
        end = 4 + int.from_bytes(packed[:4], "big")
        sentences, _ = _unpack(_NOTES, packed[4:end])
        _check_sentences(sentences, len(text))
        vectors = packed[end:]
        _fit(len(vectors) == 2 * dimensions * len(sentences) > 0, "property 'notes': it has other vectors")
        _fit(bool(np.isfinite(np.frombuffer(vectors, np.float16)).all()), "property 'notes': a number is infinite")


def _unpack(kind: TypeAdapter[Any], packed: bytes) -> Any:
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(packed, LARGEST_NOTES)
        _fit(unpacking.eof and not unpacking.unused_data, "it is incomplete or too large")
        return kind.validate_json(check_depth(text), strict=True)
    except (zlib.error, ValueError) as error:
        raise ValueError(f"property 'notes': it cannot be unpacked ({str(error)[:100]})") from error


def _check_sentences(rows: Any, length: int) -> list[Sentence]:
    found = [Sentence(start, end, tuple(entities)) for start, end, entities in rows]
    _fit(all(one.start <= one.end <= length for one in found), "property 'notes': a sentence is not in the text")
    return found
