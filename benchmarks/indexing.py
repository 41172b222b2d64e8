"""Measure what a token costs in documents of any length, and when several processes index.

    python benchmarks/indexing.py BOOK.txt … [--documents 10000] [--processes 1 2 4]

The books are indexed as they are, and then cut into `--documents` documents at the ends of paragraphs, each in one
corpus. Then they are shared out to `--processes` processes, which index them together, each into a corpus of its own;
the time starts when all have loaded their models. Without NEO4J_URI, the managed server of E2G_HOME is used. The
database must not have corpora named `benchmark-indexing…`; they are deleted at the end. Records its figures in
results.json.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from multiprocessing.synchronize import Barrier
from pathlib import Path

from record import Figure, add_option, record

from e2g_neo4j import E2G, SourceDocument
from e2g_neo4j.documents.files import from_text

CORPUS = "benchmark-indexing"
SET = "indexing"
MOST_SECONDS = 600
"""What loading the models may take before the processes are given up."""


def whole(books: Sequence[Path], corpus: str) -> list[SourceDocument]:
    return [from_text(book.read_text(encoding="utf-8"), corpus=corpus, source=book.name) for book in books]


def cut(books: Sequence[Path], corpus: str, number: int) -> list[SourceDocument]:
    """Return the paragraphs of the books, joined to about as many documents: fewer if most paragraphs are longer."""
    texts = [book.read_text(encoding="utf-8") for book in books]
    characters, paragraphs = sum(map(len, texts)), sum(text.count("\n\n") + 1 for text in texts)
    least = max(1, round(characters / number - characters / paragraphs / 2))
    documents = []
    for book, text in zip(books, texts, strict=True):
        start = end = 0
        while end < len(text):
            end = text.find("\n\n", start + least) + 2
            end = end if end > 1 else len(text)
            if piece := text[start:end].strip():
                documents.append(from_text(piece, corpus=corpus, source=f"{book.name}#{start}"))
            start = end
    return documents


def lengths(e2g: E2G, books: Sequence[Path], number: int) -> Iterator[Figure]:
    """Index the books as they are, and cut. Yield the time of both, and their ratio."""
    _ = e2g.models.embedder.embed(["warm up"]), e2g.models.nlp
    costs = []
    for what in ("books", "pieces"):
        corpus = f"{CORPUS}-{what}"
        documents = whole(books, corpus) if what == "books" else cut(books, corpus, number)
        began = time.perf_counter()
        tokens = e2g.index(documents, corpus=corpus).tokens
        took = time.perf_counter() - began
        costs.append(1000 * took / tokens)
        yield Figure(SET, what, "documents", len(documents))
        yield Figure(SET, what, "tokens", tokens)
        yield Figure(SET, what, "seconds", round(took, 1))
        yield Figure(SET, what, "tokens a document", round(tokens / len(documents)))
        yield Figure(SET, what, "times the time of books per token", round(costs[-1] / costs[0], 2))


def index(number: int, books: Sequence[Path], ready: Barrier) -> None:
    """Index books in a process of its own."""
    corpus = f"{CORPUS}-{number}"
    with E2G() as e2g:
        _ = e2g.models.embedder.embed(["warm up"]), e2g.models.nlp, e2g.corpora()
        documents = whole(books, corpus)
        ready.wait(MOST_SECONDS)
        e2g.index(documents, corpus=corpus)


def together(books: Sequence[Path], number: int) -> float:
    """Index the books in several processes. Return the seconds."""
    spawn = multiprocessing.get_context("spawn")
    ready = spawn.Barrier(number + 1)
    processes = [spawn.Process(target=index, args=(one, books[one::number], ready)) for one in range(number)]
    for process in processes:
        process.start()
    ready.wait(MOST_SECONDS)
    began = time.perf_counter()
    for process in processes:
        process.join()
    took = time.perf_counter() - began
    if failed := [process.exitcode for process in processes if process.exitcode]:
        sys.exit(f"{len(failed)} of {number} processes failed; see above.")
    return took


def delete(e2g: E2G) -> None:
    for corpus in e2g.corpora():
        if corpus.startswith(CORPUS):
            e2g.delete(corpus=corpus)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="+", type=Path)
    parser.add_argument("--documents", type=int, default=10_000, help="number of documents to cut into; 0: none")
    parser.add_argument("--processes", nargs="*", type=int, default=[1, 2, 4], help="numbers of processes that index")
    add_option(parser)
    given = parser.parse_args(argv)
    with E2G() as e2g:
        e2g.migrate()
        if there := [corpus for corpus in e2g.corpora() if corpus.startswith(CORPUS)]:
            sys.exit(f"The corpus {there[0]} exists: delete it with `e2g delete`, or use an empty database.")
        try:
            for figure in lengths(e2g, given.books, given.documents) if given.documents else ():
                shown([figure], given.results)
            delete(e2g)
            alone = None
            for number in given.processes:
                took = together(given.books, number)
                alone = alone or took
                variant = f"{number} process{'es' * (number > 1)}"
                found = [
                    Figure(SET, "together", "seconds", round(took, 1), variant=variant),
                    Figure(SET, "together", "times as fast", round(alone / took, 2), variant=variant),
                ]
                shown(found, given.results)
                delete(e2g)
        finally:
            delete(e2g)


def shown(found: Sequence[Figure], results: Path) -> None:
    """Print and record figures."""
    for one in found:
        print(f"{one.variant or '':12} {one.mode:9} {one.metric:34} {one.value:g}", flush=True)
    record(found, results)


if __name__ == "__main__":
    main()
