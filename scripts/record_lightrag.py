"""Record what LightRAG selects, for tests/unit/test_lightrag_published.py.

    python -m venv venv && venv/bin/pip install lightrag-hku==1.5.7
    venv/bin/python scripts/record_lightrag.py

Runs its queries up to the answer, on its graph of networkx, with small random libraries, and writes inputs and outputs
to tests/data/lightrag.json. Models and indexes of vectors are replaced: selection only needs what is nearest, which is
drawn. Chunks are picked by their vectors, its default. A character is a token.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from lightrag import operate
from lightrag.base import QueryParam
from lightrag.constants import GRAPH_FIELD_SEP
from lightrag.kg.networkx_impl import NetworkXStorage
from lightrag.kg.shared_storage import initialize_share_data
from lightrag.utils import Tokenizer

RECORDED = Path(__file__).parents[1] / "tests" / "data" / "lightrag.json"
NAMES = "abcdefghij"
CASES = 30
FEW_TOKENS = 350
MODES = ("mix", "hybrid", "local", "global")


class Characters:
    def encode(self, text: str) -> list[int]:
        return list(map(ord, text))

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(chr, tokens))


class Nearest:
    """An index of vectors that finds what it is given."""

    cosine_better_than_threshold = 0.2

    def __init__(self, found: Sequence[Any], vectors: Mapping[str, Sequence[float]] | None = None) -> None:
        self.found = found
        self.vectors = vectors or {}

    async def query(self, text: str, **_: Any) -> Sequence[Any]:
        return self.found

    async def get_vectors_by_ids(self, ids: Sequence[str]) -> dict[str, Sequence[float]]:
        return {id: self.vectors[id] for id in ids}


class Texts:
    def __init__(self, each: int) -> None:
        self.global_config = {"tokenizer": Tokenizer("characters", Characters()), "related_chunk_number": each}

    async def embedding_func(self, texts: Sequence[str], **_: Any) -> list[list[float]]:
        return [[1.0, 0.0] for _ in texts]

    async def get_by_ids(self, ids: Sequence[str]) -> list[dict[str, str]]:
        return [{"content": f"Text {id}", "file_path": id} for id in ids]


async def graph_of(chunks: Sequence[str], *, stated: bool) -> NetworkXStorage:
    """Return names and pairs with their chunks. A pair is stated in the first one only, or else mentioned in all."""
    sources, weights = defaultdict[str, list[str]](list), defaultdict[str, float](float)
    for number, names in enumerate(chunks):
        for one in (*names, *map("".join, combinations(names, 2))):
            sources[one].append(str(number))
            weights[one] += 1 / len(names)
    graph = NetworkXStorage("graph", "", {"working_dir": tempfile.mkdtemp()}, None)
    await graph.initialize()
    for one, found in sources.items():
        source = GRAPH_FIELD_SEP.join(found[:1] if stated and len(one) == 2 else found)
        if len(one) == 1:
            await graph.upsert_node(one, {"entity_id": one, "source_id": source})
        else:
            await graph.upsert_edge(one[0], one[1], {"weight": weights[one], "source_id": source})
    return graph


def chunks_index(case: Mapping[str, Any]) -> Nearest:
    cosines = case["cosines"]
    order = sorted(range(len(cosines)), key=cosines.__getitem__, reverse=True)[: case["nearest"]]
    return Nearest(
        [{"id": str(number), "content": f"Text {number}", "file_path": str(number)} for number in order],
        {str(number): [cosine, math.sqrt(1 - cosine**2)] for number, cosine in enumerate(cosines)},
    )


async def found(case: Mapping[str, Any], graph: NetworkXStorage, mode: str, **limits: int) -> dict[str, Any]:
    result = await operate._build_query_context(
        "question",
        "specific keywords",
        "general keywords",
        graph,
        Nearest([{"entity_name": name} for name in case["named"]]),
        Nearest([{"src_id": a, "tgt_id": b} for a, b in case["near"]]),
        Texts(case["each"]),
        QueryParam(mode=mode, chunk_top_k=100, enable_rerank=False, **limits),
        chunks_index(case),
    )
    data = result.raw_data["data"]
    return {
        "entities": "".join(one["entity_name"] for one in data["entities"]),
        "relations": ["".join(sorted(one["src_id"] + one["tgt_id"])) for one in data["relationships"]],
        "chunks": [int(one["chunk_id"]) for one in data["chunks"]],
    }


async def naive(case: Mapping[str, Any]) -> list[int]:
    parameters = QueryParam(mode="naive", chunk_top_k=100, enable_rerank=False, only_need_context=True)
    config = {**Texts(0).global_config, "role_llm_funcs": {"query": print}}
    result = await operate.naive_query("question", chunks_index(case), parameters, config)
    return [int(one["chunk_id"]) for one in result.raw_data["data"]["chunks"]]


async def recorded(drawn: random.Random) -> dict[str, Any]:
    names = NAMES[: drawn.randint(5, len(NAMES))]
    chunks = [
        "".join(sorted(drawn.sample(names, drawn.choice((0, 1, 2, 2, 3, 4))))) for _ in range(drawn.randint(20, 48))
    ]
    pairs = sorted({"".join(pair) for chunk in chunks for pair in combinations(chunk, 2)})
    case = {
        "chunks": chunks,
        "cosines": [cosine / 1000 for cosine in drawn.sample(range(-500, 1000), len(chunks))],
        "named": "".join(drawn.sample(sorted({*"".join(chunks)}), drawn.randint(1, 2))),
        "near": drawn.sample(pairs, drawn.randint(1, 4)),
        "nearest": drawn.randint(1, 6),
        "each": drawn.choice((2, 2, 3, 5)),
    }
    mentioned, stated = await graph_of(chunks, stated=False), await graph_of(chunks, stated=True)
    local = await found(case, mentioned, "local")
    few = await found(case, mentioned, "local", max_relation_tokens=FEW_TOKENS)
    return {
        **case,
        "naive": await naive(case),
        "local": local["relations"],
        "few": few["relations"],
        "mentioned": {mode: await found(case, mentioned, mode) for mode in MODES},
        "stated": {mode: (await found(case, stated, mode))["chunks"] for mode in MODES},
    }


async def main() -> None:
    initialize_share_data()
    drawn = random.Random(11)  # noqa: S311
    cases = [await recorded(drawn) for _ in range(CASES)]
    lines = (json.dumps(case, separators=(",", ":")) for case in cases)
    RECORDED.write_text("[\n {}\n]\n".format(",\n ".join(lines)), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
