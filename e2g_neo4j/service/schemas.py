"""Bodies of requests and replies that are not types of the client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from e2g_neo4j.answering.methods import MethodName, tell_methods
from e2g_neo4j.errors import InputError
from e2g_neo4j.indexing.graph_schema import GraphSchema
from e2g_neo4j.retrieval.options import MAX_QUESTION, RetrievalOptions
from e2g_neo4j.types.properties import MAX_PROPERTIES, check_names, check_properties
from e2g_neo4j.types.reports import DocumentInfo, Layer, Removable, ReportKind
from e2g_neo4j.types.results import Evidence, Turn
from e2g_neo4j.types.service import ConversationInfo, KeyInfo, Scope, TaskInfo

T = TypeVar("T")

MAX_CORPORA = 50
MAX_TEXTS = 10_000
MAX_BUDGET = 10**15 - 1

MAX_UNKNOWN = 20
"""Maximum number of unknown fields that are reported one by one."""

MAX_CHOICE = 2000
"""Maximum characters of an answer to choose from."""

Budget = Annotated[int | None, Field(ge=1, le=MAX_BUDGET)]
Name = Annotated[str, Field(min_length=1, max_length=1000)]
Choice = Annotated[str, Field(max_length=MAX_CHOICE)]
Source = Annotated[str, Field(min_length=1, max_length=2000)]


class FewFields(BaseModel):
    """A body of a request, of which unknown fields are reported while that is quick."""

    @model_validator(mode="before")
    @classmethod
    def _few_fields(cls, values: Any) -> Any:
        """Raise ValueError if there are so many unknown fields that reporting each is slow."""
        if isinstance(values, dict) and len(values) > len(cls.model_fields) + MAX_UNKNOWN:
            name = str(next(name for name in values if name not in cls.model_fields))[:60]
            raise ValueError(f"There are {len(values)} fields, among them {name!r}: send the documented ones.")
        return values


class Body(FewFields):
    """A body of a request. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Question(FewFields, RetrievalOptions):
    """A question and its options.

    Attributes:
        question: The question.
        corpora: The corpora to search, 1 to 50.
    """

    question: Annotated[str, Field(min_length=1, max_length=MAX_QUESTION)]
    corpora: Annotated[tuple[Name, ...], Field(min_length=1, max_length=MAX_CORPORA, fail_fast=True)]


History = Annotated[list[Turn] | None, Field(max_length=100, description=RetrievalOptions.summary("history"))]
"""The argument `history` of tools of MCP."""


class AskedQuestion(Question):
    """A question for the chat model.

    Attributes:
        choices: 2 to 26 answers to choose from; empty: a free answer.
        method: How to answer.
        level: Which reports the method `global` reads, see `E2G.answer`.
        max_tokens: Maximum tokens of the answer, if it is less than the configured one.
        stream: Whether to stream the answer as server-sent events.
    """

    choices: Annotated[tuple[Choice, ...], Field(max_length=26, fail_fast=True)] = ()
    method: Annotated[MethodName, Field(description=tell_methods("`{}`".format))] = "direct"
    level: Annotated[int, Field(ge=1)] | Literal["dynamic"] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=2**31)] | None = None
    stream: bool = False


Rating = Literal["up", "down"]
"""What a person thinks of an answer."""

Offset = Annotated[int, Field(ge=0, le=2**53)]


class CitedPlace(Body):
    """Where a passage is that an answer cites, without its text.

    Attributes:
        number: Its number in the answer.
        corpus: Its corpus.
        document_id: The id of its document.
        document: The title of the document.
        start: Where the passage, or what is shown of it, starts.
        end: Where it ends.
        level: 0 for text, the level of the tree for a summary.
        page: Its page.
        heading: Its heading.
        version: The hash of the contents of the document when the turn was kept; the service sets it.
    """

    number: Annotated[int, Field(ge=1, le=10_000)]
    corpus: Name
    document_id: Name
    document: Annotated[str, Field(max_length=2000)]
    start: Offset
    end: Offset
    level: Annotated[int, Field(ge=0, le=1000)] = 0
    page: Annotated[str, Field(max_length=1000)] | None = None
    heading: Annotated[str, Field(max_length=2000)] | None = None
    version: Annotated[str, Field(max_length=100)] | None = None


