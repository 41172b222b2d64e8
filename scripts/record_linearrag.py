"""Record how the published code of LinearRAG ranks passages, for tests/unit/test_published_walks.py.

    git clone https://github.com/DEEP-PolyU/LinearRAG checkout
    python scripts/record_linearrag.py checkout

Runs its `index` and `retrieve` (at 4ecfa25) with the constants of its command on small random libraries, and writes
inputs and outputs to tests/data/linearrag.json. Its models are replaced: vectors and names are drawn. Needs igraph,
tqdm and numpy, in an environment of their own. LinearRAG is under the GPL: it is run apart, and nothing of it is in
this project.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import MagicMock

import numpy as np

RECORDED = Path(__file__).parents[1] / "tests" / "data" / "linearrag.json"
CASES = 12
CONSTANTS = {"iteration_threshold": 0.4, "passage_ratio": 2, "top_k_sentence": 3}
"""The defaults of its command."""

NEAR, FAR = range(60, 127), range(5, 46)
"""Of 127, the cosines of sentences that may pass something on, and of those that are too far from the question."""


def vector(x: int) -> list[int]:
    """Return a vector of length 127, about, with this first component."""
    return [x, round((127**2 - x**2) ** 0.5)]


def web(drawn: random.Random) -> tuple[list[str], list[list[Any]]]:
    """Draw the names of a question and sentences, each with its nearness, of ten names."""
    names = [f"n{at:02}" for at in range(10)]
    near = drawn.sample(range(5, 127), drawn.randint(12, 30))
    sentences = [[x, *drawn.sample(names, drawn.choice((1, 2, 2, 3)))] for x in near]
    known = sorted({name for _, *of in sentences for name in of})
    return sorted(drawn.sample(known, drawn.randint(1, 3))), sentences


def trees(drawn: random.Random, rounds: int) -> tuple[list[str], list[list[Any]]]:
    """Like `web`, but one sentence at most leads to a name, and no name has more than three near sentences more: that a
    name becomes active again has no effect on others."""
    seeds = ["n00", "n01"]
    near, far = drawn.sample(NEAR, 24), drawn.sample(FAR, 12)
    sentences, following, count = [], seeds, 2
    for _ in range(rounds + 1):
        names, following = following, []
        for name in names:
            for kind, least, most in ((near, name in seeds, 3), (far, 0, 1)):
                for _ in range(min(drawn.randint(least, most), len(kind))):
                    others = [f"n{count + at:02}" for at in range(drawn.randint(1, 2))]
                    count += len(others)
                    following += others
                    sentences.append([kind.pop(), name, *others])
    drawn.shuffle(sentences)
    return seeds, sentences


def passages_of(drawn: random.Random, sentences: Sequence[list[Any]]) -> list[dict[str, Any]]:
    """Draw which sentences follow each other in a passage."""
    found, at = [], 0
    near = drawn.sample(range(5, 127), len(sentences))
    while at < len(sentences):
        length = drawn.randint(1, 4)
        found.append({"near": near.pop(), "sentences": sentences[at : at + length]})
        at += length
    return found


class Vectors:
    """The embedding model: one direction for each name, and the drawn vectors of sentences and passages."""

    def __init__(self, near: Mapping[str, int], names: Sequence[str]) -> None:
        self.near, self.names = near, names

    def encode(self, texts: str | Sequence[str], **_: Any) -> Any:
        if isinstance(texts, str):
            return np.array([1.0, 0.0])
        if texts[0] in self.names:
            return np.array([[float(name == text) for name in self.names] for text in texts])
        rows = np.array([vector(self.near[text]) for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def published(module: Any, config: Any, case: Mapping[str, Any]) -> dict[str, Any]:
    """Return what becomes active, the weights of names and passages as seeds, and the scores of passages."""
    texts: list[str] = []
    near: dict[str, int] = {}
    names: dict[str, list[str]] = {}
    of_sentence: dict[str, list[str]] = {}
    for passage in case["passages"]:
        own = {f"{' '.join(of)} {len(near) + at}.": (x, of) for at, (x, *of) in enumerate(passage["sentences"])}
        near |= {sentence: x for sentence, (x, _) in own.items()}
        of_sentence |= {sentence: of for sentence, (_, of) in own.items()}
        texts.append("Once: " + " ".join(own))
        near[texts[-1]] = passage["near"]
        names[texts[-1]] = sorted({name for _, of in own.values() for name in of})
    every = sorted({name for of in names.values() for name in of})
    with TemporaryDirectory() as folder:
        settings = config(
            "d",
            embedding_model=Vectors(near, every),
            working_dir=folder,
            retrieval_top_k=len(texts),
            max_iterations=case["rounds"] + 1,
            **CONSTANTS,
        )
        system = module.LinearRAG(settings)
        system.spacy_ner.question_ner = lambda _: case["seeds"]
        system.spacy_ner.batch_ner = lambda passages, _: (
            {key: names[text] for key, text in passages.items()},
            of_sentence,
        )
        system.index(texts)
        seen: dict[str, Any] = {}

        def told(name: str) -> None:
            function = getattr(system, name)
            setattr(system, name, lambda *given: seen.setdefault(name, function(*given)))

        told("calculate_entity_scores")
        told("calculate_passage_scores")
        [found] = system.retrieve([{"question": "?", "answer": ""}])
    weights, active = seen["calculate_entity_scores"]
    place, key_of = system.node_name_to_vertex_idx, system.entity_embedding_store.text_to_hash_id
    reached = {name: key_of[name] for name in every if key_of[name] in active}
    keys = [system.passage_embedding_store.text_to_hash_id[text] for text in texts]
    scores = dict(zip(found["sorted_passage"], found["sorted_passage_scores"], strict=True))
    return {
        "active": {name: [round(float(active[key][1]), 7), active[key][2]] for name, key in reached.items()},
        "weights": {name: round(float(weights[place[key]]), 7) for name, key in reached.items()},
        "windows": [round(float(seen["calculate_passage_scores"][place[key]]), 7) for key in keys],
        "scores": [round(scores[text], 9) for text in texts],
    }


def main(checkout: str) -> None:
    for name in ("torch", "spacy", "pandas", "httpx", "openai"):
        sys.modules[name] = MagicMock()
    sys.path.insert(0, checkout)
    module = importlib.import_module("src.LinearRAG")
    config = importlib.import_module("src.config").LinearRAGConfig
    drawn = random.Random(7)  # noqa: S311
    cases = []
    for at in range(2 * CASES):
        rounds = 1 if at < CASES else drawn.choice((2, 3))
        seeds, sentences = web(drawn) if at < CASES else trees(drawn, rounds)
        case = {"seeds": seeds, "rounds": rounds, "passages": passages_of(drawn, sentences)}
        cases.append({**case, **published(module, config, case)})
    RECORDED.write_text("[\n {}\n]\n".format(",\n ".join(map(json.dumps, cases))), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
