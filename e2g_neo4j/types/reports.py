"""Reports of indexing, linking, adopting, status and archives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from e2g_neo4j.types.graph import Ambiguity, Link
from e2g_neo4j.types.properties import StoredProperty

Layer: TypeAlias = Literal["sentences", "communities", "clusters", "entities", "descriptions", "statements", "typed"]
"""What `enrich` makes: vectors of sentences, communities of entities, clusters of chunks, vectors of the names of
entities, descriptions of entities, statements, which a chat model extracts, and the typed graph, which is made of
statements."""

DEFAULT_LAYERS: tuple[Layer, ...] = ("sentences", "communities", "clusters", "entities", "descriptions")
"""What `enrich` makes if no layer is named: those that need no chat model."""

Removable: TypeAlias = Literal["typed"]
"""Layers that `enrich` can remove."""

ReportKind: TypeAlias = Literal["extractive", "llm"]
"""Who writes the reports of communities: they are sentences of the corpus, or a chat model writes them."""

State: TypeAlias = Literal["pending", "indexing", "ready", "failed"]
"""The state of a document in the database."""


@dataclass(slots=True)
class TokenUsage:
    """How often the chat model was used for summaries, statements, or reports of communities.

    Attributes:
        calls: the number of calls.
        remembered: the number of replies that were found in the cache.
        prompt_tokens: the tokens of all prompts.
        completion_tokens: the tokens of all replies.
    """

    calls: int = 0
    remembered: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class LayerReport:
    """What `enrich` did about a layer.

    With `dry_run` only `usage` and `cost` are set. They are estimates: prompts are counted with the tokenizer of the
    embedding model, and replies are assumed to have the length that the prompt asks for.

    Attributes:
        total: the number of communities, clusters, descriptions, statements or typed relationships of the corpus; 0 for
            vectors.
        made: how many of them have a report, summary or text that is new; or how many names, or chunks whose sentences,
            were embedded.
        levels: the number of levels of communities or clusters.
        unreadable: how many replies of the chat model had nothing that could be read. Their reports are extractive.
        unmatched: the number of statements that were left out, because they are about no entity of the text.
        labelled: the number of entities that have a label of the typed graph.
        outside: the number of statements about two entities that are no typed relationships, because the schema has no
            relationship for them, or they have no name for one, or the text takes them for false or suspected.
        usage: the use of the chat model.
        cost: the price of it, in the currency of the configured prices.
    """

    total: int = 0
    made: int = 0
    levels: int = 0
    unreadable: int = 0
    unmatched: int = 0
    labelled: int = 0
    outside: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class GraphDocumentReport:
    """What `add_graph_documents` did with the relationships of graph documents, and the descriptions of their nodes.

    Attributes:
        graph_documents: the number of graph documents.
        added: how many statements they are. Those about a text that several chunks have are counted for each.
        not_found: how many relationships and descriptions wait, because the corpus does not have their text.
        invalid: how many were left out, because they have no names, or too long ones.
        unmatched: how many were left out, because the chunk does not mention their subject.
        without_object: how many describe their subject only, because the chunk does not mention their object.
        statements: the number of statements of the corpus.
    """

    graph_documents: int
    added: int
    not_found: int
    invalid: int
    unmatched: int
    without_object: int
    statements: int


@dataclass(frozen=True, slots=True)
class EnrichReport:
    """What `enrich` did.

    Attributes:
        layers: what was done about each layer that was asked for, and about those that it needs. With `dry_run`, about
            those that need a chat model.
        dry_run: whether nothing was written.
    """

    corpus: str
    layers: Mapping[Layer, LayerReport] = field(default_factory=dict)
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class LinkReport:
    """What `link` did, or would do with `dry_run`.

    Attributes:
        labels: the labels of the nodes.
        entities: the number of entities that were compared.
        nodes: the number of nodes that were compared.
        methods: the number of links after the call, by method.
        links: the links after the call.
        ambiguous: entities that match several nodes of different names.
        added: the number of links that are new.
        removed: the number of earlier links that were removed.
        vectors: whether embeddings of the names were compared. False if there are too many nodes.
        dry_run: whether nothing was written.
        names: the number of names of nodes that are found in the texts of the corpus from now on.
        documents: the number of documents whose mentions were updated, because these names have changed.
    """

    corpus: str
    labels: tuple[str, ...]
    entities: int
    nodes: int
    methods: dict[str, int]
    links: tuple[Link, ...]
    ambiguous: tuple[Ambiguity, ...]
    added: int
    removed: int
    vectors: bool
    dry_run: bool
    names: int = 0
    documents: int = 0


@dataclass(frozen=True, slots=True)
class Adoption:
    """Which text nodes of the user's graph a corpus consists of.

    Without `document` and `part_of`, all nodes are one document.

    Attributes:
        label: the label of the nodes.
        text: the name of the property with the text, or of several, separated by commas: the text of a node is theirs,
            joined by blank lines.
        key: the name of the property that identifies the node in its document.
        order: the name of the property that sorts the nodes of a document; None: `key`.
        document: the name of the property that says which document a node belongs to.
        part_of: the type of the relationship that leads to the node of the document.
        properties: the names of the properties that the documents take over from the nodes: with `part_of` from that of
            the document, otherwise from its text nodes.
    """

    label: str
    text: str = "text"
    key: str = "id"
    order: str | None = None
    document: str | None = None
    part_of: str | None = None
    properties: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The names of the properties with the text."""
        return tuple(name.strip() for name in self.text.split(","))