class KeptTurn(Body):
    """A turn of a conversation.

    Attributes:
        number: Its number in the conversation, from 0; the service sets it.
        question: The question.
        searched_as: The question that was searched for, if earlier turns changed it.
        corpora: The corpora that were searched.
        mode: The mode, and the options `k`, `hops` and `where`.
        answer: The answer; empty if there was no chat model.
        citations: The places that it cites.
        rating: What the person thinks of it.
    """

    number: Offset = 0
    question: Annotated[str, Field(min_length=1, max_length=MAX_QUESTION)]
    searched_as: Annotated[str, Field(max_length=2 * MAX_QUESTION)] = ""
    corpora: Annotated[list[Name], Field(min_length=1, max_length=MAX_CORPORA, fail_fast=True)]
    mode: Name
    k: Annotated[int, Field(ge=1, le=1000)]
    hops: Annotated[int, Field(ge=1, le=6)]
    where: Annotated[list[Source], Field(max_length=50, fail_fast=True)] = []
    answer: Annotated[str, Field(max_length=200_000)] = ""
    citations: Annotated[list[CitedPlace], Field(max_length=200, fail_fast=True)] = []
    rating: Rating | None = None

    @model_validator(mode="after")
    def _of_its_corpora(self) -> Self:
        if any(one.corpus not in self.corpora for one in self.citations):
            raise ValueError("A citation is of another corpus than those of the question.")
        return self


class Conversation(BaseModel):
    """A conversation and its turns, but for `hidden` ones, about corpora that the key may not see any more."""

    info: ConversationInfo
    turns: list[KeptTurn]
    hidden: int


class NewTitle(Body):
    """The new title of a conversation."""

    title: Annotated[str, Field(min_length=1, max_length=200)]


class GraphNode(BaseModel):
    """A node of the graph, without vectors."""

    id: str
    labels: list[str]
    properties: dict[str, object]


class GraphRelationship(BaseModel):
    """A relationship of the graph."""

    id: str
    type: str
    start: str
    end: str
    properties: dict[str, object]


class Explanation(BaseModel):
    """Why a question got its evidence.

    Attributes:
        evidence: The evidence.
        cypher: A statement that shows the paths in Neo4j Browser.
        parameters: The parameters of the statement.
        nodes: The nodes on the paths.
        relationships: Their relationships.
    """

    evidence: Evidence
    cypher: str
    parameters: dict[str, object]
    nodes: list[GraphNode]
    relationships: list[GraphRelationship]


class CorpusInfo(BaseModel):
    """A corpus and the number of its documents that can be searched."""

    corpus: str
    documents: int


def _check(check: Callable[[T], Any], given: T) -> Any:
    """Return what a check returns. Its InputError becomes a ValueError, which pydantic reports with the field."""
    try:
        return check(given)
    except InputError as error:
        raise ValueError(str(error)) from None


Given = Annotated[
    dict[str, Any] | None,
    AfterValidator(lambda given: None if given is None else dict(_check(check_properties, given))),
]
"""Properties of a document."""

Names = Annotated[
    list[str],
    Field(max_length=MAX_PROPERTIES, fail_fast=True),
    AfterValidator(lambda given: list(_check(check_names, given))),
]
"""Names of properties."""


class TextDocument(Body):
    """A document as text.

    Attributes:
        text: The text.
        source: Identifies the document in its corpus: the same source replaces it. Never taken for a path.
        title: The title. Default: derived from the source.
        properties: Texts, numbers, booleans or lists of one of these, by name, to filter by. Default: those that are
            stored.
    """

    text: Annotated[str, Field(min_length=1)]
    source: Source
    title: Annotated[str, Field(min_length=1, max_length=2000)] | None = None
    properties: Given = None


class TextDocuments(Body):
    """Documents to index."""

    documents: Annotated[list[TextDocument], Field(min_length=1, max_length=MAX_TEXTS, fail_fast=True)]
    budget_tokens: Budget = None


