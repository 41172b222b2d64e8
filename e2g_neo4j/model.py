"""The types that every step of the program shares. Values only: no I/O, no behaviour beyond arithmetic."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.errors import FingerprintError

Vectors: TypeAlias = NDArray[np.float32]
"""Embeddings, one row each: shape (n, dimensions), every row of length 1."""

Span: TypeAlias = tuple[int, int]
"""Start and end of a part of a text, in characters."""

TokenSpans: TypeAlias = Callable[[str], Sequence[Span]]
"""Gives the span of each token of a text; special tokens are left out."""

Route: TypeAlias = Literal["local", "global"]

State: TypeAlias = Literal["pending", "indexing", "ready", "failed"]
"""Of a document in the database."""


# --- what reading and chunking make ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Section:
    """A page or heading that begins at a character of the document's text."""

    kind: Literal["page", "heading"]
    label: str
    start: int


@dataclass(frozen=True, slots=True)
class StandsFor:
    """A node of somebody else's, by element id, and the names of its properties that hold its text and its key."""

    node: str
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class Cut:
    """A text node of somebody else's as a part of a document: where its text is in the document's."""

    key: str
    start: int
    end: int
    stands_for: StandsFor


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document as it was read. `sha256` is that of `text` in UTF-8; offsets count characters of `text`.

    One that was put together of text nodes of somebody else's is `cut` where they are, and `sha256` is that of their
    keys and texts.
    """

    id: str
    corpus: str
    title: str
    source: str
    text: str
    sha256: str
    sections: tuple[Section, ...] = ()
    cuts: tuple[Cut, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A window of a document: `text == document.text[start:end]`, `tokens` counted by the tokenizer in use.

    `own` are the characters of the document where the sentences begin that are the chunk's own: of what two chunks
    share, each place is the own of one of them. Of one that `stands_for` a node of somebody else's, no text is kept.
    """

    id: str
    index: int
    text: str
    start: int
    end: int
    tokens: int
    page: str | None = None
    heading: str | None = None
    own: Span = (0, sys.maxsize)
    stands_for: StandsFor | None = None


# --- what extraction finds ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the distinct entities in it. Offsets count characters of the text that was given."""

    start: int
    end: int
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Extraction:
    """What the spaCy pipeline found in one text: its sentences, and how often each entity occurs in it, by key.

    `forms`: how often each form of a name is written; an entity that is not in it is written as its key only. `people`:
    how often an entity is called a person.
    """

    sentences: tuple[Sentence, ...]
    counts: Mapping[str, int]
    forms: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    people: Mapping[str, int] = field(default_factory=dict)


# --- what summarising makes --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Summary:
    """A node of the tree. Level 1 stands on chunks; `children` are ids of the level below, in reading order.

    `made_of` is a hash of the summariser and of all that the node stands on, so that what is made of the same need not
    be made again; `notes` is what the node above needs to know of the text, see `summarising.tree.Prose.packed`.
    """

    id: str
    level: int
    index: int
    text: str
    tokens: int
    children: tuple[str, ...]
    made_of: str = ""
    notes: bytes = b""


# --- somebody else's graph ---------------------------------------------------------------------------

Method: TypeAlias = Literal["exact", "folded", "alias", "words", "vector"]
"""How an entity was found to be a node of somebody else's. `exact`: the same name as it is written; `folded`: the same
but for case, accents, a determiner and the like; `alias`: one has the name as another name; `words`: one name holds all
words of the other; `vector`: the names' embeddings are nearest by far."""


@dataclass(frozen=True, slots=True)
class Link:
    """An entity, by key and name, and the node that it refers to, by element id and name. `score` is from 0 to 1."""

    key: str
    name: str
    node: str
    node_name: str
    method: Method
    score: float


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """An entity that may be several nodes, each an element id and a name, and by which method."""

    key: str
    name: str
    method: Method
    nodes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class LinkReport:
    """What `link` did, or with `dry_run` would do.

    `entities` of the corpus were compared with `nodes` of the label; `methods` counts the links that now hold, of which
    `added` are new; `removed` held before and do not any more. `vectors` is False where there were too many nodes to
    embed their names.
    """

    corpus: str
    label: str
    entities: int
    nodes: int
    methods: dict[str, int]
    links: tuple[Link, ...]
    ambiguous: tuple[Ambiguity, ...]
    added: int
    removed: int
    vectors: bool
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Adoption:
    """Which text nodes of somebody else's a corpus stands on: those with `label`.

    `text` and `key` are the names of their properties with the text and with what identifies the node in its document.
    `order` is the one that sorts those of a document, None: `key`. `document` is the one that says of which document a
    node is, or `part_of` the type of the relationship that leads to the node of its document; neither: all are one.
    """

    label: str
    text: str = "text"
    key: str = "id"
    order: str | None = None
    document: str | None = None
    part_of: str | None = None


