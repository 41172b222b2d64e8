"""Links of documents: which are kept, where they lead, and marks for them in a text that is not complete.

A mark is made of halves of surrogate pairs, which no text has that was read: BEGIN and two for the number of the link
before its text, and END after it. So links keep their places however white space, lists and tables are laid out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from urllib.parse import unquote, urljoin

from e2g_neo4j.documents.reading import count
from e2g_neo4j.types.documents import UPLOAD, WIKI, Hyperlink

MOST_LINKS = 10_000
"""Links of a document that are kept."""

LONGEST_TARGET = 2000
"""Maximum characters of a target."""

MOST_CHARACTERS = 1_000_000
"""Characters of all targets of a document: short ones that are relative to a long address become long."""

BEGIN, END = "\ud800", "\ud801"

CONTROLS_BUT_MARKS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")

_BLANK = "".join(sign for sign in map(chr, range(0x3001)) if sign.isspace() or sign < " ") + "\x7f"

_EDGES = f"{_BLANK}-:¶🔗"
"""What is no part of a link at its ends: whatever may be removed there from a line, a term or a heading."""

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]{0,30}+):", re.I)

_WEB = re.compile(r"(https?)://([^/?#]++)([^#]*+)(?:#(.*))?", re.I | re.S)

_UNWANTED = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")

_DRIVE = re.compile(r"[A-Za-z]:\\")


class Links:
    """The links of a document while it is read. Those beyond the limits are counted, and so is what has no place."""

    def __init__(self) -> None:
        self.found: list[Hyperlink] = []
        self._lost = 0
        self._targets: list[str] = []
        self._numbers: dict[str, int] = {}

    @property
    def losses(self) -> list[str]:
        return count(self._lost, "link", "not kept")

    def add(self, start: int, end: int, target: str) -> None:
        """Add a link, unless its target is no document."""
        if (kept := self._keep(target)) is not None:
            self._add(start, end, kept)

    def add_page(self, start: int, end: int, page: str) -> None:
        """Add a link to a page of a wiki, such as "Fog", "Fog#Causes" or "#Causes"."""
        if page.startswith("#"):
            self.add(start, end, page)
        elif not _UNWANTED.search(page):
            self._add(start, end, WIKI + page)

    def mark(self, text: str, target: str) -> str:
        """Return the text of a link with marks, from which `take` makes the link."""
        return self.mark_pieces([text], target)[0] if text else text

    def mark_pieces(self, pieces: list[str], target: str) -> list[str]:
        """Return the pieces of the text of a link with marks."""
        if not any(map(str.isalnum, "".join(pieces))) or (number := self._number_of(target)) is None:
            return pieces
        return _mark(pieces, number)

    def take(self, marked: str, start: int) -> str:
        """Return a text without its marks, and add the links of it, which stands at `start` in the document."""
        before, *rest = marked.split(BEGIN)
        parts = [before]
        start += len(before)
        for piece in rest:
            text, end, after = piece[2:].partition(END)
            number = _number(piece)
            if text and end and 0 <= number < len(self._targets):
                self._add(start, start + len(text), self._targets[number])
            after = after.replace(END, "")
            parts += text, after
            start += len(text) + len(after)
        return "".join(parts)

    def _add(self, start: int, end: int, target: str) -> None:
        if len(self.found) < MOST_LINKS and len(target) <= LONGEST_TARGET:
            self.found.append(Hyperlink(start, end, target))
        else:
            self._lost += 1

    def _number_of(self, target: str) -> int | None:
        kept = self._keep(target)
        if kept is None or kept in self._numbers:
            return None if kept is None else self._numbers[kept]
        if len(self._targets) >= MOST_LINKS or len(kept) > LONGEST_TARGET:
            self._lost += 1
            return None
        self._targets.append(kept)
        return self._numbers.setdefault(kept, len(self._targets) - 1)

    def _keep(self, target: str) -> str | None:
        """Return a target as browsers take it; None if it leads to no document, or nowhere."""
        if not target.isprintable() or target != target.strip():
            target = re.sub(r"[\t\r\n]", "", target).strip(_BLANK)
            if _UNWANTED.search(target):
                return None
        scheme = _SCHEME.match(target) if ":" in target else None
        return None if target in ("", "#") or (scheme and scheme[1].lower() not in ("http", "https")) else target


def without_marks(text: str) -> str:
    before, *rest = text.split(BEGIN)
    return "".join((before, *(piece[2:] for piece in rest))).replace(END, "")


def length(text: str) -> int:
    """Return the length of a text without its marks."""
    return len(without_marks(text)) if END in text else len(text)


def change_marked(text: str, change: Callable[[str], str]) -> str:
    """Return a text as it was changed without its marks. If it has a link, all of it is one."""
    if BEGIN not in text:
        return change(text)
    return _mark([change(without_marks(text))], _number(text.partition(BEGIN)[2]))[0]


def _mark(pieces: list[str], number: int) -> list[str]:
    """Put marks around the text of pieces, within what is blank, and drop those that are there."""
    marked = [without_marks(one) if END in one else one for one in pieces]
    filled = [at for at, one in enumerate(marked) if one.strip(_EDGES)]
    if filled:
        first, last = filled[0], filled[-1]
        end = len(marked[last].rstrip(_EDGES))
        marked[last] = f"{marked[last][:end]}{END}{marked[last][end:]}"
        begin = len(marked[first]) - len(marked[first].lstrip(_EDGES))
        digits = chr(0xDC00 + number // 1024) + chr(0xDC00 + number % 1024)
        marked[first] = f"{marked[first][:begin]}{BEGIN}{digits}{marked[first][begin:]}"
    return marked


def _number(marked: str) -> int:
    """Return the number of the link after whose BEGIN a text stands."""
    high, low = map(ord, marked[:2].ljust(2, "\0"))  # a text that has BEGIN otherwise gives no number
    return (high - 0xDC00) * 1024 + low - 0xDC00


def resolve_links(links: Sequence[Hyperlink], source: str) -> tuple[list[Hyperlink], list[str]]:
    """Return the links of a document that lead elsewhere, with their targets as `resolve` returns them, and what is
    lost."""
    if not links:
        return [], []
    place = _Place(source)
    kept: list[Hyperlink] = []
    lost, left = 0, MOST_CHARACTERS
    for link in links:
        if (target := place.resolve(link.target)) is not None:
            if len(target) <= min(LONGEST_TARGET, left):
                kept.append(Hyperlink(link.start, link.end, target))
                left -= len(target)
            else:
                lost += 1
    return kept, count(lost, "link", "not kept")


def resolve(target: str, source: str) -> str | None:
    """Return where a link of a document leads: the source that another document has there, with the fragment.

    Nothing is looked up. In web addresses, the case and the default port are removed; in paths, the query is.

    Args:
        target: the target, as a document has it.
        source: the source of the document.

    Returns:
        The target; only "#" and the fragment within the document; None if it leads nowhere else.
    """
    return _Place(source).resolve(target)


class _Place:
    """Where a document stands, from which its links lead to others."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._web = _web_address(source)
        self._prefix = UPLOAD if source.startswith(UPLOAD) else ""
        path = source[len(self._prefix) :]
        self._sign = "\\" if _DRIVE.match(path) else "/"
        self._folder = path.split(self._sign)[:-1]
        self._root = int(self._sign == "\\" or path.startswith("/"))

    def resolve(self, target: str) -> str | None:
        if target.startswith(WIKI):
            return target
        if self._web is not None or target.startswith("//") or (":" in target and _SCHEME.match(target)):
            return self._resolve_address(target)
        path, _, fragment = target.partition("#")
        path, _, _ = path.partition("?")
        if "%" in target:
            path, fragment = unquote(path), unquote(fragment)
            if _UNWANTED.search(path) or _UNWANTED.search(fragment):
                return None
        place = self._path_to(path) if path else self._source
        return _join(place, fragment, self._source) if place else None

    def _path_to(self, path: str) -> str:
        """Return the source of a document by its path, which may be relative; empty for the root of all folders."""
        parts = self._folder[: self._root] if path.startswith("/") else self._folder.copy()
        for part in path.split("/"):
            if part == "..":
                del parts[max(self._root, len(parts) - 1) :]
            elif part and part != ".":
                parts.append(part)
        found = self._sign.join(parts)
        return found and self._prefix + found

    def _resolve_address(self, target: str) -> str | None:
        with suppress(ValueError):  # of addresses that are none
            if self._web is not None:
                target = urljoin(self._source, target)
            elif target.startswith("//"):
                target = f"https:{target}"
            if (found := _web_address(target)) is not None:
                return _join(*found, self._web[0] if self._web else "")
        return None


def _join(place: str, fragment: str, own: str) -> str | None:
    if place == own:
        return f"#{fragment}" if fragment else None
    return f"{place}#{fragment}" if fragment else place


def _web_address(address: str) -> tuple[str, str] | None:
    """Return a web address without its fragment, and the fragment; None if it is none."""
    if (found := _WEB.fullmatch(address)) is None:
        return None
    scheme, host = found[1].lower(), found[2]
    user, at, name = host.rpartition("@")
    name = name.lower().removesuffix(":80" if scheme == "http" else ":443").rstrip(":")
    return f"{scheme}://{user}{at}{name}{found[3]}", found[4] or ""
