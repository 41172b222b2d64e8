"""Parse the subset of Cypher that a chat model may write. What is not in it is refused, whatever it may do.

    statement   = ["CYPHER" ("5" | "25")] query {"UNION" ["ALL" | "DISTINCT"] query}
    query       = clause {clause}            MATCH, OPTIONAL MATCH, UNWIND, WITH, RETURN
    pattern     = [name "="] (path | "shortestPath" "(" path ")")
    path        = node {relationship node}

Every node of a pattern has a label, or is a name that has one in an earlier pattern. Relationships of variable length
have types and a maximum. Expressions have no pattern and no sub-query, and call the functions of FUNCTIONS only. So
nodes are only those of the patterns, and those within relationships of variable length.

The wall around a corpus: each of these patterns has the property `corpus: $corpus`, or its labels are of the user's own
graph. The parser adds the property where it is missing. What the text cannot prove, the database is asked before and
after (`Walled`): that no node with these labels belongs to another corpus, and that no relationship of a user's type
leads to one.

Then the plan that the server makes of a statement is checked, in `check_plan`: a plan names what is done, however it
was written. It does not show what is done within expressions, which is why these are restricted here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from e2g_neo4j.answering.cypher_expressions import Expressions, UnreadableStatement
from e2g_neo4j.graph.doctor import OWN_PROPERTIES
from e2g_neo4j.graph.read_only import Explained
from e2g_neo4j.settings import MAX_HOPS
from e2g_neo4j.types.ids import OWN_TYPES

LONGEST = 5000
"""Maximum characters of a statement."""

_PATHS = frozenset(["shortestpath", "allshortestpaths"])

LEAVING = frozenset(["REFERS_TO", "STANDS_FOR"])
"""Own types that lead to nodes of the user, which other corpora share. No other one leaves a corpus."""


@dataclass(slots=True)
class Walled:
    """A statement that reads one corpus, if no node that has one of the `labels`, and no end of a relationship that has
    one of the `types`, belongs to another corpus."""

    statement: str
    labels: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)


def wall_in(statement: str) -> Walled:
    """Return a statement with the corpus in the patterns of its nodes.

    Raises:
        UnreadableStatement: It is not one of the subset, or reads another corpus.
    """
    if len(statement) > LONGEST:
        raise UnreadableStatement(f"it has more than {LONGEST} characters")
    if re.search(r"\\u", statement, re.IGNORECASE):
        raise UnreadableStatement("it has an escaped character")
    parser = _Parser(statement)
    parser.statement()
    walled = parser.walled
    for at, text in reversed(parser.added):
        walled.statement = walled.statement[:at] + text + walled.statement[at:]
    return walled


class _Parser(Expressions):
    def __init__(self, statement: str) -> None:
        super().__init__(statement)
        self._labelled: set[str] = set()
        self.walled = Walled(statement)
        self.added: list[tuple[int, str]] = []  # what is added to the statement, and where

    # --- clauses -------------------------------------------------------------------------------------

    def statement(self) -> None:
        if self._accept("CYPHER"):
            if self._tokens[self._at][:2] not in (("number", "5"), ("number", "25")):
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
        name, begin = self._variable() if self._is_variable() else "", self._at
        labels: set[str] = set()
        if self._accept(":"):
            labels = self._labels()
            self._labelled.add(name)
        elif not name or name not in self._labelled:
            self._refuse(f"the node ({name}) has no label: every node of a pattern needs one")
        alternative = "|" in [text for _, text, _ in self._tokens[begin : self._at]]
        self._build_wall(name, labels, alternative=alternative)
        self._where()
        self._expect(")")

    def _build_wall(self, name: str, labels: set[str], *, alternative: bool) -> None:
        """Read the properties of a node. Add the corpus to them, if the labels tell that it is a node of one."""
        at = self._tokens[self._at][2]
        properties = self._properties()
        if "corpus" in properties:
            if properties["corpus"] != ["$", "corpus"]:
                self._refuse(f"the node ({name}) is of another corpus: write (… {{corpus: $corpus}})")
            return
        own = labels & OWN_PROPERTIES.keys()
        if not own:
            self.walled.labels |= labels
        elif alternative and own != labels:
            self._refuse(f"the node ({name}) may be of a corpus or not: write (… {{corpus: $corpus}}), or other labels")
        elif self._tokens[self._at - 1][1] == "}":
            self.added.append((at + 1, "corpus: $corpus, " if properties else "corpus: $corpus"))
        else:
            self.added.append((at, " {corpus: $corpus}"))

    def _properties(self) -> dict[str, list[str]]:
        """Read the properties of a node. Return the tokens of their values by name."""
        found: dict[str, list[str]] = {}

        def entry() -> None:
            name = self._any_name()
            if name in found:
                self._refuse(f"a node has two properties {name}")
            self._expect(":")
            begin = self._at
            self._expression()
            found[name] = [text for _, text, _ in self._tokens[begin : self._at]]

        if self._accept("{"):
            read: Callable[[], None] = partial(self._read_list, entry)
            if self._word() != "}":
                self._inside(read)
            self._expect("}")
        elif self._word() == "$":
            self._refuse("it has a parameter for the properties of a node: write them in braces")
        return found

    def _relationship(self) -> None:
        backwards = self._accept("<")
        self._expect("-")
        if self._accept("["):
            if self._is_variable():
                self._variable()
            types = self._types() if self._accept(":") else set()
            if self._accept("*"):
                self._length(typed=bool(types))
                self.walled.types |= types - (OWN_TYPES - LEAVING)
            self._details()
            self._expect("]")
        self._expect("-")
        if not backwards:
            self._accept(">")

    def _types(self) -> set[str]:
        types = {self._any_name()}
        while self._accept("|"):
            self._accept(":")
            types.add(self._any_name())
        return types

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
        """Read the properties and conditions of a relationship."""
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
        wall_in(statement)
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
