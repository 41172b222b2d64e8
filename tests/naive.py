"""A second implementation of the entity graph and of retrieval, to test the first one against.

Written from the steps of E²GraphRAG alone: plain dictionaries, breadth-first search, cosines over all nodes. Slow
and obvious; it shares no code with the package.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

# --- the library that is indexed ---------------------------------------------------------------------


@dataclass(frozen=True)
class NaiveSentence:
    """A sentence of a document, and each occurrence of an entity in it: (name, first character)."""

    start: int
    end: int
    occurrences: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class NaiveChunk:
    id: str
    index: int
    start: int
    end: int
    vector: tuple[float, ...]


@dataclass(frozen=True)
class NaiveSummary:
    id: str
    level: int
    index: int
    text: str
    children: tuple[str, ...]
    vector: tuple[float, ...]


@dataclass(frozen=True)
class NaiveDocument:
    id: str
    text: str
    sentences: tuple[NaiveSentence, ...]
    chunks: tuple[NaiveChunk, ...]
    summaries: tuple[NaiveSummary, ...]

    def chunk_text(self, chunk: NaiveChunk) -> str:
        return self.text[chunk.start : chunk.end]

    def counts(self, chunk: NaiveChunk) -> dict[str, int]:
        """How often each entity occurs in the text of a chunk."""
        counts: dict[str, int] = {}
        for sentence in self.sentences:
            for name, place in sentence.occurrences:
                if chunk.start <= place and place + len(name) <= chunk.end:
                    counts[name] = counts.get(name, 0) + 1
        return counts

    def leaves(self, node: str) -> list[NaiveChunk]:
        """The chunks below a node of the tree; a chunk is its own."""
        for chunk in self.chunks:
            if chunk.id == node:
                return [chunk]
        for summary in self.summaries:
            if summary.id == node:
                return [leaf for child in summary.children for leaf in self.leaves(child)]
        raise KeyError(node)


# --- step 3 of indexing: the graph -------------------------------------------------------------------


def edges_of(documents: list[NaiveDocument]) -> dict[tuple[str, str], tuple[int, float]]:
    """(a, b), a < b → in how many sentences both occur, and the sum over these of 1 / entities in the sentence.

    Counted over whole documents: chunks play no part, so a sentence in an overlap cannot count twice.
    """
    edges: dict[tuple[str, str], tuple[int, float]] = {}
    for document in documents:
        for sentence in document.sentences:
            names = {name for name, _ in sentence.occurrences}
            for a in names:
                for b in names:
                    if a < b:
                        count, weight = edges.get((a, b), (0, 0.0))
                        edges[a, b] = (count + 1, weight + 1 / len(names))
    return edges


# --- query time --------------------------------------------------------------------------------------


@dataclass
class NaivePassage:
    document: str
    level: int
    start: int
    end: int
    text: str
    nodes: list[str]
    pairs: list[tuple[str, str, int]] = field(default_factory=list)


@dataclass
class NaiveAnswer:
    route: str
    entities: list[str]
    pairs: set[tuple[str, str, int]]
    hops: int
    trace: list[tuple[int, int, int]]
    chosen: list[str]
    passages: list[NaivePassage]


def ask(documents: list[NaiveDocument], names: list[str], vector: list[float], *, k: int, h: int) -> NaiveAnswer:
    """The six steps. `chosen` are the nodes before duplicates are dropped and neighbours merged, best first."""
    mentioned = {name for d in documents for chunk in d.chunks for name in d.counts(chunk)}
    entities = [name for number, name in enumerate(names) if name in mentioned and name not in names[:number]]
    graph: dict[str, set[str]] = {}
    for a, b in edges_of(documents):
        graph.setdefault(a, set()).add(b)
        graph.setdefault(b, set()).add(a)

    if not entities:
        chosen = [node for node, _ in nearest(documents, vector)][:k]
        return NaiveAnswer("global", [], set(), h, [(h, 0, 0)], chosen, merged(documents, chosen, {}))

    distance: dict[tuple[str, str], int] = {}
    for a, b in combinations(sorted(entities), 2):
        found = hops_between(graph, a, b)
        if found is not None and found <= h:
            distance[a, b] = found

    trace = []
    last_with_chunks: tuple[int, list[str]] | None = None
    allowed = h
    while allowed >= 1:
        near = [pair for pair in distance if distance[pair] <= allowed]
        holding = [c for c in all_chunks(documents) if any(holds(documents, c, pair) for pair in near)]
        trace.append((allowed, len(near), len(holding)))
        if holding:
            last_with_chunks = allowed, holding
        if len(holding) <= k:
            break
        allowed -= 1

    if last_with_chunks is None:
        occurrences = {
            node: sum(d.counts(leaf).get(name, 0) for leaf in d.leaves(node) for name in entities)
            for node, d in nodes_of(documents).items()
        }
        candidates = nearest(documents, vector)[: 2 * k]
        candidates.sort(key=lambda item: -occurrences[item[0]])  # stable: among equals the nearer first
        chosen = [node for node, _ in candidates][:k]
        pairs = {(a, b, hops) for (a, b), hops in distance.items()}
        return NaiveAnswer("global", entities, pairs, h, trace, chosen, merged(documents, chosen, {}))

    used, holding = last_with_chunks

    def rank(chunk: str) -> tuple[int, int]:
        counts = counts_of(documents, chunk)
        return (
            -sum(1 for name in entities if name in counts),
            -sum(counts.get(name, 0) for name in entities),
        )

    chosen = sorted(holding, key=rank)[:k]  # stable: among equals in order of document and place
    pairs = {(a, b, hops) for (a, b), hops in distance.items() if hops <= used}
    behind = {c: [p for p in sorted(pairs) if holds(documents, c, (p[0], p[1]))] for c in chosen}
    return NaiveAnswer("local", entities, pairs, used, trace, chosen, merged(documents, chosen, behind))


def hops_between(graph: dict[str, set[str]], start: str, goal: str) -> int | None:
    """Edges on the shortest path, by breadth-first search."""
    seen = {start: 0}
    queue = deque([start])
    while queue:
        name = queue.popleft()
        if name == goal:
            return seen[name]
        for neighbour in graph.get(name, ()):
            if neighbour not in seen:
                seen[neighbour] = seen[name] + 1
                queue.append(neighbour)
    return None


def nearest(documents: list[NaiveDocument], vector: list[float]) -> list[tuple[str, float]]:
    """All nodes of all trees with their cosine, nearest first."""
    wanted = np.array(vector, dtype=float)
    found = []
    for document in documents:
        for node in [*document.chunks, *document.summaries]:
            row = np.array(node.vector, dtype=float)
            cosine = float(row @ wanted / np.linalg.norm(row) / np.linalg.norm(wanted))
            found.append((node.id, cosine))
    return sorted(found, key=lambda item: (-item[1], item[0]))


def merged(
    documents: list[NaiveDocument], chosen: list[str], behind: dict[str, list[tuple[str, str, int]]]
) -> list[NaivePassage]:
    """Nodes with a text that was there before dropped, then neighbouring chunks made one passage.

    A passage stands where the best of its nodes stood; its text is the slice of the document.
    """
    nodes = nodes_of(documents)
    kept: list[str] = []
    for node in chosen:
        if text_of(documents, node) not in [text_of(documents, other) for other in kept]:
            kept.append(node)

    passages: list[NaivePassage] = []
    done: set[str] = set()
    for node in kept:
        if node in done:
            continue
        document = nodes[node]
        places = {chunk.id: chunk.index for chunk in document.chunks}
        run = [node]
        if node in places:
            by_index = {chunk.index: chunk.id for chunk in document.chunks}
            while by_index.get(places[run[0]] - 1) in kept:
                run.insert(0, by_index[places[run[0]] - 1])
            while by_index.get(places[run[-1]] + 1) in kept:
                run.append(by_index[places[run[-1]] + 1])
        done.update(run)
        start, end = document.leaves(run[0])[0].start, document.leaves(run[-1])[-1].end
        level = next((s.level for s in document.summaries if s.id == node), 0)
        text = text_of(documents, node) if level else document.text[start:end]
        pairs = sorted({pair for one in run for pair in behind.get(one, [])})
        passages.append(NaivePassage(document.id, level, start, end, text, run, pairs))
    return passages


def nodes_of(documents: list[NaiveDocument]) -> dict[str, NaiveDocument]:
    return {node.id: document for document in documents for node in [*document.chunks, *document.summaries]}


def all_chunks(documents: list[NaiveDocument]) -> list[str]:
    return [chunk.id for document in sorted(documents, key=lambda d: d.id) for chunk in document.chunks]


def counts_of(documents: list[NaiveDocument], chunk: str) -> dict[str, int]:
    document = nodes_of(documents)[chunk]
    return next(document.counts(one) for one in document.chunks if one.id == chunk)


def holds(documents: list[NaiveDocument], chunk: str, pair: tuple[str, str]) -> bool:
    counts = counts_of(documents, chunk)
    return pair[0] in counts and pair[1] in counts


def text_of(documents: list[NaiveDocument], node: str) -> str:
    document = nodes_of(documents)[node]
    for chunk in document.chunks:
        if chunk.id == node:
            return document.chunk_text(chunk)
    return next(summary.text for summary in document.summaries if summary.id == node)


# --- retrieval without the entity graph --------------------------------------------------------------


def dense(documents: list[NaiveDocument], vector: list[float], k: int) -> list[str]:
    """The k nearest chunks, where each window of a chunk has the chunk's vector."""
    chunks = set(all_chunks(documents))
    return [node for node, _ in nearest(documents, vector) if node in chunks][:k]


def tree(documents: list[NaiveDocument], vector: list[float], k: int) -> list[str]:
    """The k nearest nodes of all trees."""
    return [node for node, _ in nearest(documents, vector)][:k]


def containing(documents: list[NaiveDocument], words: list[str]) -> dict[str, tuple[dict[str, int], int]]:
    """The chunks with at least one of the words: how often each stands there, and how many words there are in all."""
    found = {}
    for chunk in all_chunks(documents):
        there = "".join(sign if sign.isalnum() else " " for sign in text_of(documents, chunk).lower()).split()
        counts = {word: there.count(word) for word in words if word in there}
        if counts:
            found[chunk] = counts, len(there)
    return found


def fused(*rankings: list[str]) -> list[str]:
    """Reciprocal ranks of several lists added: 1 / (60 + rank)."""
    nodes = {node for ranking in rankings for node in ranking}
    total = {node: sum(1 / (60 + ranking.index(node) + 1) for ranking in rankings if node in ranking) for node in nodes}
    return sorted(nodes, key=lambda node: (-total[node], node))
