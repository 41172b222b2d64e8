"""What an evaluation compares retrieval with: question files, and where their gold lies in an indexed corpus.

A question file is JSON Lines. Each line has `question` and says what should be found, by one or more of these fields:
`gold_passages`   [id]: documents, by file name or, for passages of a JSON Lines file, by the id in it
`evidence`        [[start, end]] with `book`: characters of the document of that file name
                  [{"document": id, "quote": text}]: text of a document, white space apart
                  [statement]: a fact, in whatever words
Where it likes, also `id` and `type` or `question_type`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, TypeAlias

import numpy as np

from e2g_neo4j.errors import InputError, NotFoundError
from e2g_neo4j.model import Passage

Span: TypeAlias = tuple[int, int]
TokenSpans: TypeAlias = Callable[[str], Sequence[Span]]

_STOP = (
    "a an the of in on at to for and or is are was were be been by with as that this which it its from can may not "
    "their has have had than into also such used include includes including who whom what these those"
)
STOP_WORDS = frozenset(_STOP.split())
STEM = 6
"""Letters of a content word that are compared: enough to tell words apart, few enough to leave endings out."""

SHORTEST_QUOTE = 20
"""Characters of a summary's sentence that is taken for a quotation; shorter ones are in a text by accident."""


# --- question files ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what should be found for it.

    `documents` are ids of documents, `spans` (document, start, end), `quotes` (document, text), `statements` facts.
    """

    id: str
    question: str
    type: str | None = None
    book: str | None = None
    documents: tuple[str, ...] = ()
    spans: tuple[tuple[str, int, int], ...] = ()
    quotes: tuple[tuple[str, str], ...] = ()
    statements: tuple[str, ...] = ()


def read_questions(path: Path) -> list[Question]:
    """The questions of a file. Raises InputError that names the line which cannot be used."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The question file {path} cannot be read ({error}): name a file in JSON Lines.") from error
    questions: dict[str, Question] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                question = _question(json.loads(line), number)
                _require(question.id not in questions, f"the id {question.id!r} was there before")
            except (ValueError, RecursionError) as error:
                raise InputError(f"{path}, line {number}: {error}. Correct the line.") from error
            questions[question.id] = question
    if not questions:
        raise InputError(f"The question file {path} holds no question: write one JSON object a line.")
    return list(questions.values())


def _question(fields: Any, number: int) -> Question:
    """Raises ValueError that says what is wrong."""
    _require(isinstance(fields, dict), "this is no JSON object")
    text, book = fields.get("question"), fields.get("book")
    kind = fields.get("type", fields.get("question_type"))
    _require(isinstance(text, str) and text.strip(), "the field question is missing or no text")
    text.encode()  # half of a surrogate pair is a ValueError
    _require(isinstance(book, str | None) and isinstance(kind, str | None), "book and type are texts")
    gold, evidence = fields.get("gold_passages") or [], fields.get("evidence") or []
    _require(isinstance(gold, list) and all(map(_is_id, gold)), "gold_passages is a list of ids")
    _require(isinstance(evidence, list), "evidence is a list")
    _require(gold or evidence, "there is neither gold_passages nor evidence, so nothing can be found")
    spans, quotes, statements = [], [], []
    for one in evidence:
        match one:
            case [int(start), int(end)] if 0 <= start < end:
                _require(book, "evidence by characters wants the field book")
                spans.append((book, start, end))
            case {"document": document, "quote": str(quote)} if _is_id(document) and quote.strip():
                quotes.append((str(document), quote))
            case str(statement) if content_words(statement):
                statements.append(statement)
            case _:
                raise ValueError(
                    f"evidence {json.dumps(one, ensure_ascii=False)[:80]} is neither [start, end] nor "
                    '{"document": …, "quote": …} nor a statement'
                )
    return Question(
        id=str(fields.get("id", number)),
        question=text,
        type=kind,
        book=book,
        documents=tuple(dict.fromkeys(map(str, gold))),
        spans=tuple(spans),
        quotes=tuple(quotes),
        statements=tuple(statements),
    )


