"""How modes `auto` and `diffusion` rank: windows by what vectors, words and entities say about them together.

A chunk of 1200 tokens holds about five windows, and a question is rarely about all of them, so that windows are
ranked, and k chunks are given as windows that make up as much text. `signals.cypher` reads what five signals need:

near    cosine of the window's and the question's vectors
spread  activation that reaches the window over entities (one step of diffusion; see the statement)
words   BM25 of the window's text
around  BM25 of its chunk's text, and the best cosine of the chunk's windows, both by the share of the chunk that is
        not the window

Scores are made comparable by z-normalisation and added. A window then gets a share of what its neighbours in the
document have, the larger the longer the document stays with one topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Scores: TypeAlias = NDArray[np.float64]
"""One number a candidate window, shape (candidates,)."""

NEAR = 1.0
"""Weight of the cosine, which the others are measured by."""

SPREAD = 0.7
"""Weight of diffusion. This and the other weights were tried by hand on the sets of docs/evaluation.md."""

WORDS = 0.5
"""Weight of BM25 of the window; 1 made passages and novels worse."""

AROUND = 0.5
"""Weight of what the chunk around the window says, in words and in vectors alike."""

REACH = 4
"""How many windows to either side lend to a window: those of about one chunk."""

LENT = 1.25
"""Times the topic persistence of the document: the share that the next window lends, the one after its square..."""

MOST_LENT = 0.9
"""... and at most so much, so that far windows always count less than near ones."""

SAME = 1e-6
"""Deviation, as a part of the largest value, from which on values differ."""


@dataclass(slots=True)
class Unit:
    """A candidate window. `share`: the part of its chunk's text that it holds; `last`: the chunk's last window;
    `persistence`: how far its document stays with a topic, from 0 to 1."""

    chunk: str
    number: int
    document: str
    index: int
    last: bool
    share: float
    persistence: float
    near: float

    @property
    def id(self) -> str:
        return f"{self.chunk}-w{self.number}"

    def follows(self, before: Unit) -> bool:
        """Whether it is the next window of the same document."""
        within = self.index == before.index and self.number == before.number + 1
        across = self.index == before.index + 1 and self.number == 0 and before.last
        return self.document == before.document and (within or across)


def units(candidates: Sequence[dict[str, Any]]) -> list[Unit]:
    """The windows of `signals.cypher`'s candidates in reading order, document by document."""
    in_order = sorted(candidates, key=lambda one: (one["document"], one["index"]))
    return [
        Unit(
            chunk=one["chunk"],
            number=number,
            document=one["document"],
            index=one["index"],
            last=number == len(one["shares"]) - 1,
            share=share,
            persistence=one["persistence"],
            near=near,
        )
        for one in in_order
        for number, (share, near) in enumerate(zip(one["shares"], one["nears"], strict=True))
    ]


def ranked(signals: Sequence[dict[str, Any]], *, words: bool = True) -> list[tuple[Unit, float]]:
    """The candidate windows of rows of `signals.cypher`, one row a corpus, best first; ties in reading order."""
    found = units([candidate for row in signals for candidate in row["candidates"]])
    scores = smoothed(found, relevance(found, signals, words))
    order = sorted(range(len(found)), key=lambda i: -scores[i])
    return [(found[i], float(scores[i])) for i in order]


def relevance(found: Sequence[Unit], signals: Sequence[dict[str, Any]], words: bool) -> Scores:
    """What the signals say of each window by itself."""
    windows = [unit.id for unit in found]
    near = np.array([unit.near for unit in found])
    own = looked_up(windows, signals, "word_ids", "word_scores")
    around = looked_up([unit.chunk for unit in found], signals, "word_chunk_ids", "word_chunk_scores")
    spread = looked_up(windows, signals, "spread_ids", "spreads")
    rest = np.array([1 - unit.share for unit in found])
    best: dict[str, float] = {}
    for unit in found:
        best[unit.chunk] = max(unit.near, best.get(unit.chunk, unit.near))
    near_around = np.array([best[unit.chunk] for unit in found])
    lexical = WORDS * z(own) + AROUND * rest * z(around) if words else 0.0
    return NEAR * z(near) + AROUND * rest * z(near_around) + SPREAD * _z_of_all(spread, signals) + lexical


def looked_up(ids: Sequence[str], signals: Sequence[dict[str, Any]], known: str, scores: str) -> Scores:
    """The score of each id; 0 where the list of those known, cut at its end, leaves one out."""
    by_id = {one: score for row in signals for one, score in zip(row[known], row[scores], strict=True)}
    return np.array([by_id.get(one, 0.0) for one in ids])


def z(values: Scores) -> Scores:
    """Mean 0 and deviation 1; zeros where all are equal but for what 32-bit vectors and scores are rounded by."""
    if not values.size or values.std() <= SAME * np.abs(values).max():
        return np.zeros_like(values)
    scaled: Scores = (values - values.mean()) / values.std()
    return scaled


def _z_of_all(spread: Scores, signals: Sequence[dict[str, Any]]) -> Scores:
    """By mean and deviation over all windows of the corpora: what is rare to be reached at all counts much."""
    n = sum(row["windows"] for row in signals)
    if not n:
        return np.zeros_like(spread)
    mean = sum(row["spread_sum"] for row in signals) / n
    variance = sum(row["spread_squares"] for row in signals) / n - mean**2
    if variance <= (SAME * mean) ** 2:
        return np.zeros_like(spread)
    scaled: Scores = (spread - mean) / np.sqrt(variance)
    return scaled


def smoothed(found: Sequence[Unit], scores: Scores) -> Scores:
    """Each score and what the neighbours lend; `found` in reading order."""
    total = scores.copy()
    share = np.array([min(MOST_LENT, LENT * unit.persistence) for unit in found])
    gaps = np.cumsum([0, *(not unit.follows(before) for before, unit in pairwise(found))])
    for step in range(1, min(REACH, len(found) - 1) + 1):
        lent = np.where(gaps[step:] == gaps[:-step], share[step:] ** step, 0.0)
        total[step:] += lent * scores[:-step]
        total[:-step] += lent * scores[step:]
    return total


def worth(best_first: Sequence[tuple[Unit, float]], k: float) -> list[tuple[Unit, float]]:
    """The first windows that make up k chunks; a window counts as its share of its chunk."""
    kept, left = [], k + 1e-9
    for unit, score in best_first:
        if unit.share <= left:
            kept.append((unit, score))
            left -= unit.share
    return kept