@dataclass(frozen=True, slots=True)
class AdoptReport:
    """What `adopt` did. `nodes` are adopted now; those `without_text`, `without_key` or `without_document` were left
    alone. `removed` documents had text nodes before and have none now; `index` is what was done with the others."""

    corpus: str
    adoption: Adoption
    nodes: int
    without_text: int
    without_key: int
    without_document: int
    removed: int
    index: IndexReport


@dataclass(frozen=True, slots=True)
class Finding:
    """What `doctor` found out about one thing: `ok`; `note`, good to know; or `problem`, with the next step."""

    check: str
    state: Literal["ok", "note", "problem"]
    what: str
    next_step: str | None = None


# --- what retrieval answers --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entities of the question and the edges on the shortest path between them."""

    a: str
    b: str
    hops: int


@dataclass(frozen=True, slots=True)
class Round:
    """One turn of the local route: how many pairs and chunks were left at this h."""

    hops: int
    pairs: int
    candidates: int


@dataclass(frozen=True, slots=True)
class TextNode:
    """The node of somebody else's that a passage is cited from, by element id and the key that it has: the passage is
    characters `start` to `end` of its text."""

    element_id: str
    key: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of evidence: a chunk, several consecutive chunks merged, or a summary.

    `start` and `end` count characters of the document's text (a summary's: of the text it stands for).
    `level` is 0 for text of the document and the level of the tree for a summary. `path` holds the ids of
    the tree's nodes from here to the root. In a corpus that was adopted, `text_node` is the node of somebody else's
    that holds the passage; a summary has none. The document's text is then that of all its nodes in order, with a blank
    line between.

    Passages come best first. `score` compares passages of one answer only; its scale depends on what ranked them:
    mode `e2g`, local route: different entities of the question in the chunk + n / (n + 1) of their n occurrences.
    Mode `e2g`, global route, `dense` and `tree`: (1 + cosine) / 2 of node (in `dense`: nearest window) and question,
    from 0 to 1; the global route looks at occurrences first, so that scores may rise down the list.
    `fulltext`: BM25. `hybrid`: sum of 1 / (60 + rank). `auto` and `diffusion`: a sum of z-scores, below 0 too.
    A merged passage has the best score of its parts.
    """

    text: str
    document: str
    source: str
    start: int
    end: int
    score: float
    level: int = 0
    nodes: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()
    page: str | None = None
    heading: str | None = None
    corpus: str = ""
    text_node: TextNode | None = None

    def labelled(self) -> str:
        """The evidence as the paper writes it: `entity1 - entity2: text`."""
        names = "; ".join(f"{pair.a} - {pair.b}" for pair in self.pairs)
        return f"{names}: {self.text}" if names else self.text


@dataclass(frozen=True, slots=True)
class Fact:
    """A relationship of somebody else's graph near the nodes that the question's entities refer to.

    `subject` and `object` are what the nodes are called, with their element ids; `entities` are the question's
    entities that refer to one of them. `properties` are those of the relationship, as text.
    """

    subject: str
    subject_id: str
    relationship: str
    object: str
    object_id: str
    properties: tuple[tuple[str, str], ...] = ()
    entities: tuple[str, ...] = ()

    def stated(self) -> str:
        """The fact as a statement, such as `Ann ACTED_IN Rain (role: Mary)`."""
        more = ", ".join(f"{name}: {value}" for name, value in self.properties)
        return f"{self.subject} {self.relationship} {self.object}" + (f" ({more})" if more else "")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The answer of `retrieve`: what was found, which route found it, and why. `facts` are there where `through` asked
    for them, those between two entities of the question first."""

    question: str
    corpora: tuple[str, ...]
    route: Route
    reason: str
    entities: tuple[str, ...]
    pairs: tuple[Pair, ...]
    hops: int
    passages: tuple[Passage, ...]
    unknown_entities: tuple[str, ...] = ()
    trace: tuple[Round, ...] = ()
    round_trips: int = 0
    mode: str = "e2g"
    facts: tuple[Fact, ...] = ()

    @property
    def corpus(self) -> str:
        """The corpus that was asked; of several the first."""
        return self.corpora[0]


Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with (stage, done, total) as work goes on, from more than one thread."""


# --- what indexing reports ---------------------------------------------------------------------------


@dataclass(slots=True)
class Spending:
    """What summaries cost: calls of the chat model, tokens it read and wrote, and summaries known from before."""

    calls: int = 0
    remembered: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(slots=True)
class IndexPlan:
    """What a run of `index` would do, by level of the tree. `cost` is in the currency of the prices.

    Tokens are estimates: of prompts by the embedding model's tokenizer, of completions as many as a summary may have.
    """

    corpus: str
    documents: int
    unchanged: int
    chunks: int
    tokens: int
    levels: dict[int, Spending]
    cost: float


@dataclass(slots=True)
class IndexReport:
    """What one run of `index` or `resume` did. `chunks` and `tokens` were read, `kept` chunks of changed documents left
    as they were. `failed`: sources that `resume` could not read any more, and why. Seconds are wall time by stage;
    side-by-side stages overlap.

    `spending` is what the chat model was asked for, by level of the tree, and `cost` that in the currency of the
    prices that are set; both are empty without a chat model.
    """

    corpus: str
    documents: int = 0
    unchanged: int = 0
    replaced: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    chunks: int = 0
    kept: int = 0
    tokens: int = 0
    summaries_by_level: dict[int, int] = field(default_factory=dict)
    entities: int = 0
    co_occurrences: int = 0
    mentions: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    spending: dict[int, Spending] = field(default_factory=dict)
    cost: float = 0.0

    @property
    def tokens_per_second(self) -> float:
        total = self.seconds.get("total", 0.0)
        return self.tokens / total if total else 0.0


# --- what the database is asked about ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What vectors and entities were made with. Questions must be read by the same models, or find nothing."""

    embedding_model: str
    dimensions: int
    pooling: str
    spacy_model: str

    def check(self, index: Fingerprint | None, what_was: str = "This database was indexed") -> None:
        """Raise FingerprintError unless an index was made with these models. None: the record of it is gone."""
        if index is None:
            raise FingerprintError(
                "The database does not say what its index was made with (its E2GIndex node is gone): index the "
                "documents again."
            )
        for what, setting, used, configured in (
            ("embedding model", "E2G_EMBEDDING_MODEL", index.embedding_model, self.embedding_model),
            ("vector length", "E2G_EMBEDDING_MODEL", index.dimensions, self.dimensions),
            ("pooling of vectors", "E2G_EMBEDDING_MODEL", index.pooling, self.pooling),
            ("spaCy pipeline", "E2G_SPACY_MODEL", index.spacy_model, self.spacy_model),
        ):
            if used != configured:
                raise FingerprintError(
                    f"{what_was} with the {what} {used}, but {configured} is configured: nothing would be found. Set "
                    f"{setting} to the former, or index the documents into another database."
                )


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document as the database lists it; `characters` and `tokens` are 0 until it is visible to queries.

    `state`: `ready`; `pending`, when a text is still to be indexed; `indexing`, when a run is at it; `failed`, when it
    could not be indexed, and `why`. A document that is `visible` without being ready is asked in the version before.
    """

    id: str
    title: str
    source: str
    state: State
    why: str | None
    visible: bool
    chunks: int
    characters: int
    tokens: int


@dataclass(frozen=True, slots=True)
class EntityInfo:
    """An entity: how often, in how many chunks and documents it is mentioned, and by which names.

    `name` is how it is written most often, `forms` all ways with their counts; they have one key. `aliases` are other
    names that stand for it in some document.
    """

    key: str
    name: str
    forms: dict[str, int]
    aliases: tuple[str, ...]
    mentions: int
    chunks: int
    documents: int


@dataclass(frozen=True, slots=True)
class Alias:
    """A name that stands for another entity in a document, `count` times, and why; both by key and as they are written.

    Of a name that is kept `apart` from all others, there is no entity, document or reason.
    """

    key: str
    name: str
    entity: str | None
    entity_name: str | None
    document: str | None
    title: str | None
    count: int
    why: str | None
    apart: bool


@dataclass(frozen=True, slots=True)
class ArchiveInfo:
    """What was exported or imported: how many of each, `summaries` of the remembered ones, and the size of the file."""

    corpus: str
    file: str
    documents: int
    nodes: int
    relationships: int
    summaries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Citation:
    """A number that an answer cites, and what it stands for: the passage has document, source and offsets. Of a fact,
    the passage is its statement, and its source the element ids of the two nodes."""

    number: int
    passage: Passage
    fact: Fact | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A chat model's answer and the evidence it was given; `text` is None where no chat model is configured.

    `given` are the passages that fitted into the evidence budget, in reading order, then facts, each as a passage that
    states it; number n of a citation is the n-th of them. `dropped` are numbers that the model cited though nothing of
    that number was given: they are not in `text` any more. `found` is False where the evidence does not say, `finished`
    where the answer broke off at its limit. Of a question with options, `choice` is the letter that the model chose,
    and `distribution` how probable it held each letter, where it gives log-probabilities.
    """

    text: str | None
    evidence: Evidence
    given: tuple[Passage, ...] = ()
    citations: tuple[Citation, ...] = ()
    dropped: tuple[int, ...] = ()
    found: bool = True
    finished: bool = True
    choice: str | None = None
    distribution: Mapping[str, float] | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
