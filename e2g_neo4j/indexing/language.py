"""Recognise the language of documents: that of a new corpus, and documents in another one than their corpus.

A pipeline finds nonsense in them. Only clear cases count, and only words: formulas, tables of figures, keys of answers
and code have few different ones.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable

import regex  # type: ignore[import-untyped]

from e2g_neo4j.types.documents import SourceDocument
from e2g_neo4j.types.languages import LANGUAGES

_CODES = {language.name: code for code, language in LANGUAGES.items()}

_SAME = {"no": "nb", "nn": "nb"}
"""Languages that the library tells apart, and LANGUAGES does not."""

SAMPLE = 4000
"""Characters that are looked at in the first, second and third third of a text."""

FEWEST_WORDS, FEWEST_LETTERS = 12, 40
"""Texts with fewer different words, or with fewer letters, are not judged."""

WORDS_AT_ONCE = 60

MARGIN = 4
"""A text is in another language if it is so much more likely, in the logarithm for each word."""

_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]+(?:['’]\p{L}+)?")


def corpus_language(documents: Iterable[SourceDocument], default: str) -> str:
    """Return the code of the language that most of the text of a new corpus is in.

    Args:
        default: the language of text that is in no other one as far as is clear.
    """
    sizes: Counter[str] = Counter()
    for document in documents:
        sizes[_CODES.get(other_language(document.text, default) or "", default)] += len(document.text)
    return sizes.most_common(1)[0][0] if sizes else default


def other_language(text: str, language: str) -> str | None:
    """Return the language or script that a text appears to be in, such as "German" or "georgian script".

    Args:
        language: the code of the pipeline's language. Only those of LANGUAGES are compared.

    Returns:
        None if it appears to be in the pipeline's language, and if that is unclear.
    """
    if language not in LANGUAGES:
        return None
    third = len(text) // 3
    samples = [text] if len(text) <= 3 * SAMPLE else [text[at : at + SAMPLE] for at in (0, third, 2 * third)]
    [(found, times)] = Counter(_other_language(sample, language) for sample in samples).most_common(1)
    return found if times > len(samples) / 2 else None


def _other_language(sample: str, language: str) -> str | None:
    words = list(dict.fromkeys(_WORD.findall(sample.lower())))
    letters = [one for word in words for one in word]
    scripts = Counter(unicodedata.name(one, "?").split()[0] for one in letters)
    script, number = scripts.most_common(1)[0] if scripts else ("LATIN", 0)
    different = len(words) if script == "LATIN" else len(set(letters))
    if len(letters) < FEWEST_LETTERS or different < FEWEST_WORDS:
        return None
    if script != "LATIN" and number <= len(letters) / 2 and scripts["LATIN"]:
        return None
    scores = _scores(words)
    best = max((code for code in scores if code in LANGUAGES), key=scores.__getitem__)
    if max(scores, key=scores.__getitem__) != best and script not in (
        "LATIN",
        "CYRILLIC",
        "ARABIC",
        "CJK",
        "DEVANAGARI",
    ):
        return f"{script.lower()} script"  # none of LANGUAGES is written so
    if best == language or scores[best] - scores[language] < MARGIN * len(words):
        return None
    return LANGUAGES[best].name


def _scores(words: list[str]) -> dict[str, float]:
    """Return how likely these words are in each language, as a logarithm. They are judged a few at a time, since the
    library gives less weight to what comes again."""
    import py3langid  # type: ignore[import-untyped]

    scores: dict[str, float] = {}
    for at in range(0, len(words), WORDS_AT_ONCE):
        ranked = py3langid.rank(" ".join(words[at : at + WORDS_AT_ONCE]))
        for code, score in {_SAME.get(code, code): float(score) for code, score in reversed(ranked)}.items():
            scores[code] = scores.get(code, 0.0) + score
    return scores


def code_of(name: str) -> str | None:
    """Return the code of a language that `other_language` has named, or None for a script."""
    return _CODES.get(name)
