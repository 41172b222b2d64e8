"""`dense`: chunks by their nearest window."""

from __future__ import annotations

from collections.abc import Sequence

from e2g_neo4j.evidence import Ranked, best
from e2g_neo4j.queries import Embed, Story, read_each

WINDOWS = 6
"""Windows looked at for each chunk wanted: a chunk of 1200 tokens has five of 254, and a neighbour may share one."""


def dense(question: str, *, corpora: Sequence[str], k: int) -> Story[list[Ranked]]:
    vector = yield Embed(question)
    asked = {corpus: {"vector": vector, "windows": WINDOWS * k, "k": k} for corpus in corpora}
    return best((yield from read_each("query/dense", asked)), k)
