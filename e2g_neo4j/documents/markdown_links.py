"""Links of Markdown: inline ones, references, addresses in angle brackets, and pages of wikis."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from e2g_neo4j.documents.links import LONGEST_TARGET, Links
from e2g_neo4j.types.documents import Span

# Possessive quantifiers (`++`) do not try shorter matches, so that time is linear.
_LINK = re.compile(
    r"\[(?:"
    r"\[(?P<page>[^\[\]\n|]{1,1000}+)(?:\|(?P<shown>[^\[\]\n]{1,1000}+))?+\]\]"
    r"|(?P<text>(?:[^\[\]\\]++|\\.|\[[^\[\]]*+\](?:\([^()\n]*+\))?+)++)\](?:"
    r"\(\s*+(?:<(?P<bracketed>[^<>\n]*+)>|(?P<bare>(?:[^\s()<\\]++|\\.|\([^\s()]*+\))++))"
    r"""(?:\s++(?:"[^"]*+"|'[^']*+'|\([^()]*+\)))?+\s*+\)"""
    r"|\[(?P<label>[^\[\]]{0,999}+)\])?+)",
    re.S,
)

_ADDRESS = re.compile(r"<(https?://[^\s<>]++)>")

_DEFINITION = re.compile(r"\n {0,3}+\[((?:[^\[\]\\]|\\.){1,999}+)\]:[ \t]*+\n?[ \t]*+(?:<([^<>\n]*+)>|(\S++))")

_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def find_links(markdown: str, fenced: Sequence[Span]) -> Links:
    """Return the links of a text, except pictures and what is in code.

    Args:
        markdown: the text.
        fenced: its fenced code, in order.
    """
    links = Links()
    found = list(_LINK.finditer(markdown)) if "[" in markdown else []
    addresses = list(_ADDRESS.finditer(markdown)) if "<http" in markdown else []
    if not found and not addresses:
        return links
    definitions: tuple[dict[str, str], set[int]] | None = None
    code = _Code(markdown, fenced) if fenced or "`" in markdown else ()
    if addresses:
        found = sorted([*found, *addresses], key=re.Match.start)
    for link in found:
        start = link.start()
        if (start and markdown[start - 1] in "!\\" and _is_no_link(markdown, start)) or start in code:
            continue
        if link.re is _ADDRESS:
            links.add(*link.span(1), link[1])
            continue
        page, shown, text, bracketed, bare, label = link.groups()
        if page:
            links.add_page(*link.span("shown" if shown else "page"), page.rstrip("\\").strip())
            continue
        target = bracketed if bare is None else bare
        if target is None:
            targets, places = definitions = definitions or _definitions(markdown)
            target = targets.get(_key(label or text)) if targets and start not in places else None
        elif "\\" in target or "&" in target:
            target = _unescape(target)
        if target is not None and "\n\n" not in text:
            links.add(start + 1, start + 1 + len(text), target)
    return links


def _unescape(target: str) -> str:
    return html.unescape(_ESCAPED.sub(r"\1", target)) if len(target) <= 10 * LONGEST_TARGET else target


def _key(label: str) -> str:
    return " ".join(label[:1000].split()).casefold()


def _definitions(markdown: str) -> tuple[dict[str, str], set[int]]:
    """Return the targets of references by their labels, and where they are defined."""
    targets: dict[str, str] = {}
    places: set[int] = set()
    if "]:" in markdown:
        for found in _DEFINITION.finditer(f"\n{markdown}"):
            places.add(found.start(1) - 2)
            if not found[1].startswith("^"):  # a note
                targets.setdefault(_key(found[1]), _unescape(found[2] if found[3] is None else found[3]))
    return targets, places


def _is_no_link(markdown: str, at: int) -> bool:
    """Return whether a bracket begins a picture, or is escaped."""
    before = markdown[max(0, at - 100) : at]
    return before.endswith("!") or (len(before) - len(before.rstrip("\\"))) % 2 == 1


class _Code:
    """Which places of a text are in code."""

    def __init__(self, markdown: str, fenced: Sequence[Span]) -> None:
        spans = sorted([*fenced, *_code_spans(markdown, fenced)])
        self._starts, self._ends = [start for start, _ in spans], [end for _, end in spans]

    def __contains__(self, place: int) -> bool:
        at = bisect_right(self._starts, place) - 1
        return at >= 0 and place < self._ends[at]


def _code_spans(markdown: str, fenced: Sequence[Span]) -> Iterator[Span]:
    """Yield the code between as many backticks before and after it, in one paragraph and outside of fenced code."""
    runs: list[tuple[int, int]] = []
    fences = iter(fenced)
    start, end = next(fences, (len(markdown), 0))
    for run in re.finditer("`++", markdown):
        while run.start() >= end and end:
            start, end = next(fences, (len(markdown), 0))
        if run.start() < start:
            runs.append(run.span())
    closing: dict[int, int] = {}
    following = [0] * len(runs)
    for number in range(len(runs) - 1, -1, -1):
        size = runs[number][1] - runs[number][0]
        following[number] = closing.get(size, 0)
        closing[size] = number
    number = 0
    while number < len(runs):
        start, end = runs[number]
        closer = following[number]
        if closer and markdown[start - 1 : start] != "\\" and markdown.find("\n\n", end, runs[closer][0]) < 0:
            yield start, runs[closer][1]
            number = closer
        number += 1
