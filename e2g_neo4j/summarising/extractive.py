"""Summaries without a language model: the sentences of a text that say most of it, in reading order.

Sentences are ranked by TextRank (Mihalcea and Tarau 2004) on the similarity of their vectors, and picked one by one
for rank, for frequent names that no picked sentence has yet, and against repetition (maximal marginal relevance,
Carbonell and Goldstein 1998).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.model import Sentence, Vectors
from e2g_neo4j.summarising.tree import Prose

NAMES_WEIGHT = 2.5
"""What all names of a text together are worth, where the best rank is worth 1."""

NAMES_FADE = 0.4
"""What is left of a name's worth each time that a picked sentence has it."""

REPETITION_WEIGHT = 0.7
"""What saying the same again costs, where the best rank is worth 1."""

_SHORTEST, _LONGEST = 8, 80
"""Tokens of a sentence that is worth quoting, if there are such."""

_SAYS_ENOUGH = 20
"""Tokens of a sentence that stands on its own; the rank of a shorter one counts for less."""

_ENDS = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
_CAPITALISED = re.compile(r"(?<=[\w,;:)”’\"'] )[^\W\d_a-zß-öø-ÿ][\w’'-]*")


class ExtractiveSummariser:
    """Picks sentences. Needs every text's sentences and their vectors.

    Args:
        token_spans: the tokenizer that the budget is counted with.
        budget: tokens that a summary may have; never exceeded.
    """

    concurrency = 1
    needs_sentences = True

    def __init__(self, token_spans: Callable[[str], Sequence[tuple[int, int]]], *, budget: int = 400) -> None:
        self._token_spans = token_spans
        self._budget = budget
        self.name = f"extractive-{budget}"

    def summarise(self, prose: Prose) -> Prose:
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
            chosen.pop()  # only a tokenizer that counts more for the whole than for its parts comes here
        if not chosen:
            best = usable[int(np.argmax(rank))]
            texts[best] = self._cut(texts[best])
            chosen = [best]
        return _quoted(prose, prose.vectors, texts, chosen)

    def _cut(self, text: str) -> str:
        """As many words as the budget allows, and an ellipsis."""
        end = self._token_spans(text)[max(self._budget - 2, 0)][0]
        while True:
            space = text.rfind(" ", 0, end)
            end = space if space > 0 else end - 1
            cut = f"{text[:end].rstrip(' ,;:')}…"
            if len(self._token_spans(cut)) <= self._budget or end <= 1:
                return cut


def _usable(texts: Sequence[str], sizes: Sequence[int]) -> list[int]:
    """Sentences that read as such: no headings, rows of tables, scraps or run-on paragraphs. All, if none does."""

    def reads_well(text: str, size: int) -> bool:
        letters = [c for c in text if c.isalpha()]
        return (
            _SHORTEST <= size <= _LONGEST
            and bool(_ENDS.search(text))
            and not text[0].islower()
            and _quotes_close(text)  # else it begins or ends in the middle of somebody's speech
            and len(letters) > 0.6 * len(text)
            and sum(map(str.isupper, letters)) < 0.4 * len(letters)
        )

    found = [i for i, (text, size) in enumerate(zip(texts, sizes, strict=True)) if reads_well(text, size)]
    return found or [i for i, size in enumerate(sizes) if size] or list(range(len(texts)))


def _quotes_close(text: str) -> bool:
    curled = "".join(c for c in text if c in "“”")
    return text.count('"') % 2 == 0 and curled == "“”" * (len(curled) // 2)


def _rank(vectors: Vectors) -> NDArray[np.float64]:
    """PageRank over sentences; an edge weighs how much more alike two are than two of this text usually are."""
    alike = (vectors @ vectors.T).astype(np.float64)
    np.fill_diagonal(alike, 0)
    if len(alike) > 1:
        usual = alike.sum() / (len(alike) * (len(alike) - 1))
        alike = np.clip(alike - usual, 0, None)
        np.fill_diagonal(alike, 0)
    ranks = nx.pagerank(nx.from_numpy_array(alike), weight="weight")
    rank = np.array([ranks[i] for i in range(len(alike))])
    scaled: NDArray[np.float64] = rank / rank.max()
    return scaled


def _names(text: str, sentence: Sentence) -> frozenset[str]:
    """The entities of a sentence that it writes with a capital other than the sentence's first."""
    capitalised = {word.casefold() for found in _CAPITALISED.findall(text) for word in re.split(r"[’'-]", found)}
    return frozenset(entity for entity in sentence.entities if not capitalised.isdisjoint(entity.split()))


def _worth(names: Sequence[frozenset[str]], counts: Mapping[str, int]) -> dict[str, float]:
    """What each name is worth: its share of all mentions in the text that the summary stands for, however far down.

    A name that occurs once is worth nothing, or lists of passers-by would push the story's people out.
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
    left = set(range(len(rank)))
    while left := {i for i in left if sizes[i] <= budget}:
        if budget < scraps:
            break  # only scraps would fit
        best = max(
            left,
            key=lambda i: (rank[i] + sum(worth[name] for name in names[i]) - REPETITION_WEIGHT * repetition[i], -i),
        )
        picked.append(best)
        left.remove(best)
        budget -= sizes[best]
        for name in names[best]:
            worth[name] *= NAMES_FADE
        repetition = np.maximum(repetition, vectors @ vectors[best])
    return picked


def _tidy(text: str) -> str:
    """A sentence on one line, without a quotation mark whose partner is in another sentence."""
    text = " ".join(text.split())
    text = re.sub(r'^["”’»]\s+(?=\S)', "", text)
    if text.count('"') % 2:
        text = text[1:] if text.startswith('"') else text.removesuffix('"')
    if text.count("“") > text.count("”"):
        text = text.removeprefix("“")
    elif text.count("“") < text.count("”"):
        text = text.removesuffix("”")
    return text.strip()


def _quoted(prose: Prose, vectors: Vectors, texts: Sequence[str], chosen: Sequence[int]) -> Prose:
    """The chosen sentences as a text, with what is known of them."""
    sentences = []
    start = 0
    for i in chosen:
        sentences.append(Sentence(start, start + len(texts[i]), prose.sentences[i].entities))
        start += len(texts[i]) + 1
    return Prose(" ".join(texts[i] for i in chosen), tuple(sentences), vectors[list(chosen)], prose.counts)