class NewText(Body):
    """The new text of a document. Properties that are left out stay as they are."""

    text: Annotated[str, Field(min_length=1)]
    title: Annotated[str, Field(min_length=1, max_length=2000)] | None = None
    properties: Given = None


class NewPage(Body):
    """A file of the web to index, by its address."""

    url: Annotated[str, Field(max_length=2000, pattern=r"^https?://[^\s/?#@]+([/?#]\S*)?$")]


class DocumentPage(BaseModel):
    """Some documents of a corpus. `cursor` continues the list; it is None at the end."""

    documents: list[DocumentInfo]
    cursor: str | None


class NewLayers(Body):
    """What to make of a corpus; see `E2G.enrich`. Default: all layers that need no chat model."""

    layers: Annotated[list[Layer], Field(min_length=1, max_length=10, fail_fast=True)] | None = None
    reports: ReportKind | None = None
    graph_schema: dict[str, Any] | None = None
    prefix: Annotated[str, Field(max_length=100)] | None = None
    without: Annotated[list[Removable], Field(max_length=10, fail_fast=True)] | None = None
    budget_tokens: Budget = None
    dry_run: bool = False

    @field_validator("graph_schema")
    @classmethod
    def _check_schema(cls, given: dict[str, Any] | None) -> dict[str, Any] | None:
        if given is not None:
            try:
                GraphSchema.read(given)
            except InputError as error:
                raise ValueError(str(error)) from None
        return given

    @model_validator(mode="after")
    def _with_communities(self) -> Self:
        if self.reports and self.layers is not None and "communities" not in self.layers:
            raise ValueError("Reports are those of communities, and this layer is not named: add communities.")
        return self


class NewLinks(Body):
    """Which nodes to link the entities of a corpus to; see `E2G.link`."""

    label: Name | list[Name]
    name: Name
    aliases: Name | None = None
    type: Name | None = None
    dry_run: bool = False


class NewMerge(Body):
    """Which name a name resolves to; see `E2G.merge`."""

    into: Name


class NewSplit(Body):
    """A document in which a name is somebody else's. Default: the name is kept apart in all documents."""

    document: Name | None = None


class NewAdoption(Body):
    """Which text nodes to adopt; see `E2G.adopt`."""

    label: Name
    text: Name = "text"
    key: Name = "id"
    order: Name | None = None
    document: Name | None = None
    part_of: Name | None = None
    properties: Names = []
    budget_tokens: Budget = None


class TaskPage(BaseModel):
    """Some tasks, the newest first. `cursor` continues the list; it is None at the end."""

    tasks: list[TaskInfo]
    cursor: str | None


class NewKey(Body):
    """An API key to create.

    Attributes:
        name: What the key is for.
        scopes: What it may do.
        corpora: Names of corpora, prefixes such as `team-*`, or `*` for all.
        expires: When it expires, in milliseconds since 1970, UTC. Default: with the key that creates it.
    """

    name: Name
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=10, fail_fast=True)]
    corpora: Annotated[list[Name], Field(min_length=1, max_length=1000, fail_fast=True)]
    expires: Annotated[int, Field(ge=0, le=2**53)] | None = None
    requests_per_minute: Annotated[int, Field(ge=1, le=2**31)] | None = None
    requests_per_day: Annotated[int, Field(ge=1, le=2**31)] | None = None
    tokens_per_minute: Annotated[int, Field(ge=1, le=2**31)] | None = None
    tokens_per_day: Annotated[int, Field(ge=1, le=2**31)] | None = None


class CreatedKey(BaseModel):
    """A new API key. The key itself is shown only here."""

    key: str
    info: KeyInfo


class CallerInfo(BaseModel):
    """Who sends a request: the id of the key, or `local` where none is needed, its scopes and corpora.

    Attributes:
        chat: Whether the service has a chat model.
        pages: Whether it fetches files of the web.
    """

    key: str
    scopes: list[Scope]
    corpora: list[str]
    chat: bool
    pages: bool


class Health(BaseModel):
    """Whether the service can answer, and if not, why."""

    status: Literal["ok", "not ready"]
    problems: list[str] = []
