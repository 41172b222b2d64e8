"""Read question files, and locate their gold in an indexed corpus.

A question file is JSON Lines. Each line has `question`, and what to score in one or more of these fields:
`gold_passages`   [id]: documents, by file name, by source, or by the id of a passage in a JSON Lines file
`evidence`        [[start, end]] with `book`: character spans of the document with that file name
                  [{"document": id, "quote": text}]: text of a document; white space may differ
                  [{"document": id, "start": start, "end": end}]: characters of a document
                  [statement]: a fact, in any wording
`answer`          text: the right answer
Optional fields: `id`; `type` or `question_type`; for questions with an answer `aliases`, other right answers, and
`options`, 2 to 26 texts to choose from, of which `answer` is one. For a question that follows others: `history`,
[{"question": text, "answer": text}], the latest last, and `written_out`, the question as it would be asked alone.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from string import ascii_uppercase
from typing import Any, Literal, TypeAlias

import numpy as np

from e2g_neo4j.errors import InputError, NotFoundError
from e2g_neo4j.evaluation.words import content_words
from e2g_neo4j.types.results import Passage, Turn

Span: TypeAlias = tuple[int, int]
TokenSpans: TypeAlias = Callable[[str], Sequence[Span]]

HistoryKind: TypeAlias = Literal["full", "questions", "none", "written-out"]
"""What of its history a question is asked with: all, the earlier questions without their answers, nothing, or nothing,
but the question written out."""

SHORTEST_QUOTE = 20
"""Minimum characters of a summary sentence to count as a quotation. Shorter ones match by chance."""


# --- question files ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its gold.

    Attributes:
        id: Id of the question.
        question: The question.
        type: Type of the question, if any.
        book: File name of the document that the question is about, if any.
        documents: Ids of the gold documents.
        spans: Gold evidence as (document, start, end).
        quotes: Gold evidence as (document, text).
        statements: Gold evidence as facts.
        answer: The right answer, if known: one of the options, if there are any.
        aliases: Other right answers.
        options: The options to choose from, if any.
        history: Earlier turns of the conversation, if any.
        written_out: The question as it would be asked without them, if it needs them.
    """

    id: str
    question: str
    type: str | None = None
    book: str | None = None
    documents: tuple[str, ...] = ()
    spans: tuple[tuple[str, int, int], ...] = ()
    quotes: tuple[tuple[str, str], ...] = ()
    statements: tuple[str, ...] = ()
    answer: str | None = None
    aliases: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()
    written_out: str | None = None

    def apply_history(self, history: HistoryKind) -> Question:
        """Return the question with what `HistoryKind` says of its history."""
        match history:
            case "questions":
                return replace(self, history=tuple(Turn(turn.question) for turn in self.history))
            case "none":
                return replace(self, history=())
            case "written-out":
                return replace(self, question=self.alone, history=())
        return self

    @property
    def alone(self) -> str:
        """The question as it would be asked alone."""
        return self.written_out or self.question

    @property
    def has_evidence(self) -> bool:
        """Whether retrieval can be scored."""
        return bool(self.documents or self.spans or self.quotes or self.statements)


