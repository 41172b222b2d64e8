"""The terms of a text, as the full-text indexes have them: their analyzer is Lucene's `english`.

It splits at the word boundaries of Unicode (UAX 29), removes a final 's, and changes to lower case. Then it drops stop
words, and reduces the rest to stems.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator

import regex  # type: ignore[import-untyped]

from e2g_neo4j.models.porter import stem

LONGEST_TERM = 255
"""Characters. Lucene cuts longer words."""

_STOP_WORDS = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was
will with
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

_POSSESSIVE = ("'s", "’s", "＇s", "'S", "’S", "＇S")

_MARKS = r"[\p{M}\p{Cf}]*"
_WRITTEN_WITHOUT_SPACES = r"\p{Han}\p{Hiragana}\p{Katakana}"
_RUN = rf"[\w--[{_WRITTEN_WITHOUT_SPACES}\p{{M}}\p{{Cf}}]](?:[\w--[{_WRITTEN_WITHOUT_SPACES}]]|[\p{{M}}\p{{Cf}}])*"
_IN_WORD = rf"(?<=\p{{Alphabetic}}{_MARKS})[\p{{WB=MidLetter}}\p{{WB=MidNumLet}}:']{_MARKS}(?=\p{{Alphabetic}})"
_IN_NUMBER = rf"(?<=\p{{Nd}}{_MARKS})[\p{{WB=MidNum}}\p{{WB=MidNumLet}}']{_MARKS}(?=\p{{Nd}})"
_TOKEN = regex.compile(
    rf"(?V1)[\p{{Han}}\p{{Hiragana}}]{_MARKS}|\p{{Katakana}}[\p{{Katakana}}\p{{M}}\p{{Cf}}]*"
    rf"|{_RUN}(?:(?:{_IN_WORD}|{_IN_NUMBER}){_RUN})*"
)
"""An ideograph or Hiragana alone, Katakana, or a run of letters, digits and underscores. A sign such as an apostrophe
between two letters, or a comma between two digits, is part of it."""


_SPACELESS = regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+")

DIVIDED_INTO = 3
"""Letters with their marks. On 298 questions in Thai, R@5 of BM25 is .983 with 2, .990 with 3, .993 with 4."""


def divide_words(text: str) -> str | None:
    """Return a text with composed letters, as not all analyzers compose them, in which each three letters that follow
    each other are a word, in scripts without spaces that no analyzer of the managed server divides: Thai, Lao, Khmer,
    Burmese. None: it is the same.

    Lucene's analyzer `thai` takes words from the Java runtime. Without its locale data, the database stops.
    """

    def divide(run: regex.Match[str]) -> str:
        letters = regex.findall(r"\X", run[0])
        parts = (letters[at : at + DIVIDED_INTO] for at in range(max(len(letters) - DIVIDED_INTO + 1, 1)))
        return f" {' '.join(map(''.join, parts))} "

    divided: str = _SPACELESS.sub(divide, unicodedata.normalize("NFC", text))
    return None if divided == text else divided


def tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the words of a text as the indexes have them before they drop stop words: start, end, and the word."""
    for found in _TOKEN.finditer(text):
        token, first = found[0], found.start()
        for start in range(0, len(token), LONGEST_TERM):
            word = token[start : start + LONGEST_TERM]
            end = first + start + len(word)
            word = word[:-2] if word.endswith(_POSSESSIVE) else word
            word = word.lower() if word.isascii() else "".join(letter.lower()[0] for letter in word)
            yield first + start, end, word


def terms(text: str) -> Iterator[str]:
    """Yield the terms of a text, in order."""
    for _, _, word in tokens(text):
        if word not in STOP_WORDS and word.strip("_"):
            yield stem(word)


def count_terms(texts: Iterable[str]) -> dict[str, int]:
    """Return the distinct terms of some texts, sorted, and how many of the texts contain each."""
    return dict(sorted(Counter(term for text in texts for term in set(terms(text))).items()))
