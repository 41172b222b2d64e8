"""Titles of documents in texts and questions."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TypeAlias

from e2g_neo4j.models.words import STOP_WORDS, tokens
from e2g_neo4j.types.documents import WIKI

Word: TypeAlias = tuple[int, int, str]
"""A word of a text: start, end, and how the indexes have it."""

LONGEST = 20
"""Words of a title. Nobody writes a longer one in a sentence."""

MOST_CHARACTERS = 1_000
"""Characters of a title, or of a question, that are read."""

LONGEST_ASKED = 10
"""Words of a title that a question names."""

WORDS_ASKED = 60
"""Words of a question in which titles are looked for."""

_WORD_AFTER = re.compile(r" ([^\W\d_])")
_LAST_BRACKET = re.compile(r"\s*\([^()]*\)\s*$")


def title_key(title: str) -> str:
    """Return the words of a title as texts mention it, without a bracket at its end such as "(film)".

    It is empty if no text can mention it, because no word of it says anything, or because it is too long.
    """
    title = title[:MOST_CHARACTERS]
    words = [word for _, _, word in tokens(_LAST_BRACKET.sub("", title) or title)]
    says = any(word not in STOP_WORDS and len(word) > 1 and any(map(str.isalpha, word)) for word in words)
    of_signs = len(words) > 1 and not title.isascii() and all(len(word) == 1 for word in words)
    return " ".join(words) if len(words) <= LONGEST and (says or of_signs) else ""


def document_key(target: str) -> str:
    """Return what a hyperlink names a document by: its source, or WIKI and the key of its title. Empty: none."""
    document = target.partition("#")[0]
    if document.startswith(WIKI):
        key = title_key(document.removeprefix(WIKI))
        return f"{WIKI}{key}" if key else ""
    return document


def find_titles(text: str, words: Sequence[Word], titles: Container[str], longest: Mapping[str, int]) -> Iterator[Word]:
    """Yield the titles that a text mentions: start, end and key. Of those that begin at a word, it is the longest.

    A title of one word counts only where the text has it with a capital, and where it begins no longer name: "Paris
    Hilton" does not name "Paris".

    Args:
        titles: The keys of titles.
        longest: The number of words of the longest title, by the first word.
    """
    at = 0
    while at < len(words):
        start, _, first = words[at]
        for length in range(min(longest.get(first, 0), len(words) - at), 0, -1):
            end = words[at + length - 1][1]
            key = " ".join(word for _, _, word in words[at : at + length])
            if key in titles and (length > 1 or _is_a_name(text, start, end)):
                yield start, end, key
                at += length - 1
                break
        at += 1


def _is_a_name(text: str, start: int, end: int) -> bool:
    """Return whether a word has a capital, and no longer name begins with it."""
    if text[start:end] == text[start:end].lower():
        return False
    after = _WORD_AFTER.match(text, end)
    return not (after and after[1].isupper())


def possible_titles(question: str) -> list[str]:
    """Return the keys of the titles that a question may name."""
    words = list(tokens(question[:MOST_CHARACTERS]))[:WORDS_ASKED]
    keys = (
        " ".join(word for _, _, word in words[at : at + length])
        for at, (start, end, _) in enumerate(words)
        for length in range(1, min(LONGEST_ASKED, len(words) - at) + 1)
        if length > 1 or _is_a_name(question, start, end)
    )
    return [key for key in dict.fromkeys(keys) if title_key(key)]


def titles_in_question(question: str, titles: Container[str]) -> set[str]:
    """Return the keys of those titles that a question names. A title inside a longer one does not count."""
    words = list(tokens(question[:MOST_CHARACTERS]))[:WORDS_ASKED]
    longest = {word: LONGEST_ASKED for _, _, word in words}
    return {key for _, _, key in find_titles(question, words, titles, longest)}
