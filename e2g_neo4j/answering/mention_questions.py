"""Answer questions about mentions by a Cypher template, without a chat model: how often, where, which most.

Written rules recognise such a question. It is taken only if a rule matches all of it and every name in it resolves to
an entity of the corpus. What the texts tell of numbers, such as how many children somebody has, is no question about
mentions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from e2g_neo4j.browser.statements import params
from e2g_neo4j.models.entities.entity_key import entity_key
from e2g_neo4j.retrieval.options import check_question
from e2g_neo4j.runtime.requests import Emit, Operation, Read, Rows
from e2g_neo4j.runtime.statements import load
from e2g_neo4j.types.results import Answer, Evidence
from e2g_neo4j.types.statements import StatementResult

LIMIT = 10
"""Maximum number of rows, if the question does not tell."""

ALL = 100
"""Maximum number of rows, if the question asks for all or for more."""

MODE = "template"
"""The mode of the evidence of such an answer."""

TYPES: Mapping[str, str] = {
    **dict.fromkeys(("people", "persons", "person", "characters", "character"), "person"),
    **dict.fromkeys(("places", "place", "locations", "location"), "place"),
    **dict.fromkeys(("organisations", "organisation", "organizations", "organization"), "organisation"),
    **dict.fromkeys(("groups", "group"), "group"),
    **dict.fromkeys(("products", "product"), "product"),
    **dict.fromkeys(("events", "event"), "event"),
    **dict.fromkeys(("works", "work"), "work"),
    **dict.fromkeys(("languages", "language"), "language"),
    **dict.fromkeys(("nouns", "noun"), "noun"),
}
"""The types of entities by the words that mean them."""

LONGEST = 300
"""Maximum characters of a question about mentions."""

_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}


@dataclass(frozen=True, slots=True)
class MentionQuestion:
    """A template that may answer a question.

    Attributes:
        template: Its name.
        names: Names of entities by parameter, as the question spells them.
        values: The other parameters.
        last: Whether the last mention is asked for, not the first.
    """

    template: str
    names: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    last: bool = False


_BE = r"(?:is|are|was|were)"
_OFTEN = r"(?:how often|how many times|how frequently)"
_MOST = r"(?:the )?most(?: often| frequently)?"
_MOST_MENTIONED = r"(?:the )?most (?:often |frequently )?mentioned"
_COUNTED = r"(?:documents|chunks)"
_SHARED = r"(?:documents|chunks|sentences)"
_ONE = r"(?:the same|one) (?:document|chunk|sentence)"
_LIST = r"(?:(?:please )?(?:list|show|give|show me|give me) )"
_ALL = r"(?P<all>all )?(?:of )?(?:the )?"
_SOME = rf"(?P<n>\d{{1,4}}|{'|'.join(_NUMBERS)}) "
_N = rf"(?:{_SOME})?"
_TYPE = rf"(?P<type>{'|'.join(TYPES)})"
_MAIN_TYPE = (
    rf"(?P<type>{'|'.join(word for word, type in TYPES.items() if type in ('person', 'place', 'organisation'))})"
)
_WHO = rf"(?:(?P<who>who)|(?:which|what) {_N}{_TYPE})"
_SCOPE = r"(?: in (?:the |this |all |all the )?(?:corpus|collection|index|documents))?"
_A, _B = "(?P<a>.+?)", "(?P<b>.+?)"

_RULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "count_together",
        (
            rf"{_OFTEN} {_BE} {_A} and {_B} mentioned (?:together|in {_ONE}){_SCOPE}",
            rf"{_OFTEN} {_BE} {_A} mentioned (?:together with|with|in {_ONE} as) {_B}{_SCOPE}",
            rf"in how many {_SHARED} do {_A} and {_B} (?:both )?(?:occur|appear)(?: together)?",
            rf"in how many {_SHARED} are {_A} and {_B} (?:both )?mentioned(?: together)?",
            rf"how many {_SHARED} mention (?:both )?{_A} and {_B}(?: together)?",
        ),
    ),
    (
        "count_mentions",
        (
            rf"{_OFTEN} {_BE} {_A} mentioned{_SCOPE}",
            rf"how many mentions of {_A} are there{_SCOPE}",
            rf"how many mentions does {_A} have{_SCOPE}",
            rf"count (?:all )?(?:the )?mentions of {_A}{_SCOPE}",
            rf"how many {_COUNTED} mention {_A}{_SCOPE}",
            rf"in how many {_COUNTED} {_BE} {_A} mentioned",
            rf"in how many {_COUNTED} (?:do|does) {_A} (?:occur|appear)",
        ),
    ),
    (
        "most_mentioned",
        (
            rf"{_WHO} {_BE} mentioned {_MOST}{_SCOPE}",
            rf"{_WHO} {_BE} {_MOST_MENTIONED}{_SCOPE}",
            rf"(?:who|what|which) {_BE} the {_N}most (?:often |frequently )?mentioned {_TYPE}{_SCOPE}",
            rf"{_LIST}?(?:the )?{_N}most (?:often |frequently )?mentioned {_TYPE}{_SCOPE}",
            rf"{_LIST}?(?:the )?top {_SOME}{_MAIN_TYPE}{_SCOPE}",
            rf"{_LIST}?(?:the )?top {_N}{_TYPE} by (?:number of )?mentions{_SCOPE}",
            rf"{_LIST}{_ALL}{_TYPE} (?:(?:sorted|ordered|ranked) )?by (?:(?:their )?number of )?mentions{_SCOPE}",
            rf"{_LIST}{_ALL}{_TYPE} (?:that are )?mentioned{_SCOPE}",
        ),
    ),
    (
        "mentioned_with",
        (
            rf"{_WHO} {_BE} (?:{_MOST}|often) mentioned (?:together )?with {_A}{_SCOPE}",
            rf"{_WHO} {_BE} mentioned (?:{_MOST}|often) (?:together )?with {_A}{_SCOPE}",
            rf"{_WHO} {_BE} mentioned (?:together )?with {_A} {_MOST}{_SCOPE}",
        ),
    ),
    (
        "neighbours_of",
        (
            rf"what {_BE} (?:{_MOST}|often) mentioned (?:together )?with {_A}{_SCOPE}",
            rf"what {_BE} mentioned (?:{_MOST}|often) (?:together )?with {_A}{_SCOPE}",
        ),
    ),
    (
        "first_and_last_mention",
        (
            rf"where {_BE} {_A} (?P<end>first|last) mentioned{_SCOPE}",
            rf"where {_BE} {_A} mentioned (?:for the )?(?P<end>first|last)(?: time)?{_SCOPE}",
            rf"where is the (?P<end>first|last) mention of {_A}{_SCOPE}",
        ),
    ),
    (
        "documents_about",
        (
            rf"which documents? mentions? {_A} {_MOST}",
            rf"in which documents? {_BE} {_A} mentioned {_MOST}",
            rf"which documents mention {_A}",
            rf"{_LIST}{_ALL}documents (?:that|which) mention {_A}",
        ),
    ),
    ("count_of_type", (rf"how many {_TYPE} are mentioned{_SCOPE}",)),
)

_PATTERNS = [(name, re.compile(rule, re.IGNORECASE)) for name, rules in _RULES for rule in rules]
_PARAMETERS = {"count_together": ("first", "second")}
_WITHOUT_LIMIT = ("count_together", "count_mentions", "count_of_type")


def read_question(question: str) -> Iterator[MentionQuestion]:
    """Yield the templates that may answer a question, the best first: none if it is no question about mentions."""
    asked = " ".join(question.split()).rstrip("?.! ")
    if len(asked) > LONGEST:
        return
    for template, pattern in _PATTERNS:
        if match := pattern.fullmatch(asked):
            found = {name: value for name, value in match.groupdict().items() if value}
            names = [found[name] for name in ("a", "b") if name in found]
            values: dict[str, Any] = {}
            if type := "person" if "who" in found else TYPES.get(found.get("type", "").lower()):
                values["type"] = type
            if template not in _WITHOUT_LIMIT:
                n = found.get("n", ALL if "all" in found else LIMIT)
                values["limit"] = min(_NUMBERS.get(str(n).lower(), 0) or int(n), ALL)
            by_parameter = dict(zip(_PARAMETERS.get(template, ("entity",)), names, strict=False))
            yield MentionQuestion(template, by_parameter, values, last=found.get("end", "").lower() == "last")


def answer_from_template(question: str, corpus: str) -> Operation[Answer | None]:
    """Answer a question about mentions from the index.

    Args:
        question: The question.
        corpus: The corpus.

    Returns:
        The answer, with the rows and the statement; None if no rule recognises the question, a name in it is no entity
        of the corpus, or there are no rows.

    Raises:
        QueryError: The question is invalid.
    """
    check_question(question)
    asked = list(read_question(question))
    names = {entity_key(name) for one in asked for name in one.names.values()}
    keys: dict[str, str | None] = {}
    if names:
        resolved: Rows = yield Read("query/resolve", {"corpus": corpus, "names": sorted(names)})
        keys = {row["name"]: row["entity"] for row in resolved}
    for one in asked:
        entities = {parameter: keys.get(entity_key(name)) for parameter, name in one.names.items()}
        if None in entities.values() or len(set(entities.values())) < len(entities):
            continue
        parameters = {**entities, **one.values, "corpus": corpus}
        rows: Rows = yield Read(f"templates/{one.template}", parameters)
        if not rows:
            return None
        evidence = Evidence(
            question=question,
            corpora=(corpus,),
            route="global",
            reason=f"The template {one.template} answers from the index. To ask the texts, choose method direct.",
            entities=tuple(key for key in entities.values() if key),
            pairs=(),
            hops=0,
            passages=(),
            round_trips=1 + bool(names),
            mode=MODE,
        )
        yield Emit(evidence)
        statement = load(f"templates/{one.template}").strip()
        text = f"{told(one, rows)}\n\n```cypher\n{params(parameters)}\n\n{statement}\n```"
        columns, values = tuple(rows[0]), tuple(rows)
        return Answer(
            text, evidence, result=StatementResult(statement, parameters, columns, values, template=one.template)
        )
    return None


def told(asked: MentionQuestion, rows: Rows) -> str:
    """Return what the rows of a template say, as a sentence or a list."""
    match asked.template:
        case "count_mentions":
            [row] = rows
            where = f"in {_number(row, 'chunks')} of {_number(row, 'documents')}"
            return f"{row['entity']}: {_number(row, 'mentions')}, {where}."
        case "count_together":
            [row] = rows
            counts = ", ".join(_number(row, what) for what in ("sentences", "chunks", "documents"))
            return f"{row['first']} and {row['second']} are mentioned together in: {counts}."
        case "count_of_type":
            [row] = rows
            return f"{row['entities']:,} entities of type {row['type']} are mentioned."
        case "most_mentioned":
            return _listed(
                rows, lambda row: f"{row['entity']}: {_number(row, 'mentions')}, {_number(row, 'documents')}"
            )
        case "mentioned_with" | "neighbours_of":
            return _listed(rows, lambda row: f"{row['neighbour']}: {_number(row, 'sentences')}")
        case "documents_about":
            return _listed(rows, lambda row: f"{row['document']}: {_number(row, 'mentions')}, {_number(row, 'chunks')}")
    end = "last" if asked.last else "first"
    return _listed(
        rows, lambda row: f"{row['document']}, chunk {row[f'{end}_chunk']}{_quoted(row[f'{end}_text'], asked)}"
    )


def _listed(rows: Rows, line: Callable[[Mapping[str, Any]], str]) -> str:
    return "\n".join(f"{n}. {line(row)}" for n, row in enumerate(rows, 1))


def _number(row: Mapping[str, Any], what: str) -> str:
    """Return a column as a number of what it is named after, such as "1 chunk"."""
    return f"{row[what]:,} {what if row[what] != 1 else what[:-1]}"


def _quoted(text: str | None, asked: MentionQuestion) -> str:
    """Return the words around the name of the question, if the text spells it as the question does."""
    text = " ".join((text or "").split())
    places = [found.start() for found in re.finditer(rf"\b{re.escape(asked.names['entity'])}\b", text, re.IGNORECASE)]
    if not places:
        return ""
    at = places[-1 if asked.last else 0]
    start = text.rfind(" ", 0, max(at - 80, 0)) + 1
    end = text.find(" ", at + 120)
    return f": “{'… ' if start else ''}{text[start : end if end > 0 else None]}{' …' if end > 0 else ''}”"
