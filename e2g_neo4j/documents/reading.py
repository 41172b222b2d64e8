"""What a reader of a format gets, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from e2g_neo4j.types.documents import Hyperlink, Section


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one file may take, and how much of it is read.

    Attributes:
        bytes: the maximum size of the text in UTF-8, and of what is unpacked for it.
        memory_mb: memory of the process, in MiB.
        seconds: time of the processor. On Windows, which cannot limit it, five times as many seconds by the clock.
        whole_page: whether menus and the like of web pages are read too.
        ocr: whether the text of pages that are pictures is recognised, by a program that is installed.
    """

    bytes: int
    memory_mb: int = 4096
    seconds: float = 1800
    whole_page: bool = False
    ocr: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader found in a file.

    Attributes:
        title: the title that the file declares.
        sections: pages, headings and tables of the text, sorted by where they start.
        properties: other facts that the file declares about itself. None: none.
        losses: what is in the file and not in the text, one clause each, such as "2 of 9 pages have no text (3, 7)".
        key: tells it from the other documents of the file.
        links: the links of the text, sorted by where they start, with their targets as the file has them.
    """

    text: str
    title: str | None = None
    sections: Sequence[Section] = ()
    properties: Mapping[str, Any] | None = None
    losses: Sequence[str] = ()
    key: str | None = None
    links: Sequence[Hyperlink] = ()


def count(number: int, one: str, rest: str, many: str | None = None) -> list[str]:
    """Return one loss, such as "1 picture has no description", or none if `number` is 0.

    Args:
        number: how many things are lost.
        one: the noun for one of them.
        rest: what follows, which has to suit one and many.
        many: the noun for several; None: `one` and an "s".
    """
    return [f"{number:,} {one if number == 1 else many or f'{one}s'} {rest}"] if number else []
