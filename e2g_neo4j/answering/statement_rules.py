"""What a Cypher statement that a chat model wrote may do: read labelled nodes, and nothing else.

There are two walls. The words of the statement are parsed first, in `refused_words`: what the subset of Cypher in
`statement_parser` does not have is refused. Then the plan that the server makes of it is checked, in `refused_plan`: a
plan names what is done, however it was written. It does not show what is done within expressions, which is why the
parser has no patterns and no sub-queries there.
"""

from __future__ import annotations

import re

from e2g_neo4j.answering.statement_expressions import UnreadableStatement
from e2g_neo4j.answering.statement_parser import check_statement
from e2g_neo4j.graph.read_only import Explained

_LEAVES = re.compile(
    r"Argument|EmptyRow|Projection|Unwind|(?:Node|Relationship)CountFromCountStore"
    r"|(?:Partitioned)?(?:\w+)?Node(?:s)?ByLabels?Scan"
    r"|(?:Partitioned)?(?:Multi)?Node(?:Unique)?(?:Vector)?Index\w+"
    r"|(?:Partitioned)?(?:Directed|Undirected)(?:Union)?Relationship(?:Types?|UniqueIndex|Index)\w+"
)
"""The operators that a plan may begin with. Those that find nodes by id, or all nodes, are not among them."""

_OPERATORS = re.compile(r"ProcedureCall|LoadCSV|Transaction\w+|Show\w+|Terminate\w+|RunQueryAt|\w*Foreach\w*")
"""Operators that no plan may have."""


def refused_words(statement: str) -> str | None:
    """Return why a statement is refused before the server sees it, or None."""
    try:
        check_statement(statement)
    except UnreadableStatement as error:
        return str(error)
    return None


def refused_plan(explained: Explained) -> str | None:
    """Return why a statement is refused for its plan, or None."""
    if not explained.reads:
        return "it does not only read"
    for operator in sorted(explained.operators):
        if _OPERATORS.fullmatch(operator):
            return f"its plan has {operator}"
    for leaf in sorted(explained.leaves):
        if not _LEAVES.fullmatch(leaf):
            return f"its plan begins with {leaf}: every pattern needs a label"
    return None
