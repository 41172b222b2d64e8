"""Measure the overhead of indexing with a chat model, beyond the model's calls and the extraction.

    python benchmarks/llm_throughput.py BOOK.txt … [--latency SECONDS] [--concurrency N]

A fake chat model replies to every prompt after a fixed time, with some words of the prompt. Calls and extraction run
concurrently, and a summary is requested as soon as its inputs are ready. So indexing should take little more than the
longer of both: calls × latency ÷ concurrency, or spaCy and embeddings ("reading"). The exit code is 1 if it takes more
than 1.1 times as long. The database must not have the corpus `benchmark-llm` and its cached summaries.
Records its figures in results.json.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from record import Figure, add_option, record

from e2g_neo4j import E2G, Settings

CORPUS = "benchmark-llm"


class FixedLatency(BaseChatModel):
    """Replies with some words of the prompt after a fixed time."""

    latency: float

    @property
    def _llm_type(self) -> str:
        return "fixed-latency"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        time.sleep(self.latency)
        words = str(messages[-1].content).split()
        return ChatResult(generations=[ChatGeneration(message=AIMessage(" ".join(words[1:-1:12][:300])))])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="+")
    parser.add_argument("--latency", type=float, default=2.0)
    parser.add_argument("--concurrency", type=int, default=4)
    add_option(parser)
    chosen = parser.parse_args(argv)
    settings = Settings(llm_concurrency=chosen.concurrency)
    with E2G(settings=settings, chat_model=FixedLatency(latency=chosen.latency)) as e2g:
        if CORPUS in e2g.corpora():
            sys.exit(f"The corpus {CORPUS} exists: use an empty database.")
        e2g.models.embedder.embed(["warm up"])
        report = e2g.index(chosen.books, corpus=CORPUS)
    calls = sum(one.calls for one in report.spending.values())
    cached = sum(one.remembered for one in report.spending.values())
    llm = calls * chosen.latency / chosen.concurrency
    reading, total = report.seconds["reading"], report.seconds["total"]
    ratio = total / max(llm, reading)
    print(f"{report.documents} documents, {report.chunks} chunks, {calls} calls, {cached} cached")
    print(f"calls {calls} x {chosen.latency} s / {chosen.concurrency} = {llm:.1f} s; reading {reading:.1f} s")
    print("seconds: " + ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in report.seconds.items()))
    print(f"wall {total:.1f} s = {ratio:.3f} x the longer of both")
    record(
        [Figure("fake chat model", "index", "ratio to the longer of calls and reading", round(ratio, 3))],
        chosen.results,
    )
    return int(ratio > 1.1)


if __name__ == "__main__":
    sys.exit(main())
