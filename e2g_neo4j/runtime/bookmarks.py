"""Bookmarks as text: what a client has written and read, for other clients to wait for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from neo4j import Bookmarks

from e2g_neo4j.errors import InputError

LONGEST_BOOKMARK = 8192
"""In characters. A client has at most one bookmark of about 60 characters per connection, of which there are 100."""

_BOOKMARKS = re.compile(r"FB:[A-Za-z0-9+/]+=*(,FB:[A-Za-z0-9+/]+=*)*")
"""Neo4j rejects what begins like a bookmark and is none, but ignores everything else."""


def as_text(bookmarks: Iterable[str]) -> str:
    """Return bookmarks as one string, which `parse` reads. It is empty if there are none, and fits in a header."""
    return ",".join(sorted(bookmarks))


def parse(text: str) -> Bookmarks:
    """Return the bookmarks of a text. Raises InputError if it cannot have been made by `as_text`."""
    if text and (len(text) > LONGEST_BOOKMARK or not _BOOKMARKS.fullmatch(text)):
        raise InputError(f"{text[:60]!a} is not a bookmark: pass what `bookmark()` of a client returned.")
    return Bookmarks.from_raw_values(text.split(",") if text else [])
