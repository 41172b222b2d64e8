"""Windows as units of ranking, and the choice of windows that fit a budget.

A chunk of 1200 tokens has about five windows, and a question is rarely about all of them. So the modes rank windows,
and k chunks mean as many windows as have the text of k chunks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from e2g_neo4j.retrieval.passages import TIE
from e2g_neo4j.types.results import Reference
from e2g_neo4j.types.ties import best_first

T = TypeVar("T")

POOL = 30.0
"""With the topic persistence p of its document, a window of the pool takes up 1 / (1 + POOL * (p - POOL_FROM)) of its
length. So in documents that stay with a topic, more windows are merged into runs before the best runs are kept."""

POOL_FROM = 0.45
"""Up to this topic persistence, the pool is as large as the budget, so that no window is kept for its neighbours. Texts
bound into one (.43) lost .07 of the evidence at k = 5 with a larger pool. On a medical guide (.51), a POOL of 110 finds
more statements, whose words one passage has to have, but fewer places."""

WINDOWS_PER_CHUNK = 12
"""Windows that a mode ranks per requested chunk: the five of a chunk, and as many again for the pool."""

SMALLEST_WINDOW = 100
"""With a budget in tokens, one window is ranked per this many tokens. Short passages have about as many."""

SMALLEST_CHUNK = 200
"""With a budget in tokens, modes that rank whole chunks rank one per this many tokens."""

CUT = 120
"""With a budget in tokens, windows for this many more are chosen, because the last one is cut. Half a window; a whole
one makes no difference."""

ROUNDING = 1e-9

Origin: TypeAlias = Literal["vector", "question", "seed", "neighbour"]
"""How mode `routes` has found a window: among the nearest; by an entity of the question; by an entity of the nearest
windows; by a neighbour of these entities. Of several, the first."""

ORIGINS: tuple[Origin, ...] = get_args(Origin)


@dataclass(slots=True)
class Window:
    """A window of a chunk.

    Attributes:
        chunk: Id of its chunk.
        number: Number within the chunk, from 0.
        document: Id of its document.
        index: Number of the chunk in the document.
        last: Whether it is the last window of its chunk.
        share: Its fraction of the chunk's text.
        tokens: Its length in tokens, about.
        persistence: Topic persistence of its document, from 0 to 1.
        origin: How it was found, in mode `routes`.
        signals: What each signal contributes to its score, in modes `auto` and `diffusion`.
        referred: What refers to its document, if the window is ranked because of this.
    """

    chunk: str
    number: int
    document: str
    index: int
    last: bool
    share: float
    tokens: float
    persistence: float
    origin: Origin | None = None
    signals: dict[str, float] = field(default_factory=dict, compare=False)
    referred: Reference | None = field(default=None, compare=False)

    @property
    def id(self) -> str:
        return f"{self.chunk}-w{self.number}"

    def follows(self, before: Window) -> bool:
        """Return whether this is the next window of the same document."""
        if self.document != before.document:
            return False
        if self.index == before.index:
            return self.number == before.number + 1
        return self.index == before.index + 1 and before.last and self.number == 0


@dataclass(frozen=True, slots=True)
class Budget:
    """How much text to return: at most `chunks` chunks' worth of windows, and at most `tokens` tokens if not None."""

    chunks: int
    tokens: int | None = None

    def windows_to_read(self) -> int:
        """Return how many windows a mode ranks for this budget."""
        by_chunks = WINDOWS_PER_CHUNK * self.chunks
        return by_chunks if self.tokens is None else min(by_chunks, max(20, math.ceil(self.tokens / SMALLEST_WINDOW)))

    def chunks_to_read(self) -> int:
        """Return how many chunks a mode that ranks whole chunks returns for this budget."""
        return self.chunks if self.tokens is None else min(self.chunks, math.ceil(self.tokens / SMALLEST_CHUNK))

    def cost(self, window: Window) -> float:
        """Return the fraction of the budget that a window takes up. It is at most 1: the best window may be cut."""
        by_chunks = window.share / self.chunks
        return by_chunks if self.tokens is None else min(1.0, max(by_chunks, window.tokens / (self.tokens + CUT)))


