"""Bounds for markdownify, which markitdown converts HTML with: the time for lists and quotations is linear."""

from __future__ import annotations

from collections import Counter
from typing import Any

from bs4.element import Tag
from markdownify import MarkdownConverter

NESTED = 20
"""How deep lists and quotations are indented. Each level of indentation repeats all of their lines."""

_convert_li, _convert_blockquote = MarkdownConverter.convert_li, MarkdownConverter.convert_blockquote


def install() -> None:
    """Bound all conversions of this process."""
    MarkdownConverter.convert_li, MarkdownConverter.convert_blockquote = _li, _blockquote


class _Item:
    """An item as `convert_li` sees it, which counts the items before it by looking at each."""

    name = "li"

    def __init__(self, item: Tag, number: int) -> None:
        self.parent, self._number = item.parent, number

    def find_previous_siblings(self, _: str) -> range:
        return range(self._number)


def _li(converter: Any, el: Tag, text: str, parent_tags: Any) -> str:
    if _is_deep(el):
        return f"{text.strip()}\n"
    if el.parent is None or el.parent.name != "ol":
        return _convert_li(converter, el, text, parent_tags)
    if not hasattr(converter, "numbers"):
        converter.numbers = Counter()  # of items so far, by list: items are converted in their order
    number = converter.numbers[id(el.parent)]
    converter.numbers[id(el.parent)] += 1
    return _convert_li(converter, _Item(el, number), text, parent_tags)


def _blockquote(converter: Any, el: Tag, text: str, parent_tags: Any) -> str:
    if _is_deep(el):
        return f"\n{text.strip()}\n\n"
    return _convert_blockquote(converter, el, text, parent_tags)


def _is_deep(el: Tag) -> bool:
    """Return whether an element is in NESTED lists and quotations."""
    return sum(parent.name in ("ol", "ul", "blockquote") for parent in el.parents) > NESTED
