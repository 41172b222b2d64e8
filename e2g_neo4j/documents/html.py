"""HTML: the main content of a page, or all that is visible."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import trafilatura
from lxml import etree, html  # type: ignore[import-untyped]

from e2g_neo4j.documents import markup, visible
from e2g_neo4j.documents.builder import Builder
from e2g_neo4j.documents.reading import Limits, Reading, count
from e2g_neo4j.documents.text import decode, read_bytes

_DECLARED = re.compile(
    rb"""<meta[^<>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]{1,40})|\A\s*<\?xml[^<>]{0,80}?encoding\s*=\s*["']([\w:.-]+)""",
    re.I,
)

_NO_CHARSET = ("utf-8", "utf8", "utf-16", "utf-16le", "utf-16be")  # declared in a page that is not UTF-8: a mistake

SHORTEST = 200
"""Characters of main content below which the whole page is read, if it has more."""

NEARLY_ALL = 0.96
"""The share of the main content that the element has which is read."""

FEW_ELEMENTS, MOST_ELEMENTS = 4000, 50_000
"""Elements of a page up to which the library also compares methods whose time grows with the square, and up to which it
is asked at all."""

_WORD = re.compile(r"[\u0e00-\u0e7f\u3040-\u9fff\uac00-\ud7af]|[^\W_]+")

_SPANS = re.compile(r' (?:col|row)span="[^"]*"')

_ASIDE_NAMES = re.compile(
    r"cookie|consent|gdpr|newsletter|subscri|share|sharing|social|related|recommend|breadcrumb|sidebar|side-bar|menu"
    r"|navbar|navbox|nav-|footer|promo|advert|banner|popup|modal|editsection|headerlink|skip-|toolbar|paginat|paging"
    r"|comment|respond|widget|teaser",
    re.I,
)

_ASIDE_TAGS = frozenset(("nav", "footer", "aside", "form", "menu", "dialog"))

_ASIDE_ROLES = frozenset(("navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "complementary"))

_BOXES = frozenset(("div", "section", "article", "header"))


def read(path: Path, limits: Limits) -> Reading:
    """Read a web page."""
    data = read_bytes(path, limits.bytes)
    page, uncertain = decode(data, path, find_encoding(data))
    tree = visible.parse(page)
    builder = Builder(path, limits)
    part, asides, losses = (tree, set(), []) if limits.whole_page else _main_part(tree)
    heading = part.find(".//h1") if part is tree or part.find(".//h1") is not None else tree.find(".//h1")
    if heading is not None and part is not tree and part not in set(heading.iterancestors()):
        builder.heading("".join(heading.itertext()))
    builder.losses += uncertain + markup.losses(markup.walk(part, builder, asides)) + losses
    # The title of a page often contains the name of the site, so its first heading is preferred.
    return builder.build(builder.first_heading or visible.title_of(tree))


def find_encoding(data: bytes) -> str | None:
    """Return the encoding that a page declares and that browsers would take for it, or None."""
    found = _DECLARED.search(data[:4096])
    name = (found[1] or found[2]).decode("ascii", "replace").lower() if found else ""
    return None if name in _NO_CHARSET else name or None


def _main_part(tree: Any) -> tuple[Any, set[Any], list[str]]:
    """Return the element that has the main content, what in it is beside that, and what is lost so.

    A library says which words are the main content. It would lose tables, merged cells and code, so that its words only
    choose elements.
    """
    words = _main_words(tree)
    lengths, links, kept, hits = _measure(tree, set(zip(words, words[1:], words[2:], strict=False)))
    if hits[tree] < SHORTEST:
        missed = ["the main content was not found, so that menus and the like were read too"]
        return tree, set(), missed if lengths[tree] >= SHORTEST else []
    part = tree
    while (best := max(part, key=lambda child: hits[child], default=None)) is not None:
        if best.tag not in _BOXES | {"body", "main"} or hits[best] < NEARLY_ALL * hits[tree]:
            break
        part = best
    asides: set[Any] = set()
    read = lengths[part]
    events = etree.iterwalk(part, events=("start",))
    for _, element in events:
        size = lengths[element]
        if element is not part and size and hits[element] <= size / 10 and (
            element.tag in _ASIDE_TAGS
            or element.get("role") in _ASIDE_ROLES
            or _ASIDE_NAMES.search(f"{element.get('class')} {element.get('id')}"[:1000])
            or (links[element] > size / 2 and size > 20 and element.tag in _BOXES | {"ul", "ol", "p"})
            or (hits[element] == 0 and element.tag in _BOXES and kept[element] < size / 2 and size > 20)
        ):  # fmt: skip
            asides.add(element)
            read -= size
            events.skip_subtree()
    outside = "of text outside the main content left out; --whole-page reads them"
    return part, asides, count(lengths[tree] - read, "character", outside)


def _measure(tree: Any, main: set[tuple[str, ...]]) -> tuple[Counter[Any], ...]:
    """Return how many characters each element has: in all, in links, in tables and code, and of the main content."""
    lengths, links, kept, hits = sizes = tuple(Counter[Any]() for _ in range(4))
    blocks: list[tuple[Any, list[str]]] = [(tree, [])]
    linked = data = 0
    events = etree.iterwalk(tree, events=("start", "end"))
    for event, element in events:
        begins = event == "start"
        if begins and element.tag == "head":
            events.skip_subtree()
        linked += (element.tag == "a") * (1 if begins else -1)
        data += (element.tag in ("pre", "math") or (element.tag == "table" and "holds" not in element.attrib)) * (
            1 if begins else -1
        )
        owner = element if begins else element.getparent()
        if begins and element.tag in visible.BLOCKS:
            blocks.append((element, []))
        elif not begins and element is blocks[-1][0]:
            _, words = blocks.pop()
            grams = list(zip(words, words[1:], words[2:], strict=False))
            found = sum(gram in main for gram in grams) / max(1, len(grams))
            hits[element] += round(found * sum(map(len, words)))
        if owner is None:
            break
        if not begins:
            for one in sizes:
                one[owner] += one[element]
        if text := element.text if begins and element.tag != "head" else "" if begins else element.tail:
            words = _WORD.findall(text)
            blocks[-1][1].extend(words)
            size = sum(map(len, words))
            lengths[owner] += size
            links[owner] += size * (linked > 0)
            kept[owner] += size * (data > 0)
    return sizes


def _main_words(tree: Any) -> list[str]:
    """Return the words of the main content, as far as the library finds it."""
    number = sum(1 for _ in tree.iter())
    if number > MOST_ELEMENTS:
        return []
    with suppress(Exception):  # of many kinds, for broken pages
        # The library would fill merged cells, however much they cover.
        page = _SPANS.sub("", html.tostring(tree, encoding="unicode"))
        found = trafilatura.bare_extraction(page, include_comments=False, fast=number > FEW_ELEMENTS)
        body = getattr(found, "body", None)
        if body is not None:
            return _WORD.findall(" ".join(body.itertext()))
    return []
