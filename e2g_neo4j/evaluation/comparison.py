"""Compare the evidence of several retrieval modes for one question. Only the option `llm` uses a chat model.

with E2G() as e2g:
    found = compare(e2g, "Who made the chronometer?", corpus="papers", modes=["auto", "dense"])
print(found.modes["auto"].overlap["dense"])
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, Unpack

from e2g_neo4j.client import E2G
from e2g_neo4j.errors import QueryError
from e2g_neo4j.evaluation.answers import tokens_of
from e2g_neo4j.evaluation.gold import Span, count_covered
from e2g_neo4j.retrieval.options import RetrievalKeywords
from e2g_neo4j.retrieval.strategy import check_modes
from e2g_neo4j.types.results import Evidence, Passage

TextKey: TypeAlias = tuple[str, str]
"""What a passage is a part of: a document, as its source and "", or a summary, as the source and its id."""


@dataclass(frozen=True, slots=True)
class ModeEvidence:
    """The evidence of one mode.

    Attributes:
        evidence: The evidence, with route, passages and round trips.
        tokens: Length of all passages together, in tokens of the embedding model.
        milliseconds: Time of the second of two runs.
        overlap: By name of the other mode, the Jaccard index of the characters that both return: characters in both
            divided by characters in either, from 0 to 1. A summary is a text of its own: it has no character in common
            with the text that it covers. 0 if neither mode returns a passage.
        unique: For each passage, whether no other mode returns any of its characters. False if there is no other mode.
    """

    evidence: Evidence
    tokens: int
    milliseconds: float
    overlap: Mapping[str, float]
    unique: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of `compare`.

    Attributes:
        question: The question.
        corpus: The corpus that was searched.
        modes: The evidence by mode, in the order of the call.
        failed: By mode that cannot answer this question from this corpus, the reason.
    """

    question: str
    corpus: str
    modes: Mapping[str, ModeEvidence]
    failed: Mapping[str, str]


def compare(
    e2g: E2G,
    question: str,
    *,
    corpus: str,
    modes: Sequence[str],
    **retrieval: Unpack[RetrievalKeywords],
) -> Comparison:
    """Retrieve the evidence for a question in several modes.

    Args:
        e2g: The client.
        question: The question.
        corpus: The corpus to search.
        modes: The modes. Each is run twice: the first run loads models and lets the database plan its statements.
        **retrieval: Options of retrieval, see `RetrievalOptions`. With `llm`, the modes that can call the chat model do
            it; the others are asked without it.

    Returns:
        The evidence of each mode, and how much of it the modes share.

    Raises:
        QueryError: A mode is unknown, there are no modes, or none of them can answer this question from this corpus.
        E2GError: Any other error of `E2G.retrieve`.
    """
    if not modes:
        raise QueryError(f"A comparison needs at least one mode: choose among {', '.join(e2g.strategies)}.")
    llm = retrieval.get("llm", False)
    check_modes(modes, e2g.strategies, llm=llm)
    found: dict[str, Evidence] = {}
    milliseconds: dict[str, float] = {}
    errors: dict[str, QueryError] = {}
    for mode in dict.fromkeys(modes):
        try:
            retrieval |= {"mode": mode, "llm": llm and e2g.strategies[mode].calls_model}
            e2g.retrieve(question, corpus=corpus, **retrieval)
            began = time.perf_counter()
            found[mode] = e2g.retrieve(question, corpus=corpus, **retrieval)
            milliseconds[mode] = 1000 * (time.perf_counter() - began)
        except QueryError as error:
            errors[mode] = error
    if not found:
        raise next(iter(errors.values()))

    shown = {name: spans(evidence.passages) for name, evidence in found.items()}
    results: dict[str, ModeEvidence] = {}
    for name, evidence in found.items():
        others = {other: theirs for other, theirs in shown.items() if other != name}
        results[name] = ModeEvidence(
            evidence=evidence,
            tokens=tokens_of(e2g, evidence),
            milliseconds=milliseconds[name],
            overlap={other: jaccard(shown[name], theirs) for other, theirs in others.items()},
            unique=tuple(bool(others) and not shares_text(passage, others.values()) for passage in evidence.passages),
        )
    return Comparison(question, corpus, results, {name: str(error) for name, error in errors.items()})


def spans(passages: Iterable[Passage]) -> dict[TextKey, list[Span]]:
    """Return the spans of characters that passages consist of, by the text that they are in."""
    found: dict[TextKey, list[Span]] = defaultdict(list)
    for passage in passages:
        text, span = _place(passage)
        found[text].append(span)
    return dict(found)


def _place(passage: Passage) -> tuple[TextKey, Span]:
    if passage.level:
        return (passage.source, passage.nodes[0]), (0, len(passage.text))
    return (passage.source, ""), (passage.start, passage.end)


def jaccard(a: Mapping[TextKey, Sequence[Span]], b: Mapping[TextKey, Sequence[Span]]) -> float:
    """Return the characters in both divided by the characters in either, or 0 if there are none."""
    either = sum(_size([*a.get(text, ()), *b.get(text, ())]) for text in a.keys() | b.keys())
    both = sum(map(_size, a.values())) + sum(map(_size, b.values())) - either
    return both / either if either else 0.0


def _size(of: Iterable[Span]) -> int:
    return count_covered(0, sys.maxsize, of)


def shares_text(passage: Passage, others: Iterable[Mapping[TextKey, Sequence[Span]]]) -> bool:
    """Return whether one of the others has a character of this passage."""
    text, (start, end) = _place(passage)
    return any(count_covered(start, end, theirs.get(text, ())) for theirs in others)
