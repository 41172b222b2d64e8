"""Parse the subset of Cypher that a chat model may write. What is not in it is refused, whatever it may do.

    statement   = ["CYPHER" ("5" | "25")] query {"UNION" ["ALL" | "DISTINCT"] query}
    query       = clause {clause}            MATCH, OPTIONAL MATCH, UNWIND, WITH, RETURN
    pattern     = [name "="] (path | "shortestPath" "(" path ")")
    path        = node {relationship node}

Every node of a pattern has a label, or is a name that has one in an earlier pattern. Relationships of variable length
have types and a maximum. Expressions have no pattern and no sub-query, and call the functions of FUNCTIONS only.

Then the plan that the server makes of a statement is checked, in `check_plan`: a plan names what is done, however it
was written. It does not show what is done within expressions, which is why these are restricted here.
"""

from __future__ import annotations

import re

from e2g_neo4j.answering.cypher_expressions import Expressions, UnreadableStatement, tokens_of
from e2g_neo4j.graph.read_only import Explained
from e2g_neo4j.settings import MAX_HOPS

LONGEST = 5000
"""Maximum characters of a statement."""

_PATHS = frozenset(["shortestpath", "allshortestpaths"])


def check_statement(statement: str) -> None:
    """Raise UnreadableStatement if a statement is not one of the subset."""
    if len(statement) > LONGEST:
        raise UnreadableStatement(f"it has more than {LONGEST} characters")
    if re.search(r"\\u", statement, re.IGNORECASE):
        raise UnreadableStatement("it has an escaped character")
    _Parser(tokens_of(statement)).statement()


class _Parser(Expressions):
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        super().__init__(tokens)
        self._labelled: set[str] = set()

    # --- clauses -------------------------------------------------------------------------------------

    def statement(self) -> None:
        if self._accept("CYPHER"):
            if self._tokens[self._at] not in (("number", "5"), ("number", "25")):
                self._refuse()
            self._at += 1
        self._query()
        while self._accept("UNION"):
            _ = self._accept("ALL") or self._accept("DISTINCT")
            self._labelled.clear()
            self._lists.clear()
            self._query()
        if self._kind() != "end":
            self._refuse()

    def _query(self) -> None:
        if self._word() not in ("MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN"):
            self._refuse("it does not begin with MATCH, OPTIONAL MATCH, UNWIND, WITH or RETURN")
        while True:
            if self._accept("MATCH") or self._accept("OPTIONAL", "MATCH"):
                self._read_list(self._pattern)
                self._where()
            elif self._accept("UNWIND"):
                self._deepest = 0
                self._expression()
                self._expect("AS")
                name = self._variable()
                self._labelled.discard(name)
                self._lists[name] = max(self._deepest - 1, 0)
            elif self._accept("WITH"):
                self._projection()
                self._where()
            else:
                self._expect("RETURN")
                self._projection()
                return

    def _projection(self) -> None:
        """Read what WITH and RETURN pass on. Other names are forgotten: they may come to mean other nodes."""
        self._accept("DISTINCT")
        everything = self._accept("*")
        kept = set(self._labelled) if everything else set()
        if not everything or self._accept(","):
            self._read_list(lambda: self._item(kept))
        self._labelled = kept
        if self._accept("ORDER", "BY"):
            self._read_list(self._read_order)
        if self._accept("SKIP") or self._accept("OFFSET"):
            self._expression()
        if self._accept("LIMIT"):
            self._expression()

    def _item(self, kept: set[str]) -> None:
        begin, self._deepest = self._at, 0
        self._expression()
        is_node = self._at == begin + 1 and self._tokens[begin][1].strip("`") in self._labelled
        if self._accept("AS"):
            name = self._variable()
            kept.discard(name)
            self._lists[name] = self._deepest
        else:
            name = self._tokens[begin][1].strip("`")
        if is_node:
            kept.add(name)

    def _read_order(self) -> None:
        self._expression()
        _ = any(self._accept(word) for word in ("ASC", "ASCENDING", "DESC", "DESCENDING"))

    # --- patterns ------------------------------------------------------------------------------------

    def _pattern(self) -> None:
        if self._is_variable() and self._word(1) == "=":
            self._variable()
            self._expect("=")
        if self._word().lower() in _PATHS:
            self._at += 1
            self._expect("(")
            self._path()
            self._expect(")")
        else:
            self._path()

    def _path(self) -> None:
        self._node()
        while self._word() in ("-", "<"):
            self._relationship()
            self._node()

    def _node(self) -> None:
        self._expect("(")
        name = self._variable() if self._is_variable() else ""
        if self._accept(":"):
            self._labels()
            self._labelled.add(name)
        elif not name or name not in self._labelled:
            self._refuse(f"the node ({name}) has no label: every node of a pattern needs one")
        self._details()
        self._expect(")")

    def _relationship(self) -> None:
        backwards = self._accept("<")
        self._expect("-")
        if self._accept("["):
            if self._is_variable():
                self._variable()
            typed = self._accept(":")
            if typed:
                self._types()
            if self._accept("*"):
                self._length(typed=typed)
            self._details()
            self._expect("]")
        self._expect("-")
        if not backwards:
            self._accept(">")

    def _types(self) -> None:
        self._any_name()
        while self._accept("|"):
            self._accept(":")
            self._any_name()

    def _length(self, *, typed: bool) -> None:
        if self._kind() == "number":
            longest = self._number()
            if self._accept(".."):
                longest = self._number()
        else:
            self._expect("..")
            longest = self._number()
        if not typed or longest > MAX_HOPS:
            self._refuse(f"a relationship of variable length needs a type, and a maximum of at most {MAX_HOPS}")

    def _details(self) -> None:
        """Read the properties and conditions of a node or relationship."""
        if self._word() == "{":
            self._map()
        elif self._accept("$"):
            self._any_name()
        self._where()


_LEAVES = re.compile(
    r"Argument|EmptyRow|Projection|Unwind|(?:Node|Relationship)CountFromCountStore"
    r"|(?:Partitioned)?(?:\w+)?Node(?:s)?ByLabels?Scan"
    r"|(?:Partitioned)?(?:Multi)?Node(?:Unique)?(?:Vector)?Index\w+"
    r"|(?:Partitioned)?(?:Directed|Undirected)(?:Union)?Relationship(?:Types?|UniqueIndex|Index)\w+"
)
"""The operators that a plan may begin with. Those that find nodes by id, or all nodes, are not among them."""

_OPERATORS = re.compile(r"ProcedureCall|LoadCSV|Transaction\w+|Show\w+|Terminate\w+|RunQueryAt|\w*Foreach\w*")
"""Operators that no plan may have."""


def check_words(statement: str) -> str | None:
    """Return why a statement is refused before the server sees it, or None."""
    try:
        check_statement(statement)
    except UnreadableStatement as error:
        return str(error)
    return None


def check_plan(explained: Explained) -> str | None:
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
