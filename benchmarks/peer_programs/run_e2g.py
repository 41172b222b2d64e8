"""Index and ask with e2g-neo4j. With `summaries`, the chat model writes the summaries.

    python benchmarks/peer_programs/run_e2g.py JOB.json [summaries]

Without NEO4J_URI, a managed server is started in the folder of the job, and stopped at the end. Otherwise the database
must not have the corpus `benchmark-peers`, which is deleted at the end.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from measured import MODEL, Job, finish, size_of, timed

from e2g_neo4j import E2G
from e2g_neo4j.managed_neo4j import LocalServer
from e2g_neo4j.settings import Settings, load_settings
from e2g_neo4j.types.results import Evidence

CORPUS = "benchmark-peers"
MODES = ("auto", "dense")


def store(settings: Settings) -> int | None:
    """Stop the managed server, and return the bytes of its database without logs; None if another one is used."""
    if settings.neo4j_uri is not None:
        return None
    server = LocalServer(settings)
    server.stop()
    size = size_of(server.home / "data" / "databases" / settings.neo4j_database)
    server.start()
    return size


def server_peak(settings: Settings) -> float | None:
    """Return the peak memory of the managed server in MiB; None if another one is used."""
    pid = LocalServer(settings).status().pid if settings.neo4j_uri is None else None
    if pid is None:
        return None
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    [peak] = (int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return peak / 1024


def measure(job: Job, indexes: Settings, asks: Settings) -> dict[str, Any]:
    """Index and ask, and return the result."""
    before = store(indexes)
    with E2G(settings=indexes) as e2g:
        e2g.models.embedder.embed(["warm up"])
        _ = e2g.models.nlp, e2g.corpora()
        index = timed(job.host, [lambda: e2g.index([job.text], corpus=CORPUS)])
    peak, after = server_peak(indexes), store(indexes)
    with E2G(settings=asks) as e2g:

        def retrieve(question: str, mode: str) -> Evidence:
            return e2g.retrieve(question, corpus=CORPUS, tokens=job.budget, mode=mode)

        def spans(question: str, mode: str) -> list[tuple[int, int]]:
            passages = retrieve(question, mode).passages
            return [(one.start, one.start + len(one.text)) for one in passages if not one.level]

        # asks the chat model once how long its tokens are, with little evidence: a real model would remember more
        e2g.answer(job.questions[0], corpus=CORPUS, tokens=100)
        return {
            "index": index,
            "questions": {
                mode: timed(job.host, [partial(retrieve, one, mode) for one in job.questions], warm=True)
                for mode in MODES
            },
            "answer": timed(job.host, [partial(e2g.answer, one, corpus=CORPUS) for one in job.questions]),
            "found": {mode: {one: spans(one, mode) for one in job.evidence} for mode in MODES},
            "bytes": after - before if after is not None and before is not None else None,
            "server_mib": peak,
            "notes": e2g.stats(CORPUS),
        }


def main() -> None:
    job, summaries = Job.read(), "summaries" in sys.argv[2:]
    model = {"chat_model": f"ollama:{MODEL}", "ollama_host": job.host}
    asks = load_settings().model_copy(update=model | {"home": job.folder})
    indexes = asks if summaries else asks.model_copy(update={"chat_model": None})
    with E2G(settings=indexes) as e2g:
        e2g.migrate()
        if CORPUS in e2g.corpora():
            sys.exit(f"The corpus {CORPUS} exists: use an empty database.")
    try:
        finish(**measure(job, indexes, asks))
    finally:
        if indexes.neo4j_uri is None:
            LocalServer(indexes).stop()
        else:
            with E2G(settings=indexes) as e2g:
                e2g.delete(corpus=CORPUS)


if __name__ == "__main__":
    main()