def read_questions(path: Path, *, without_gold: bool = False) -> list[Question]:
    """Read a question file.

    Args:
        path: The file.
        without_gold: Whether questions may have neither evidence nor an answer. Then their answers can only be judged.

    Raises:
        InputError: The file cannot be read, or a line is invalid. The message names the line.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read the question file {path} ({error}): pass a JSON Lines file.") from error
    questions: dict[str, Question] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                question = _question(json.loads(line), number, without_gold=without_gold)
                require(question.id not in questions, f"duplicate id {question.id!r}")
            except (ValueError, RecursionError) as error:
                raise InputError(
                    f"{path}, line {number}: {error}. Correct the line. A file of NovelQA or InfiniteBench is "
                    "converted by benchmarks/convert_questions.py of the repository."
                ) from error
            questions[question.id] = question
    if not questions:
        raise InputError(f"The question file {path} has no questions: write one JSON object per line.")
    return list(questions.values())


def _question(fields: Any, number: int, *, without_gold: bool) -> Question:
    """Parse a question. Raise ValueError if it is invalid."""
    require(isinstance(fields, dict), "not a JSON object")
    text, book = fields.get("question"), fields.get("book")
    kind = fields.get("type", fields.get("question_type"))
    require(isinstance(text, str) and text.strip(), "the field question is missing or not text")
    text.encode()  # raises ValueError for an unpaired surrogate
    require(isinstance(book, str | None) and isinstance(kind, str | None), "book and type must be text")
    gold, evidence = fields.get("gold_passages") or [], fields.get("evidence") or []
    require(isinstance(gold, list) and all(map(_is_id, gold)), "gold_passages must be a list of ids")
    require(isinstance(evidence, list), "evidence must be a list")
    answer, aliases, options = _answer(fields)
    history, written_out = _history(fields)
    require(gold or evidence or answer or without_gold, "gold_passages, evidence and answer are all missing")
    spans, quotes, statements = [], [], []
    for one in evidence:
        match one:
            case [int(start), int(end)] if 0 <= start < end and not isinstance(start, bool) and end is not True:
                require(book, "evidence by characters requires the field book")
                spans.append((book, start, end))
            case {"document": document, "start": int(start), "end": int(end)} if _is_id(document) and 0 <= start < end:
                spans.append((str(document), start, end))
            case {"document": document, "quote": str(quote)} if _is_id(document) and quote.strip():
                quotes.append((str(document), quote))
            case str(statement) if content_words(statement):
                statements.append(statement)
            case _:
                raise ValueError(
                    f"evidence {json.dumps(one, ensure_ascii=False)[:80]} is neither [start, end] nor "
                    '{"document": …, "quote": …} nor a statement with content words'
                )
    return Question(
        id=str(number if fields.get("id") is None else fields["id"]),
        question=text,
        type=kind,
        book=book,
        documents=tuple(dict.fromkeys(map(str, gold))),
        spans=tuple(spans),
        quotes=tuple(quotes),
        statements=tuple(statements),
        answer=answer,
        aliases=aliases,
        options=options,
        history=history,
        written_out=written_out,
    )


def _history(fields: dict[str, Any]) -> tuple[tuple[Turn, ...], str | None]:
    """Parse the earlier turns, and the question without them. Raise ValueError if they are invalid."""
    turns, written_out = fields.get("history") or [], fields.get("written_out")
    require(isinstance(turns, list), "history must be a list of turns")
    for turn in turns:
        valid = isinstance(turn, dict) and turn.keys() <= {"question", "answer"} and is_text(turn.get("question"))
        require(valid and isinstance(turn.get("answer", ""), str), "a turn of history must have question and answer")
    require(written_out is None or is_text(written_out), "written_out must be text")
    return tuple(Turn(turn["question"], turn.get("answer", "")) for turn in turns), written_out


def _answer(fields: dict[str, Any]) -> tuple[str | None, tuple[str, ...], tuple[str, ...]]:
    """Parse the answer, its aliases and the options. Raise ValueError if they are invalid."""
    answer, aliases, options = fields.get("answer"), fields.get("aliases") or [], fields.get("options") or []
    require(answer is None or is_text(answer), "answer must be text")
    for name, texts in (("aliases", aliases), ("options", options)):
        require(isinstance(texts, list) and all(map(is_text, texts)), f"{name} must be a list of texts")
        require(answer is not None or not texts, f"{name} requires the field answer")
    if options:
        require(2 <= len(options) <= len(ascii_uppercase), f"options must be 2 to {len(ascii_uppercase)} texts")
        require(answer in options, f"answer {answer!r} is none of the options")
    return answer, tuple(aliases), tuple(options)


def require(condition: Any, message: str) -> None:
    """Raise ValueError with this message unless the condition is true."""
    if not condition:
        raise ValueError(message)


def is_text(value: Any) -> bool:
    """Return whether a value is a text that is not blank."""
    return isinstance(value, str) and bool(value.strip())


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


# --- the corpus --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold of a question: sources, spans (source, start, end), and content words of statements."""

    sources: frozenset[str]
    spans: tuple[tuple[str, int, int], ...]
    statements: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A retrieved passage, possibly truncated, and the spans of its document that it shows."""

    source: str
    text: str
    shows: tuple[Span, ...]


@dataclass(slots=True)
class IndexedCorpus:
    """The texts of an indexed corpus, from rows of `evaluate/chunks`."""

    name: str
    token_spans: TokenSpans
    texts: dict[str, str] = field(default_factory=dict)
    _keys: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _tokens: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    _quoted: dict[str, list[tuple[int, Span]]] = field(default_factory=dict)

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Add complete documents. Texts are reconstructed from chunks; gaps between chunks are white space."""
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
            for at, character in enumerate(source):
                if character == "#":
                    self._keys[source[at + 1 :]].add(source)

    def gold(self, question: Question) -> Gold:
        """Locate the gold of a question. Raises NotFoundError if the corpus does not have it."""
        spans = []
        for document, start, end in question.spans:
            source = self._source(document, question)
            if end > len(self.texts[source]):
                raise NotFoundError(
                    f"The gold of question {question.id} is characters {start}-{end} of {document}, but its text in "
                    f"corpus {self.name!r} has {len(self.texts[source])}: index the file that the questions are for."
                )
            spans.append((source, start, end))
        for document, quote in question.quotes:
            source = self._source(document, question)
            place = find_quote(quote, self.texts[source], 0, len(self.texts[source]))
            if place is None:
                raise NotFoundError(
                    f"Question {question.id} quotes {quote[:60]!r}, which is not in {document} in corpus "
                    f"{self.name!r}: index the file that the questions are for."
                )
            spans.append((source, *place))
        sources = frozenset(self._source(document, question) for document in question.documents)
        return Gold(sources, tuple(spans), tuple(map(content_words, question.statements)))

    def _source(self, document: str, question: Question) -> str:
        found = {document} if document in self.texts else self._keys.get(document, set())
        if len(found) == 1:
            return next(iter(found))
        number = f"{len(found)} documents" if found else "no document"
        raise NotFoundError(
            f"The gold of question {question.id} is the document {document!r}, but corpus {self.name!r} has {number} "
            "of that name: index the files that the questions are for into a separate corpus, or name the right corpus."
        )

    # --- what was retrieved ----------------------------------------------------------------------------

    def pieces(self, passages: Sequence[Passage], budget: int | None = None) -> list[Piece]:
        """Return passages in order, up to `budget` tokens. The last one is truncated."""
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
        """Convert a summary. It shows the spans that it quotes, not all of the summarised text."""
        key = passage.nodes[0] if passage.nodes else passage.text
        if key not in self._quoted:
            text = self.texts.get(passage.source, "")
            self._quoted[key] = quotations(passage.text, text, passage.start, passage.end)
        return Piece(passage.source, passage.text[:cut], tuple(span for end, span in self._quoted[key] if end <= cut))

    def _fit(self, passage: Passage, budget: int) -> tuple[int, int]:
        """Return how many tokens of a passage fit into a budget, and how many characters these are."""
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
    """Return the span of a quote in a range of a text, or None. White space may differ."""
    pattern = r"\s+".join(map(re.escape, quote.split()))
    found = re.compile(pattern).search(text, start, end) if pattern else None
    return found.span() if found else None


def quotations(summary: str, text: str, start: int, end: int) -> list[tuple[int, Span]]:
    """Return each sentence of a summary that quotes a range of a text: its end there, and its span in the text."""
    found = []
    for sentence in re.finditer(r"\S.*?(?:[.!?][\"'”’)]*(?=\s)|$)", summary, re.DOTALL):
        if len(sentence.group()) >= SHORTEST_QUOTE:
            span = find_quote(sentence.group(), text, start, end)
            if span:
                found.append((sentence.end(), span))
    return found


def count_covered(start: int, end: int, spans: Iterable[Span]) -> int:
    """Count the characters from start to end that are in at least one of the spans."""
    total, at = 0, start
    for first, last in sorted(spans):
        first, last = max(first, at), min(last, end)
        if first < last:
            total += last - first
            at = last
    return total
