"""Recognise the language of documents: that of a new corpus, and documents in another one than their corpus.

A pipeline finds nonsense in them. Only clear cases count: most letters belong to another script, or frequent words of
another language abound and those of the pipeline's do not. Tables, names and code have few of either.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Set
from importlib import import_module

from e2g_neo4j.types.documents import SourceDocument

NAMES = {
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "hu": "Hungarian",
    "it": "Italian",
    "nb": "Norwegian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "sv": "Swedish",
    "tr": "Turkish",
}
"""Languages in Latin script that are told apart, by their codes in spaCy."""

CHINESE = "zh"

_CHINESE = "Chinese"

_CODES = {name: code for code, name in NAMES.items()} | {_CHINESE: CHINESE}

SAMPLE = 4000
"""Characters that are looked at in the first, second and third third of a text."""

FEWEST_WORDS, FEWEST_LETTERS = 20, 40
"""Shorter texts are not judged."""

OWN_SHARE, OTHER_SHARE, OTHER_WORDS = 0.3, 0.3, 5
"""A text is in the pipeline's language if this share of its words are frequent ones of it. It is in another language if
this share are frequent ones of that, at least so many different ones, and at least twice as many as the pipeline's."""

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def corpus_language(documents: Iterable[SourceDocument], default: str) -> str:
    """Return the code of the language that most of the text of a new corpus is in.

    Args:
        documents: the documents.
        default: the language of text that is in no other one as far as is clear.
    """
    sizes: Counter[str] = Counter()
    for document in documents:
        sizes[_CODES.get(other_language(document.text, default) or "", default)] += len(document.text)
    return sizes.most_common(1)[0][0] if sizes else default


def other_language(text: str, language: str) -> str | None:
    """Return the language or script that a text appears to be in, such as "German" or "cyrillic script".

    Args:
        text: the text.
        language: the code of the pipeline's language. Only those of NAMES and Chinese are compared.

    Returns:
        None if it appears to be in the pipeline's language, and if that is unclear.
    """
    if language not in NAMES and language != CHINESE:
        return None
    third = len(text) // 3
    sample = text if len(text) <= 3 * SAMPLE else " ".join(text[at : at + SAMPLE] for at in (0, third, 2 * third))
    letters = [one for one in sample if one.isalpha()]
    if len(letters) < FEWEST_LETTERS:
        return None
    scripts = Counter(unicodedata.name(one, "?").split()[0] for one in letters)
    script, number = scripts.most_common(1)[0]
    if script == "CJK" and language == CHINESE:
        return None
    if script != "LATIN":
        if number <= len(letters) / 2 and scripts["LATIN"]:
            return None
        chinese = script == "CJK" and not scripts["HIRAGANA"] + scripts["KATAKANA"]
        return _CHINESE if chinese else f"{script.lower()} script"
    words = [one.lower() for one in _WORD.findall(sample)]
    own = _share(words, _frequent_words(language)) if language in NAMES else 0.0
    if len(words) < FEWEST_WORDS or own >= OWN_SHARE:
        return None
    shares = {
        code: _share(words, frequent)
        for code in NAMES
        if code != language and len(set(words) & (frequent := _frequent_words(code))) >= OTHER_WORDS
    }
    best = max(shares, key=shares.__getitem__, default=language)
    return NAMES[best] if shares.get(best, 0.0) >= max(OTHER_SHARE, 2 * own) else None


def name_of(language: str) -> str:
    """Return the English name of a language, or its code if there is none."""
    return _CHINESE if language == CHINESE else NAMES.get(language, language)


def code_of(name: str) -> str | None:
    """Return the code of a language that `other_language` has named, or None for a script."""
    return _CODES.get(name)


def _share(words: list[str], frequent: Set[str]) -> float:
    return sum(word in frequent for word in words) / len(words) if words else 0.0


def _frequent_words(language: str) -> Set[str]:
    found: Set[str] = import_module(f"spacy.lang.{language}.stop_words").STOP_WORDS
    return found
