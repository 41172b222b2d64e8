"""Ranking of modes `auto` and `diffusion`: windows are scored by vectors, words and entities together.

`signals.cypher` reads the data for these signals:

near    cosine of the vectors of window and question
spread  activation that the window receives through entities (one step of diffusion, see the statement)
words   BM25 of the window's text
around  BM25 of the chunk's text, and the best cosine of the chunk's windows, both weighted by the fraction of the chunk
        outside of the window

The signals are z-normalised and added. Then each window receives a fraction of the scores of its neighbours in the
document. The fraction grows with the topic persistence of the document. Last, documents that the best windows refer to,
by their titles or by hyperlinks, receive a part of the scores of these windows, on their first windows, and windows of
chunks with a pair of the question's names a constant, the more the closer the two are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import pairwise
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from e2g_neo4j.retrieval.windows import Window, windows_of
from e2g_neo4j.types.results import Reference
from e2g_neo4j.types.ties import best_first

Scores: TypeAlias = NDArray[np.float64]
"""One score per candidate window, shape (candidates,)."""

VERSION = 5
"""Version of the ranking, which evaluations print. In 3, vectors weigh more, as those of bge-small-en-v1.5 are better,
and the seeds of diffusion do not depend on how far the cosines of a model lie apart. In 4, neighbours contribute half
as much, which changes documents with a topic persistence above SMOOTHING_FROM. In 5, documents that others refer to
enter."""

NEAR = 1.5
"""Weight of the cosine. 1 was best for all-MiniLM-L6-v2, whose vectors are worse; from 1.3 to 1.6 made no difference to
bge-small-en-v1.5."""

ACTIVATION = 0.7
"""Weight of diffusion. This weight and the others were tuned by hand on the sets of docs/evaluation.md."""

WORDS = 0.5
"""Weight of BM25 of the window. With 1, passages and novels got worse."""

STRONG = 6.0
"""Above this, what entities contribute grows with its logarithm: rare names give scores of 50, beside which nothing
else counts. R@5 rose by .003 on MuSiQue and .01 on 2WikiMultiHopQA."""

CHUNK_CONTEXT = 0.5
"""Weight of the signals of the surrounding chunk, for words and for vectors."""

RADIUS = 4
"""Number of windows on either side that contribute to a window: about one chunk."""

SMOOTHING_FROM = 0.35
"""Up to this topic persistence of a document, its windows contribute nothing to their neighbours. Most novels have
about .3, a medical guide .5."""

SMOOTHING = 1.5
"""Multiplied by the topic persistence above SMOOTHING_FROM, this is the fraction that the next window contributes. The
window after it contributes the square of the fraction, and so on. On the medical guide, questions about one to four
places lose up to .04 of the evidence with 3; statements, which count if one passage has their words, gain up to .03.
On three texts bound into one (.43), contributions from .3 on cost .05."""

MAX_SMOOTHING = 0.9
"""Upper limit of this fraction, so that distant windows always count less than near ones."""

TITLED = 1.5
"""What the first window of a document receives whose title the question names."""

REFERRING = 5
"""Number of the best windows whose references count, besides those of documents that the question names. 3 or 8 made no
difference."""

NAMED = 4
"""Number of documents that the question names whose references count in full, however their windows score: of two
films, one may score far better. On 2WikiMultiHopQA, R@5 of questions that compare directors rose from .78 to .91."""

REFERENCE = 12.0
"""What the first window of a document receives at most that the best window refers to."""

REFERENCE_TEMPERATURE = 4.0
"""A window whose score is this much lower than the best one gives 1 / e as much."""

REFERRED = 0.3
"""What a document receives is divided by the number of chunks that refer to it, to this power. Without, MuSiQue lost
.03: dozens of passages name the same country."""

CLOSE = 0.9
"""What is referred to comes at most this fraction closer to what refers to it, and so after it. Without this bound, R@1
was .08 lower on 2WikiMultiHopQA and .03 on MuSiQue."""

PAIR = 0.5
"""What the windows of a chunk receive that mentions two names of the question, divided by the edges between them.
.25 and 1 found as much on four novels and MuSiQue, 2 less; pairs with nouns cost MuSiQue .007."""

FOREIGN = {"vectors": 0.2, "words": 3.0, "entities": 0.4}
"""By what the signals are multiplied if the embedding model does not know the language."""

SAME = 1e-6
"""Values whose standard deviation, relative to the largest value, is at most this are equal."""

TIE = 1e-4
"""Scores that differ by at most this, in standard deviations, are ties. Rounding of 32-bit vectors moves them by about
1e-6."""


def candidate_windows(candidates: Sequence[dict[str, Any]]) -> tuple[list[Window], Scores]:
    """Return the windows of the candidates of `signals.cypher` in reading order, document by document, and the cosine
    of each to the question. A chunk whose windows are just being deleted is left out."""
    whole = [chunk for chunk in candidates if len(chunk["nears"]) == len(chunk["shares"])]
    in_order = sorted(whole, key=lambda chunk: (chunk["document"], chunk["index"]))
    windows = [window for chunk in in_order for window in windows_of(chunk)]
    return windows, np.array([near for chunk in in_order for near in chunk["nears"]])


def rank_signals(
    signals: Sequence[dict[str, Any]],
    *,
    words: bool = True,
    named: Callable[[Set[str]], Set[str]] = lambda titles: titles,
    hops: Mapping[str, int] = MappingProxyType({}),
    foreign: bool = False,
) -> list[tuple[Window, float]]:
    """Rank the candidate windows, and those that they refer to, best first. Ties are in reading order.

    Args:
        signals: Rows of `signals.cypher`, one per corpus.
        words: Whether BM25 counts.
        named: Returns those of some titles that the question names.
        hops: Per chunk, how far two names of the question that it mentions are apart, in edges.
        foreign: Whether the embedding model does not know the language of the corpora, so that words lead.
    """
    chunks = {one["chunk"]: one for row in signals for one in row["candidates"]}
    referred = {one["chunk"]: one for row in signals for one in row["referred"] if one["chunk"] not in chunks}
    windows, near = candidate_windows([*chunks.values(), *referred.values()])
    found = np.array([window.chunk in chunks for window in windows], dtype=bool)
    parts = relevance(windows, near, signals, words, found)
    if foreign:
        parts = {name: FOREIGN[name] * part for name, part in parts.items()}
    own = sum(parts.values(), np.zeros(len(windows)))
    around = smooth(windows, own)
    parts["neighbours"] = around - own
    parts["references"] = score_references(windows, around, found, signals, named)
    parts["pairs"] = np.array([PAIR / hops[one.chunk] if one.chunk in hops else 0.0 for one in windows])
    scores = around + parts["references"] + parts["pairs"]
    for i, window in enumerate(windows):
        window.signals = {name: float(part[i]) for name, part in parts.items()}
    ranks = (i for i in best_first(scores, TIE) if found[i] or parts["references"][i])
    return [(windows[i], float(scores[i])) for i in ranks]


def score_references(
    windows: Sequence[Window],
    scores: Scores,
    found: NDArray[np.bool_],
    signals: Sequence[dict[str, Any]],
    named: Callable[[Set[str]], Set[str]],
) -> Scores:
    """Return what the first windows of documents receive that the question names, or the best windows refer to.

    Of several windows that refer to a document, it is what it receives from one of them. These windows are noted.

    Args:
        found: Which of them are candidates.
        signals: Rows of `signals.cypher`, one per corpus.
        named: Returns those of some titles that the question names.
    """
    first = {one.document: i for i, one in enumerate(windows) if not (one.index or one.number)}
    by_title = {one["document"]: one["title_key"] for row in signals for one in row["titled"]}
    names = named(set(by_title.values()))
    received = np.zeros(len(windows))
    for document, title in by_title.items():
        if document in first and title in names:
            received[first[document]] = TITLED
    before = scores + received
    best = [i for i in best_first(before, TIE) if found[i] or received[i]]
    asked = [i for i in best if received[i]][:NAMED]
    references = [one for row in signals for one in row["references"]]
    given: dict[int, float] = {}
    for i in dict.fromkeys([*asked, *best[:REFERRING]]):
        share = 1.0 if i in asked else np.exp((before[i] - before[best[0]]) / REFERENCE_TEMPERATURE)
        for one in references:
            if one["chunk"] == windows[i].chunk and windows[i].number in one["windows"]:
                to, bonus = first.get(one["document"]), REFERENCE * share / one["referring"] ** REFERRED
                if to is None:
                    continue
                bonus = min(bonus, CLOSE * (before[i] - before[to]))
                if bonus > given.get(to, 0.0):
                    given[to] = bonus
                    windows[to].referred = Reference(one["text"], windows[i].chunk)
    for to, bonus in given.items():
        received[to] += bonus
    return received


def relevance(
    windows: Sequence[Window],
    near: Scores,
    signals: Sequence[dict[str, Any]],
    words: bool,
    found: NDArray[np.bool_] | None = None,
) -> dict[str, Scores]:
    """Score each window by the signals, without smoothing.

    Args:
        near: The cosine of each to the question.
        signals: Rows of `signals.cypher`, one per corpus.
        words: Whether BM25 counts.
        found: Which of them are candidates, whose mean and deviation count. Default: all.

    Returns:
        What vectors, words (if they count) and entities contribute. The score of a window is their sum.
    """
    ids, chunks = [window.id for window in windows], [window.chunk for window in windows]
    window_words = look_up_scores(ids, signals, "word_ids", "word_scores")
    chunk_words = look_up_scores(chunks, signals, "word_chunk_ids", "word_chunk_scores")
    spread = look_up_scores(ids, signals, "spread_ids", "spreads")
    rest = np.array([1 - window.share for window in windows])
    best: dict[str, float] = {}
    for chunk, cosine in zip(chunks, near.tolist(), strict=True):
        best[chunk] = max(cosine, best.get(chunk, cosine))
    chunk_near = np.array([best[chunk] for chunk in chunks])
    return {
        "vectors": NEAR * z(near, found) + CHUNK_CONTEXT * rest * z(chunk_near, found),
        **({"words": WORDS * z(window_words, found) + CHUNK_CONTEXT * rest * z(chunk_words, found)} if words else {}),
        "entities": _flatten(ACTIVATION * _z_of_all(spread, signals)),
    }


def _flatten(scores: Scores) -> Scores:
    """Let scores above STRONG grow with their logarithm."""
    flat: Scores = np.where(scores > STRONG, STRONG * (1 + np.log(np.maximum(scores, STRONG) / STRONG)), scores)
    return flat


def look_up_scores(ids: Sequence[str], signals: Sequence[dict[str, Any]], id_column: str, score_column: str) -> Scores:
    """Return the score of each id from two parallel lists of the signals. Ids beyond the end of the list score 0."""
    by_id = {key: score for row in signals for key, score in zip(row[id_column], row[score_column], strict=True)}
    return np.array([by_id.get(key, 0.0) for key in ids])


def z(values: Scores, found: NDArray[np.bool_] | None = None) -> Scores:
    """Normalise to mean 0 and standard deviation 1, of all values or of those of `found`. Return zeros if these are
    equal up to 32-bit rounding."""
    of = values if found is None else values[found]
    if not of.size or of.std() <= SAME * np.abs(of).max():
        return np.zeros_like(values)
    scaled: Scores = (values - of.mean()) / of.std()
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


def smooth(windows: Sequence[Window], scores: Scores) -> Scores:
    """Add a fraction of the neighbours' scores to each score.

    Args:
        windows: The candidate windows in reading order.
    """
    total = scores.copy()
    persistence = np.array([window.persistence for window in windows])
    fraction = np.clip(SMOOTHING * (persistence - SMOOTHING_FROM), 0, MAX_SMOOTHING)
    gaps = np.cumsum([0, *(not window.follows(before) for before, window in pairwise(windows))])
    for step in range(1, min(RADIUS, len(windows) - 1) + 1):
        weight = np.where(gaps[step:] == gaps[:-step], fraction[step:] ** step, 0.0)
        total[step:] += weight * scores[:-step]
        total[:-step] += weight * scores[step:]
    return total
