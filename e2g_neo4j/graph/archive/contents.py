"""What an archive may contain: labels and types of relationships, with the properties of each and their bounds.

An archive may come from a stranger, who can write anything into it and compute its checksums. Whatever is not in NODES
and RELATIONSHIPS is refused. `checks` compares nodes with each other once they are written.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from neo4j.time import DateTime
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from e2g_neo4j.graph.archive.format import check_depth, loads
from e2g_neo4j.models.entities.extraction_codec import own_sentences_before_list
from e2g_neo4j.types.graph import Sentence
from e2g_neo4j.types.properties import check_properties

VECTORS = ("embedding", "embedded_name", "sentence_vectors")
"""Properties whose names have the suffix of the model in a database, but not in an archive."""

LARGEST_NOTES = 2**24
"""Maximum bytes of a packed extraction once it is unpacked."""


# --- types of values ---------------------------------------------------------------------------------

Key = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
Line = Annotated[str, StringConstraints(max_length=10_000)]
Text = Annotated[str, StringConstraints(max_length=2**22)]
Count = Annotated[int, Field(ge=0, le=2**40)]
Milliseconds = Annotated[int, Field(ge=0, le=2**52)]
Number = Annotated[int, Field(ge=1, le=2**40)]
Level = Annotated[int, Field(ge=1, le=50)]
Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, le=1e12)]
Counts = Annotated[list[Count], Field(max_length=2**17)]
Numbers = Annotated[list[Number], Field(max_length=2**17)]
Texts = Annotated[list[Line], Field(max_length=2**17)]
Names = Annotated[list[Line], Field(max_length=1_000)]


def _vector(values: list[float]) -> list[float]:
    squares = float(np.square(np.array(values, np.float64)).sum())
    if not 1e-6 < squares < 1e6:
        raise ValueError("the length of the vector is not that of an embedding")
    return values


Vector = Annotated[list[float], Field(min_length=1, max_length=2**14), AfterValidator(_vector)]


class Row(BaseModel):
    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, arbitrary_types_allowed=True
    )

    def check(self) -> None:
        """Raise ValueError if the values do not fit each other."""


def _fit(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(what)


def _same_length(first: list[Any] | None, second: list[Any] | None, what: str) -> None:
    _fit(len(first or ()) == len(second or ()), f"{what} have different lengths")


# --- nodes -------------------------------------------------------------------------------------------


class _Document(Row):
    id: Key
    source: Key
    title: Line | None = None
    sha256: Text | None = None
    chunker: Line | None = None
    extractor: Line | None = None
    characters: Count | None = None
    tokens: Count | None = None
    chunks: Count | None = None
    windows: Count | None = None
    persistence: Share | None = None
    losses: Texts | None = None
    changed: Milliseconds | None = None
    link_starts: Counts | None = None
    link_ends: Counts | None = None
    link_targets: Texts | None = None
    state: Literal["ready"] | None = None
    work: Literal["pending", "indexing", "failed"] | None = None
    error: Text | None = None
    claimed_properties: Text | None = None

    def check(self) -> None:
        _same_length(self.link_starts, self.link_ends, "properties 'link_starts' and 'link_ends'")
        _same_length(self.link_starts, self.link_targets, "properties 'link_starts' and 'link_targets'")
        if self.claimed_properties is not None:
            claimed = loads(self.claimed_properties)
            _fit(isinstance(claimed, dict), "property 'claimed_properties': it is no object")
            check_properties(claimed)
        counts = (self.sha256, self.characters, self.tokens, self.chunks, self.windows, self.persistence)
        if self.state == "ready":
            _fit(None not in (self.title, *counts), "the document is ready, but has no hash or counts")
        else:
            _fit(counts == (None,) * len(counts), "the document is not ready, but has a hash or counts")


class _Part(Row):
    id: Key
    document: Key
    text: Text
    start: Count
    end: Count
    embedding: Vector

    def check(self) -> None:
        _fit(self.start <= self.end, "property 'end': it is before the start")


class _OfDocument(_Part):
    index: Count

    def check(self) -> None:
        super().check()
        _fit(self.id.startswith(f"{self.document}-"), "property 'id': it does not begin with the id of the document")


class _Chunk(_OfDocument):
    corpus_key: Key
    level: Literal[0]
    tokens: Count
    page: Line | None = None
    heading: Line | None = None
    own: Annotated[list[Count], Field(min_length=2, max_length=2)]
    notes: bytes
    told: Line | None = None
    sentence_vectors: bytes | None = None
    window_shares: Annotated[list[Share], Field(min_length=1, max_length=2**17)]
    window_weights: Annotated[list[Weight], Field(max_length=2**17)] | None = None
    window_pages: Texts | None = None
    window_headings: Texts | None = None

    def check(self) -> None:
        super().check()
        length = self.end - self.start
        _fit(length == len(self.text), "property 'end': the text has another length")
        own = self.own[0], self.own[1]
        _fit(own[0] <= own[1] <= length, "property 'own': it is not in the text")
        for windows in (self.window_pages, self.window_headings, self.window_weights):
            if windows:
                _same_length(windows, self.window_shares, "its lists of windows")
        sentences = _sentences(_unpack(_EXTRACTION, self.notes)[0], length)
        if self.sentence_vectors is not None:
            rows = len(own_sentences_before_list(sentences, own))
            size = rows * len(self.embedding)
            _fit(len(self.sentence_vectors) == size, f"property 'sentence_vectors': it has not {rows} vectors")


class _Window(_OfDocument):
    corpus_key: Key

    def check(self) -> None:
        super().check()
        _fit(self.end - self.start == len(self.text), "property 'end': the text has another length")


class _Summary(_OfDocument):
    level: Level
    tokens: Count
    made_of: Line | None = None
    notes: bytes | None = None

    def check(self) -> None:
        super().check()
        _summary_notes(self.notes or b"", self.text, len(self.embedding))


class _Counted(Row):
    forms: Texts | None = None
    form_counts: Numbers | None = None
    types: Texts | None = None
    type_counts: Numbers | None = None

    def check(self) -> None:
        _same_length(self.forms, self.form_counts, "'forms' and 'form_counts'")
        _same_length(self.types, self.type_counts, "'types' and 'type_counts'")


class _Entity(_Counted):
    key: Key
    name: Line
    chunks: Number
    type: Line | None = None
    description: Text | None = None
    description_chunk: Key | None = None
    embedded_name: Line | None = None
    embedding: Vector | None = None

    def check(self) -> None:
        super().check()
        _fit((self.embedding is None) == (self.embedded_name is None), "'embedded_name' and 'embedding' go together")


class _Alias(Row):
    key: Key
    name: Line | None = None
    apart: Literal[True] | None = None
    into: Key | None = None
    documents: list[Key] | None = None
    senses: list[Line] | None = None

    def check(self) -> None:
        super().check()
        _same_length(self.documents, self.senses, "'documents' and 'senses'")


class _Corpus(Row):
    """Of its numbers, only which layers are up to date counts."""

    revision: Count = 0
    communities: Count | None = None
    clusters: Count | None = None
    entity_vectors: Count | None = None
    sentence_vectors: Count | None = None
    descriptions: Count | None = None
    statements: Count | None = None
    statement_models: Names | None = None
    report_models: Names | None = None
    chunks: Count | None = None
    windows: Count | None = None


class _Community(Row):
    id: Key
    level: Annotated[int, Field(ge=0, le=50)]
    title: Line
    text: Text
    rating: Annotated[float, Field(ge=0, le=100)] | None = None
    entities: Number
    sha256: Line
    report_sha256: Line
    sources: Names
    embedding: Vector


class _Cluster(_Part):
    level: Annotated[int, Field(ge=1, le=5)]
    tokens: Count
    chunks: Number
    sha256: Line
    text_sha256: Line


class _Stated(Row):
    predicate: Line
    text: Text
    keywords: Names
    strength: Annotated[int, Field(ge=0, le=100)]
    subject_type: Line | None = None
    object_type: Line | None = None
    status: Line | None = None
    period: Line | None = None


class _Statement(_Stated):
    id: Key
    embedding: Vector


NODES: Mapping[str, type[Row]] = {
    "Document": _Document,
    "Chunk": _Chunk,
    "Window": _Window,
    "Summary": _Summary,
    "Entity": _Entity,
    "Alias": _Alias,
    "Corpus": _Corpus,
    "Community": _Community,
    "Cluster": _Cluster,
    "Statement": _Statement,
}
"""The labels of nodes, and their properties. A document also has those of the user, whose names begin with `meta_`."""

UNCOUNTED = "UncountedChunk"
"""The label that a chunk may have besides."""

NOT_CREATED = ("Corpus",)
"""Their numbers count for other corpora too. They are computed from the imported text."""


# --- relationships -----------------------------------------------------------------------------------


class _Nothing(Row):
    pass


class _FromChunk(_Counted):
    count: Number
    sentences: Counts
    windows: Counts


class _CoOccurs(Row):
    count: Number
    weight: Annotated[float, Field(gt=0, le=1e12)]


class _AliasOf(Row):
    corpus: Key
    document: Key
    count: Count
    form: Line | None = None
    why: Line | None = None


Ends: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]

RELATIONSHIPS: Mapping[str, tuple[type[Row], Ends]] = {
    "FROM_DOCUMENT": (_Nothing, (("Chunk",), ("Document",))),
    "NEXT_CHUNK": (_Nothing, (("Chunk",), ("Chunk",))),
    "CHILD_OF": (_Nothing, (("Chunk", "Summary"), ("Summary",))),
    "PART_OF": (_Nothing, (("Window",), ("Chunk",))),
    "FROM_CHUNK": (_FromChunk, (("Entity",), ("Chunk",))),
    "CO_OCCURS": (_CoOccurs, (("Entity",), ("Entity",))),
    "ALIAS_OF": (_AliasOf, (("Alias",), ("Entity",))),
    "IN_COMMUNITY": (_Nothing, (("Entity",), ("Community",))),
    "QUOTES": (_Nothing, (("Community",), ("Chunk",))),
    "PARENT": (_Nothing, (("Community",), ("Community",))),
    "IN_CLUSTER": (_Nothing, (("Chunk", "Cluster"), ("Cluster",))),
    "STATED_IN": (_Nothing, (("Statement",), ("Chunk",))),
    "SUBJECT": (_Nothing, (("Statement",), ("Entity",))),
    "OBJECT": (_Nothing, (("Statement",), ("Entity",))),
}
"""The types of relationships, with their properties and the labels of their ends."""


# --- what is cached for the corpus -------------------------------------------------------------------


class Cached(Row):
    key: Annotated[str, StringConstraints(pattern=r"^(added-)?[0-9a-f]{64}$")]
    text: Text
    model: Line | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    created: DateTime | None = None


class _Claim(_Stated):
    subject: Line
    object: Line
    subject_names: Names = []
    object_names: Names = []


class Added(Row):
    characters: Count
    before: Count
    after: Count
    probe: Line
    sha256: Line
    claims: Annotated[list[_Claim], Field(max_length=10_000)]


ADDED: TypeAdapter[Any] = TypeAdapter(Added)
"""What graph documents said about a text, as JSON."""


# --- packed values -----------------------------------------------------------------------------------

_Spans = list[tuple[Count, Count, list[Line]]]
_Pairs = list[tuple[Line, Count]]
_PairsByKey = list[tuple[Line, _Pairs]]
_EXTRACTION: TypeAdapter[Any] = TypeAdapter(tuple[_Spans, _Pairs, _PairsByKey, _Pairs, _PairsByKey])
_NOTES: TypeAdapter[Any] = TypeAdapter(tuple[_Spans, _Pairs])


def _summary_notes(packed: bytes, text: str, dimensions: int) -> None:
    """Raise ValueError if the notes of a summary cannot be unpacked."""
    if packed:
        end = 4 + int.from_bytes(packed[:4], "big")
        sentences, _ = _unpack(_NOTES, packed[4:end])
        _sentences(sentences, len(text))
        vectors = packed[end:]
        _fit(len(vectors) == 2 * dimensions * len(sentences) > 0, "property 'notes': it has other vectors")
        _fit(bool(np.isfinite(np.frombuffer(vectors, np.float16)).all()), "property 'notes': a number is infinite")


def _unpack(kind: TypeAdapter[Any], packed: bytes) -> Any:
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(packed, LARGEST_NOTES)
        _fit(unpacking.eof and not unpacking.unused_data, "property 'notes': it is incomplete or too large")
        return kind.validate_json(check_depth(text), strict=True)
    except (zlib.error, ValueError) as error:
        raise ValueError(f"property 'notes': it cannot be unpacked ({str(error)[:100]})") from error


def _sentences(rows: Any, length: int) -> list[Sentence]:
    found = [Sentence(start, end, tuple(entities)) for start, end, entities in rows]
    _fit(all(one.start <= one.end <= length for one in found), "property 'notes': a sentence is not in the text")
    return found
