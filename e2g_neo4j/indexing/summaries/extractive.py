"""Extractive summaries: the most important sentences of a text, in reading order, without a language model.

Sentences are ranked by TextRank (Mihalcea and Tarau 2004) on the similarity of their vectors. They are picked one by
one, by rank, new frequent names and low repetition (maximal marginal relevance, Carbonell and Goldstein 1998).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.indexing.summaries.base import SummaryInput
from e2g_neo4j.types.documents import Vectors
from e2g_neo4j.types.graph import Sentence
from e2g_neo4j.types.ties import first_best

NAMES_WEIGHT = 2.5
"""The weight of all names of a text together, relative to the best rank."""

NAMES_FADE = 0.4
"""The factor for the weight of a name after each picked sentence that mentions it."""

REPETITION_WEIGHT = 0.7
"""The penalty for repetition, relative to the best rank."""

TIE = 1e-3
"""Maximum difference of equal scores. The first of such sentences is picked. Rounding changes the cosines of 32-bit
vectors by less than 1e-6."""

_DAMPING = 0.85
"""The damping factor of PageRank: the share of a sentence's rank that goes to similar sentences."""

_FAINT = 0.01
"""Constant similarity of a sentence to all sentences together. It is negligible in real texts. If all sentences are
equally similar, it prevents that rounding decides."""

_SHORTEST, _LONGEST = 8, 80
"""Minimum and maximum tokens of preferred sentences."""

_SAYS_ENOUGH = 20
"""Tokens of a self-contained sentence. The rank of shorter sentences is reduced."""

_ENDS = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
_CAPITALISED = re.compile(r"(?<=[\w,;:)”’\"'] )[^\W\d_a-zß-öø-ÿ][\w’'-]*")


class ExtractiveSummariser:
    """Picks sentences. Needs the sentences of every text and their vectors.

    Args:
        token_spans: the tokenizer that counts the budget.
        budget: the maximum number of tokens of a summary, which is never exceeded.
    """

    concurrency = 1
    needs_sentences = True

    def __init__(self, token_spans: Callable[[str], Sequence[tuple[int, int]]], *, budget: int = 400) -> None:
        self._token_spans = token_spans
        self._budget = budget
        self.name = f"extractive-{budget}"

    def summarise(self, prose: SummaryInput) -> SummaryInput:
        if prose.vectors is None or len(prose.vectors) != len(prose.sentences):
            raise ValueError("An extractive summary needs the sentences of the text and a vector for each.")
        texts = [_tidy(prose.text[s.start : s.end]) for s in prose.sentences]
        sizes = [len(self._token_spans(text)) for text in texts]
        usable = _usable(texts, sizes)
        rank = _rank(prose.vectors[usable]) * np.minimum(1, np.array([sizes[i] for i in usable]) / _SAYS_ENOUGH)
        names = [_names(texts[i], prose.sentences[i]) for i in usable]
        worth = _worth(names, prose.counts)
        picked = _pick(rank, names, worth, prose.vectors[usable], [sizes[i] for i in usable], self._budget)
        chosen = sorted(usable[i] for i in picked)
        while chosen and len(self._token_spans(" ".join(texts[i] for i in chosen))) > self._budget:
            chosen.pop()  # only if a tokenizer counts more tokens for the whole text than for its parts
        if not chosen:
            best = usable[first_best(rank, TIE)]
            texts[best] = self._cut(texts[best])
            chosen = [best]
        return _join_sentences(prose, prose.vectors, texts, chosen)

    def _cut(self, text: str) -> str:
        """Return as many words as the budget allows, and an ellipsis."""
        end = self._token_spans(text)[max(self._budget - 2, 0)][0]
        while True:
            space = text.rfind(" ", 0, end)
            end = space if space > 0 else end - 1
            cut = f"{text[:end].rstrip(' ,;:')}…"
            if len(self._token_spans(cut)) <= self._budget or end <= 1:
                return cut


