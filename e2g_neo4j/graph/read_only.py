"""Run statements that a user or a chat model wrote: only if they read, for a limited time and number of rows."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from neo4j import READ_ACCESS, Driver
from neo4j.exceptions import ClientError
from neo4j.graph import Node, Path, Relationship

from e2g_neo4j.errors import InputError
from e2g_neo4j.runtime.database import session_options, translate_errors

SECONDS = 30.0
"""Timeout of a statement, enforced by the server."""

MOST_CHARACTERS = 1_000_000
"""Maximum length of the values of all rows together, as JSON."""

FETCHED = 20
"""Rows that the server sends at once."""

SHORTEST_VECTOR = 32
"""A list of as many numbers with a fraction is taken for a vector, and left out."""

_LANGUAGE = re.compile(r"\ACYPHER\s+(?:5|25)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Explained:
    """What the server tells about a statement without running it.

    Attributes:
        reads: whether it only reads.
        operators: the operators of its plan.
        leaves: those of them that have no input.
    """

    reads: bool
    operators: frozenset[str]
    leaves: frozenset[str]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a statement as plain values, and whether there are more."""

    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    more: bool


class RejectedStatementError(InputError):
    """The server rejects a statement, for example for a mistake in its syntax."""


class Reading:
    """A read transaction with a timeout."""

    def __init__(self, transaction: Any) -> None:
        self._transaction = transaction

    def explain(self, statement: str, parameters: Mapping[str, Any]) -> Explained:
        """Return what the server tells about a statement.

        Raises:
            RejectedStatementError: The server does not accept the statement.
        """
        version = _LANGUAGE.match(statement)
        language = version[0] if version else ""
        explanation = f"{language}EXPLAIN {statement.removeprefix(language)}"
        with _rejections():
            summary = self._transaction.run(explanation, dict(parameters)).consume()
        operators, leaves = set(), set()
        for operator, is_leaf in _plan(summary.plan or {}):
            operators.add(operator)
            if is_leaf:
                leaves.add(operator)
        return Explained(summary.query_type == "r" and bool(operators), frozenset(operators), frozenset(leaves))

    def rows(self, statement: str, parameters: Mapping[str, Any], limit: int) -> Rows:
        """Run a statement and return at most `limit` rows, and of these as many as MOST_CHARACTERS allows.

        Raises:
            RejectedStatementError: The statement fails, or its first row is too long.
        """
        found: list[dict[str, Any]] = []
        left = MOST_CHARACTERS
        with _rejections():
            result = self._transaction.run(statement, dict(parameters))
            columns = tuple(result.keys())
            while records := result.fetch(FETCHED):
                for record in records:
                    row = {name: plain(record[name]) for name in columns}
                    left -= len(json.dumps(row))
                    if left < 0 and not found:
                        raise RejectedStatementError(
                            f"A row of the statement has more than {MOST_CHARACTERS:,} characters: return less."
                        )
                    if left < 0 or len(found) == limit:
                        return Rows(columns, tuple(found), True)
                    found.append(row)
        return Rows(columns, tuple(found), False)


@contextmanager
def open_read(driver: Driver, database: str) -> Iterator[Reading]:
    """Open a read transaction, in which the server refuses to write, with a timeout."""
    options = {**session_options(driver, database), "default_access_mode": READ_ACCESS, "fetch_size": FETCHED}
    with (
        translate_errors(driver),
        driver.session(**options) as session,
        session.begin_transaction(timeout=SECONDS) as transaction,
    ):
        yield Reading(transaction)


def run_read_only(
    statement: str, parameters: Mapping[str, Any], limit: int, *, where: str
) -> Callable[[Driver, str], Rows]:
    """Return a function for `CallDriver` that runs a statement if it only reads.

    Args:
        limit: The number of rows to return at most.
        where: What the statement is called in messages.

    Raises:
        InputError: The statement writes.
        RejectedStatementError: The server rejects it.
    """

    def call(driver: Driver, database: str) -> Rows:
        with open_read(driver, database) as transaction:
            if not transaction.explain(statement, parameters).reads:
                raise InputError(f"{where} does not only read: it was not run. Write a statement that only reads.")
            return transaction.rows(statement, parameters, limit)

    return call


def plain(value: Any) -> Any:
    """Return a value of the database as a plain value, see `StatementResult`. A vector or binary value is None."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no such numbers
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Node | Relationship):
        return plain({name: one for name, one in value.items() if name != "embedding"})
    if isinstance(value, Path):
        steps: list[Any] = [value.nodes[0]]
        for relationship, node in zip(value.relationships, value.nodes[1:], strict=True):
            steps += [{"type": relationship.type, **dict(relationship.items())}, node]
        return [plain(step) for step in steps]
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items() if not _is_vector(one)}
    if _is_vector(value):
        return None
    if hasattr(value, "iso_format"):  # dates, times and durations
        return value.iso_format()
    return [plain(one) for one in value] if isinstance(value, list | tuple) else str(value)


def _is_vector(value: Any) -> bool:
    if isinstance(value, bytes | bytearray) or type(value).__name__ == "Vector":
        return True
    return (
        isinstance(value, list) and len(value) >= SHORTEST_VECTOR and all(isinstance(number, float) for number in value)
    )


def _plan(plan: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield the operators of a plan, without the name of the database, and whether they are leaves."""
    if plan:
        children = plan.get("children") or []
        yield str(plan["operatorType"]).split("@")[0], not children
        for child in children:
            yield from _plan(child)


@contextmanager
def _rejections() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        code = error.code or ""
        if ".Statement." in code or "AccessMode" in code:
            raise RejectedStatementError(f"Neo4j rejected the statement: {error.message} [{code}]") from error
        raise
