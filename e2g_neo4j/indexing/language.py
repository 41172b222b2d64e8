"""Recognise documents in another language than that of the spaCy pipeline.

The pipeline finds nonsense in them. Only clear cases count: most letters belong to another script, or frequent words of
another language abound and those of the pipeline's do not. Tables, names and code have few of either.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Set
from importlib import import_module

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

SAMPLE = 4000
"""Characters that are looked at in the first, second and third third of a text."""

FEWEST_WORDS, FEWEST_LETTERS = 20, 40
"""Shorter texts are not judged."""

OWN_SHARE, OTHER_SHARE, OTHER_WORDS = 0.3, 0.3, 5
"""A text is in the pipeline's language if this share of its words are frequent ones of it. It is in another language if
this share are frequent ones of that, at least so many different ones, and at least twice as many as the pipeline's."""

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def other_language(text: str, language: str) -> str | None:
    """Return the language or script that a text appears to be in, such as "German" or "cyrillic script".

    Args:
        text: the text.
        language: the code of the pipeline's language. Only those of NAMES are compared.

    Returns:
        None if it appears to be in the pipeline's language, and if that is unclear.
    """
    if language not in NAMES:
        return None
    third = len(text) // 3
    sample = text if len(text) <= 3 * SAMPLE else " ".join(text[at : at + SAMPLE] for at in (0, third, 2 * third))
    letters = [one for one in sample if one.isalpha()]
    if len(letters) < FEWEST_LETTERS:
        return None
    scripts = Counter(unicodedata.name(one, "?").split()[0] for one in letters)
    script, number = scripts.most_common(1)[0]
    if script != "LATIN":
        return f"{script.lower()} script" if number > len(letters) / 2 or not scripts["LATIN"] else None
    words = [one.lower() for one in _WORD.findall(sample)]
    own = _share(words, _frequent_words(language))
    if len(words) < FEWEST_WORDS or own >= OWN_SHARE:
        return None
    shares = {
        code: _share(words, frequent)
        for code in NAMES
        if code != language and len(set(words) & (frequent := _frequent_words(code))) >= OTHER_WORDS
    }
    best = max(shares, key=shares.__getitem__, default=language)
    return NAMES[best] if shares.get(best, 0.0) >= max(OTHER_SHARE, 2 * own) else None


def _share(words: list[str], frequent: Set[str]) -> float:
    return sum(word in frequent for word in words) / len(words) if words else 0.0


def _frequent_words(language: str) -> Set[str]:
    found: Set[str] = import_module(f"spacy.lang.{language}.stop_words").STOP_WORDS
    return found
