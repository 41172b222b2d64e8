"""Measure the latency of questions: idle, beside a busy process, and with concurrent clients.

    python benchmarks/questions.py CORPUS QUESTIONS.jsonl [--book BOOK.txt] [--mode auto] [--turns 4] [--clients 16]

A line of QUESTIONS.jsonl needs a "question". All questions are asked `--turns` times after one warm-up turn. Prints
medians in milliseconds of the whole question and of its parts: reading (spaCy), embedding (the remaining wait for the
vector), database, and ranking (everything else). Then `--clients` tasks of one AsyncE2G ask concurrently for some
seconds: questions per second, and the longest time that the event loop was blocked. Both are measured idle and beside a
process that multiplies matrices on all cores. Compare ratios only: the times are those of one machine in one run.
Records its figures in results.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from record import RESULTS, Figure, add_option, record

from e2g_neo4j import E2G, AsyncE2G
from e2g_neo4j.evaluation.answers import ask
from e2g_neo4j.evaluation.results import PARTS
from e2g_neo4j.retrieval.strategies import DEFAULT_MODE, STRATEGIES

TICK = 0.001

_WORK = """
import numpy
a = numpy.random.default_rng(0).random((2000, 2000), "float32")
print(flush=True)
while True:
    a @ a
"""


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("questions", type=Path)
    parser.add_argument("--book", help="use only the questions of this book")
    parser.add_argument("--mode", choices=STRATEGIES, default=DEFAULT_MODE)
    parser.add_argument("--turns", type=int, default=4, help="number of measured turns")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=10.0, help="duration of the concurrent part")
    add_option(parser)
    given = parser.parse_args(argv)
    lines = [json.loads(line) for line in given.questions.read_text(encoding="utf-8").splitlines() if line.strip()]
    asked = [line["question"] for line in lines if given.book in (None, line.get("book"))]
    if not asked:
        parser.error(f"no question of {given.questions} is about the book {given.book!r}")
    measure(
        given.corpus,
        asked,
        mode=given.mode,
        turns=given.turns,
        clients=given.clients,
        seconds=given.seconds,
        results=given.results,
    )


def measure(
    corpus: str,
    questions: Sequence[str],
    *,
    mode: str,
    turns: int,
    clients: int,
    seconds: float,
    results: Path = RESULTS,
) -> None:
    figures = []
    for busy in (False, True):
        with E2G() as e2g:
            for question in questions:
                e2g.retrieve(question, corpus=corpus, mode=mode)
            with busy_processes() if busy else nullcontext():
                asked = [ask(e2g, question, corpus=corpus, k=10, mode=mode)[1] for question in [*questions] * turns]
        totals = [1000 * sum(parts.values()) for parts in asked]
        shares = ", ".join(f"{part} {1000 * statistics.median(one[part] for one in asked):.1f}" for part in PARTS)
        name = "beside a busy process" if busy else "idle"
        print(f"{name}: {statistics.median(totals):.1f} ms, 95th percentile {_p95(totals):.1f} ms ({shares})")
        with busy_processes() if busy else nullcontext():
            rate, gap = asyncio.run(concurrent(corpus, questions, mode, clients, seconds))
        print(f"{name}: {clients} at once: {rate:.1f} questions/s, longest gap in the event loop {1000 * gap:.0f} ms")
        prefix = "busy " if busy else ""
        figures.append(Figure(corpus, mode, f"{prefix}median ms", round(statistics.median(totals), 1)))
        figures.append(Figure(corpus, mode, f"{prefix}questions a second, {clients} clients", round(rate, 1)))
    record(figures, results)


@contextmanager
def busy_processes() -> Iterator[None]:
    """Multiply matrices on all cores in another process until the context ends."""
    with subprocess.Popen([sys.executable, "-c", _WORK], stdout=subprocess.PIPE) as process:
        try:
            if process.stdout is None or not process.stdout.readline():
                raise RuntimeError("The background process has ended.")
            yield
        finally:
            process.kill()


async def concurrent(
    corpus: str, questions: Sequence[str], mode: str, clients: int, seconds: float
) -> tuple[float, float]:
    """Return the questions per second, and the longest blocking of the event loop in seconds."""
    async with AsyncE2G() as e2g:
        await asyncio.gather(*(e2g.retrieve(question, corpus=corpus, mode=mode) for question in questions[:clients]))
        began = time.perf_counter()
        answered, gap = 0, 0.0

        async def client(number: int) -> None:
            nonlocal answered
            while time.perf_counter() - began < seconds:
                await e2g.retrieve(questions[number % len(questions)], corpus=corpus, mode=mode)
                answered += 1
                number += clients

        async def watch() -> None:
            nonlocal gap
            while True:
                before = time.perf_counter()
                await asyncio.sleep(TICK)
                gap = max(gap, time.perf_counter() - before - TICK)

        watching = asyncio.create_task(watch())
        await asyncio.gather(*map(client, range(clients)))
        took = time.perf_counter() - began
        watching.cancel()
        return answered / took, gap


def _p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


if __name__ == "__main__":
    main()