def _require(holds: Any, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


@lru_cache(maxsize=8192)
def content_words(text: str) -> frozenset[str]:
    """The first six letters of a text's words in lower case, without stop words."""
    return frozenset(word[:STEM] for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in STOP_WORDS)


# --- the corpus --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gold:
    """What should be found for one question: sources, (source, start, end), and content words of statements."""

    sources: frozenset[str]
    spans: tuple[tuple[str, int, int], ...]
    statements: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage, or its beginning, as it was retrieved, and the characters of its document that it shows."""

    source: str
    text: str
    shows: tuple[Span, ...]


@dataclass(slots=True)
class IndexedCorpus:
    """The texts of a corpus as they are in the database: `rows` are those of `evaluate/chunks`."""

    name: str
    token_spans: TokenSpans
    texts: dict[str, str] = field(default_factory=dict)
    _keys: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _tokens: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    _quoted: dict[str, list[tuple[int, Span]]] = field(default_factory=dict)

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Take in whole documents. A text is put together from its chunks; between them lies white space only."""
        parts: dict[str, list[str]] = {}
        length: dict[str, int] = defaultdict(int)
        for row in rows:
            source, start, end = row["source"], row["start"], row["end"]
            done = length[source]
            parts.setdefault(source, []).append(" " * (start - done) + row["text"][max(0, done - start) :])
            length[source] = max(done, end)
        for source, pieces in parts.items():
            self.texts[source] = "".join(pieces)
            self._keys[PurePath(source).name].add(source)
            for at, sign in enumerate(source):
                if sign == "#":
                    self._keys[source[at + 1 :]].add(source)

    def gold(self, question: Question) -> Gold:
        """Where the gold of a question lies. Raises NotFoundError for gold that the corpus does not hold."""
        spans = []
        for document, start, end in question.spans:
            source = self._source(document, question)
            if end > len(self.texts[source]):
                raise NotFoundError(
                    f"Question {question.id} wants characters {start}-{end} of {document}, but its text in corpus "
                    f"{self.name!r} has {len(self.texts[source])}: index the file that the questions were made for."
                )
            spans.append((source, start, end))
        for document, quote in question.quotes:
            source = self._source(document, question)
            place = find_quote(quote, self.texts[source], 0, len(self.texts[source]))
            if place is None:
                raise NotFoundError(
                    f"Question {question.id} quotes {quote[:60]!r}, which is not in {document} as corpus "
                    f"{self.name!r} has it: index the file that the questions were made for."
                )
            spans.append((source, *place))
        sources = frozenset(self._source(document, question) for document in question.documents)
        return Gold(sources, tuple(spans), tuple(map(content_words, question.statements)))

    def _source(self, document: str, question: Question) -> str:
        found = self._keys.get(document, set())
        if len(found) == 1:
            return next(iter(found))
        what = f"{len(found)} documents of that name are in" if found else "no document of that name is in"
        raise NotFoundError(
            f"Question {question.id} wants the document {document!r}, but {what} corpus {self.name!r}: index what the "
            "questions were made for into a corpus of its own, or name the right one."
        )

    # --- what was retrieved ----------------------------------------------------------------------------

    def pieces(self, passages: Sequence[Passage], budget: int | None = None) -> list[Piece]:
        """Passages in their order, up to `budget` tokens; the last one is cut to fit."""
        found: list[Piece] = []
        left = budget
        for passage in passages:
            cut = len(passage.text)
            if left is not None:
                if left <= 0:
                    break
                tokens, cut = self._fit(passage, left)
                left -= tokens
            found.append(self._summary(passage, cut) if passage.level else _text(passage, cut))
        return found

    def _summary(self, passage: Passage, cut: int) -> Piece:
        """A summary shows those characters of the document that it quotes, not all that it stands for."""
        key = passage.nodes[0] if passage.nodes else passage.text
        if key not in self._quoted:
            text = self.texts.get(passage.source, "")
            self._quoted[key] = quotations(passage.text, text, passage.start, passage.end)
        return Piece(passage.source, passage.text[:cut], tuple(span for end, span in self._quoted[key] if end <= cut))

    def _fit(self, passage: Passage, budget: int) -> tuple[int, int]:
        """The tokens of a passage that fit into a budget, and how many of its characters they are."""
        own = bool(passage.level) or passage.source not in self.texts
        key = passage.text if own else passage.source
        if key not in self._tokens:
            spans = np.array(self.token_spans(passage.text if own else self.texts[key])).reshape(-1, 2)
            self._tokens[key] = (spans[:, 0], spans[:, 1])
        starts, ends = self._tokens[key]
        begin = 0 if own else passage.start
        first = int(np.searchsorted(ends, begin, side="right"))
        after = int(np.searchsorted(starts, begin + len(passage.text), side="left"))
        if after - first <= budget:
            return after - first, len(passage.text)
        return budget, int(ends[first + budget - 1]) - begin


def _text(passage: Passage, cut: int) -> Piece:
    return Piece(passage.source, passage.text[:cut], ((passage.start, passage.start + cut),))


def find_quote(quote: str, text: str, start: int, end: int) -> Span | None:
    """Where a text holds a quote between two places, whatever white space either has; None: nowhere."""
    pattern = r"\s+".join(map(re.escape, quote.split()))
    found = re.compile(pattern).search(text, start, end) if pattern else None
    return found.span() if found else None


def quotations(summary: str, text: str, start: int, end: int) -> list[tuple[int, Span]]:
    """The sentences of a summary that quote a text: where each ends in the summary, and its span in the text."""
    found = []
    for sentence in re.finditer(r"\S.*?(?:[.!?][\"'”’)]*(?=\s)|$)", summary, re.DOTALL):
        if len(sentence.group()) >= SHORTEST_QUOTE:
            span = find_quote(sentence.group(), text, start, end)
            if span:
                found.append((sentence.end(), span))
    return found
