"""Record how the published code of HippoRAG 2 ranks passages, for tests/unit/test_published_walks.py.

    git clone https://github.com/OSU-NLP-Group/HippoRAG checkout
    python scripts/record_hipporag.py checkout

Runs its `retrieve` (at c617143) on small random libraries and writes inputs and outputs to tests/data/hipporag.json.
Its models and stores are replaced: vectors and the facts that the filter keeps are drawn. Its graph is built without
edges by triples and between similar names, which mode `hipporag` does not have. Needs igraph, tqdm and numpy, in an
environment of their own.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np

RECORDED = Path(__file__).parents[1] / "tests" / "data" / "hipporag.json"
NAMES = ("ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal", "ivy", "jim", "kit", "lou")
CASES = 24
FACTS = 5
"""Facts that the filter gets, and entities that are seeds at most: its default."""


class AmbiguousError(Exception):
    """Two entities have the same weight, and only one of them can be a seed."""


def vector(x: int) -> list[int]:
    """Return a vector of length 127, about, with this first component."""
    return [x, round((127**2 - x**2) ** 0.5)]


def library(drawn: random.Random) -> list[dict[str, Any]]:
    """Draw passages with facts of two names, each name in one fact of a passage at most.

    The least cosine of a fact with the question (1, 0) is 0 and the highest is 1, so that the published scaling of
    cosines changes nothing.
    """
    shapes = [drawn.randint(1, 3) for _ in range(drawn.randint(6, 14))]
    near = [0, 127, *drawn.sample(range(5, 123), sum(shapes) - 2)]
    drawn.shuffle(near)
    passages = drawn.sample(range(5, 123), len(shapes))
    found = []
    for at, facts in enumerate(shapes):
        names = drawn.sample(NAMES, 2 * facts)
        found.append({"near": passages[at], "facts": [[near.pop(), *names[2 * i : 2 * i + 2]] for i in range(facts)]})
    return found


class Store:
    """Texts with vectors, by key."""

    def __init__(self, rows: dict[str, tuple[str, Sequence[int]]]) -> None:
        self.rows = {key: {"hash_id": key, "content": text} for key, (text, _) in rows.items()}
        self.vectors = {key: np.array(of) / np.linalg.norm(of) for key, (_, of) in rows.items()}

    def get_all_ids(self) -> list[str]:
        return list(self.rows)

    def get_all_id_to_rows(self) -> dict[str, dict[str, str]]:
        return {key: dict(row) for key, row in self.rows.items()}

    def get_row(self, key: str) -> dict[str, str]:
        return self.rows[key]

    def get_rows(self, keys: Sequence[str]) -> dict[str, dict[str, str]]:
        return {key: self.rows[key] for key in keys}

    def get_embeddings(self, keys: Sequence[str]) -> list[Any]:
        return [self.vectors[key] for key in keys]


def published(module: Any, passages: Sequence[dict[str, Any]], kept: Sequence[int]) -> list[float]:
    """Return the score of each passage, of which the filter keeps the facts with these numbers."""
    triples: dict[str, list[tuple[str, str, str]]] = {}
    near: dict[str, int] = {}
    for at, passage in enumerate(passages):
        triples[f"p{at}"] = [(a, f"met {at}", b) for _, a, b in passage["facts"]]
        near |= {str((a, f"met {at}", b)): x for x, a, b in passage["facts"]}
    names = {key: [name for a, _, b in of for name in (a, b)] for key, of in triples.items()}
    of_name = {module.compute_mdhash_id(name, "entity-"): name for of in names.values() for name in of}

    system = module.HippoRAG.__new__(module.HippoRAG)
    system.global_config = module.BaseConfig()
    system.graph = module.ig.Graph(directed=False)
    system.entity_embedding_store = Store({key: (name, (1, 0)) for key, name in of_name.items()})
    system.chunk_embedding_store = Store({f"p{at}": (f"p{at}", vector(one["near"])) for at, one in enumerate(passages)})
    system.fact_embedding_store = Store({text: (text, vector(x)) for text, x in near.items()})
    system.chunk_metadata = {}
    system.ready_to_retrieve, system.rerank_time, system.ppr_time, system.all_retrieval_time = False, 0, 0, 0
    system.load_existing_openie = lambda _: ([], set())
    system.embedding_model = MagicMock()
    system.embedding_model.batch_encode = lambda texts, **_: [np.array([1.0, 0.0]) for _ in texts]
    system.rerank_filter = lambda question, facts, indices, len_after_rerank: (
        [indices[at] for at in kept],
        [facts[at] for at in kept],
        {},
    )

    def chosen(most: int, weights: Any, scores: dict[str, float]) -> Any:
        best = sorted(scores.values(), reverse=True)
        if len(best) > most and best[most - 1] - best[most] < 1e-4:
            raise AmbiguousError
        return type(system).get_top_k_weights(system, most, weights, scores)

    system.get_top_k_weights = chosen
    system.node_to_node_stats, system.ent_node_to_chunk_ids = {}, {}
    system.add_fact_edges(list(triples), list(triples.values()))
    system.node_to_node_stats = {}
    system.add_passage_edges(list(names), list(names.values()))
    system.add_new_nodes()
    system.add_new_edges()
    [found] = system.retrieve(["?"])
    scores = dict(zip(found.docs, found.doc_scores, strict=True))
    return [round(float(scores[f"p{at}"]), 9) for at in range(len(passages))]


def main(checkout: str) -> None:
    for name in ("transformers", "pydantic", "openai", "tenacity"):
        sys.modules[name] = MagicMock()
    for name in ("llm", "embedding_model", "embedding_store", "information_extraction", "rerank", "utils.qa_utils"):
        sys.modules[f"hipporag.{name}"] = MagicMock()
    for name in ("retrieval_eval", "qa_eval"):
        sys.modules[f"hipporag.evaluation.{name}"] = MagicMock()
    sys.modules["hipporag.utils.embed_utils"] = MagicMock()
    sys.modules["hipporag.prompts.prompt_template_manager"] = MagicMock()
    sys.path.insert(0, str(Path(checkout) / "src"))
    module = importlib.import_module("hipporag.HippoRAG")
    drawn = random.Random(7)  # noqa: S311
    cases: list[dict[str, Any]] = []
    while len(cases) < CASES:
        passages = library(drawn)
        kept = sorted(drawn.sample(range(FACTS), drawn.choice((0, 1, 2, 3, 4, 5, 5))))
        try:
            cases.append({"passages": passages, "kept": kept, "scores": published(module, passages, kept)})
        except AmbiguousError:
            continue
    RECORDED.write_text("[\n {}\n]\n".format(",\n ".join(map(json.dumps, cases))), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
