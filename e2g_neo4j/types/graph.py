"""What indexing adds to the graph: extractions, summaries, entities and links. Graph documents, which another extractor
has found, have the protocols of LangChain's `GraphDocument`, which `LLMGraphTransformer` returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

PERSON = "person"
"""The type of people. Only they are merged by surname and given name."""

NAME = "name"
"""The type of proper nouns that the spaCy pipeline does not label as a named entity."""

NOUN = "noun"
"""The type of common nouns."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the distinct entities in it. Offsets count characters of the input text."""

    start: int
    end: int
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Extraction:
    """What the spaCy pipeline found in one text.

    Attributes:
        sentences: the sentences with their entities.
        counts: the number of occurrences of each entity, by key.
        forms: the number of occurrences of each spelling of an entity, by key. Entities that are only spelled like
            their key are left out.
        people: how often each entity was tagged as a person, by key.
        types: the number of occurrences of each type of an entity, by key.
    """

    sentences: tuple[Sentence, ...]
    counts: Mapping[str, int]
    forms: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    people: Mapping[str, int] = field(default_factory=dict)
    types: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Summary:
    """A node of the summary tree.

    Attributes:
        id: derived from document, level and text.
        level: 1 for summaries of chunks, 2 for summaries of those, and so on.
        index: the position in its level.
        text: the summary.
        tokens: its length.
        children: the ids of the nodes of the level below that it covers, in reading order.
        made_of: a hash of the summariser and of all input of the node. A summary with the same hash is reused.
        notes: what the parent needs to know about the text, see `SummaryInput.pack`.
    """

    id: str
    level: int
    index: int
    text: str
    tokens: int
    children: tuple[str, ...]
    made_of: str = ""
    notes: bytes = b""


Method: TypeAlias = Literal["exact", "folded", "alias", "words", "vector", "chunk"]
"""How an entity was matched with a node of the user's graph. `exact`: the names are spelled the same; `folded`: they
differ only in case, accents, a determiner and the like; `alias`: the name is an alias of the other; `words`: one name
contains all words of the other; `vector`: the embedding of the node's name is by far the nearest; `chunk`: of the
entities of chunks that a relationship ties the node to, only this one's name has all words of the other."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link from an entity to a node of the user's graph.

    Attributes:
        key: the key of the entity.
        name: the name of the entity.
        node: the element id of the node.
        node_name: the name of the node.
        method: how they were matched.
        score: how sure the match is, from 0 to 1.
    """

    key: str
    name: str
    node: str
    node_name: str
    method: Method
    score: float


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """An entity that matches several nodes of different names equally well, and is therefore not linked.

    Attributes:
        key: the key of the entity.
        name: the name of the entity.
        method: how the nodes were matched.
        nodes: the element id and name of each node.
    """

    key: str
    name: str
    method: Method
    nodes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class EntityInfo:
    """An entity and how often it is mentioned.

    Attributes:
        key: its normalised form and identity.
        name: its most frequent spelling.
        forms: up to 20 spellings with their counts, the most frequent first.
        aliases: up to 20 other names that resolve to it in at least one document.
        mentions: the number of occurrences.
        chunks: the number of chunks that mention it.
        documents: the number of documents that mention it.
        type: `noun` if more than half of the mentions are common nouns, else the most frequent other type: `person`,
            `place`, `organisation`, `group`, `product`, `event`, `work`, `law`, `language`, or `name` for a proper noun
            without a label. A pipeline with other labels adds their names in lower case. None in a
            corpus that was imported without types.
        types: up to 20 types with the number of mentions, the most frequent first.
        description: what it is, in at most 300 characters: a sentence of the corpus, or what a chat model has written
            of statements. None without the layer `descriptions`, and for common nouns.
    """

    key: str
    name: str
    forms: dict[str, int]
    aliases: tuple[str, ...]
    mentions: int
    chunks: int
    documents: int
    type: str | None = None
    types: dict[str, int] = field(default_factory=dict)
    description: str | None = None


