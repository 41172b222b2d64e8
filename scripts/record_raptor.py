"""Record what the published code of RAPTOR selects and groups, for tests/unit/test_raptor_published.py.

    git clone https://github.com/parthsarthi03/raptor checkout
    python scripts/record_raptor.py checkout

Runs its retriever and its clustering (at 2e3e83e) on small random trees and clouds of vectors, and writes inputs and
outputs to tests/data/raptor.json. Models are replaced, UMAP by the first coordinates of vectors that have few. A word
is a token. Needs SciPy and scikit-learn.
"""

from __future__ import annotations

import json
import math
import random
import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

RECORDED = Path(__file__).parents[1] / "tests" / "data" / "raptor.json"
MODEL = "model"
TREES = 24
CLOUDS = 14
LEAVES = (8, 11, 12, 30)
WITHOUT_END = 4
"""So many times the same nodes are grouped before it counts as for ever."""


class Words:
    def encode(self, text: str) -> list[str]:
        return text.split()


class FirstCoordinates:
    """In place of UMAP."""

    def __init__(self, n_components: int, **_: Any) -> None:
        self.n_components = n_components

    def fit_transform(self, vectors: Any) -> Any:
        return vectors[:, : self.n_components]


def imported(checkout: str) -> Any:
    for name in ("faiss", "openai", "tenacity", "tiktoken", "torch", "transformers", "sentence_transformers", "umap"):
        sys.modules[name] = MagicMock()
    sys.modules["umap"].UMAP = FirstCoordinates
    sys.modules["torch"].Tensor = FirstCoordinates  # SciPy asks whether its arrays are some
    sys.path.insert(0, checkout)
    import raptor

    return raptor


def tree_of(raptor: Any, drawn: random.Random) -> tuple[dict[str, Any], Any]:
    """Draw a tree whose nodes have texts of some length and cosines to the question."""
    from raptor.tree_structures import Node, Tree

    sizes = [drawn.randint(8, 20), drawn.randint(3, 6), drawn.randint(1, 2)]
    levels = [level for level, size in enumerate(sizes) for _ in range(size)]
    count = len(levels)
    cosines = [cosine / 1000 for cosine in drawn.sample(range(-500, 1000), count)]
    tokens = [drawn.choice((40, 90, 100, 100, 400)) for _ in range(count)]
    below = [[at for at in range(count) if levels[at] == level - 1] for level in levels]
    children = [sorted(drawn.sample(some, drawn.randint(1, len(some)))) if some else [] for some in below]
    nodes = {
        at: Node(
            " ".join([str(at)] * tokens[at]),
            at,
            {*children[at]},
            {MODEL: [cosines[at], math.sqrt(1 - cosines[at] ** 2)]},
        )
        for at in range(count)
    }
    layers = {level: [nodes[at] for at in nodes if levels[at] == level] for level in range(len(sizes))}
    tree = Tree(nodes, layers[2], layers[0], 2, layers)
    return {"levels": levels, "cosines": cosines, "tokens": tokens, "children": children}, tree


def retrieved(raptor: Any, drawn: random.Random) -> dict[str, Any]:
    from raptor.tree_retriever import TreeRetriever, TreeRetrieverConfig

    class Question(raptor.BaseEmbeddingModel):
        def create_embedding(self, text: str) -> list[float]:
            return [1.0, 0.0]

    case, tree = tree_of(raptor, drawn)
    case |= {"k": drawn.randint(2, 12), "budget": drawn.choice((250, 600, 1000, 10_000))}
    config = TreeRetrieverConfig(Words(), 0.5, 3, "top_k", MODEL, Question())
    retriever = TreeRetriever(config, tree)
    found, _ = retriever.retrieve_information_collapse_tree("?", case["k"], case["budget"])
    traversed, _ = retriever.retrieve_information(tree.layer_to_nodes[2], "?", 3)
    return {**case, "collapsed": [node.index for node in found], "traversed": [node.index for node in traversed]}


def clouds(drawn: random.Random, *, tight: bool) -> dict[str, Any]:
    """Draw vectors near some axes, and the length of their texts."""
    dimensions, spread, digits = (3, 0.0005, 5) if tight else (10, 0.03, 3)
    axes = drawn.sample(range(dimensions), drawn.randint(1, 3))
    places = [axis for axis in axes for _ in range(drawn.randint(9, 14))]
    drawn.shuffle(places)
    vectors = [[round((at == axis) + drawn.gauss(0, spread), digits) for at in range(dimensions)] for axis in places]
    return {
        "vectors": vectors,
        "clouds": places,
        "tight": tight,
        "tokens": drawn.choice((50, 100, 400)) if tight else 50,
    }


def grouped(raptor: Any, vectors: list[list[float]], tokens: int) -> list[list[int]] | None:
    """Return its groups; None if it divides the same nodes again and again."""
    from raptor import cluster_utils
    from raptor.tree_structures import Node

    nodes = [Node(" ".join(["x"] * tokens), at, set(), {MODEL: vector}) for at, vector in enumerate(vectors)]
    published = cluster_utils.RAPTOR_Clustering.perform_clustering
    seen: list[tuple[int, ...]] = []

    def counted(some: list[Any], *args: Any, **named: Any) -> Any:
        seen.append(tuple(node.index for node in some))
        if seen.count(seen[-1]) == WITHOUT_END:
            raise RecursionError
        return published(some, *args, **named, tokenizer=Words())

    cluster_utils.RAPTOR_Clustering.perform_clustering = counted
    try:
        return sorted(sorted(node.index for node in group) for group in counted(nodes, MODEL))
    except RecursionError:
        return None
    finally:
        cluster_utils.RAPTOR_Clustering.perform_clustering = published


def levels(raptor: Any, leaves: int) -> list[int]:
    """Return how many nodes each level has."""
    from raptor.cluster_tree_builder import ClusterTreeBuilder
    from raptor.tree_structures import Node

    builder = ClusterTreeBuilder.__new__(ClusterTreeBuilder)
    builder.reduction_dimension, builder.num_layers, builder.summarization_length = 10, 5, 100
    builder.clustering_params, builder.cluster_embedding_model, builder.tokenizer = {}, MODEL, Words()
    builder.clustering_algorithm = MagicMock()
    builder.clustering_algorithm.perform_clustering = lambda nodes, *_, **__: [
        nodes[at : at + 2] for at in range(0, len(nodes), 2)
    ]
    builder.summarize = lambda **_: "Summary."
    builder.create_node = lambda at, text, children: (at, Node(text, at, children, {}))
    nodes = {at: Node("Text.", at, set(), {}) for at in range(leaves)}
    layers = {0: list(nodes.values())}
    builder.construct_tree(nodes, dict(nodes), layers)
    return [len(layer) for layer in layers.values()]


def main(checkout: str) -> None:
    raptor = imported(checkout)
    drawn = random.Random(3)  # noqa: S311
    trees = [retrieved(raptor, drawn) for _ in range(TREES)]
    drawn_clouds = [clouds(drawn, tight=number % 2 == 0) for number in range(CLOUDS)]
    groups = [{**one, "groups": grouped(raptor, one["vectors"], one["tokens"])} for one in drawn_clouds]
    pairs = [{"leaves": leaves, "levels": levels(raptor, leaves)} for leaves in LEAVES]
    parts = {"trees": trees, "clouds": groups, "halved": pairs}
    lines = {name: ",\n  ".join(json.dumps(one, separators=(",", ":")) for one in part) for name, part in parts.items()}
    text = ",\n".join(f' "{name}": [\n  {part}\n ]' for name, part in lines.items())
    RECORDED.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
