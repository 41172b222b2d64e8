"""Parse the tokens and expressions of the Cypher that a chat model may write, see `cypher_parser`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import NoReturn, TypeAlias

from e2g_neo4j.types.ids import HIDDEN_LABELS

DEEPEST = 30
"""How deep expressions may be nested."""

MOST_ADDED = 8
"""Maximum number of `+`, and of names of lists in other lists and maps. Each can double a text or a list."""

LONGEST_RANGE = 1000
"""Largest number in `range`, and the maximum number of its values."""

FUNCTIONS = frozenset(
    [
        *("abs", "ceil", "floor", "round", "sign", "sqrt", "exp", "log", "log10", "rand", "isnan"),
        *("avg", "collect", "count", "max", "min", "sum", "stdev", "stdevp", "percentilecont", "percentiledisc"),
        *("coalesce", "nullif", "isempty", "size", "char_length", "character_length", "length"),
        *("head", "last", "tail", "range", "keys", "labels", "type", "properties", "nodes", "relationships"),
        *("startnode", "endnode", "elementid", "id"),
        *("left", "right", "substring", "split", "trim", "btrim", "ltrim", "rtrim", "tolower", "toupper"),
        *("lower", "upper", "reverse", "tostring", "tostringornull", "tointeger", "tointegerornull"),
        *("tofloat", "tofloatornull", "toboolean", "tobooleanornull", "valuetype"),
        *("date", "datetime", "duration", "localdatetime", "localtime", "time", "timestamp", "point"),
        *("date.truncate", "datetime.truncate", "duration.between", "duration.indays", "duration.inmonths"),
        *("duration.inseconds", "point.distance", "vector.similarity.cosine", "vector.similarity.euclidean"),
    ]
)
"""Functions that may be called, in lower case. Left out are those that run statements, read files or the network, look
into the server, or make large values of small ones, such as `replace` and `reduce`."""

_NUMBERS = frozenset(["size", "count", "isempty", "sum", "avg"])
"""Functions of lists whose result is none."""

_FILTERS = frozenset(["all", "any", "none", "single"])
"""Functions of the form any(x IN list WHERE …)."""

_TOKEN = re.compile(
    r"""(?P<text>'(?:\\.|[^\\'])*'|"(?:\\.|[^\\"])*")"""
    r"|(?P<space>[ \t\r\n]+|/\*.*?\*/|//[^\r\n]*)"
    r"|(?P<quoted>`[^`]*`(?!`))"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?!\w))"
    r"|(?P<sign>\.\.|<=|>=|<>|=~|[][(){},.:|&*+\-/%^<>=$])",
    re.DOTALL,
)

