"""How much of the wall time of indexing is not the chat model's or the extraction's.

    python benchmarks/llm_throughput.py BOOK.txt … [--latency SECONDS] [--concurrency N]

The chat model answers every prompt after the same time, with the first words of it. Calls and extraction go on side by
side, and a summary is asked for as soon as what it stands on is there; so indexing should take little more than the
longer of both: calls × latency ÷ concurrency, or the reading of the text (spaCy and the embedding model). Exits with 1
where it takes more than 1.1 times that. Needs a database without the corpus `benchmark-llm` and its summaries.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from e2g_neo4j import E2G, Settings

CORPUS = "benchmark-llm"


class FixedLatency(BaseChatModel):
    """Says some words of the prompt, always after the same time."""

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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="+")
    parser.add_argument("--latency", type=float, default=2.0)
    parser.add_argument("--concurrency", type=int, default=4)
    chosen = parser.parse_args()
    settings = Settings(llm_concurrency=chosen.concurrency)
    with E2G(settings=settings, chat_model=FixedLatency(latency=chosen.latency)) as e2g:
        if CORPUS in e2g.corpora():
            sys.exit(f"The corpus {CORPUS} is there already: run against an empty database.")
        e2g._stories.tools.embedder.embed(["warm up"])
        report = e2g.index(chosen.books, corpus=CORPUS)
    calls = sum(one.calls for one in report.spending.values())
    remembered = sum(one.remembered for one in report.spending.values())
    llm = calls * chosen.latency / chosen.concurrency
    reading, total = report.seconds["reading"], report.seconds["total"]
    ratio = total / max(llm, reading)
    print(f"{report.documents} documents, {report.chunks} chunks, {calls} calls, {remembered} remembered")
    print(f"calls {calls} x {chosen.latency} s / {chosen.concurrency} = {llm:.1f} s; reading {reading:.1f} s")
    print("seconds: " + ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in report.seconds.items()))
    print(f"wall {total:.1f} s = {ratio:.3f} x the longer of both")
    return int(ratio > 1.1)


if __name__ == "__main__":
    sys.exit(main())
