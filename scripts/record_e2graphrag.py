"""Record what the published code of E²GraphRAG selects, for tests/unit/test_e2g_variants.py.

    git clone https://github.com/YiboZhao624/E-2GraphRAG checkout
    python scripts/record_e2graphrag.py checkout

Runs its `Retriever` (at f598d4f) on small random libraries and its extractor on annotated questions, and writes inputs
and outputs to tests/data/e2graphrag.json. The models that it imports are replaced: selection only needs the nearest
nodes, whose order is drawn. Needs networkx and spaCy.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import spacy
from spacy.tokens import Doc

RECORDED = Path(__file__).parents[1] / "tests" / "data" / "e2graphrag.json"
NAMES = ("ann", "bob", "cid", "dan", "eve", "sea", "fog", "key")
CASES = 48
GROUP = 5

QUESTIONS = (
    "Who|PRON did|AUX Luke|PROPN|B-PERSON Farran|PROPN|I-PERSON save|VERB ?|PUNCT",
    "Did|AUX Mina|PROPN|B-PERSON meet|VERB captains|NOUN|O|captain in|ADP New|PROPN|B-GPE York|PROPN|I-GPE ?|PUNCT",
    "When|ADV did|AUX Holloway|PROPN|B-ORG Lines|PROPN|I-ORG sell|VERB the|DET ship|NOUN ?|PUNCT",
    "Which|PRON harbour|NOUN did|AUX Abel|PROPN Crane|PROPN see|VERB on|ADP Sunday|PROPN|B-DATE ?|PUNCT",
    "Who|PRON read|VERB Old|PROPN|B-WORK_OF_ART Salt|PROPN|I-WORK_OF_ART to|ADP Luke|PROPN|B-PERSON ?|PUNCT",
    "How|ADV did|AUX it|PRON end|VERB ?|PUNCT",
    "Did|AUX Ann|PROPN|B-PERSON climb|VERB Mont|PROPN|B-LOC Blanc|PROPN|I-LOC or|CCONJ swim|VERB ?|PUNCT",
    "Who|PRON crossed|VERB Tower|PROPN|B-FAC Bridge|PROPN|I-FAC with|ADP a|DET lamp|NOUN ?|PUNCT",
    "What|PRON did|AUX the|DET|B-GPE United|PROPN|I-GPE States|PROPN|I-GPE buy|VERB from|ADP"
    " France|PROPN|B-GPE ?|PUNCT",
    "Which|DET Danish|ADJ|B-NORP sailors|NOUN|O|sailor left|VERB at|ADP the|DET|B-TIME end|NOUN|I-TIME of|ADP|I-TIME"
    " night|NOUN|I-TIME ?|PUNCT",
    "Where|ADV is|AUX Captain|PROPN Jean|PROPN|B-PERSON -|PUNCT|I-PERSON Luc|PROPN|I-PERSON Picard|PROPN|I-PERSON"
    " 's|PART ship|NOUN ?|PUNCT",
    "Who|PRON wrote|VERB The|DET|B-WORK_OF_ART Old|ADJ|I-WORK_OF_ART Man|NOUN|I-WORK_OF_ART and|CCONJ|I-WORK_OF_ART"
    " the|DET|I-WORK_OF_ART Sea|NOUN|I-WORK_OF_ART as|ADP a|DET part|NOUN of|ADP a|DET bet|NOUN ?|PUNCT",
    "Did|AUX Mr.|PROPN|B-PERSON Darcy|PROPN|I-PERSON pay|VERB ten|NUM|B-MONEY pounds|NOUN|I-MONEY|pound to|ADP"
    " Lloyd|PROPN|B-ORG 's|PART|I-ORG ?|PUNCT",
    "Who|PRON of|ADP the|DET Darcys|PROPN|O|Darcy saw|VERB the|DET Battle|PROPN|B-EVENT of|ADP|I-EVENT"
    " Trafalgar|PROPN|I-EVENT in|ADP March|PROPN|B-DATE ?|PUNCT",
    "Is|AUX Anne|PROPN -|PUNCT Marie|PROPN a|DET friend|NOUN of|ADP Ann|PROPN|B-PERSON and|CCONJ of|ADP"
    " ann|PROPN ?|PUNCT",
)
"""Words with their parts of speech, named entities and lemmas."""


def annotated(text: str) -> dict[str, list[Any]]:
    """Return what a spaCy pipeline would say of a question."""
    words = [[*word.split("|"), "O", ""] for word in text.split()]
    return {
        "words": [word[0] for word in words],
        "pos": [word[1] for word in words],
        "ents": [word[2] for word in words],
        "lemmas": [(len(word) > 5 and word[3]) or word[0] for word in words],
        "sent_starts": [place == 0 for place in range(len(words))],
    }


def library(drawn: random.Random) -> list[list[list[str]]]:
    """Draw chunks of sentences of names."""
    common = drawn.sample(NAMES, drawn.randint(4, len(NAMES)))
    return [
        [drawn.choices(common, k=drawn.choice((1, 1, 2, 2, 3))) for _ in range(drawn.randint(1, 3))]
        for _ in range(drawn.randint(6, 30))
    ]


def tree_of(chunks: int) -> dict[str, dict[str, Any]]:
    """Return the nodes as the published code stores them."""
    nodes: dict[str, dict[str, Any]] = {f"leaf_{i}": {"text": f"{i}", "children": None} for i in range(chunks)}
    level, ids = 0, list(nodes)
    while level == 0 or len(ids) > 1.2 * GROUP:
        groups = [ids[i : i + GROUP] for i in range(0, len(ids), GROUP)]
        ids = [f"summary_{level}_{i}" for i in range(len(groups))]
        nodes |= {id: {"text": id, "children": group} for id, group in zip(ids, groups, strict=True)}
        level += 1
    return nodes


def counts_of(chunk: list[list[str]]) -> dict[str, int]:
    names = [name for sentence in chunk for name in sentence]
    return {name: names.count(name) for name in dict.fromkeys(names)}


class Published:
    """The published retriever on one library."""

    def __init__(self, module: Any, chunks: list[list[list[str]]], near: list[str], graph: Any) -> None:
        self.retriever = retriever = module.Retriever.__new__(module.Retriever)
        retriever.cache_tree = tree_of(len(chunks))
        retriever.collapse_tree, retriever.collapse_tree_ids = retriever._collapse_tree(retriever.cache_tree)
        places = [retriever.collapse_tree_ids.index(id) for id in near]
        retriever.appearance_count = {f"leaf_{i}": counts_of(chunk) for i, chunk in enumerate(chunks)}
        retriever.index = {}
        for id, counts in retriever.appearance_count.items():
            for name in counts:
                retriever.index.setdefault(name, []).append(id)
        retriever.inverse_index = retriever.get_inverse_index()
        pairs = [
            (a, b, 1)
            for chunk in chunks
            for sentence in chunk
            for i, a in enumerate(sentence)
            for b in sentence[i + 1 :]
        ]
        retriever.G = graph(pairs)
        retriever.embedder = MagicMock()
        retriever.faiss_index = MagicMock()
        retriever.faiss_index.search = lambda _, k: (None, [places[:k]])
        retriever.format_res = lambda found: ""

    def ask(self, names: list[str], k: int, hops: int) -> dict[str, Any]:
        self.retriever.nlp = MagicMock()
        self.retriever.nlp.naive_extract_graph = lambda _: {"nouns": names}
        found = self.retriever.query("?", max_chunk_setting=k, shortest_path_k=hops + 1)
        chosen = sorted({id for ids in found["chunk_ids"].values() for id in ids})
        return {"step": found["retrieval_type"].split(",")[0], "chosen": chosen}


def main(checkout: str) -> None:
    for name in ("torch", "faiss", "transformers", "sentence_transformers", "nltk", "utils"):
        sys.modules[name] = MagicMock()
    sys.path.insert(0, checkout)
    import extract_graph
    import query

    extractor = extract_graph.SpacyExtractor.__new__(extract_graph.SpacyExtractor)
    vocab = spacy.blank("en").vocab
    extractor.nlp = lambda text: Doc(vocab, **annotated(text))
    questions = [
        {**annotated(text), "terms": sorted({term.lower() for term in extractor.naive_extract_graph(text)["nouns"]})}
        for text in QUESTIONS
    ]
    drawn = random.Random(7)  # noqa: S311
    cases = []
    for _ in range(CASES):
        chunks = library(drawn)
        near = list(tree_of(len(chunks)))
        drawn.shuffle(near)
        names = drawn.sample(NAMES, drawn.randint(0, 4))
        asked = {"names": names, "k": drawn.randint(1, 8), "hops": 3}
        found = Published(query, chunks, near, extract_graph.build_graph).ask(**asked)
        cases.append({"chunks": chunks, "near": near, **asked, **found})
    lines = [",\n  ".join(json.dumps(one, ensure_ascii=False) for one in part) for part in (questions, cases)]
    text = '{{\n "questions": [\n  {}\n ],\n "cases": [\n  {}\n ]\n}}\n'.format(*lines)
    RECORDED.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
