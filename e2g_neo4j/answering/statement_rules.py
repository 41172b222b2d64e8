"""What a Cypher statement that a chat model wrote may do: read labelled nodes, and nothing else.

There are two walls. The words of the statement are checked first, in `refused_words`, then the plan that the server
makes of it, in `refused_plan`: a plan names what is done, however it was written.
"""

from __future__ import annotations

import re

from e2g_neo4j.graph.read_only import Explained

FIRST = frozenset(["MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL"])
"""The words that a statement may begin with, besides `CYPHER 5` and `CYPHER 25`."""

FORBIDDEN = frozenset(["USE", "LOAD", "SHOW", "TERMINATE", "TRANSACTIONS", "FOREACH", "EXPLAIN", "PROFILE"])
"""Words that none may contain, unless as the name of a property."""

PROCEDURES: frozenset[str] = frozenset()
"""Procedures that may be called: none."""

NAMESPACES = frozenset(
    ["date", "datetime", "duration", "localdatetime", "localtime", "point", "time", "vector.similarity"]
)
"""Functions with a dot that may be called, without their last name. Others may reach the network or other databases."""

HIDDEN = re.compile(r"(?:E2G|Staged|Outdated|Uncounted|Cached)\w*")
"""Labels of what is not published, or belongs to the service."""

_LEAVES = re.compile(
    r"Argument|EmptyRow|Projection|Unwind|(?:Node|Relationship)CountFromCountStore"
    r"|(?:Partitioned)?(?:\w+)?Node(?:s)?ByLabels?Scan"
    r"|(?:Partitioned)?(?:Multi)?Node(?:Unique)?(?:Vector)?Index\w+"
    r"|(?:Partitioned)?(?:Directed|Undirected)(?:Union)?Relationship(?:Types?|UniqueIndex|Index)\w+"
)
"""The operators that a plan may begin with. Those that find nodes by id, or all nodes, are not among them."""

_OPERATORS = re.compile(r"ProcedureCall|LoadCSV|Transaction\w+|Show\w+|Terminate\w+|RunQueryAt|\w*Foreach\w*")
"""Operators that no plan may have."""

_TOKEN = re.compile(
    r"""(?P<text>'(?:\\.|[^\\'])*'|"(?:\\.|[^\\"])*")"""
    r"|(?P<comment>/\*.*?\*/|//[^\r\n]*)"
    r"|(?P<name>`(?:``|[^`])*`|[^\W\d]\w*)"
    r"|(?P<number>\d[\w]*(?:\.\d\w*)?)"
    r"|(?P<sign>\.\.|\S)",
    re.DOTALL,
)


def refused_words(statement: str) -> str | None:
    """Return why a statement is refused before the server sees it, or None.

    Args:
        statement: The statement.
    """
    if re.search(r"\\u", statement, re.IGNORECASE):
        return "it has an escaped character"
    tokens = [(kind, text) for kind, text in _tokens(statement) if kind != "comment"]
    words = [text.upper() if kind == "name" else text for kind, text in tokens]
    first = 2 if words[:1] == ["CYPHER"] and words[1:2] in (["5"], ["25"]) else 0
    if not words[first:] or words[first] not in FIRST:
        return f"it does not begin with one of {', '.join(sorted(FIRST))}"
    for at, (kind, text) in enumerate(tokens):
        before = words[at - 1] if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        if text == ";":
            return "it is more than one statement"
        if text == "$" and "(" in (after, *(words[at + 2 : at + 3] if after in ("ANY", "ALL") else ())):
            return "it computes a label, type or property"
        if kind != "name":
            continue
        if before == ".":
            continue
        if HIDDEN.fullmatch(name := text.strip("`")):
            return f"it names {name}, which is not part of a corpus"
        named = before in (":", "$") or after == ":"  # a label, a parameter, or the key of a map
        if text.upper() in FORBIDDEN and not named:
            return f"it has the word {text.upper()}"
        if text.upper() == "CALL" and not named and after not in ("{", "("):
            return "it calls a procedure"
        function = _function(tokens, at)
        if function and function.rpartition(".")[0].lower() not in NAMESPACES:
            return f"it calls the function {function}"
    return None


def refused_plan(explained: Explained) -> str | None:
    """Return why a statement is refused for its plan, or None.

    Args:
        explained: What the server tells about the statement.
    """
    if not explained.reads:
        return "it does not only read"
    for operator in sorted(explained.operators):
        if _OPERATORS.fullmatch(operator):
            return f"its plan has {operator}"
    for leaf in sorted(explained.leaves):
        if not _LEAVES.fullmatch(leaf):
            return f"its plan begins with {leaf}: every pattern needs a label"
    return None


def _tokens(statement: str) -> list[tuple[str, str]]:
    return [(str(found.lastgroup), found[0]) for found in _TOKEN.finditer(statement)]


def _function(tokens: list[tuple[str, str]], at: int) -> str | None:
    """Return the name of the function with a dot that begins at a token, or None."""
    names = [tokens[at][1].strip("`")]
    while at + 2 < len(tokens) and tokens[at + 1][1] == "." and tokens[at + 2][0] == "name":
        at += 2
        names.append(tokens[at][1].strip("`"))
    called = at + 1 < len(tokens) and tokens[at + 1][1] == "("
    return ".".join(names) if called and len(names) > 1 else None
