"""Measure the service: what HTTP adds to a question, and how many clients it bears while it indexes.

    python benchmarks/service.py QUESTIONS.txt --corpus novels [--book BOOK.txt] [--seconds 60] [--clients 4 32]

It starts `e2g serve` with a worker, on the configured database, and makes a key, which it revokes in the end.

1. The same questions by turns through `AsyncE2G.retrieve` and POST /v1/retrieve, one at a time.
2. Each number of clients for so many seconds, while a worker indexes the book again and again into the corpus
   `benchmark-service`: answers a second, median and 95th percentile, replies by status, memory of the service.

Records its figures in results.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import psutil
from record import Figure, add_option, record

from e2g_neo4j import E2G, AsyncE2G
from e2g_neo4j.graph import keys

BOOK_CORPUS = "benchmark-service"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path, help="one question a line")
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--book", type=Path, help="text that is indexed meanwhile")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each number of clients asks")
    parser.add_argument("--clients", type=int, nargs="+", default=[4, 32])
    parser.add_argument("--repeat", type=int, default=5, help="how often each question is asked one at a time")
    add_option(parser)
    given = parser.parse_args(arguments)
    questions = [line.strip() for line in given.questions.read_text(encoding="utf-8").splitlines() if line.strip()]
    with E2G() as e2g:
        e2g.migrate()
        info, key = e2g.runner.run(keys.create("benchmark", ["read", "write"], [given.corpus, BOOK_CORPUS]))
    process, url = _started()
    try:
        asyncio.run(_measured(given, questions, url, key, psutil.Process(process.pid)))
    finally:
        process.terminate()
        process.wait()
        with E2G() as e2g:
            e2g.runner.run(keys.revoke(info.id))
            if BOOK_CORPUS in e2g.corpora():
                e2g.delete(corpus=BOOK_CORPUS)


def _started() -> tuple[subprocess.Popen[bytes], str]:
    """Start the service, and return its process and address."""
    log = Path(tempfile.mkdtemp(prefix="e2g-benchmark-"), "log")
    with log.open("wb") as target:
        command = [sys.executable, "-m", "e2g_neo4j.cli", "serve", "--port", "0"]
        process = subprocess.Popen(command, stderr=target, stdout=target, env=os.environ)
    for _ in range(1200):
        if found := re.search(r"running on (http://[\d.]+:\d+)", log.read_text()):
            return process, found[1]
        if process.poll() is not None:
            break
        time.sleep(0.1)
    process.kill()
    raise SystemExit(f"The service did not start: {log.read_text()[-2000:]}")


async def _measured(
    given: argparse.Namespace, questions: list[str], url: str, key: str, process: psutil.Process
) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    limits = httpx.Limits(max_connections=max(given.clients) + 2)
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=120, limits=limits) as http, AsyncE2G() as e2g:
        await _idle(http, process)
        alone = await _alone(http, e2g, questions, given.corpus, given.repeat)
        print(json.dumps({"alone": alone}))
        figures = [Figure("service", "serve", "ms added to a question", alone["added_ms"])]
        indexing = asyncio.create_task(_indexing(http, given.book)) if given.book else None
        for clients in given.clients:
            found = await _together(http, questions, given.corpus, clients, given.seconds, process)
            print(json.dumps({"clients": clients, "indexing": indexing is not None, **found}))
            beside = f"{clients} clients" + (", indexing" if indexing else "")
            figures.append(Figure("service", "serve", f"questions a second, {beside}", found["answered_per_second"]))
        record(figures, given.results)
        if indexing:
            indexing.cancel()
            await asyncio.wait([indexing])


async def _idle(http: httpx.AsyncClient, process: psutil.Process) -> None:
    """Wait until the service is ready, and its worker has started."""
    while (await http.get("/readyz")).is_error:
        await asyncio.sleep(0.5)
    [worker] = process.children()
    worker.cpu_percent()
    await asyncio.sleep(2)
    while worker.cpu_percent() > 5:
        await asyncio.sleep(2)


async def _alone(
    http: httpx.AsyncClient, e2g: AsyncE2G, questions: list[str], corpus: str, repeat: int
) -> dict[str, float]:
    """Ask each question by turns through the client and the service."""
    seconds: dict[str, list[float]] = {"client": [], "service": []}
    for turn in range(repeat + 1):
        for question in questions:
            began = time.perf_counter()
            await e2g.retrieve(question, corpus=corpus)
            between = time.perf_counter()
            (await http.post("/v1/retrieve", json={"question": question, "corpora": [corpus]})).raise_for_status()
            ended = time.perf_counter()
            if turn:  # the first one loads models and plans
                seconds["client"].append(between - began)
                seconds["service"].append(ended - between)
    medians = {name: 1000 * statistics.median(values) for name, values in seconds.items()}
    added = [there - here for here, there in zip(seconds["client"], seconds["service"], strict=True)]
    return {
        "questions": len(added),
        "client_ms": round(medians["client"], 1),
        "service_ms": round(medians["service"], 1),
        "added_ms": round(1000 * statistics.median(added), 1),
    }


async def _together(
    http: httpx.AsyncClient, questions: list[str], corpus: str, clients: int, seconds: float, process: psutil.Process
) -> dict[str, Any]:
    """Let clients ask one question after the other."""
    taken: list[float] = []
    statuses: Counter[int] = Counter()
    until = time.perf_counter() + seconds
    before = process.memory_info().rss

    async def client(number: int) -> None:
        for question in cycle(questions[number % len(questions) :] + questions[: number % len(questions)]):
            began = time.perf_counter()
            if began > until:
                return
            reply = await http.post("/v1/retrieve", json={"question": question, "corpora": [corpus]})
            statuses[reply.status_code] += 1
            taken.append(time.perf_counter() - began)
            if reply.status_code == 429:
                await asyncio.sleep(1)

    await asyncio.gather(*(client(number) for number in range(clients)))
    milliseconds = sorted(1000 * one for one in taken)
    return {
        "answered_per_second": round(statuses[200] / seconds, 1),
        "median_ms": round(statistics.median(milliseconds), 1),
        "p95_ms": round(milliseconds[int(0.95 * (len(milliseconds) - 1))], 1),
        "statuses": dict(statuses),
        "memory_mib": [round(before / 2**20), round(process.memory_info().rss / 2**20)],
    }


async def _indexing(http: httpx.AsyncClient, book: Path) -> None:
    """Index the book again and again, each time as another document."""
    text = book.read_text(encoding="utf-8")
    for number in range(1_000):
        documents = [{"source": f"{book.stem}-{number}", "text": f"Copy {number}.\n\n{text}"}]
        reply = await http.post(f"/v1/corpora/{BOOK_CORPUS}/documents", json={"documents": documents})
        task = reply.raise_for_status().json()["id"]
        try:
            await _ended(http, task)
        except asyncio.CancelledError:
            await http.post(f"/v1/tasks/{task}/cancel")  # or the next worker would go on with it
            await _ended(http, task)
            raise


async def _ended(http: httpx.AsyncClient, task: str) -> None:
    while (await http.get(f"/v1/tasks/{task}", params={"wait": 30})).json()["state"] in ("queued", "running"):
        await asyncio.sleep(0.5)


if __name__ == "__main__":
    main()