@dataclass(frozen=True, slots=True)
class AdoptReport:
    """What `adopt` did.

    Attributes:
        adoption: which nodes were adopted.
        nodes: the number of nodes that are adopted.
        without_text: the number of nodes that were skipped because they have no text.
        without_key: the number of nodes that were skipped because they have no key.
        without_document: the number of nodes that were skipped because they have no document.
        removed: the number of documents that were removed because they have no text nodes any more.
        index: how the other documents were indexed.
        several_values: the number of documents whose text nodes have different values of a property, by property.
    """

    corpus: str
    adoption: Adoption
    nodes: int
    without_text: int
    without_key: int
    without_document: int
    removed: int
    index: IndexReport
    several_values: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check of `doctor`.

    Attributes:
        check: the name of the check.
        state: `ok`, `note` (for information) or `problem`.
        what: what was found.
        next_step: what to do about it, if anything.
    """

    check: str
    state: Literal["ok", "note", "problem"]
    what: str
    next_step: str | None = None


Progress: TypeAlias = Callable[[str, int, int], None]
"""A function that is called with (stage, done, total) to report progress, from several threads."""


@dataclass(slots=True)
class IndexReport:
    """What one run of `index` or `resume` did, or would do.

    With `dry_run`, counts of tokens are estimates. Prompts are counted with the tokenizer of the embedding model, and
    replies are assumed to have the maximum length of a summary.

    Attributes:
        dry_run: whether nothing was done. What only indexing finds out is 0 then.
        documents: the number of documents that were indexed.
        unchanged: the number of documents that were indexed already.
        replaced: the number of documents that replaced an earlier version.
        failed: what could not be read, with the reason: by path, by `upload:NAME`, by path and number of a line of JSON
            Lines, or by the source of a document that `resume` could not read again.
        warnings: what was indexed and looks wrong, such as text in another language than that of the pipeline, by path
            or source.
        losses: what files have and their texts have not, such as "2 of 9 pages have no text (3, 7)", by source.
        passed_over: what folders and globs have and is not read, such as pictures: a sentence by suffix.
        renamed: the sources of documents whose files have another name now, by their sources before. They were kept.
        gone: the sources of documents whose files are gone from the folders that were indexed.
        pruned: the number of these documents that were deleted.
        chunks: the number of new chunks.
        kept: the number of chunks of changed documents that were kept.
        tokens: the tokens of the new chunks.
        summaries_by_level: the number of new summaries, by level.
        summaries_kept: the number of summaries of changed documents that were kept, because they cover the same text.
        properties_replaced: the number of unchanged documents whose properties were replaced.
        entities: the number of entities in the corpus.
        co_occurrences: the number of co-occurrences in the corpus.
        mentions: the number of mentions in the corpus.
        seconds: wall time by stage, and of the whole call as `total`. Stages run in parallel, so their times overlap.
        spending: the use of the chat model, by level of the summary tree, for statements on level 0, and for reports of
            communities on level -1. Empty without a chat model.
        cost: the price of it and of the vectors, in the currency of the configured prices.
        embedded_tokens: with `dry_run`, the tokens that a server is sent to embed, 0 for a model of this machine.
            Sentences are sent apart where an extractive summary is made of them.
    """

    corpus: str
    dry_run: bool = False
    documents: int = 0
    unchanged: int = 0
    replaced: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    warnings: dict[str, str] = field(default_factory=dict)
    losses: dict[str, list[str]] = field(default_factory=dict)
    passed_over: dict[str, str] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    pruned: int = 0
    chunks: int = 0
    kept: int = 0
    tokens: int = 0
    summaries_by_level: dict[int, int] = field(default_factory=dict)
    summaries_kept: int = 0
    properties_replaced: int = 0
    entities: int = 0
    co_occurrences: int = 0
    mentions: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    spending: dict[int, TokenUsage] = field(default_factory=dict)
    cost: float = 0.0
    embedded_tokens: int = 0

    @property
    def tokens_per_second(self) -> float:
        """The throughput of the run."""
        total = self.seconds.get("total", 0.0)
        return self.tokens / total if total else 0.0


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """What one run of `reindex` did.

    Attributes:
        embedding_model: the name of the embedding model that the corpus has now.
        before: the name of the one that it had. The same if there was nothing to do.
        vectors: the number of windows, summaries, sentences, names and so on that were embedded.
        long_windows: the number of windows that do not fit the model, whose vectors are means of several.
        seconds: wall time.
    """

    corpus: str
    embedding_model: str
    before: str
    vectors: int = 0
    long_windows: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document in the database.

    Attributes:
        id: derived from corpus and source.
        title: the title.
        source: identifies the document in its corpus, usually a file path.
        state: `ready`; `pending`, if it is still to be indexed; `indexing`, while a run works on it; `failed`, if it
            could not be indexed.
        why: the reason why it failed.
        visible: whether queries see the document. While a new version is being indexed, they see the previous one.
        chunks: the number of chunks.
        characters: the length of the text, 0 until the document is visible.
        tokens: the length in tokens, 0 until the document is visible.
        properties: the properties that the user gave it.
        losses: what its file has and its text has not, such as "2 of 9 pages have no text (3, 7)".
        language: the code of the language that it was read in; None until the document is visible.
        changed: when its text or title last changed in this database, in milliseconds since 1970, UTC; an import counts
            as a change. None until the document is visible.
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
    properties: Mapping[str, StoredProperty] = field(default_factory=dict, hash=False)
    losses: tuple[str, ...] = ()
    language: str | None = None
    changed: int | None = None


@dataclass(frozen=True, slots=True)
class ReferenceInfo:
    """A document that refers to another one.

    Attributes:
        document_id: the id of the document.
        document: its title.
        target_id: the id of the other document.
        target: its title.
        kind: how it refers to it first: `title`, by its title, or `link`, by a hyperlink.
        text: the words there.
        number: how many of its chunks refer to it.
    """

    document_id: str
    document: str
    target_id: str
    target: str
    kind: Literal["title", "link"]
    text: str
    number: int


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A span of a document's text. Offsets count characters.

    Attributes:
        document: the id of the document.
        title: the title of the document.
        source: the source of the document.
        start: where the span starts.
        end: where it ends.
        characters: the length of the whole text.
        text: the text of the span.
        page: the page at its start, or a range such as "3–4".
        heading: the heading there.
    """

    document: str
    corpus: str
    title: str
    source: str
    start: int
    end: int
    characters: int
    text: str
    page: str | None = None
    heading: str | None = None


@dataclass(frozen=True, slots=True)
class ArchiveInfo:
    """What was exported or imported.

    Attributes:
        file: the path of the file.
        documents: the number of documents.
        nodes: the number of nodes.
        relationships: the number of relationships.
        summaries: the number of cached summaries.
        bytes: the size of the file.
    """

    corpus: str
    file: str
    documents: int
    nodes: int
    relationships: int
    summaries: int
    bytes: int