def windows_of(row: Mapping[str, Any]) -> list[Window]:
    """Return the windows of a chunk from a row of `signals.cypher`, `routes.cypher`, `pagerank_windows.cypher`,
    `entity_windows.cypher`, `dense.cypher` or `fulltext.cypher`."""
    shares, tokens = row["shares"], row["tokens"]
    chunk, document, index, persistence = row["chunk"], row["document"], row["index"], row["persistence"]
    last = len(shares) - 1
    return [
        Window(chunk, number, document, index, number == last, share, share * tokens, persistence)
        for number, share in enumerate(shares)
    ]


def windows_in(rows: Iterable[Mapping[str, Any]], column: str = "windows") -> Iterator[tuple[Window, Any]]:
    """Yield the windows that rows of chunks list, in reading order, each with its entry in the list.

    Args:
        rows: The rows, see `windows_of`.
        column: The column with the list. Its entries begin with the number of the window, or have it as `number`.
    """

    def number_of(entry: Any) -> int:
        return int(entry["number"] if isinstance(entry, Mapping) else entry[0])

    for row in sorted(rows, key=lambda row: (row["document"], row["index"])):
        windows = windows_of(row)
        for entry in sorted(row[column], key=number_of):
            yield windows[number_of(entry)], entry


def by_score(windows: Sequence[tuple[Window, float]]) -> list[tuple[Window, float]]:
    """Sort windows in reading order by score, highest first. Ties stay in reading order."""
    return [windows[at] for at in best_first([score for _, score in windows], TIE)]


def rank_windows(rows: Iterable[Mapping[str, Any]]) -> list[tuple[Window, float]]:
    """Return the windows of `dense.cypher` or `fulltext.cypher`, highest score first. Ties are in reading order."""
    return by_score([(window, score) for window, (_, score) in windows_in(rows, "scores")])


def round_robin(lists: Iterable[Sequence[T]]) -> list[T]:
    """Merge lists: the first item of each, then the second of each, and so on. Repeated items are left out."""
    return [item for item in dict.fromkeys(chain.from_iterable(zip_longest(*lists))) if item is not None]


def pack(ranked: Iterable[tuple[Window, float]], budget: Budget) -> list[tuple[Window, float]]:
    """Choose the windows that fit a budget, best first by the best window of their run.

    The best windows form a pool, whose size grows with the topic persistence of the documents. Windows of the pool that
    follow each other form a run. Runs are kept by their best window while they fit; of a run that does not fit, the
    part around its best window is kept.

    Args:
        ranked: Windows with their scores, best first.
    """
    pool: list[tuple[Window, float, float]] = []
    room = 1 + ROUNDING
    for window, score in ranked:
        cost = budget.cost(window)
        in_pool = cost / (1 + POOL * max(0.0, window.persistence - POOL_FROM))
        if in_pool <= room:
            pool.append((window, score, cost))
            room -= in_pool
    chosen: list[tuple[Window, float]] = []
    room = 1 + ROUNDING
    for run in _runs([window for window, _, _ in pool]):
        for rank in _around_best(run, [pool[rank][2] for rank in run], room):
            window, score, cost = pool[rank]
            chosen.append((window, score))
            room -= cost
    return chosen


def _runs(windows: Sequence[Window]) -> list[list[int]]:
    """Return the ranks of windows that follow each other in a document, in reading order; best runs first."""
    order = sorted(
        range(len(windows)), key=lambda rank: (windows[rank].document, windows[rank].index, windows[rank].number)
    )
    runs: list[list[int]] = []
    for rank in order:
        if runs and windows[rank].follows(windows[runs[-1][-1]]):
            runs[-1].append(rank)
        else:
            runs.append([rank])
    return sorted(runs, key=min)


def _around_best(run: Sequence[int], costs: Sequence[float], room: float) -> list[int]:
    """Return the ranks of a run around its best, as many as fit. They are contiguous; the better neighbour is first."""
    first = last = min(range(len(run)), key=run.__getitem__)
    if costs[first] > room:
        return []
    chosen, room = [run[first]], room - costs[first]
    while True:
        sides = [at for at in (first - 1, last + 1) if 0 <= at < len(run) and costs[at] <= room]
        if not sides:
            return chosen
        at = min(sides, key=run.__getitem__)
        first, last = min(first, at), max(last, at)
        chosen.append(run[at])
        room -= costs[at]


def chunks_of(windows: Iterable[tuple[Window, float]], k: int) -> list[tuple[str, float]]:
    """Return the first k chunks that have one of the windows, each with the score of its best window."""
    best: dict[str, float] = {}
    for window, score in windows:
        if len(best) == k:
            break
        best.setdefault(window.chunk, score)
    return list(best.items())
