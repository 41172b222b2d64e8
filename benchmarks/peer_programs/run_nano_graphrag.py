"""Index and ask with nano-graphrag, which must be installed beside this: `pip install nano-graphrag==0.0.8.2`.

    PYTHON benchmarks/peer_programs/run_nano_graphrag.py JOB.json

Everything has its default: chunks of 1,200 tokens with 100 shared, one gleaning, 16 calls of the chat model together.
Questions are asked in mode `local`, with the budget of the job for text and their answers not cached.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np
from measured import Job, chat, embed, finish, size_of, timed
from nano_graphrag import GraphRAG, QueryParam
from nano_graphrag._utils import EmbeddingFunc


def texts(context: str, chunks: list[str]) -> list[str]:
    """Return the chunks that a context contains, in its order. They are found by what is in their middle, since the
    table of sources does not escape quotation marks."""
    places = {chunk: context.find(chunk[len(chunk) // 2 :][:200]) for chunk in chunks}
    return sorted((chunk for chunk in chunks if places[chunk] >= 0), key=lambda chunk: places[chunk])


def main() -> None:
    job = Job.read()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    def later(make: Callable[..., Coroutine[Any, Any, Any]], *given: Any, **how: Any) -> Callable[[], Any]:
        return lambda: loop.run_until_complete(make(*given, **how))

    async def model(
        prompt: str, system_prompt: str | None = None, history_messages: list[dict[str, str]] | None = None, **_: Any
    ) -> str:
        messages = [{"role": "system", "content": system_prompt}] if system_prompt else []
        messages += [*(history_messages or []), {"role": "user", "content": prompt}]
        return await asyncio.to_thread(chat, job.host, messages)

    async def vectors(several: list[str]) -> np.ndarray:
        return np.array(await asyncio.to_thread(embed, job.host, several), np.float32)

    rag = GraphRAG(
        working_dir=str(job.folder),
        best_model_func=model,
        cheap_model_func=model,
        embedding_func=EmbeddingFunc(384, 8192, vectors),
        enable_llm_cache=False,
    )
    text = job.text.read_text(encoding="utf-8")
    index = timed(job.host, [later(rag.ainsert, text)])
    local = {"mode": "local", "local_max_token_for_text_unit": job.budget}

    async def ask(question: str, *, only_need_context: bool) -> str:
        said: str = await rag.aquery(question, QueryParam(only_need_context=only_need_context, **local))
        return said

    question = timed(job.host, [later(ask, one, only_need_context=True) for one in job.questions], warm=True)
    answer = timed(job.host, [later(ask, one, only_need_context=False) for one in job.questions])
    chunks = [one["content"] for one in rag.text_chunks._data.values()]
    found = {one: texts(later(ask, one, only_need_context=True)(), chunks) for one in job.evidence}
    graph = rag.chunk_entity_relation_graph._graph
    notes = {"entities": graph.number_of_nodes(), "relations": graph.number_of_edges()}
    finish(
        index=index,
        questions={"local": question},
        answer=answer,
        found={"local": found},
        bytes=size_of(job.folder),
        notes=notes,
    )


if __name__ == "__main__":
    main()
