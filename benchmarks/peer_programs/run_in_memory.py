"""Index and ask with a script that holds vectors in memory: the project's text units and embedding model, and cosines.

python benchmarks/peer_programs/run_in_memory.py JOB.json
"""

from __future__ import annotations

from functools import partial

import numpy as np
from measured import Job, chat, finish, size_of, timed

from e2g_neo4j.documents.files import read
from e2g_neo4j.documents.reading import Limits
from e2g_neo4j.indexing.chunking import chunk
from e2g_neo4j.models.embedding.windows import embed_with_parts
from e2g_neo4j.models.loaded import Models
from e2g_neo4j.settings import Settings

PROMPT = "Answer the question from the evidence.\n\nEvidence:\n{evidence}\n\nQuestion: {question}"


class InMemory:
    """The windows of a text with their vectors."""

    def __init__(self, job: Job) -> None:
        self.job, self.models, self.settings = job, Models(Settings()), Settings()
        self.models.embedder.embed(["warm up"])
        self.models.query_embedder.embed(["warm up"])
        self.spans: list[tuple[int, int]] = []

    def index(self) -> None:
        document = read(self.job.text, "in-memory", Limits(self.settings.max_document_mb * 2**20))
        self.text, embedder = document.text, self.models.embedder
        size, overlap = self.settings.chunk_tokens, self.settings.chunk_overlap
        chunks = chunk(document, embedder.token_spans, size=size, overlap=overlap)
        embedded = list(embed_with_parts(embedder, ((one.text, ()) for one in chunks)))
        for one, found in zip(chunks, embedded, strict=True):
            self.spans += [(one.start + start, one.start + end) for start, end in found.windows]
        self.vectors = np.vstack([one.window_vectors for one in embedded])
        np.savez(self.job.folder / "index.npz", vectors=self.vectors, spans=self.spans, text=self.text)

    def retrieve(self, question: str) -> list[tuple[int, int]]:
        vector = self.models.query_embedder.embed([question])[0]
        found, left = [], self.job.budget
        for number in np.argsort(-(self.vectors @ vector)):
            if left <= 0:
                break
            start, end = self.spans[number]
            found.append((start, end))
            left -= len(self.models.embedder.token_spans(self.text[start:end]))
        return found

    def answer(self, question: str) -> str:
        evidence = "\n\n".join(self.text[start:end] for start, end in self.retrieve(question))
        prompt = PROMPT.format(evidence=evidence, question=question)
        return chat(self.job.host, [{"role": "user", "content": prompt}])


def main() -> None:
    job = Job.read()
    script = InMemory(job)
    index = timed(job.host, [script.index])
    question = timed(job.host, [partial(script.retrieve, one) for one in job.questions], warm=True)
    answer = timed(job.host, [partial(script.answer, one) for one in job.questions])
    found = {"": {one: script.retrieve(one) for one in job.evidence}}
    finish(index=index, questions={"": question}, answer=answer, found=found, bytes=size_of(job.folder))


if __name__ == "__main__":
    main()
