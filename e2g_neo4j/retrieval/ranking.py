"""Ranking of modes `auto` and `diffusion`: windows are scored by vectors, words and entities together.

A chunk of 1200 tokens has about five windows, and a question is rarely about all of them. So windows are ranked, and k
chunks mean as many windows as have the text of k chunks. `signals.cypher` reads the data for these signals:

near    cosine of the vectors of window and question
spread  activation that the window receives through entities (one step of diffusion, see the statement)
words   BM25 of the window's text
around  BM25 of the chunk's text, and the best cosine of the chunk's windows, both weighted by the fraction of the chunk
        outside of the window

The signals are z-normalised and added. Then each window receives a fraction of the scores of its neighbours in the
document. The fraction grows with the topic persistence of the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.types.ties import best_first

Scores: TypeAlias = NDArray[np.float64]
"""One score per candidate window, shape (candidates,)."""

NEAR = 1.0
"""Weight of the cosine. The other weights are relative to it."""

ACTIVATION = 0.7
"""Weight of diffusion. This weight and the others were tuned by hand on the sets of docs/evaluation.md."""

WORDS = 0.5
"""Weight of BM25 of the window. With 1, passages and novels got worse."""

CHUNK_CONTEXT = 0.5
"""Weight of the signals of the surrounding chunk, for words and for vectors."""

RADIUS = 4
"""Number of windows on either side that contribute to a window: about one chunk."""

SMOOTHING = 1.25
"""Multiplied by the topic persistence of the document, this is the fraction that the next window contributes. The
window after it contributes the square of the fraction, and so on."""

MAX_SMOOTHING = 0.9
"""Upper limit of this fraction, so that distant windows always count less than near ones."""

SAME = 1e-6
"""Values whose standard deviation, relative to the largest value, is at most this are equal."""

TIE = 1e-4
"""Scores that differ by at most this, in standard deviations, are ties. Rounding of 32-bit vectors moves them by about
1e-6."""


@dataclass(slots=True)
class CandidateWindow:
    """A candidate window.

    Attributes:
        chunk: Id of its chunk.
        number: Number within the chunk, from 0.
        document: Id of its document.
        index: Number of the chunk in the document.
        last: Whether it is the last window of its chunk.
        share: Its fraction of the chunk's text.
        persistence: Topic persistence of its document, from 0 to 1.
        near: Cosine to the question.
    """

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

    def follows(self, before: CandidateWindow) -> bool:
        """Return whether this is the next window of the same document."""
        within = self.index == before.index and self.number == before.number + 1
        across = self.index == before.index + 1 and self.number == 0 and before.last
        return self.document == before.document and (within or across)


def candidate_windows(candidates: Sequence[dict[str, Any]]) -> list[CandidateWindow]:
    """Return the windows of the candidates of `signals.cypher` in reading order, document by document."""
    in_order = sorted(candidates, key=lambda chunk: (chunk["document"], chunk["index"]))
    return [
        CandidateWindow(
            chunk=chunk["chunk"],
            number=number,
            document=chunk["document"],
            index=chunk["index"],
            last=number == len(chunk["shares"]) - 1,
            share=share,
            persistence=chunk["persistence"],
            near=near,
        )
        for chunk in in_order
        for number, (share, near) in enumerate(zip(chunk["shares"], chunk["nears"], strict=True))
    ]


def ranked(signals: Sequence[dict[str, Any]], *, words: bool = True) -> list[tuple[CandidateWindow, float]]:
    """Rank the candidate windows, best first. Ties are in reading order.

    Args:
        signals: Rows of `signals.cypher`, one per corpus.
        words: Whether BM25 counts.
    """
    windows = candidate_windows([candidate for row in signals for candidate in row["candidates"]])
    scores = smoothed(windows, relevance(windows, signals, words))
    return [(windows[i], float(scores[i])) for i in best_first(scores, TIE)]


def relevance(windows: Sequence[CandidateWindow], signals: Sequence[dict[str, Any]], words: bool) -> Scores:
    """Score each window by the signals, without smoothing.

    Args:
        windows: The candidate windows.
        signals: Rows of `signals.cypher`, one per corpus.
        words: Whether BM25 counts.
    """
    ids, chunks = [window.id for window in windows], [window.chunk for window in windows]
    near = np.array([window.near for window in windows])
    window_words = looked_up(ids, signals, "word_ids", "word_scores")
    chunk_words = looked_up(chunks, signals, "word_chunk_ids", "word_chunk_scores")
    spread = looked_up(ids, signals, "spread_ids", "spreads")
    rest = np.array([1 - window.share for window in windows])
    best: dict[str, float] = {}
    for window in windows:
        best[window.chunk] = max(window.near, best.get(window.chunk, window.near))
    chunk_near = np.array([best[chunk] for chunk in chunks])
    lexical = WORDS * z(window_words) + CHUNK_CONTEXT * rest * z(chunk_words) if words else 0.0
    return NEAR * z(near) + CHUNK_CONTEXT * rest * z(chunk_near) + ACTIVATION * _z_of_all(spread, signals) + lexical


def looked_up(ids: Sequence[str], signals: Sequence[dict[str, Any]], id_column: str, score_column: str) -> Scores:
    """Return the score of each id from two parallel lists of the signals. Ids beyond the end of the list score 0."""
    by_id = {key: score for row in signals for key, score in zip(row[id_column], row[score_column], strict=True)}
    return np.array([by_id.get(key, 0.0) for key in ids])


def z(values: Scores) -> Scores:
    """Normalise to mean 0 and standard deviation 1. Return zeros if all values are equal up to 32-bit rounding."""
    if not values.size or values.std() <= SAME * np.abs(values).max():
        return np.zeros_like(values)
    scaled: Scores = (values - values.mean()) / values.std()
    return scaled


def _z_of_all(spread: Scores, signals: Sequence[dict[str, Any]]) -> Scores:
    """Normalise by mean and standard deviation of all windows of the corpora, so that activation counts more the fewer
    windows it reaches."""
    n = sum(row["windows"] for row in signals)
    if not n:
        return np.zeros_like(spread)
    mean = sum(row["spread_sum"] for row in signals) / n
    variance = sum(row["spread_squares"] for row in signals) / n - mean**2
    if variance <= (SAME * mean) ** 2:
        return np.zeros_like(spread)
    scaled: Scores = (spread - mean) / np.sqrt(variance)
    return scaled


def smoothed(windows: Sequence[CandidateWindow], scores: Scores) -> Scores:
    """Add a fraction of the neighbours' scores to each score.

    Args:
        windows: The candidate windows in reading order.
        scores: Their scores.
    """
    total = scores.copy()
    fraction = np.array([min(MAX_SMOOTHING, SMOOTHING * window.persistence) for window in windows])
    gaps = np.cumsum([0, *(not window.follows(before) for before, window in pairwise(windows))])
    for step in range(1, min(RADIUS, len(windows) - 1) + 1):
        weight = np.where(gaps[step:] == gaps[:-step], fraction[step:] ** step, 0.0)
        total[step:] += weight * scores[:-step]
        total[:-step] += weight * scores[step:]
    return total


def take_budget(best_first: Sequence[tuple[CandidateWindow, float]], k: float) -> list[tuple[CandidateWindow, float]]:
    """Keep the best windows that together have the text of k chunks. A window counts as its fraction of its chunk."""
    kept, left = [], k + 1e-9
    for window, score in best_first:
        if window.share <= left:
            kept.append((window, score))
            left -= window.share
    return kept
