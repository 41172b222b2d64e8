"""Bounds for markdownify, which markitdown converts HTML with, so that its time does not grow with the square."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from bs4.element import Tag
from markdownify import MarkdownConverter

NESTED = 20
"""How deep lists and quotations are indented. Each level of indentation repeats all of their lines."""

DEPTH = 100
"""How deep elements may be nested, because each converts all text within it again. Deeper ones are read as plain text,
which markitdown does when recursion ends."""

_Converter: Any = MarkdownConverter

_process_tag: Callable[..., str] = _Converter.process_tag

_convert_li: Callable[..., str] = _Converter.convert_li

_convert_blockquote: Callable[..., str] = _Converter.convert_blockquote


def install() -> None:
    """Bound all conversions of this process."""
    _Converter.process_tag, _Converter.convert_li, _Converter.convert_blockquote = _tag, _li, _blockquote


def _tag(converter: Any, *arguments: Any, **options: Any) -> str:
    converter.depth = getattr(converter, "depth", 0) + 1
    if converter.depth > DEPTH:
        raise RecursionError
    text = _process_tag(converter, *arguments, **options)
    converter.depth -= 1
    return text


class _Item:
    """An item of a list for `convert_li`, which counts the items before it. It would look at each of them each time."""

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
