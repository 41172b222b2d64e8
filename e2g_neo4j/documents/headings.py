"""Headings of text and of Markdown."""

from __future__ import annotations

import re

from e2g_neo4j.errors import ReadingError
from e2g_neo4j.types.documents import Section, Span

MAX_HEADINGS = 200_000
"""Maximum headings of a document. In memory, each takes a hundred times the bytes of its line."""

# The line end that a line begins after is found much faster than `^`.
_HEADING_OR_FENCE = re.compile(
    r"\n {0,3}(?:(?P<level>#{1,6})[ \t]+(?P<label>\S.*)|(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>.*))", re.M
)

_UNIT = "one|two|three|four|five|six|seven|eight|nine"

_NUMBER = (
    rf"\d{{1,4}}|[ivxlc]+|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:{_UNIT}))?|{_UNIT}|ten"
    "|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
)

# Possessive quantifiers (`++`) do not try shorter matches, so that time is linear.
CHAPTER = re.compile(
    r"^[ \t]*+(?P<label>(?:Chapter|CHAPTER|CHAP\.|Book|BOOK|Part|PART|Volume|VOLUME|Letter|LETTER)[ \t]++"
    rf"(?i:{_NUMBER})(?:[ \t]*+[.:\u2013\u2014-][^\n]{{0,80}}+|(?=[^a-z\n]{{3,}}+$)[ \t]++[^a-z\n]{{1,80}}+)?"
    r"|[IVXLC]++(?:\.(?:[ \t]++[A-Z][^.\n]{1,60}+)?)?)[ \t]*+$",
    re.M,
)


def markdown_headings(markdown: str, fenced: list[Span] | None = None) -> tuple[str | None, list[Section]]:
    """Return the first top-level heading, and all `#` headings outside of fenced code.

    Args:
        markdown: the text.
        fenced: takes the spans of fenced code.
    """
    first, fence, begin = None, "", 0
    sections: list[Section] = []
    fenced = [] if fenced is None else fenced
    for found in _HEADING_OR_FENCE.finditer(f"\n{markdown}"):
        if mark := found["fence"]:
            if not fence:
                fence, begin = mark, found.start()
            elif mark.startswith(fence) and not found["info"].strip():
                fence = ""
                fenced.append((begin, found.end() - 1))
        elif not fence and (label := _plain(found["label"])):
            _add_heading(sections, label, found.start())
            if found["level"] == "#" and not CHAPTER.fullmatch(label):
                first = first or label
    if fence:
        fenced.append((begin, len(markdown)))
    return first, sections


def _plain(heading: str) -> str:
    return re.sub(r"[ \t]#+$|[*`]", "", heading.rstrip()).strip("_ \t")[:200]


def chapters(text: str) -> list[Section]:
    """Find headings such as "CHAPTER IV", "Chapter 1. Title", "IX" or "IX. Title" between empty lines."""
    sections: list[Section] = []
    for found in CHAPTER.finditer(text):
        before = text[text.rfind("\n", 0, max(found.start() - 1, 0)) + 1 : found.start()]
        after = text[found.end() + 1 : found.end() + 200].partition("\n")[0]
        if not before.strip() and not after.strip():
            _add_heading(sections, " ".join(found["label"].split()), found.start("label"))
    return sections


def _add_heading(sections: list[Section], label: str, start: int) -> None:
    check_headings(len(sections))
    sections.append(Section("heading", label, start))


def check_headings(number: int) -> None:
    """Raise ReadingError if a document that has so many headings is to get one more."""
    if number >= MAX_HEADINGS:
        raise ReadingError(f"The text has more than {MAX_HEADINGS:,} headings. Split it.")
