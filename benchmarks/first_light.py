"""Compare e2g-neo4j with a plain in-memory script on one book: indexing and questions.

    python benchmarks/first_light.py BOOK.txt QUESTIONS.jsonl [--turns 4]

Both use the same reader, chunks, spaCy pipeline, embedding model and summariser, and run the model in the same way. The
plain script stores its graph in networkx and its vectors in one matrix. Times are wall times of one run on one machine:
compare ratios. A line of QUESTIONS.jsonl needs a "question". If it has a "book", it is used only for this book. Each
question is asked `--turns` times; the first turn is not counted. The plain script retrieves like mode e2g. Its time
excludes spaCy and the embedding of the question: compare it with "database and ranking". The database must not have the
corpus `benchmark-first-light`. Records its figures in results.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import networkx
import numpy as np
from record import Figure, add_option, record
from trees import grow_tree

from e2g_neo4j import E2G
from e2g_neo4j.documents.files import read
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.evaluation.answers import ask
from e2g_neo4j.indexing.chunking import chunk
from e2g_neo4j.indexing.cooccurrence import edges, mentions
from e2g_neo4j.indexing.summaries.extractive import ExtractiveSummariser
from e2g_neo4j.models.embedding.base import Embedder
from e2g_neo4j.models.embedding.load import load_embedder
from e2g_neo4j.models.embedding.windows import embed_long, embed_with_parts
from e2g_neo4j.models.entities.extraction import extract, extract_all

CORPUS = "benchmark-first-light"
MODES: tuple[str, ...] = ("e2g", "dense", "auto")


class Plain:
    """The baseline: the same steps one after the other, in memory."""

    def __init__(self, book: Path, e2g: E2G, embedder: Embedder) -> None:
        tools, settings = e2g.models, e2g.settings
        document = read(book, CORPUS, Limits(settings.max_document_mb * 2**20))
        self.chunks = chunk(document, embedder.token_spans, size=settings.chunk_tokens, overlap=settings.chunk_overlap)
        texts = [one.text for one in self.chunks]
        extractions = list(extract_all(tools.nlp, texts))
        sentences = ([(one.start, one.end) for one in found.sentences] for found in extractions)
        embedded = list(embed_with_parts(embedder, zip(texts, sentences, strict=True)))
        self.graph: networkx.Graph[str] = networkx.Graph()
        found = edges([mentions(self.chunks, extractions, [one.windows for one in embedded])])
        self.graph.add_weighted_edges_from((a, b, weight) for (a, b), (_, weight) in found.items())
        self.places: dict[str, dict[int, int]] = defaultdict(dict)
        for number, extraction in enumerate(extractions):
            for name, count in extraction.counts.items():
                self.places[name][number] = count
        summaries = grow_tree(
            document,
            self.chunks,
            ExtractiveSummariser(embedder.token_spans, budget=settings.summary_tokens),
            group_size=settings.group_size,
            token_spans=embedder.token_spans,
            extractions=extractions,
            sentence_vectors=[one.part_vectors for one in embedded],
        )
        above = embed_long(embedder, [one.text for one in summaries])
        self.vectors = np.vstack([one.vector for one in embedded] + list(above))

    def ask(self, names: list[str], vector: np.ndarray, k: int, hops: int) -> list[int]:
        known = [name for name in names if name in self.places]
        pairs = [pair for pair in combinations(known, 2) if self._apart(*pair) <= hops]
        shared = {number for a, b in pairs for number in self.places[a].keys() & self.places[b].keys()}
        if shared:
            return sorted(shared, key=lambda number: -sum(self.places[name].get(number, 0) for name in known))[:k]
        return list(np.argsort(-(self.vectors @ vector))[:k])

    def _apart(self, a: str, b: str) -> float:
        try:
            return float(networkx.shortest_path_length(self.graph, a, b))
        except (networkx.NetworkXNoPath, networkx.NodeNotFound):
            return float("inf")


def questions_of(book: Path, questions: Path) -> list[str]:
    """Return the questions of the file that name this book or no book. Exit if there is none."""
    for file in (book, questions):
        if not file.is_file():
            sys.exit(f"{file} is not a file. Name a text and a file with a JSON object on each line.")
    lines = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines() if line.strip()]
    asked = [line["question"] for line in lines if line.get("book", book.name) == book.name]
    if not asked:
        books = ", ".join(sorted({line["book"] for line in lines})) or "none"
        sys.exit(f'No question of {questions} has "book": "{book.name}". Books of its questions: {books}.')
    return asked


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("book", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--turns", type=int, default=4, help="number of turns, at least 2")
    add_option(parser)
    chosen = parser.parse_args(argv)
    if chosen.turns < 2:
        parser.error("--turns: at least 2, because the first is not counted.")
    book, asked = chosen.book, questions_of(chosen.book, chosen.questions)
    with E2G() as e2g:
        if CORPUS in e2g.corpora():
            sys.exit(f"The corpus {CORPUS} exists: use an empty database.")
        tools, k, hops = e2g.models, e2g.settings.top_k, e2g.settings.hops
        embedder = load_embedder(e2g.settings.embedding_model, precision=e2g.settings.embedding_precision)
        for one in (tools.embedder, embedder):
            one.embed(["warm up"] * 16)

        began = time.perf_counter()
        plain = Plain(book, e2g, embedder)
        plain_seconds = time.perf_counter() - began

        report = e2g.index([book], corpus=CORPUS)

        read = [(q, list(extract(tools.nlp(q)).counts), tools.embedder.embed([q])[0]) for q in asked]
        theirs: list[float] = []
        ours: dict[str, list[float]] = {mode: [] for mode in MODES}
        totals: dict[str, list[float]] = {mode: [] for mode in MODES}
        trips = dict.fromkeys(MODES, 0)
        for turn in range(chosen.turns):
            for question, names, vector in read:
                began = time.perf_counter()
                plain.ask(names, vector, k, hops)
                took = 1000 * (time.perf_counter() - began)
                for mode in MODES:
                    evidence, parts = ask(e2g, question, corpus=CORPUS, k=k, mode=mode)
                    trips[mode] = max(trips[mode], evidence.round_trips)
                    if turn:  # the server plans the statements in the first turn
                        totals[mode].append(1000 * sum(parts.values()))
                        ours[mode].append(1000 * (parts["database"] + parts["ranking"]))
                if turn:
                    theirs.append(took)

    print(f"{book.name}: {report.chunks} chunks, {report.tokens} tokens, {len(asked)} questions")
    print(
        f"index   ours {report.seconds['total']:7.1f} s    plain {plain_seconds:7.1f} s    "
        f"ratio {report.seconds['total'] / plain_seconds:.2f}"
    )
    print("        " + ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in report.seconds.items()))
    print(f"query   plain {statistics.median(theirs):6.1f} ms (medians)")
    dense = statistics.median(ours["dense"])
    figures = [Figure(book.stem, "index", "ratio to plain", round(report.seconds["total"] / plain_seconds, 2))]
    for mode, times in ours.items():
        figures.append(Figure(book.stem, mode, "median ms", round(statistics.median(totals[mode]), 1)))
        median, high = statistics.median(times), np.quantile(times, 0.95)
        print(
            f"        {mode:5} database and ranking {median:5.1f} ms, 95th percentile {high:5.1f} ms, "
            f"{median / dense:.2f} x dense; whole question {statistics.median(totals[mode]):5.1f} ms; "
            f"at most {trips[mode]} round trips"
        )
    record(figures, chosen.results)


if __name__ == "__main__":
    main()
