"""Index many books, and measure how time, memory and disk grow with the number of tokens.

    python benchmarks/scale.py BOOK.txt … --questions QUESTIONS.jsonl [--one-corpus] [--at 1 3 10] [--hash-vectors]

Each book gets a corpus of its own, or with `--one-corpus`, all become documents of one. Whenever as many books as
`--at` names are indexed, the first 12 questions about these books are asked, and the last book of the command line, the
probe, is added, changed (its second half is removed) and deleted. This is done in the empty database, too, twice: the
second time is what it costs alone. A line is fitted through the sums of tokens and of seconds.

Without NEO4J_URI, the managed server of E2G_HOME is used. The database must not have corpora named
`benchmark-scale…`; they stay, so that more can be asked. Records its figures in results.json, and prints each as it is
measured. A hundred novels take some hours. With `--hash-vectors`, they take about one: vectors come from a hash of the
text instead of the embedding model, and questions find nothing useful.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from hash_embedder import HashEmbedder
from record import Figure, add_option, record

from e2g_neo4j import E2G, SourceDocument
from e2g_neo4j.documents.files import from_text
from e2g_neo4j.evaluation.gold import Question, read_questions
from e2g_neo4j.managed_neo4j import LocalServer

CORPUS = "benchmark-scale"
MODES = ("auto", "dense")
QUESTIONS = 12
MIB = 2**20


@dataclass
class Library:
    """The books that are indexed so far.

    Attributes:
        e2g: The client.
        one_corpus: Whether all books are documents of one corpus.
        name: The set of the figures.
        tokens: Tokens of each book.
        seconds: Seconds of indexing each book.
        processor: Processor seconds of indexing each book, of this process, its workers and the managed server.
    """

    e2g: E2G
    one_corpus: bool
    name: str
    tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def corpus(self, book: Path) -> str:
        return CORPUS if self.one_corpus else f"{CORPUS}-{book.stem}"

    def document(self, book: Path, text: str | None = None) -> SourceDocument:
        whole = book.read_text(encoding="utf-8") if text is None else text
        return from_text(whole, corpus=self.corpus(book), source=book.name, title=book.stem)

    def add(self, book: Path) -> None:
        """Index a book."""
        used, began = self.processor_seconds(), time.perf_counter()
        report = self.e2g.index([self.document(book)], corpus=self.corpus(book))
        self.seconds.append(time.perf_counter() - began)
        self.processor.append(self.processor_seconds() - used)
        self.tokens.append(report.tokens)

    def server(self) -> psutil.Process | None:
        settings = self.e2g.settings
        pid = LocalServer(settings).status().pid if settings.neo4j_uri is None else None
        return psutil.Process(pid) if pid else None

    def processor_seconds(self) -> float:
        client = psutil.Process()
        processes = [client, *client.children(recursive=True)]
        server = self.server()
        # with that of children that have ended, as spaCy's processes do after each run
        return sum(sum(one.cpu_times()[:4]) for one in (*processes, *([server] if server else [])))

    def change(self, probe: Path) -> dict[str, float]:
        """Add, change and delete a book. Return the seconds of each."""
        text, corpus = probe.read_text(encoding="utf-8"), self.corpus(probe)
        whole, half = self.document(probe), self.document(probe, text[: len(text) // 2])
        return {
            "add": measured(self.e2g.index, [whole], corpus=corpus),
            "change": measured(self.e2g.index, [half], corpus=corpus),
            "delete": measured(self.e2g.delete, [whole.id], corpus=corpus),
        }

    def ask(self, question: Question, mode: str) -> float:
        corpus = self.corpus(Path(question.book or ""))
        return measured(self.e2g.retrieve, question.question, corpus=corpus, mode=mode)

    def look(self, questions: Sequence[Question], probe: Path, alone: dict[str, float]) -> Iterator[Figure]:
        """Yield the figures of this number of books."""
        size = f"{len(self.tokens)} book{'s' * (len(self.tokens) > 1)}"
        for mode in MODES:
            for _ in range(2):  # the first is to warm up
                times = [self.ask(one, mode) for one in questions]
            yield Figure(self.name, mode, "median ms", round(1000 * statistics.median(times), 1), variant=size)
        for what, seconds in self.change(probe).items():
            yield Figure(self.name, what, "seconds", round(seconds, 1), variant=size)
            yield Figure(self.name, what, "times alone", round(seconds / alone[what], 2), variant=size)
        yield Figure(self.name, "index", "tokens", sum(self.tokens), variant=size)
        yield Figure(self.name, "index", "seconds", round(sum(self.seconds)), variant=size)
        yield Figure(self.name, "index", "processor seconds", round(sum(self.processor)), variant=size)
        for what, count in self.counts().items():
            yield Figure(self.name, "index", what, count, variant=size)
        yield Figure(self.name, "client", "MiB", round(psutil.Process().memory_info().rss / MIB), variant=size)
        if server := self.server():
            yield Figure(self.name, "server", "MiB", round(server.memory_info().rss / MIB), variant=size)
            folder = LocalServer(self.e2g.settings).home / "data" / "databases"
            stored = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
            yield Figure(self.name, "server", "MiB stored", round(stored / MIB), variant=size)

    def counts(self) -> Counter[str]:
        """Return the numbers of nodes and relationships of all books, by kind."""
        corpora = [corpus for corpus in self.e2g.corpora() if corpus.startswith(CORPUS)]
        found = sum((Counter(self.e2g.stats(corpus)) for corpus in corpora), Counter())
        return Counter({what: count for what, count in found.items() if what not in ("tokens", "levels")})

    def fit(self) -> Iterator[Figure]:
        """Yield the line through the sums of tokens and seconds: its slope, and how well it fits."""
        size = f"{len(self.tokens)} book{'s' * (len(self.tokens) > 1)}"
        for name, values in (("seconds", self.seconds), ("processor seconds", self.processor)):
            tokens, spent = np.cumsum(self.tokens) / 1e6, np.cumsum(values)
            slope, start = np.polyfit(tokens, spent, 1)
            left = float(((spent - slope * tokens - start) ** 2).sum() / ((spent - spent.mean()) ** 2).sum())
            yield Figure(self.name, "index", f"{name} per million tokens", round(float(slope), 1), variant=size)
            yield Figure(self.name, "index", f"R² of {name}", round(1 - left, 4), variant=size)


def measured(call: Callable[..., Any], *arguments: Any, **options: Any) -> float:
    """Return the seconds of a call."""
    began = time.perf_counter()
    call(*arguments, **options)
    return time.perf_counter() - began


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="+", type=Path, help="the books; the last one is the probe")
    parser.add_argument("--questions", type=Path, required=True, help="questions with the field book")
    parser.add_argument("--one-corpus", action="store_true", help="make all books documents of one corpus")
    parser.add_argument("--hash-vectors", action="store_true", help="leave out the embedding model")
    parser.add_argument("--at", nargs="+", type=int, default=[1, 3, 10, 30, 100], help="numbers of books to look at")
    add_option(parser)
    given = parser.parse_args(argv)
    *books, probe = given.books
    asked = {
        name: [one for one in read_questions(given.questions) if one.book == name] for name in (b.name for b in books)
    }
    books.sort(key=lambda book: not asked[book.name])  # those with questions first
    if not asked[books[0].name]:
        sys.exit(f"No question of {given.questions} is about one of the books.")
    name = "scale" + "-one-corpus" * given.one_corpus + "-hash" * given.hash_vectors
    with E2G(embedder=HashEmbedder() if given.hash_vectors else None) as e2g:
        e2g.migrate()
        if there := [corpus for corpus in e2g.corpora() if corpus.startswith(CORPUS)]:
            sys.exit(f"The corpus {there[0]} exists: delete it with `e2g delete`, or use an empty database.")
        library = Library(e2g, given.one_corpus, name)
        _ = e2g.models.embedder.embed(["warm up"]), e2g.models.nlp
        library.change(probe)  # to warm up
        alone = library.change(probe)
        for number, book in enumerate(books, 1):
            library.add(book)
            print(f"{number} {book.stem}: {library.tokens[-1]} tokens, {library.seconds[-1]:.1f} s", flush=True)
            if number in given.at or number == len(books):
                about = [one for indexed in books[:number] for one in asked[indexed.name]][:QUESTIONS]
                found = list(library.look(about, probe, alone))
                found += library.fit() if number > 2 else ()
                for one in found:
                    print(f"    {one.variant:10} {one.mode:8} {one.metric:34} {one.value:g}", flush=True)
                record(found, given.results)


if __name__ == "__main__":
    main()
