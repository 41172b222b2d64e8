"""Index and ask with e2g-neo4j. With `summaries`, the chat model writes the summaries.

    python benchmarks/peer_programs/run_e2g.py JOB.json [summaries]

The database must not have the corpus `benchmark-peers`, which is deleted at the end.
"""

from __future__ import annotations

import sys
from pathlib import Path

from measured import MODEL, Job, finish, size_of, timed

from e2g_neo4j import E2G
from e2g_neo4j.managed_neo4j import LocalServer
from e2g_neo4j.settings import Settings, load_settings

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


def main() -> None:
    job, summaries = Job.read(), "summaries" in sys.argv[2:]
    asks = load_settings().model_copy(update={"chat_model": f"ollama:{MODEL}", "ollama_host": job.host})
    indexes = asks if summaries else asks.model_copy(update={"chat_model": None})
    with E2G(settings=indexes) as e2g:
        e2g.migrate()
        if CORPUS in e2g.corpora():
            sys.exit(f"The corpus {CORPUS} exists: use an empty database.")
    before = store(indexes)
    with E2G(settings=indexes) as e2g:
        e2g.models.embedder.embed(["warm up"])
        _ = e2g.models.nlp, e2g.corpora()
        index = timed(job.host, [lambda: e2g.index([job.text], corpus=CORPUS)])
    peak = server_peak(indexes)
    after = store(indexes)
    try:
        with E2G(settings=asks) as e2g:
            for mode in MODES:
                e2g.retrieve(job.questions[0], corpus=CORPUS, tokens=job.budget, mode=mode)  # warm up
            e2g.answer(job.questions[0], corpus=CORPUS)
            questions = {
                mode: timed(
                    job.host,
                    [
                        lambda one=one, mode=mode: e2g.retrieve(one, corpus=CORPUS, tokens=job.budget, mode=mode)
                        for one in job.questions
                    ],
                )
                for mode in MODES
            }
            answer = timed(job.host, [lambda one=one: e2g.answer(one, corpus=CORPUS) for one in job.questions])
            found = {
                mode: {
                    one: [
                        (passage.start, passage.start + len(passage.text))
                        for passage in e2g.retrieve(one, corpus=CORPUS, tokens=job.budget, mode=mode).passages
                        if not passage.level
                    ]
                    for one in job.evidence
                }
                for mode in MODES
            }
            stats = e2g.stats(CORPUS)
    finally:
        with E2G(settings=indexes) as e2g:
            e2g.delete(corpus=CORPUS)
    grown = after - before if after is not None and before is not None else None
    finish(
        index=index,
        questions=questions,
        answer=answer,
        found=found,
        bytes=grown,
        server_mib=peak,
        notes=stats,
    )


if __name__ == "__main__":
    main()
