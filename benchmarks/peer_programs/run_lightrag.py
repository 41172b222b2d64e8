"""Index and ask with LightRAG, which must be installed beside this: `pip install lightrag-hku==1.5.7`.

    PYTHON benchmarks/peer_programs/run_lightrag.py JOB.json

Everything has its default: chunks of 1,200 tokens with 100 shared, one gleaning, four calls of the chat model together,
and questions in mode `mix`. But replies are not cached, reranking is off, since it needs a model of its own, and slow
models may take longer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc
from measured import CALL_SECONDS, QUERY_PREFIX, Job, chat, embed, finish, size_of, timed

MODES = ("mix", "naive")


async def ask(rag: LightRAG, question: str, mode: str, **how: Any) -> Any:
    return await rag.aquery(question, QueryParam(mode=mode, enable_rerank=False, **how))


async def texts(rag: LightRAG, question: str, mode: str) -> list[str]:
    """Return the chunks that a question is answered from, best first."""
    found = await rag.aquery_data(question, QueryParam(mode=mode, enable_rerank=False))
    return [one["content"] for one in found.get("data", {}).get("chunks", [])]


def main() -> None:
    job = Job.read()
    loop = asyncio.new_event_loop()

    def run(call: Coroutine[Any, Any, Any]) -> Any:
        return loop.run_until_complete(call)

    def later(make: Callable[..., Coroutine[Any, Any, Any]], *given: Any, **how: Any) -> Callable[[], Any]:
        return lambda: run(make(*given, **how))

    async def model(
        prompt: str, system_prompt: str | None = None, history_messages: list[dict[str, str]] | None = None, **_: Any
    ) -> str:
        messages = [{"role": "system", "content": system_prompt}] if system_prompt else []
        messages += [*(history_messages or []), {"role": "user", "content": prompt}]
        return await asyncio.to_thread(chat, job.host, messages)

    async def vectors(several: list[str], context: str = "document", **_: Any) -> np.ndarray:
        asked = [QUERY_PREFIX + one for one in several] if context == "query" else several
        return np.array(await asyncio.to_thread(embed, job.host, asked), np.float32)

    rag = LightRAG(
        working_dir=str(job.folder),
        llm_model_func=model,
        embedding_func=EmbeddingFunc(384, vectors, max_token_size=8192, supports_asymmetric=True),
        enable_llm_cache=False,
        default_embedding_timeout=600,
        default_llm_timeout=CALL_SECONDS,
    )
    run(rag.initialize_storages())
    text = job.text.read_text(encoding="utf-8")
    index = timed(job.host, [later(rag.ainsert, text, file_paths=job.text.name)])
    states = run(rag.get_processing_status())
    graph = run(rag.chunk_entity_relation_graph.get_all_nodes())
    edges = run(rag.chunk_entity_relation_graph.get_all_edges())
    questions = {
        mode: timed(job.host, [later(ask, rag, one, mode, only_need_context=True) for one in job.questions], warm=True)
        for mode in MODES
    }
    answer = timed(job.host, [later(ask, rag, one, "mix") for one in job.questions])
    found = {mode: {one: run(texts(rag, one, mode)) for one in job.evidence} for mode in MODES}
    run(rag.finalize_storages())
    notes = {"states": states, "entities": len(graph), "relations": len(edges)}
    finish(index=index, questions=questions, answer=answer, found=found, bytes=size_of(job.folder), notes=notes)


if __name__ == "__main__":
    main()
