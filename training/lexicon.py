"""A small table of what is known about English words, for the embedding to read as static vectors.

Lower-cased text hides which words are names. The table tells, for each of the commonest words, how often it is
written with a capital, how common it is, what its word class may be, and its Brown cluster. All of it is worked
out from the word probabilities, clusters and lemma index of spacy-lookups-data. Words that agree in all this
share a row. Words that are not in the table have the zero vector, which tells something too.
"""

from __future__ import annotations

import gzip
import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import spacy_lookups_data
from numpy.typing import NDArray
from spacy.language import Language
from spacy.vectors import Vectors

_FOLDER = Path(spacy_lookups_data.__file__).parent / "data"
_WORDS = 130_000
_CLUSTER_BITS = 14
_CLASSES = ("noun", "verb", "adj", "adv")


def add_lexicon(nlp: Language) -> None:
    """Sets the pipeline's vectors, looked up by the lower-case form."""
    counts = _counts()
    clusters = _table("en_lexeme_cluster.json.gz")
    index = _table("en_lemma_index.json.gz")
    classes = [frozenset(index[name]) for name in _CLASSES]
    commonest = sorted(counts, key=lambda w: -sum(counts[w]))[:_WORDS]
    rows: dict[tuple[float, ...], int] = {}
    keys: dict[int, int] = {}
    for word in commonest:
        lower, title, upper = counts[word]
        total = lower + title + upper
        # The cluster of the commonest spelling. Its low bits are the branches next to the root of the tree.
        spelling = max((word, word.title(), word.upper()), key=lambda w: clusters.get(w, 0) > 0)
        cluster = clusters.get(spelling, 0)
        bits = [float(cluster >> bit & 1) * 2 - 1 if cluster else 0.0 for bit in range(_CLUSTER_BITS)]
        flags = [float(word in members) for members in classes]
        capital = round((title + upper) / total * 8) / 4 - 1
        acronym = round(upper / total * 2) / 2
        frequency = min(round(math.log10(total * 1e9) / 2), 3) / 3
        features = (1.0, capital, acronym, float(capital > 0.4), frequency, *flags, *bits)
        keys[nlp.vocab.strings.add(word)] = rows.setdefault(features, len(rows))
    data: NDArray[np.float32] = np.array(list(rows), dtype=np.float32)
    vectors = Vectors(strings=nlp.vocab.strings, data=data, name="en_e2g_lexicon", attr="LOWER")
    for key, row in keys.items():
        vectors.add(key, row=row)
    nlp.vocab.vectors = vectors


def _counts() -> dict[str, list[float]]:
    """Probability of each lower-case word as it is, capitalised and in capitals. Words of letters only."""
    counts: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for spelling, log_probability in _table("en_lexeme_prob.json.gz").items():
        if spelling.isalpha() and len(spelling) > 1:
            case = 0 if spelling.islower() else 2 if spelling.isupper() else 1
            counts[spelling.lower()][case] += math.exp(log_probability)
    return counts


def _table(name: str) -> Any:
    with gzip.open(_FOLDER / name, "rt", encoding="utf-8") as file:
        return json.load(file)