@dataclass(frozen=True, slots=True)
class DescriptionSource:
    """The chunk that a description comes from.

    Attributes:
        chunk: its id.
        document: the id of its document.
        title: the title of the document.
        start: the offset of its first character in the text of the document.
        end: the offset after its last character.
    """

    chunk: str
    document: str
    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DocumentMentions:
    """How often a document mentions an entity.

    Attributes:
        document: the id of the document.
        title: its title.
        mentions: the number of occurrences.
    """

    document: str
    title: str
    mentions: int


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entity that shares sentences with another one.

    Attributes:
        key: its key.
        name: its name.
        type: its type, see `EntityInfo`.
        weight: the weight of the edge between the two.
        sentences: the number of sentences that they share.
    """

    key: str
    name: str
    type: str | None
    weight: float
    sentences: int


@dataclass(frozen=True, slots=True)
class NeighbourLink:
    """Two neighbours that share sentences: their keys, the weight of the edge, and the number of sentences."""

    a: str
    b: str
    weight: float
    sentences: int


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """An entity and those that share most sentences with it.

    Attributes:
        key: the key of the entity.
        name: its name.
        type: its type, see `EntityInfo`.
        neighbours: names before nouns, each by weight.
        links: which of the neighbours share sentences, by weight.
        communities: the communities of all these, the finest first; None if the corpus has no communities.
        cypher: a statement that shows the neighbourhood in Neo4j Browser.
        parameters: those of the statement.
    """

    key: str
    name: str
    type: str | None
    neighbours: tuple[Neighbour, ...]
    links: tuple[NeighbourLink, ...]
    communities: tuple[NearCommunity, ...] | None
    cypher: str
    parameters: Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class NearCommunity:
    """A community, its level (1 for the finest), and those of its members that a neighbourhood has, by their keys."""

    id: str
    title: str
    level: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommunityRef:
    """A community that another one is a part of, or has as a part."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Member:
    """An entity of a community, and the number of chunks that mention it."""

    key: str
    name: str
    type: str | None
    chunks: int


@dataclass(frozen=True, slots=True)
class CommunityCard:
    """What a corpus tells about a community.

    Attributes:
        id: its id. Communities that are made again of the same entities keep it.
        title: its title.
        level: 1 for the finest.
        text: its report.
        entities: the number of its members.
        members: up to 100 of them, those that most chunks mention first.
        within: the community that it is a part of; None on the coarsest level.
        parts: its communities of the next finer level, up to 100.
    """

    id: str
    title: str
    level: int
    text: str
    entities: int
    members: tuple[Member, ...]
    within: CommunityRef | None
    parts: tuple[CommunityRef, ...]


@dataclass(frozen=True, slots=True)
class LinkedNode:
    """A node of the user's graph that an entity is linked to.

    Attributes:
        node: its element id.
        labels: its labels.
        name: its name.
        method: how they were matched.
        score: how sure the match is, from 0 to 1.
    """

    node: str
    labels: tuple[str, ...]
    name: str
    method: Method
    score: float


@dataclass(frozen=True, slots=True)
class EntityCard:
    """What a corpus tells about an entity.

    Attributes:
        entity: its names, type, description, and how often it is mentioned.
        source: where the description comes from; None without one.
        documents: up to 20 documents that mention it, those that do most often first.
        neighbours: up to 10 entities that share most sentences with it, names before nouns.
        community: the title of its finest community; None without communities.
        linked: up to 20 nodes of the user's graph that it is linked to.
    """

    entity: EntityInfo
    source: DescriptionSource | None
    documents: tuple[DocumentMentions, ...]
    neighbours: tuple[Neighbour, ...]
    community: str | None
    linked: tuple[LinkedNode, ...]


@dataclass(frozen=True, slots=True)
class Alias:
    """A name that resolves to an entity with another name in a document.

    Attributes:
        key: the key of the name.
        name: the name as it is spelled.
        entity: the key of the entity.
        entity_name: the name of the entity.
        document: the id of the document.
        title: the title of the document.
        count: how often the document uses the name.
        why: the reason for the merge.
        apart: whether the name was split from an entity and resolves to no other entity. Then entity,
            document and reason are None.
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


class GraphNode(Protocol):
    """A node: an entity. Its id is the name; the property `description` describes it. `name` and `aliases`, a list or a
    text with commas, are other names."""

    @property
    def id(self) -> str | int: ...
    @property
    def type(self) -> str: ...
    @property
    def properties(self) -> Mapping[str, Any]: ...


class GraphRelationship(Protocol):
    """A relationship. Its properties `description`, `keywords` and `strength` (1 to 10) are those of the statement.
    `period`, `date` or `year`, or `valid_from` and `valid_to`, `start_date` and `end_date`, `since` and `until`, say
    when it holds."""

    @property
    def source(self) -> GraphNode: ...
    @property
    def target(self) -> GraphNode: ...
    @property
    def type(self) -> str: ...
    @property
    def properties(self) -> Mapping[str, Any]: ...


class GraphSource(Protocol):
    """The text that was read, as LangChain's `Document`."""

    @property
    def page_content(self) -> str: ...
    @property
    def metadata(self) -> Mapping[str, Any]: ...


class GraphDocument(Protocol):
    """What was found in a text."""

    @property
    def nodes(self) -> Sequence[GraphNode]: ...
    @property
    def relationships(self) -> Sequence[GraphRelationship]: ...
    @property
    def source(self) -> GraphSource | None: ...
