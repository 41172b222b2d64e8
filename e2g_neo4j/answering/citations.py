"""Citations in an answer: numbers of passages in square brackets. Invalid numbers are dropped."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator

from e2g_neo4j.models.chat.thinking import ThoughtFilter

_GROUP = re.compile(r"[\[【［]\s*(\d+(?:\s*[,;、，–-]\s*\d+)*)\s*(?:†[^\]】］\n]{0,80})?[\]】］]")
_BEGUN = re.compile(r"\s*[\[【［][\d\s,;、，–-]{0,40}(?:†[^\]】］\n]{0,80})?$|\s+$")
_NUMBER = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_WORD = re.compile(r"\w")
_WIDEST = 100
"""Maximum length of a range such as [2-5]."""


class CitationFilter:
    """Filters the citations of an answer that arrives in pieces of any length.

    [1, 9] becomes [1] if there is no passage 9, and so does 【1†source】. [0], which means that the evidence does not
    say, is removed. Citations before the first word are held back until it comes: a reply of citations alone has no
    text.

    Args:
        given: Number of passages, which are numbered from 1.
        valid: The numbers that may be cited. Default: those of all passages.
    """

    def __init__(self, given: int, valid: Container[int] | None = None) -> None:
        self._valid = range(1, given + 1) if valid is None else valid
        self._held = ""
        self._before_words, self._has_words = "", False
        self.cited: dict[int, None] = {}
        self.dropped: dict[int, None] = {}
        self.says_nothing = False

    def add(self, piece: str) -> str:
        """Add a piece and return the text to show. A citation is held back until it is complete."""
        text = self._held + piece
        begun = _BEGUN.search(text)
        ready, self._held = (text[: begun.start()], text[begun.start() :]) if begun else (text, "")
        return self._filter_text(ready)

    def end(self) -> str:
        """Return the text that was held back."""
        text, self._held = self._held, ""
        return self._filter_text(text).rstrip()

    def _filter_text(self, text: str) -> str:
        shown = re.sub(rf"[ \t]*{_GROUP.pattern}", self._check_group, text)
        if self._has_words:
            return shown
        shown = (self._before_words + shown).lstrip()
        self._has_words = bool(_WORD.search(_GROUP.sub("", shown)))
        self._before_words = "" if self._has_words else shown
        return shown if self._has_words else ""

    def _check_group(self, group: re.Match[str]) -> str:
        numbers = list(dict.fromkeys(_numbers(group[1])))
        kept = [number for number in numbers if number in self._valid]
        self.cited |= dict.fromkeys(kept)
        self.dropped |= dict.fromkeys(number for number in numbers if number and number not in kept)
        self.says_nothing = self.says_nothing or 0 in numbers
        space = group[0][: len(group[0]) - len(group[0].lstrip())]
        return f"{space}[{', '.join(map(str, kept))}]" if kept else ""


class ShownAnswer:
    """The text of an answer to show while it is streamed: without reasoning, with valid citations.

    Args:
        valid: The numbers that may be cited. Default: those of all passages.
    """

    def __init__(self, given: int, valid: Container[int] | None = None) -> None:
        self._thought, self._citations = ThoughtFilter(), CitationFilter(given, valid)

    def add(self, piece: str) -> str:
        """Add a piece and return the text to show."""
        return self._citations.add(self._thought.add(piece))

    def end(self) -> str:
        """Return the text that was held back."""
        return self._citations.add(self._thought.end()) + self._citations.end()


def citations_in(text: str) -> Iterator[tuple[int, int, list[int]]]:
    """Yield the citations of a filtered text: where each starts and ends, and its numbers."""
    for group in _GROUP.finditer(text):
        yield group.start(), group.end(), list(_numbers(group[1]))


def _numbers(group: str) -> Iterable[int]:
    for found in _NUMBER.finditer(group):
        first, last = int(found[1]), int(found[2] or found[1])
        yield from range(first, last + 1) if first <= last <= first + _WIDEST else (first, last)
