"""Graph documents: what an extractor of LangChain or neo4j-graphrag has found in a text.

The protocols are those of LangChain's `GraphDocument`, which `LLMGraphTransformer` returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class GraphNode(Protocol):
    """A node: an entity. Its id is the name; the property `description` describes it."""

    @property
    def id(self) -> str | int: ...
    @property
    def type(self) -> str: ...
    @property
    def properties(self) -> Mapping[str, Any]: ...


class GraphRelationship(Protocol):
    """A relationship. Its properties `description`, `keywords` and `strength` (1 to 10) are those of the statement."""

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