_CLAUSES = frozenset(["MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "WHERE", "ORDER", "SKIP", "OFFSET", "LIMIT"])

_RESERVED = _CLAUSES | frozenset(
    [
        *("UNION", "AS", "BY", "AND", "OR", "XOR", "NOT", "IN", "IS", "STARTS", "ENDS", "CONTAINS", "CASE", "WHEN"),
        *("THEN", "ELSE", "END", "DISTINCT", "ASC", "ASCENDING", "DESC", "DESCENDING"),
        *("CALL", "COLLECT", "COUNT", "EXISTS", "CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "FOREACH"),
        *("LOAD", "USE", "USING", "SHOW", "TERMINATE", "FINISH", "INSERT", "LET", "FILTER", "NEXT", "EXPLAIN"),
        *("PROFILE", "FOR", "SEARCH"),
    ]
)
"""Words that are no name of a value, unless in backticks. The server allows more names."""

_COMPARISONS = frozenset(["=", "<>", "<", "<=", ">", ">="])


class UnreadableStatement(ValueError):  # noqa: N818 (not an error of this package: its message is a part of others)
    """The statement is not one of the subset. The message says why."""


Token: TypeAlias = tuple[str, str, int]
"""Kind, text, and where it begins."""


def tokens_of(statement: str) -> list[Token]:
    """Return the tokens of a statement, without white space and comments."""
    tokens, at = [], 0
    while at < len(statement):
        found = _TOKEN.match(statement, at)
        if found is None:
            if statement[at] == ";":
                raise UnreadableStatement("it is more than one statement")
            raise UnreadableStatement(f"it cannot be read at {statement[at : at + 20]!r}")
        if found.lastgroup != "space":
            tokens.append((str(found.lastgroup), found[0], at))
        at = found.end()
    return tokens


class Expressions:
    """Recursive descent. Methods are named for what they read, and raise UnreadableStatement if it is not there."""

    def __init__(self, statement: str) -> None:
        self._tokens = [*tokens_of(statement), ("end", "", len(statement))]
        self._at = 0
        self._depth = 0
        self._added = 0
        self._lists: dict[str, int] = {}  # how deeply the lists and maps are nested that names stand for
        self._nested = 0  # lists, maps and `collect` around what is read
        self._deepest = 0  # how deeply those of the expression are nested
        self._collects = self._loops = False  # whether it is read within `collect`, or a list expression
        self._own = ""  # the variable of the list expression whose condition or result is read

    # --- tokens --------------------------------------------------------------------------------------

    def _word(self, ahead: int = 0) -> str:
        """Return a token that is not in quotes, a name in upper case; otherwise an empty text."""
        kind, text, _ = self._tokens[min(self._at + ahead, len(self._tokens) - 1)]
        return text.upper() if kind in ("name", "sign") and text.isascii() else ""

    def _kind(self, ahead: int = 0) -> str:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)][0]

    def _accept(self, *words: str) -> bool:
        """Take these words if they come next."""
        if all(self._word(ahead) == word for ahead, word in enumerate(words)):
            self._at += len(words)
            return True
        return False

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            self._refuse()

    def _refuse(self, why: str | None = None) -> NoReturn:
        here = " ".join(text for _, text, _ in self._tokens[self._at : self._at + 4]).strip()
        if why is None:
            why = f"it has {here[:40]!r} where this is not allowed" if here else "it ends early"
        raise UnreadableStatement(why)

    def _any_name(self) -> str:
        """Read the name of a property, type or label, which may be a reserved word."""
        kind, text, _ = self._tokens[self._at]
        if kind not in ("name", "quoted"):
            self._refuse()
        self._at += 1
        return text.strip("`")

    def _is_variable(self, ahead: int = 0) -> bool:
        kind = self._kind(ahead)
        return kind == "quoted" or (kind == "name" and self._word(ahead) not in _RESERVED)

    def _variable(self) -> str:
        if not self._is_variable():
            self._refuse()
        return self._any_name()

    def _read_list(self, read: Callable[[], None], sign: str = ",") -> None:
        read()
        while self._accept(sign):
            read()

    def _where(self) -> None:
        if self._accept("WHERE"):
            self._expression()

    def _number(self) -> int:
        kind, text, _ = self._tokens[self._at]
        if kind != "number" or not text.isdigit() or len(text) > 18:
            self._refuse()
        self._at += 1
        return int(text)

    def _labels(self) -> set[str]:
        """Read labels, joined by : | or &. Negations and % are no labels: they match nodes of any other label."""
        names: set[str] = set()
        while True:
            if self._accept("("):
                self._deeper(lambda: names.update(self._labels()))
                self._expect(")")
            elif (name := self._any_name()) in HIDDEN_LABELS:
                self._refuse(f"it names {name}, which is not part of a corpus")
            else:
                names.add(name)
            if not (self._accept("|") or self._accept("&") or self._accept(":")):
                return names

    # --- expressions ---------------------------------------------------------------------------------

    def _deeper(self, read: Callable[[], None]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            self._refuse(f"its expressions are nested more than {DEEPEST} deep")
        read()
        self._depth -= 1

    def _expression(self) -> None:
        self._deeper(self._operands)

    def _operands(self) -> None:
        """Read values joined by operators. Which binds more strongly does not matter here."""
        while True:
            while self._accept("NOT") or self._accept("+") or self._accept("-"):
                pass
            self._value()
            if not self._operator():
                return

    def _operator(self) -> bool:
        """Read what stands between two values, and return whether it did."""
        while self._accept("IS"):
            self._accept("NOT")
            self._expect("NULL")
        word = self._word()
        if word == "+":
            self._add()
        if word == "=~":
            self._refuse("it has a regular expression, which cannot be stopped in time: use CONTAINS")
        before = 1 if word == "<" and self._word(1) == "-" else 0
        if word in ("-", "<") and self._word(before) == "-" and self._word(before + 1) in ("-", "[", ">"):
            self._refuse("it has a pattern in an expression: patterns stand after MATCH only")
        if word in _COMPARISONS or word in ("AND", "OR", "XOR", "IN", "CONTAINS", "+", "-", "*", "/", "%", "^"):
            self._at += 1
            return True
        return self._accept("STARTS", "WITH") or self._accept("ENDS", "WITH")

    def _add(self) -> None:
        self._added += 1
        if self._added > MOST_ADDED:
            self._refuse(f"it has more than {MOST_ADDED} times +, or names of lists in others")

    def _value(self) -> None:
        kind, word = self._kind(), self._word()
        if kind in ("text", "number"):
            self._at += 1
        elif word == "$":
            self._at += 1
            self._any_name()
        elif word == "(":
            self._at += 1
            self._expression()
            self._expect(")")
        elif word == "[":
            self._list()
        elif word == "{":
            self._map()
        elif word == "CASE":
            self._case()
        elif kind in ("name", "quoted"):
            self._read_named()
        else:
            self._refuse()
        self._read_lookups()

    def _read_lookups(self) -> None:
        """Read .name, [index], [from..to] and :Label after a value."""
        while True:
            if self._accept("."):
                self._any_name()
            elif self._accept("["):
                if self._word() != "..":
                    self._expression()
                if self._accept("..") and self._word() != "]":
                    self._expression()
                self._expect("]")
            elif self._accept(":"):
                self._labels()
            else:
                return

    def _read_named(self) -> None:
        """Read a function, a map projection or a name."""
        names = 1
        while self._word(2 * names - 1) == "." and self._kind(2 * names) in ("name", "quoted"):
            names += 1
        if self._word(2 * names - 1) == "(":
            parts = [self._tokens[self._at + 2 * n][1].strip("`") for n in range(names)]
            self._at += 2 * names - 1
            self._function(".".join(parts).lower())
        elif self._word(1) == "{":
            if self._kind() == "name" and self._word() in _RESERVED:
                self._refuse(f"it has a sub-query ({self._word()} {{…}})")
            self._reference()
            self._map(projection=True)
        else:
            self._reference()

    def _reference(self) -> None:
        """Read a name. One of a list must not make the costs of another grow with its own length."""
        name = self._variable()
        depth = self._lists.get(name, 0)
        if self._own and name != self._own and (depth or self._word() not in (".", ":")):
            self._refuse(f"it has {name} in the condition or result of a list expression, for {self._own}")
        self._deepest = max(self._deepest, self._nested + depth)
        if depth and self._collects:
            self._refuse(f"it collects lists ({name})")
        if depth and self._nested:
            self._add()

    def _inside(self, read: Callable[[], None]) -> None:
        """Read what is in a list or map."""
        self._nested += 1
        self._deepest = max(self._deepest, self._nested)
        read()
        self._nested -= 1

    def _each(self) -> None:
        """Read x IN list WHERE … | …, in which is no other such expression: the server ends none of them in time."""
        if self._loops:
            self._refuse("it has a list expression in another")
        self._loops = True
        variable = self._variable()
        self._expect("IN")
        self._expression()
        self._own = variable
        self._where()
        if self._accept("|"):
            self._expression()
        self._own, self._loops = "", False

    def _function(self, name: str) -> None:
        self._expect("(")
        deepest = self._deepest
        if name in _FILTERS:
            self._each()
        elif name not in FUNCTIONS:
            self._refuse(f"it calls the function {name}")
        elif name == "range":
            self._range()
        elif not self._accept("*") and self._word() != ")":
            self._accept("DISTINCT")
            around, self._collects = self._collects, self._collects or name == "collect"
            read = partial(self._read_list, self._expression)
            self._inside(read) if name == "collect" else read()
            self._collects = around
        if name in _NUMBERS:
            self._deepest = deepest
        self._expect(")")

    def _range(self) -> None:
        """Read the numbers of `range`, so that its length is known."""
        numbers: list[int] = []
        while True:
            negative = self._accept("-")
            if self._kind() != "number":
                self._refuse(f"range needs whole numbers of at most {LONGEST_RANGE}")
            number = self._number()
            if number > LONGEST_RANGE:
                self._refuse(f"range needs whole numbers of at most {LONGEST_RANGE}")
            numbers.append(-number if negative else number)
            if not self._accept(","):
                return

    def _list(self) -> None:
        """Read [a, b] or [x IN list WHERE … | …]."""
        self._expect("[")
        if self._is_variable() and self._word(1) == "IN":
            self._inside(self._each)
        elif self._word() != "]":
            self._inside(partial(self._read_list, self._expression))
        self._expect("]")

    def _map(self, *, projection: bool = False) -> None:
        """Read {name: value}; of a projection also .name, .* and name."""

        def entry() -> None:
            if projection and self._accept("."):
                if not self._accept("*"):
                    self._any_name()
                return
            self._any_name()
            if not projection or self._word() == ":":
                self._expect(":")
                self._expression()

        self._expect("{")
        if self._word() != "}":
            self._inside(partial(self._read_list, entry))
        self._expect("}")

    def _case(self) -> None:
        self._expect("CASE")
        if self._word() != "WHEN":
            self._expression()
        while self._accept("WHEN"):
            self._read_list(self._expression)
            self._expect("THEN")
            self._expression()
        if self._accept("ELSE"):
            self._expression()
        self._expect("END")
