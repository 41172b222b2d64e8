"""Cypher templates, and the results of statements that users and chat models wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

ParameterType: TypeAlias = Literal["string", "integer", "number", "boolean", "entity"]
"""The types of the parameters of a template. An `entity` is a name, which resolves to the key of an entity."""


@dataclass(frozen=True, slots=True)
class TemplateParameter:
    """A parameter of a template.

    Attributes:
        name: its name.
        type: its type.
        description: what it means.
    """

    name: str
    type: ParameterType
    description: str


@dataclass(frozen=True, slots=True)
class Template:
    """A Cypher statement with typed parameters.

    Attributes:
        name: its name, that of the file without `.cypher`.
        description: what it returns.
        parameters: its parameters, without `corpus`.
        statement: the statement, without its header.
        path: the file.
        bundled: whether it is part of the package.
    """

    name: str
    description: str
    parameters: tuple[TemplateParameter, ...]
    statement: str
    path: Path
    bundled: bool


@dataclass(frozen=True, slots=True)
class StatementResult:
    """The rows of a statement.

    Values are null, texts, numbers, truth values, and lists and maps of these. A node or relationship is the map of its
    properties. Vectors and binary values are left out, and other types, such as dates, are texts.

    Attributes:
        statement: the statement.
        parameters: its parameters.
        columns: the names of its columns.
        rows: its rows.
        more: whether it has more rows than these.
        template: the name of the template, if it was one.
        calls: how often a chat model was asked.
        prompt_tokens: the length of the prompts.
        completion_tokens: the length of the replies.
    """

    statement: str
    parameters: Mapping[str, Any]
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]
    more: bool = False
    template: str | None = None
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
