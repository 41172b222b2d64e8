"""`tree`: the nearest chunks and summaries of the whole tree, as RAPTOR's collapsed tree (arXiv 2401.18059)."""

from __future__ import annotations

from collections.abc import Sequence

from e2g_neo4j.evidence import Ranked, best
from e2g_neo4j.queries import Embed, Story, read_each


def tree(question: str, *, corpora: Sequence[str], k: int) -> Story[list[Ranked]]:
    vector = yield Embed(question)
    asked = {corpus: {"vector": vector, "k": k, "names": []} for corpus in corpora}
    return best((yield from read_each("query/nearest", asked)), k)