def _usable(texts: Sequence[str], sizes: Sequence[int]) -> list[int]:
    """Return well-formed sentences: no headings, table rows, fragments or long paragraphs. All, if there are none."""

    def reads_well(text: str, size: int) -> bool:
        letters = [c for c in text if c.isalpha()]
        return (
            _SHORTEST <= size <= _LONGEST
            and bool(_ENDS.search(text))
            and not text[0].islower()
            and _quotes_close(text)  # else it begins or ends within a quotation
            and len(letters) > 0.6 * len(text)
            and sum(map(str.isupper, letters)) < 0.4 * len(letters)
        )

    found = [i for i, (text, size) in enumerate(zip(texts, sizes, strict=True)) if reads_well(text, size)]
    return found or [i for i, size in enumerate(sizes) if size] or list(range(len(texts)))


def _quotes_close(text: str) -> bool:
    curled = "".join(c for c in text if c in "“”")
    return text.count('"') % 2 == 0 and curled == "“”" * (len(curled) // 2)


def _rank(vectors: Vectors) -> NDArray[np.float64]:
    """Compute PageRank over sentences. The weight of an edge is the similarity above the average of this text."""
    rows = vectors.astype(np.float64)
    alike = rows @ rows.T
    number = len(alike)
    np.fill_diagonal(alike, 0)
    usual = alike.sum() / max(number * (number - 1), 1)
    alike = np.clip(alike - usual, 0, None)
    np.fill_diagonal(alike, 0)
    steps = (alike + _FAINT / number) / (alike.sum(axis=1, keepdims=True) + _FAINT)
    # Solved, not iterated, because the number of iterations may depend on rounding.
    rank = np.linalg.solve(np.eye(number) - _DAMPING * steps.T, np.full(number, (1 - _DAMPING) / number))
    scaled: NDArray[np.float64] = rank / rank.max()
    return scaled


def _names(text: str, sentence: Sentence) -> frozenset[str]:
    """Return the entities of a sentence that are capitalised, not counting the first word of the sentence."""
    capitalised = {word.casefold() for found in _CAPITALISED.findall(text) for word in re.split(r"[’'-]", found)}
    return frozenset(entity for entity in sentence.entities if not capitalised.isdisjoint(entity.split()))


def _worth(names: Sequence[frozenset[str]], counts: Mapping[str, int]) -> dict[str, float]:
    """Return the weight of each name: its share of all mentions in the text that the summary covers, at all levels.

    A name that occurs once has no weight, or lists of minor names would displace the main ones.
    """
    often = {name: counts.get(name, 0) - 1 for found in names for name in found}
    total = sum(often.values())
    return {name: NAMES_WEIGHT * max(count, 0) / max(total, 1) for name, count in often.items()}


def _pick(
    rank: NDArray[np.float64],
    names: Sequence[frozenset[str]],
    worth: dict[str, float],
    vectors: Vectors,
    sizes: Sequence[int],
    budget: int,
) -> list[int]:
    repetition = np.zeros(len(rank))
    picked: list[int] = []
    scraps = budget // 20
    left = list(range(len(rank)))
    while left := [i for i in left if sizes[i] <= budget]:
        if budget < scraps:
            break  # only fragments would fit
        scores = [rank[i] + sum(worth[name] for name in names[i]) - REPETITION_WEIGHT * repetition[i] for i in left]
        best = left[first_best(scores, TIE)]
        picked.append(best)
        left.remove(best)
        budget -= sizes[best]
        for name in names[best]:
            worth[name] *= NAMES_FADE
        repetition = np.maximum(repetition, vectors @ vectors[best])
    return picked


def _tidy(text: str) -> str:
    """Return a sentence on one line, without a quotation mark that is closed or opened in another sentence."""
    text = " ".join(text.split())
    text = re.sub(r'^["”’»]\s+(?=\S)', "", text)
    if text.count('"') % 2:
        text = text[1:] if text.startswith('"') else text.removesuffix('"')
    if text.count("“") > text.count("”"):
        text = text.removeprefix("“")
    elif text.count("“") < text.count("”"):
        text = text.removesuffix("”")
    return text.strip()


def _join_sentences(prose: SummaryInput, vectors: Vectors, texts: Sequence[str], chosen: Sequence[int]) -> SummaryInput:
    """Join the chosen sentences to a summary."""
    sentences = []
    start = 0
    for i in chosen:
        sentences.append(Sentence(start, start + len(texts[i]), prose.sentences[i].entities))
        start += len(texts[i]) + 1
    return SummaryInput(" ".join(texts[i] for i in chosen), tuple(sentences), vectors[list(chosen)], prose.counts)
